//! Permissions: a table of settings and commands, and what must hold for all of them.

use bashtion_guard::{
    DecidedBy, Decision, PermissionLayer, PermissionSettings, Permissions, Policy, Verdict, World, analyze,
};

use crate::corpus;

const TABLE: &str = include_str!("../corpus/permissions.txt");

fn world() -> World {
    World::new("/home/dev/project", "/home/dev")
}

fn policy(settings: &PermissionSettings) -> Policy {
    Policy::default().permissions(Permissions::new(settings).unwrap())
}

fn judged(policy: &Policy, command: &str) -> Verdict {
    policy.judge(&analyze(command, &world()), &world())
}

fn decision(word: &str) -> Decision {
    match word {
        "allow" => Decision::Allow,
        "ask" => Decision::Ask,
        "deny" => Decision::Deny,
        other => panic!("no such decision: {other}"),
    }
}

fn allowing(entries: &[&str]) -> PermissionSettings {
    let allow = entries.iter().map(|entry| (*entry).to_owned()).collect();
    PermissionSettings { default: Decision::Ask, allow, ..PermissionSettings::default() }
}

#[test]
fn the_table_is_judged_as_it_says() {
    let mut settings = PermissionSettings::default();
    let mut wrong = vec![];
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        if let Some(default) = line.strip_prefix("== default ") {
            settings = PermissionSettings { default: decision(default), ..PermissionSettings::default() };
        } else if let Some((list, entry)) = line.strip_prefix('+').and_then(|line| line.split_once(' ')) {
            match decision(list) {
                Decision::Allow => settings.allow.push(entry.to_owned()),
                Decision::Ask => settings.ask.push(entry.to_owned()),
                Decision::Deny => settings.deny.push(entry.to_owned()),
            }
        } else {
            let (expected, command) = line.split_at(7);
            let command = command.replace('⏎', "\n");
            let verdict = judged(&policy(&settings), &command);
            if verdict.decision != decision(expected.trim()) {
                wrong.push(format!("{} -> {}  {command:?}", expected.trim(), verdict.decision));
            }
        }
    }
    assert!(wrong.is_empty(), "{} lines:\n{}", wrong.len(), wrong.join("\n"));
}
