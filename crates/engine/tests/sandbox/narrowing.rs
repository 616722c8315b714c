//! A narrower policy never allows what a wider one denies: random pairs of them, asked of the real kernel.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use bashtion::{Network, SandboxMode, SandboxSettings};

use crate::scene::settings;
use crate::{Hold, Scene};

/// Small and the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn some(&mut self, of: &[PathBuf]) -> Vec<PathBuf> {
        of.iter().filter(|_| self.roll(3) == 0).cloned().collect()
    }
}

const PLACES: [&str; 6] = ["a", "a/b", "a/b/c", "d", "d/e", "f"];

/// What a command can do under these settings, in words.
fn abilities(scene: &Scene, settings: SandboxSettings) -> BTreeSet<String> {
    let probes = "cd {outside}; for p in a a/b a/b/c d d/e f; do \
                  cat $p/file > /dev/null 2>&1 && echo read $p; \
                  ( : >> $p/file ) 2> /dev/null && echo write $p; \
                  ( : > $p/new && rm $p/new ) 2> /dev/null && echo create $p; done; \
                  ( : > {work}/x && rm {work}/x ) 2> /dev/null && echo write workspace; \
                  {probe} tcp {tcp} | grep -q ok && echo connect; \
                  {probe} unix_path {outside}/socket | grep -q ok && echo daemon; \
                  {probe} kill {victim} | grep -q ok && echo kill; true";
    let outcome = scene.run_with(settings, probes);
    outcome.output.stdout().lines().map(str::to_owned).collect()
}

#[test]
fn narrower_never_means_more() {
    let mut dice = Dice(7);
    for round in 0..25 {
        let scene = Scene::new();
        let places: Vec<PathBuf> = PLACES.iter().map(|place| scene.path("outside").join(place)).collect();
        for place in &places {
            fs::create_dir_all(place).unwrap();
            fs::write(place.join("file"), "x").unwrap();
        }
        let hold = [Hold::Workspace, Hold::Plain][usize::try_from(dice.roll(2)).unwrap()];
        let wide = SandboxSettings {
            writable: dice.some(&places),
            secrets: dice.some(&places),
            network: if dice.roll(2) == 0 { Network::On } else { Network::Off },
            ..settings(hold)
        };
        let mut narrow = wide.clone();
        narrow.writable.retain(|_| dice.roll(2) == 0);
        narrow.secrets.extend(dice.some(&places));
        if dice.roll(2) == 0 {
            narrow.network = Network::Off;
        }
        if dice.roll(3) == 0 {
            narrow.mode = SandboxMode::ReadOnly;
        }
        let (can, could) = (abilities(&scene, narrow.clone()), abilities(&scene, wide.clone()));
        let more: Vec<_> = can.difference(&could).collect();
        assert!(more.is_empty(), "round {round}: {more:?}\nnarrow {narrow:?}\nwide {wide:?}");
        let all = abilities(&scene, settings(Hold::Off));
        assert!(
            could.is_subset(&all) && all.len() == 22,
            "round {round}: without a sandbox everything works: {all:?}"
        );
    }
}
