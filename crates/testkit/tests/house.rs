//! What the house rules say about the whole workspace, checked.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(["--locked".to_owned()])
        .exec()
        .unwrap()
}

/// The workspace packages that a package is built with, tests not counted.
fn uses(package: &Package, ours: &BTreeSet<&str>) -> BTreeSet<String> {
    let normal = package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal);
    normal.map(|dependency| dependency.name.clone()).filter(|name| ours.contains(name.as_str())).collect()
}

/// The rows `| folder | package | may use | … |` of ARCHITECTURE.md.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| `crates/"));
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        (names(cells[2])[0].clone(), names(cells[3]).into_iter().collect())
    })
    .collect()
}

#[test]
fn each_crate_uses_only_those_the_architecture_names() {
    let metadata = metadata();
    let packages = metadata.workspace_packages();
    let ours: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let real: BTreeMap<String, BTreeSet<String>> =
        packages.iter().map(|package| (package.name.to_string(), uses(package, &ours))).collect();
    assert_eq!(real, table());
}

#[test]
fn the_lower_crates_know_no_runtime() {
    let metadata = metadata();
    let sandbox =
        metadata.workspace_packages().into_iter().find(|p| p.name.as_str() == "bashtion-sandbox").unwrap();
    assert!(!sandbox.dependencies.iter().any(|dependency| dependency.name == "tokio"));
}

/// Whether a licence expression is satisfied by a list of licences.
fn is_allowed(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], "");
    expression.split(" AND ").all(|part| part.split(" OR ").any(|licence| allowed.contains(licence.trim())))
}

#[test]
fn every_dependency_has_a_licence_that_we_allow() {
    let deny = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let line = deny.lines().find(|line| line.starts_with("allow = [")).unwrap();
    let allowed: BTreeSet<&str> = line.split('"').skip(1).step_by(2).collect();
    for package in metadata().packages {
        let licence = package.license.unwrap_or_default();
        assert!(is_allowed(&licence, &allowed), "{} is under {licence:?}", package.name);
    }
}

#[test]
fn every_dependency_comes_from_the_registry() {
    for package in metadata().packages {
        if let Some(source) = package.source {
            assert!(source.is_crates_io(), "{} comes from {source}", package.name);
        }
    }
}

#[test]
fn unsafe_code_is_in_one_crate() {
    let expecting = files(&root().join("crates"), "rs")
        .into_iter()
        .filter(|(_, text)| text.contains(concat!("expect(", "unsafe_code")))
        .map(|(path, _)| path);
    for path in expecting {
        assert!(path.contains("crates/sandbox/src/"), "{path}");
    }
}

#[test]
fn every_threat_of_the_model_has_its_tests() {
    let model = std::fs::read_to_string(root().join("docs/threat-model.md")).unwrap();
    let rows = model.lines().filter_map(|line| line.strip_prefix("| T")?.get(..2));
    let told: BTreeSet<String> = rows.map(str::to_owned).collect();
    let mut tested = BTreeSet::new();
    for (_, text) in files(&root().join("crates/engine/tests/sandbox"), "rs") {
        let names = text.split_whitespace().filter_map(|word| word.strip_prefix('t')?.split_once('_'));
        tested.extend(
            names.map(|(number, _)| number.to_owned()).filter(|n| n.len() == 2 && n.parse::<u8>().is_ok()),
        );
    }
    assert_eq!(told, tested);
}

#[test]
fn no_file_is_too_long_to_read() {
    for (path, text) in files(&root().join("crates"), "rs") {
        assert!(text.lines().count() <= 500, "{path}");
    }
}

#[test]
fn the_quick_start_has_exactly_two_commands() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let section = readme.split("## Quick start").nth(1).unwrap().split("\n## ").next().unwrap();
    let block = section.split("```").nth(1).unwrap();
    let commands: Vec<_> =
        block.lines().skip(1).map(|line| line.split("  #").next().unwrap().trim()).collect();
    assert_eq!(commands, ["cargo run --release -- run 'echo hello'", "./scripts/test"]);
}

fn files(dir: &Path, extension: &str) -> Vec<(String, String)> {
    let mut found = vec![];
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
        }
    }
    found
}

/// The functions after `#[test]` and `#[tokio::test]` in a folder of tests.
fn tests_in(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names.extend(tests_in(&path));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let after_attribute = text.split("test]\n").skip(1).chain(text.split("test(flavor").skip(1));
        let name = |part: &str| Some(part.split("fn ").nth(1)?.split('(').next()?.to_owned());
        names.extend(after_attribute.filter_map(name));
    }
    names
}

#[test]
fn the_page_of_the_specifications_names_every_test_and_no_other() {
    let page = std::fs::read_to_string(root().join("docs/specifications.md")).unwrap();
    let tests = tests_in(&root().join("crates/cli/tests/specifications"));
    // The last column of each row.
    let rows = page.lines().filter_map(|line| line.strip_suffix('|')?.rsplit('|').next());
    let named: BTreeSet<&str> = rows
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter(|text| text.contains("::") && !text.contains([' ', '(', '<']))
        .filter_map(|text| text.rsplit("::").next())
        .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect();
    let is_named = |test: &str| {
        let fits =
            |name: &&str| name.strip_suffix('*').map_or(**name == *test, |prefix| test.starts_with(prefix));
        named.iter().any(fits)
    };
    let missing: Vec<_> = tests.iter().filter(|test| !is_named(test)).collect();
    assert!(missing.is_empty(), "tests that no criterion names: {missing:?}");
    let modules =
        ["calls", "checks", "running", "background", "experience", "input", "output", "ending", "screen"];
    let exists = |name: &str| match name.strip_suffix('*') {
        Some(prefix) => tests.iter().any(|test| test.starts_with(prefix)),
        None => tests.contains(name) || modules.contains(&name),
    };
    let wrong: Vec<_> = named.iter().filter(|name| !exists(name)).collect();
    assert!(wrong.is_empty(), "criteria that name no test: {wrong:?}");
    assert!(tests.len() > 300, "{}", tests.len());
}
