//! `server.json`, which tells the MCP registry what there is and how it is started.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

const FILE: &str = include_str!("../../../../server.json");

#[test]
fn it_names_this_version_and_keeps_to_the_limits_of_the_registry() {
    let server: Value = serde_json::from_str(FILE).unwrap();
    assert_eq!(server["name"], "io.github.bashtion/bashtion");
    assert_eq!(server["version"], env!("CARGO_PKG_VERSION"));
    let length = |field: &str| server[field].as_str().unwrap().chars().count();
    assert!((1..=100).contains(&length("description")), "{}", length("description"));
    assert!((1..=100).contains(&length("title")));
    for package in server["packages"].as_array().unwrap() {
        assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
        // Those that the registry takes.
        let kind = package["registryType"].as_str().unwrap();
        assert!(["npm", "pypi", "nuget", "oci", "mcpb"].contains(&kind), "{kind}");
        assert_eq!(package["transport"]["type"], "stdio");
    }
}

/// The start that it describes, with all that can be chosen, is one that the program understands.
#[test]
fn the_program_has_the_arguments_that_it_names() {
    let server: Value = serde_json::from_str(FILE).unwrap();
    let arguments = server["packages"][0]["packageArguments"].as_array().unwrap();
    assert_eq!((&arguments[0]["type"], &arguments[0]["value"]), (&"positional".into(), &"serve".into()));
    let help = Command::new(env!("CARGO_BIN_EXE_bashtion")).args(["serve", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for argument in &arguments[1..] {
        let name = argument["name"].as_str().unwrap();
        let (_, about) =
            help.split_once(&format!("      {name} <")).unwrap_or_else(|| panic!("{name}: {help}"));
        let Some(choices) = argument["choices"].as_array() else { continue };
        let (_, known) = about.split_once("[possible values: ").unwrap();
        let known: BTreeSet<&str> = known.split(']').next().unwrap().split(", ").collect();
        assert_eq!(choices.iter().map(|choice| choice.as_str().unwrap()).collect::<BTreeSet<_>>(), known);
    }
}
