//! Our parser against bash itself: whatever bash runs, we must have seen.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "real bash is the referee")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use bashtion_guard::{Analysis, Decision, PermissionSettings, Permissions, Policy, World, analyze};

use crate::scripts::{Dice, script};

const SCRIPTS: u64 = 2_000;

/// As many as this says instead: `BASHTION_SCRIPTS=20000 cargo nextest run -p bashtion-guard differential`.
const COUNT: &str = "BASHTION_SCRIPTS";

/// Every command that bash did not find is told to this, with its arguments.
const PRELUDE: &str = r#"
command_not_found_handle() {
    # Two may write at once: in one piece, without a newline that would end it early.
    local line; printf -v line '%s\x1f' "${@//$'\n'/$'\x1d'}"; printf '%s\x1e' "$line" >> "$SEEN"
    (( ${1#c} % 2 ))
}
"#;

#[derive(Default)]
struct Tally {
    run: u64,
    opaque: Vec<String>,
    wrong: Vec<String>,
}

#[test]
fn everything_that_bash_runs_was_seen() {
    let count: u64 = std::env::var(COUNT).map_or(SCRIPTS, |count| count.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("prelude"), PRELUDE).unwrap();
    let half = |first: u64| {
        let mut tally = Tally::default();
        (first..count).step_by(2).for_each(|seed| compare(seed, directory.path(), &mut tally));
        tally
    };
    let [even, odd] = thread::scope(|scope| {
        [0, 1].map(|first| scope.spawn(move || half(first))).map(|t| t.join().unwrap())
    });
    let run = even.run + odd.run;
    let (wrong, opaque) = ([even.wrong, odd.wrong].concat(), [even.opaque, odd.opaque].concat());
    assert!(wrong.is_empty(), "{} of {run} scripts were misread, for example:\n{}", wrong.len(), wrong[0]);
    assert!(run > count * 8 / 10, "only {run} of {count} scripts were valid bash");
    let most = usize::try_from(run / 100).unwrap();
    assert!(opaque.len() <= most, "{} of {run} were opaque, for example:\n{}", opaque.len(), opaque[0]);
}

fn compare(seed: u64, directory: &Path, tally: &mut Tally) {
    let text = script(&mut Dice::new(seed + 1));
    let Some(ran) = by_bash(&text, directory, seed) else { return };
    tally.run += 1;
    let analysis = analyze(&text, &World::new("/workspace", "/home/dev"));
    if !analysis.opaque.is_empty() {
        tally.opaque.push(format!("{:?}\n{text}", analysis.opaque));
        return;
    }
    if let Some(text) = allowed_unnamed(&text, &ran, &analysis) {
        tally.wrong.push(text);
    }
    let missed: Vec<_> = ran.iter().filter(|command| !was_seen(command, &analysis)).collect();
    let invented: Vec<_> =
        analysis.commands.iter().map(|found| &found.program).filter(|name| is_text(name)).collect();
    if !missed.is_empty() || !invented.is_empty() {
        let seen: Vec<_> = analysis.commands.iter().map(bashtion_guard::Found::shown).collect();
        tally.wrong.push(format!(
            "script:\n{text}\nunseen by us: {missed:?}\ninvented by us: {invented:?}\nwe saw: {seen:?}"
        ));
    }
}

/// An allow list that names every command but one that bash ran must not allow the script.
fn allowed_unnamed(text: &str, ran: &BTreeSet<Vec<String>>, analysis: &Analysis) -> Option<String> {
    let world = World::new("/workspace", "/home/dev");
    let named: BTreeSet<&str> = analysis.commands.iter().map(|found| found.program.as_str()).collect();
    let ran: BTreeSet<&str> = ran.iter().map(|command| command[0].as_str()).collect();
    // One is as good as another, and judging takes its time.
    ran.into_iter().next_back().and_then(|left_out| {
        let others = named.iter().filter(|name| name.starts_with('c') && **name != left_out);
        let allow = others.map(|name| format!("{name} *")).chain(["> *".to_owned()]).collect();
        let settings = PermissionSettings { default: Decision::Ask, allow, ..PermissionSettings::default() };
        let permissions = Permissions::new(&settings).expect("the names are plain");
        let verdict = Policy::default().permissions(permissions).judge(analysis, &world);
        (verdict.decision == Decision::Allow)
            .then(|| format!("{left_out} was allowed without an entry:\n{text}"))
    })
}

fn is_text(name: &str) -> bool {
    name.starts_with('t') && name[1..].starts_with(|c: char| c.is_ascii_digit())
}

/// The commands that bash looked for, or none if the script is not valid.
fn by_bash(text: &str, directory: &Path, seed: u64) -> Option<BTreeSet<Vec<String>>> {
    // One for each script: something that it left in the background may write late.
    let seen = directory.join(format!("seen-{seed}"));
    let output = Command::new("/bin/bash")
        .args(["-c", text])
        .current_dir(directory)
        .env_clear()
        .envs([("PATH", "/nonexistent"), ("HOME", "/home/dev"), ("LC_ALL", "C.UTF-8")])
        .env("BASH_ENV", directory.join("prelude"))
        .env("SEEN", &seen)
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    if complaint.contains("syntax error") || complaint.contains("unexpected EOF") {
        return None;
    }
    let log = fs::read_to_string(&seen).unwrap_or_default();
    let command = |line: &str| {
        line.trim_end_matches('\x1f').split('\x1f').map(|word| word.replace('\x1d', "\n")).collect()
    };
    Some(log.split('\x1e').filter(|line| line.starts_with('c')).map(command).collect())
}

/// Whether one of the commands we found has this name and could have these arguments.
fn was_seen(command: &[String], analysis: &Analysis) -> bool {
    analysis.commands.iter().any(|found| {
        let known: Vec<&str> = found.arguments.iter().filter_map(|argument| argument.value()).collect();
        let exact = known.len() == found.arguments.len();
        found.program == command[0]
            && (!exact
                || known.iter().all(|argument| {
                    command[1..].iter().any(|own| own == argument || argument.starts_with("/dev/fd/"))
                }))
    })
}
