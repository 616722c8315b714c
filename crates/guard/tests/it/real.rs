//! Commands of public logs, which are not ours and lie beside the repository; what each that is stopped deserves is written down here.
#![expect(clippy::disallowed_methods, reason = "the corpus is read here, not by the guard")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use bashtion_guard::{Decision, World};
use sha2::{Digest as _, Sha256};

use crate::corpus::judge;

const LABELS: &str = include_str!("../corpus/real-labels.tsv");

/// What a command deserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Allow,
    Ask,
    Deny,
    /// Bash refuses the text, so nothing would run.
    Invalid,
}

/// By the SHA-256 of the row.
fn labels() -> BTreeMap<&'static str, Label> {
    let label = |line: &'static str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [row, label, reason] = columns[..] else { panic!("not three columns: {line}") };
        assert!(row.len() == 64 && !reason.is_empty(), "{line}");
        let label = match label {
            "allow" => Label::Allow,
            "ask" => Label::Ask,
            "deny" => Label::Deny,
            "invalid" => Label::Invalid,
            other => panic!("no such label: {other}"),
        };
        (row, label)
    };
    let labels: BTreeMap<_, _> = LABELS.lines().skip(1).map(label).collect();
    assert_eq!(labels.len(), LABELS.lines().count() - 1, "a row is labelled twice");
    labels
}

#[test]
fn what_agents_do_all_day_is_seldom_stopped_wrongly() {
    let labels = labels();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/real-commands.tsv");
    let Ok(rows) = fs::read_to_string(&path) else {
        // It is not part of the repository.
        assert!(std::env::var_os("CI").is_none(), "missing: {}", path.display());
        return;
    };
    let world = World::new("/home/dev/project", "/home/dev");
    let (mut agents, mut wrong, mut mistakes) = (0, 0, vec![]);
    for row in rows.lines().skip(1) {
        let mut columns = row.split('\t');
        let (Some(source), Some(command)) = (columns.next(), columns.next()) else { panic!("{row}") };
        let is_agent = matches!(source, "tb-mini-swe-agent" | "claude-code-sessions" | "swe-agent-trajs");
        agents += usize::from(is_agent);
        let command: String = serde_json::from_str(command).expect("a JSON string");
        let decision = judge(&command, &world).decision;
        if decision == Decision::Allow {
            continue;
        }
        let digest = hex(&Sha256::digest(row.as_bytes()));
        match (decision, labels.get(digest.as_str())) {
            (_, None) => mistakes.push(format!("{decision} without a label ({digest}): {command}")),
            (Decision::Deny, Some(Label::Allow | Label::Ask)) => {
                mistakes.push(format!("wrongly denied: {command}"));
            }
            (Decision::Ask, Some(Label::Allow)) => wrong += usize::from(is_agent),
            (_, Some(_)) => {}
        }
    }
    assert!(mistakes.is_empty(), "{}:\n{}", mistakes.len(), mistakes.join("\n"));
    assert!(agents > 1_500, "the corpus has lost its rows");
    assert!(wrong * 500 <= agents, "{wrong} of {agents} commands of agents are stopped wrongly");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
