//! Each rule with its page and its examples, `tests/corpus/rules/NAME.txt`.
#![expect(clippy::disallowed_methods, reason = "the files of the tests are read here, not by the guard")]

use std::fs;
use std::path::Path;

use bashtion_guard::{Decision, World, analyze, rules};

use crate::corpus::{every_rule, judge};

#[test]
fn every_rule_finds_its_examples_and_leaves_the_others() {
    let world = World::new("/home/dev/project", "/home/dev");
    for rule in rules() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/corpus/rules/{}.txt", rule.name));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut labels = vec![];
        for line in text.lines() {
            let (label, command) = line.split_once(' ').expect("a label and a command");
            let command = command.trim().replace("\\n", "\n");
            let verdict = every_rule().judge(&analyze(&command, &world), &world);
            let found = verdict.findings.iter().find(|finding| finding.rule == rule.name);
            let decision = found.map_or(Decision::Allow, |finding| finding.severity);
            assert_eq!(decision.to_string(), label, "{}: {command}: {:?}", rule.name, verdict.findings);
            assert!(found.is_none_or(|finding| !finding.message.is_empty() && !finding.help.is_empty()));
            labels.push(label.to_owned());
        }
        assert!(
            labels.contains(&rule.severity.to_string()),
            "{} has no example of its own severity",
            rule.name
        );
        assert!(labels.iter().any(|label| label == "allow"), "{} has no counter-example", rule.name);
    }
}

#[test]
fn a_rule_that_must_be_asked_for_says_nothing_by_itself() {
    let world = World::new("/home/dev/project", "/home/dev");
    assert_eq!(
        rules().filter(|rule| rule.optional).map(|rule| rule.name).collect::<Vec<_>>(),
        ["git-add-everything"]
    );
    assert_eq!(judge("git add -A && git commit -m x", &world).findings, []);
}

#[test]
fn every_page_says_why_and_what_to_do_instead() {
    for rule in rules() {
        for heading in ["## Why", "## Example", "## Instead"] {
            assert!(rule.page.contains(heading), "{} lacks {heading}", rule.name);
        }
    }
}

/// `UPDATE_DOCS=1 cargo test -p bashtion-guard docs` writes it anew.
#[test]
fn the_docs_are_the_pages() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    let generated = document();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &generated).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == generated,
        "docs/rules.md is not what the rules say; run UPDATE_DOCS=1 cargo test -p bashtion-guard docs"
    );
}

fn document() -> String {
    let mut text = "# Rules\n\nGenerated from the rules themselves. `bashtion check --rule NAME` shows one of them.\n\n| rule | at most | |\n|---|---|---|\n".to_owned();
    let line = |page: &str| page.lines().next().unwrap_or_default().trim().to_owned();
    for rule in rules() {
        text += &format!("| [{0}](#{0}) | {1} | {2} |\n", rule.name, at_most(&rule), line(rule.page));
    }
    for rule in rules() {
        let page: String =
            rule.page.lines().map(|line| format!("{}\n", line.trim().replace("## ", "### "))).collect();
        text += &format!("\n## {}\n\n{}", rule.name, page);
    }
    text
}

fn at_most(rule: &bashtion_guard::RulePage) -> String {
    let mark = if rule.optional { ", if asked for" } else { "" };
    format!("{}{mark}", rule.severity)
}

#[test]
fn what_bashtion_would_run_is_judged_like_anything() {
    let world = World::new("/home/dev/project", "/home/dev");
    for command in [
        "bashtion run -- 'rm -rf /'",
        "bashtion run --timeout 5s --json 'rm -rf /'",
        "bashtion run 'rm -rf /' --json",
        "/usr/bin/bashtion run --raw --timeout none -- 'cd / && rm -rf *' </dev/null",
        "echo 'rm -rf /' | bashtion run -",
        "timeout 5 bashtion run \"rm -rf /\"",
    ] {
        assert_eq!(judge(command, &world).decision, Decision::Deny, "{command}");
    }
    for command in [
        "bashtion run -- 'ls -la'", "bashtion check 'rm -rf /'", "bashtion tasks",
        "bashtion run -- \"$UNKNOWN\"", "bashtion run --cwd src 'make test'",
    ] {
        assert_eq!(judge(command, &world).decision, Decision::Allow, "{command}");
    }
}
