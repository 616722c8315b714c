//! What somebody has to agree to: asked through the client in both eras, or kept for later.

use bashtion_testkit::World;
use serde_json::{Value, json};

use crate::stdio::{Client, modern, text};
use crate::world;

/// Asked about, and harmless: there is nothing to lose in an empty repository.
const COMMAND: &str = "git init -q . && git reset --hard; echo ran";

fn elicits() -> Value {
    json!({"elicitation": {"form": {}}})
}

fn asked(client: &mut Client) -> Value {
    client.wait_for("a question", |message| message["method"] == "elicitation/create")
}

#[test]
fn an_older_client_is_asked_while_the_call_waits() {
    let world = world();
    let mut client = Client::with_capabilities(&world, &[], &elicits());
    let id = client.call("bash", &json!({"command": COMMAND}));
    let question = asked(&mut client);
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("May this command run?") && message.contains("| git init -q ."), "{message}");
    assert!(message.contains("git-history") && message.contains("how it would run"), "{message}");
    assert_eq!(question["params"]["requestedSchema"]["required"], json!(["decision"]));
    let yes = json!({"action": "accept", "content": {"decision": "run it"}});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": yes}));
    let answer = client.answer(id);
    assert!(text(&answer["result"]).contains("\nran"), "{answer}");
}

#[test]
fn only_a_clear_yes_is_one() {
    let world = world();
    let mut client = Client::with_capabilities(&world, &[], &elicits());
    let answers = [
        (json!({"action": "decline"}), "refused", "has refused it"),
        (
            json!({"action": "accept", "content": {"decision": "do not run it", "reason": "not today"}}),
            "refused",
            "not today",
        ),
        (json!({"action": "accept"}), "refused", "has refused it"),
        (json!({"action": "accept", "content": {"decision": true}}), "refused", "has refused it"),
        (json!({"action": "cancel"}), "needs_approval", "waits for the user's approval"),
    ];
    for (given, status, said) in answers {
        let id = client.call("bash", &json!({"command": COMMAND}));
        let question = asked(&mut client);
        client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": given}));
        let answer = client.answer(id);
        assert_eq!(answer["result"]["structuredContent"]["status"], status, "{given}: {answer}");
        assert!(text(&answer["result"]).contains(said), "{given}: {answer}");
    }
    assert!(!world.work().join(".git").exists(), "nothing was run");
}

#[test]
fn what_would_deceive_the_user_is_made_visible() {
    let world = world();
    let mut client = Client::with_capabilities(&world, &[], &elicits());
    client.call("bash", &json!({"command": "git reset --hard # \u{202e}\u{200b}\r\u{1b}[2K fine"}));
    let question = asked(&mut client);
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("# <U+202E><U+200B>␍␛[2K fine"), "{message}");
    assert!(message.contains("characters that may look like others"), "{message}");
}

/// A call of protocol 2026-07-28.
fn modern_call(client: &mut Client, arguments: &Value, more: &Value) -> Value {
    let mut params = json!({"name": "bash", "arguments": arguments, "_meta": modern(&elicits())});
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    let id = client.request("tools/call", &params);
    client.answer(id)["result"].clone()
}

fn brought(first: &Value, response: &Value) -> Value {
    json!({"requestState": first["requestState"], "inputResponses": {"approval": response}})
}

#[test]
fn a_newer_client_gets_the_question_as_a_result_and_brings_the_answer() {
    let world = world();
    let mut client = Client::silent(&world, &[]);
    let first = modern_call(&mut client, &json!({"command": COMMAND}), &json!({}));
    assert_eq!(first["resultType"], "input_required", "{first}");
    let request = &first["inputRequests"]["approval"];
    assert_eq!(request["method"], "elicitation/create");
    assert!(request["params"]["message"].as_str().unwrap().contains("git reset --hard"));
    let yes = json!({"action": "accept", "content": {"decision": "run it"}});
    let second = modern_call(&mut client, &json!({"command": COMMAND}), &brought(&first, &yes));
    assert!(second["resultType"] == "complete" && text(&second).contains("\nran"), "{second}");
    let replayed = modern_call(&mut client, &json!({"command": COMMAND}), &brought(&first, &yes));
    assert_eq!(replayed["resultType"], "input_required", "an answer is used once");
    let no = json!({"action": "decline"});
    let third = modern_call(&mut client, &json!({"command": COMMAND}), &brought(&replayed, &no));
    assert_eq!(third["structuredContent"]["status"], "refused");
}

#[test]
fn an_answer_is_for_what_was_asked_and_cannot_be_made_up() {
    let world = world();
    let mut client = Client::silent(&world, &[]);
    let first = modern_call(&mut client, &json!({"command": COMMAND}), &json!({}));
    let yes = json!({"action": "accept", "content": {"decision": "run it"}});
    let other = json!({"command": format!("{COMMAND}; echo more")});
    let elsewhere = json!({"command": COMMAND, "env": {"COLOUR": "blue"}});
    for arguments in [&other, &elsewhere] {
        let result = modern_call(&mut client, arguments, &brought(&first, &yes));
        assert_ne!(result["resultType"], "complete", "{result}");
    }
    let state = first["requestState"].as_str().unwrap();
    let forged =
        [format!("{state}x"), state.replace('a', "b"), state[..state.len() / 2].to_owned(), String::new()];
    for state in forged.iter().filter(|forged| *forged != state) {
        let more = json!({"requestState": state, "inputResponses": {"approval": yes}});
        let result = modern_call(&mut client, &json!({"command": COMMAND}), &more);
        assert_eq!(result["resultType"], "input_required", "{state}: {result}");
    }
    // Another server has another key.
    let mut client = Client::silent(&world, &[]);
    let result = modern_call(&mut client, &json!({"command": COMMAND}), &brought(&first, &yes));
    assert_eq!(result["resultType"], "input_required");
    assert!(!world.work().join(".git").exists(), "nothing was run");
}

fn waiting(client: &mut Client) -> String {
    let result = client.bash(COMMAND);
    assert_eq!(
        (&result["structuredContent"]["status"], &result["isError"]),
        (&json!("needs_approval"), &json!(false))
    );
    let id = result["structuredContent"]["approval_id"].as_str().unwrap().to_owned();
    assert!(text(&result).contains(&id), "{result}");
    id
}

fn answer(world: &World, args: &[&str]) {
    let finished = world.bashtion().args(args).finish();
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr());
}

#[test]
fn who_cannot_be_asked_is_told_the_name_of_the_question() {
    let world = world();
    let mut client = Client::new(&world);
    let id = waiting(&mut client);
    let look = |client: &mut Client, ms: u64| {
        client.result("approval", &json!({"approval_id": id, "timeout_ms": ms}))["structuredContent"]["state"]
            .clone()
    };
    assert_eq!(look(&mut client, 0), "waiting");
    answer(&world, &["approve", &id, "--yes"]);
    assert_eq!(look(&mut client, 30_000), "approved");
    assert!(text(&client.bash(COMMAND)).contains("\nran"));
    assert_eq!(look(&mut client, 0), "used");
    let denied = waiting(&mut client);
    answer(&world, &["deny", &denied, "--reason", "never here"]);
    assert!(text(&client.bash(COMMAND)).contains("never here"));
}

#[test]
fn never_asks_nobody_and_always_asks_nobody_either() {
    let world = world();
    let mut client = Client::with_capabilities(&world, &["--approve", "never"], &elicits());
    let result = client.bash(COMMAND);
    assert_eq!(result["structuredContent"]["status"], "needs_approval", "{result}");
    assert!(result["structuredContent"].get("approval_id").is_none(), "{result}");
    let mut client = Client::with_capabilities(&world, &["--approve", "always"], &elicits());
    assert!(text(&client.bash(COMMAND)).contains("\nran"));
    assert_eq!(client.bash("rm -rf /")["structuredContent"]["status"], "refused");
}
