//! What every agent is put through.

use std::fs;

use serde_json::{Value, json};

use crate::desk::{Desk, Talk};
use crate::model::Model;

/// Denied by the default profile, and without effect even if it ran: there is no such device.
const DENIED: &str = "mkfs.ext4 /dev/no-such-device; touch ran";

/// Allowed by the default profile; the last line tells who runs it.
const HARMLESS: &str = "touch ran; printf 'marker-%d\\n' 42; grep NoNewPrivs /proc/self/status";

/// One of the agents: how it is set up, and how it is asked.
pub(crate) trait Agent {
    /// What `bashtion hook` calls it.
    const NAME: &str;
    /// What it calls the tool of our server.
    const OUR_TOOL: &str;
    /// How it shows to its model that a command of our server has ended with 7.
    const EXIT_7: &str;
    /// Its own tool for commands.
    const SHELL: &str;

    /// What its own tool takes.
    fn for_shell(command: &str) -> Value;
    /// Writes its configuration, with our server or without.
    fn set_up(desk: &Desk, model: &Model, server: Server);
    /// What a user does besides to have hooks that work.
    fn trust_hooks(_: &Desk) {}
    /// Asks it to do something.
    fn ask(desk: Desk, model: Model) -> Talk;
}

/// Whether the agent has our server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    Ours,
    None,
}

/// The model calls the tool of our server, which runs the command and tells what came of it.
pub(crate) fn runs_our_tool_over_mcp<A: Agent>() {
    let Some(talk) = served::<A>("printf 'marker-%d' 42 | tee ran; exit 7") else { return };
    assert!(talk.left("ran"), "{talk}");
    let result = result_of(&talk);
    assert!(result.contains("marker-42") && result.contains(A::EXIT_7), "{result}: {talk}");
}

/// The model is told why our tool runs nothing.
pub(crate) fn our_tool_refuses_over_mcp<A: Agent>() {
    let Some(talk) = served::<A>(DENIED) else { return };
    assert!(!talk.left("ran"), "{talk}");
    assert!(result_of(&talk).contains("destroys"), "{talk}");
}

fn served<A: Agent>(command: &str) -> Option<Talk> {
    let desk = Desk::new()?;
    let model = Model::that_calls(A::OUR_TOOL, json!({ "command": command }));
    A::set_up(&desk, &model, Server::Ours);
    Some(A::ask(desk, model))
}

/// The model calls the agent's own tool; our hook is asked first, and its reason is what the model gets to see.
pub(crate) fn hook_denies_before_it_runs<A: Agent>() {
    let Some(talk) = guarded::<A>(&[], DENIED, |desk| {
        A::trust_hooks(desk);
        assert!(fires::<A>(desk));
    }) else {
        return;
    };
    assert!(!talk.left("ran"), "{talk}");
    assert!(result_of(&talk).contains("destroys"), "{talk}");
}

/// The same with a harmless command: so the other can fail.
pub(crate) fn hook_lets_the_harmless_run<A: Agent>() {
    let Some(talk) = guarded::<A>(&[], HARMLESS, A::trust_hooks) else { return };
    assert!(talk.left("ran"), "{talk}");
    let result = result_of(&talk);
    assert!(result.contains("marker-42") && result.contains("NoNewPrivs:\t0"), "{result}: {talk}");
}

/// The same, run by us in place of the agent.
pub(crate) fn hook_confines<A: Agent>() {
    let Some(talk) = guarded::<A>(&["--confine"], HARMLESS, A::trust_hooks) else { return };
    assert!(talk.left("ran"), "{talk}");
    let result = result_of(&talk);
    assert!(result.contains("marker-42") && result.contains("NoNewPrivs:\t1"), "{result}: {talk}");
}

/// The harmless command again, when the program that the hook starts has been removed.
pub(crate) fn hook_without_its_program_denies<A: Agent>() {
    let Some(talk) = guarded::<A>(&[], HARMLESS, |desk| {
        A::trust_hooks(desk);
        fs::remove_file(desk.bashtion()).unwrap();
    }) else {
        return;
    };
    assert!(!talk.left("ran"), "{talk}");
    result_of(&talk);
}

/// The first again, with a hook that is there and not trusted.
pub(crate) fn hook_is_passed_over_untrusted<A: Agent>() {
    let Some(talk) = guarded::<A>(&[], DENIED, |desk| assert!(!fires::<A>(desk))) else { return };
    assert!(talk.left("ran"), "{talk}");
}

fn guarded<A: Agent>(options: &[&str], command: &str, then: impl Fn(&Desk)) -> Option<Talk> {
    let desk = Desk::new()?;
    let model = Model::that_calls(A::SHELL, A::for_shell(command));
    A::set_up(&desk, &model, Server::None);
    let installed = desk.run(&[&["hook", A::NAME, "--install"], options].concat());
    assert!(installed.status.success(), "{installed:?}");
    then(&desk);
    Some(A::ask(desk, model))
}

/// What `bashtion doctor` thinks of the hook.
fn fires<A: Agent>(desk: &Desk) -> bool {
    let told: Value = serde_json::from_slice(&desk.run(&["doctor", "--json"]).stdout).unwrap();
    let hooks = told["hooks"].as_array().unwrap();
    hooks.iter().any(|hook| hook["agent"] == A::NAME && hook["fires"] == true)
}

/// What the model was shown, by an agent that went on to the end.
fn result_of(talk: &Talk) -> String {
    assert!(talk.status.success(), "{talk}");
    talk.model.result().unwrap_or_else(|| panic!("no result was shown: {talk}"))
}
