//! Phoenix, "Bash Tool": REQ-BASH-001 to 011, sentence by sentence.

mod context;
mod execution;
mod landlock;
mod safety;
mod tool;

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Duration;

use bashtion::calls::{self, Placement, Vendor};
use bashtion::{
    CancellationToken, Engine, Landlock, Profile, Request, Status, TaskState, ToolContext, landlock_lacks,
};
use bashtion_testkit::{
    Finished, Life, World, in_a_thread_without_landlock, living_with, state_of, wait_until,
};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world;

fn run_with(world: &World, options: &[&str], command: &str) -> Finished {
    world.run_with(&[&["--json", "--profile", "phoenix"], options].concat(), command).finish()
}

fn run(world: &World, command: &str) -> Value {
    run_with(world, &[], command).json()
}

fn restricted(world: &World, command: &str) -> Finished {
    world.run_with(&["--json", "--profile", "phoenix-restricted"], command).finish()
}

fn setting(profile: &str, key: &str) -> Value {
    let shown = world().bashtion().args(&["config", "show", "--json", "--profile", profile]).finish().json();
    shown.as_array().unwrap().iter().find(|setting| setting["key"] == key).unwrap()["value"].clone()
}

fn decision(command: &str) -> (Value, Value) {
    let json = world().bashtion().args(&["check", "--json", "--profile", "phoenix", command]).finish().json();
    (json["decision"].clone(), json["verdict"]["findings"][0]["rule"].clone())
}

fn rejects(command: &str, rule: &str) {
    assert_eq!(decision(command), ("deny".into(), rule.into()), "{command}");
}

fn allows(command: &str) {
    assert_eq!(decision(command), ("allow".into(), Value::Null), "{command}");
}

fn schema(profile: &str) -> Value {
    world().bashtion().args(&["schema", "--format", "anthropic", "--profile", profile]).finish().json()
}

fn engine(dir: &TempDir) -> Engine {
    let profile = Profile::built_in("phoenix").unwrap();
    Engine::builder().profile(&profile).state_dir(dir.path().join("state")).build()
}
