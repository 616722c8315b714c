//! The examples, with a model that follows a script, and a command that really runs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bashtion_testkit::{living_with, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::agent;
use crate::desk::Desk;
use crate::model::Model;
use crate::serving::{node, python};

const COMMAND: &str = "printf 'marker-%d\\n' 42 | tee ran; exit 7";

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(path)
}

/// The model has the command run, sees what came of it, and says that it is done.
fn runs_a_command(agent: impl FnOnce(&Desk) -> Command) {
    let Some(desk) = Desk::new() else { return };
    let model = Model::that_calls("bash", json!({ "command": COMMAND }));
    let agent = set_up(agent, &desk, &model);
    let talk = desk.talk(agent, model);
    assert!(talk.status.success(), "{talk}");
    assert!(talk.left("ran"), "{talk}");
    let result = talk.model.result().unwrap_or_else(|| panic!("no result was shown: {talk}"));
    assert!(result.starts_with("exit 7 after ") && result.ends_with("\nmarker-42"), "{result}: {talk}");
    assert!(talk.to_string().contains("== its stdout\nI am done.\n"), "{talk}");
}

/// What a command prints is shown while it runs; one that would not end by itself is gone when the agent is interrupted.
fn ends_a_command_with_itself(agent: impl FnOnce(&Desk) -> Command) {
    let Some(desk) = Desk::new() else { return };
    let sleep = format!("sleep 98765.{}", std::process::id());
    let model = Model::that_calls("bash", json!({ "command": format!("echo begun; {sleep}") }));
    let mut agent = set_up(agent, &desk, &model).stderr(Stdio::piped()).spawn().unwrap();
    let mut shown = BufReader::new(agent.stderr.take().unwrap()).lines();
    assert_eq!(shown.next().unwrap().unwrap(), "begun");
    assert!(!living_with(&sleep).is_empty());
    // As Ctrl-C does, but to the agent alone: the server has to hear of it from the agent.
    let timeout = agent.id();
    let children = fs::read_to_string(format!("/proc/{timeout}/task/{timeout}/children")).unwrap();
    kill(Pid::from_raw(children.trim().parse().unwrap()), Signal::SIGINT).unwrap();
    wait_until("the command is gone", || living_with(&sleep).is_empty());
    assert_eq!(agent.wait().unwrap().code(), Some(130), "{:?}", shown.collect::<Vec<_>>());
}

fn set_up(agent: impl FnOnce(&Desk) -> Command, desk: &Desk, model: &Model) -> Command {
    let mut agent = agent(desk);
    agent.arg("Go on.").env("BASHTION", desk.bashtion()).env("BASE_URL", format!("{}/v1", model.url()));
    agent
}

#[test]
fn python_runs_a_command() {
    runs_a_command(|desk| python(desk, &example("python/agent.py")));
}

#[test]
fn python_ends_a_command_with_itself() {
    ends_a_command_with_itself(|desk| python(desk, &example("python/agent.py")));
}

#[test]
fn typescript_runs_a_command() {
    runs_a_command(|desk| node(desk, &example("typescript/agent.mjs")));
}

#[test]
fn typescript_ends_a_command_with_itself() {
    ends_a_command_with_itself(|desk| node(desk, &example("typescript/agent.mjs")));
}

/// It needs nothing that would have to be installed.
#[tokio::test]
async fn rust_runs_a_command() {
    let dir = tempfile::tempdir().unwrap();
    let model = Model::that_calls("bash", json!({ "command": COMMAND }));
    let asked = agent::Model { base_url: format!("{}/v1", model.url()), name: "scripted".to_owned() };
    let said = agent::agent(&asked, "Go on.", dir.path()).await.unwrap();
    assert_eq!(said, "I am done.", "{}", model.log());
    assert!(dir.path().join("ran").exists(), "{}", model.log());
    let result: serde_json::Value = serde_json::from_str(&model.result().unwrap()).unwrap();
    assert_eq!((&result["exit_code"], &result["stdout"]), (&json!(7), &json!("marker-42\n")), "{result}");
}
