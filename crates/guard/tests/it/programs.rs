//! Each program with its page, its examples, and the document made of them.
#![expect(clippy::disallowed_methods, reason = "the files of the tests are read here, not by the guard")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use bashtion_guard::{Decision, World, programs};

use crate::corpus::judge;

#[test]
fn every_program_is_stopped_and_let_through_as_its_page_says() {
    let world = World::new("/home/dev/project", "/home/dev");
    let mut mistakes = vec![];
    for program in programs() {
        let name = program.names[0];
        assert!(!program.stopped.is_empty() && !program.allowed.is_empty(), "{name} has no examples");
        for command in program.stopped {
            if judge(command, &world).decision == Decision::Allow {
                mistakes.push(format!("{name}: allowed: {command}"));
            }
        }
        for command in program.allowed {
            let verdict = judge(command, &world);
            if verdict.decision != Decision::Allow {
                mistakes.push(format!("{name}: {}: {command}: {:?}", verdict.decision, verdict.findings));
            }
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn every_program_has_one_page() {
    let mut seen = BTreeSet::new();
    for name in programs().flat_map(|program| program.names) {
        assert!(seen.insert(*name), "{name} has two pages");
    }
}

/// `UPDATE_DOCS=1 cargo test -p bashtion-guard docs` writes it anew.
#[test]
fn the_docs_are_the_programs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/programs.md");
    let mut generated = "# Programs\n\nGenerated from the pages of the programs in `crates/guard/src/programs`. What a page does not say is not known, and what is not known is asked about where it could matter.\n".to_owned();
    for program in programs() {
        let names: Vec<String> = program.names.iter().map(|name| format!("`{name}`")).collect();
        generated += &format!("\n## {}\n\n{}", names.join(", "), program.page);
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &generated).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == generated,
        "docs/programs.md is not what the pages say; run UPDATE_DOCS=1 cargo test -p bashtion-guard docs"
    );
}
