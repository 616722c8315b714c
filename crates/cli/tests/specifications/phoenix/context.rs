//! REQ-BASH-010 and 011: the context, and the command as it is shown.

use super::*;

// REQ-BASH-010: Stateless tool with context injection

#[tokio::test]
async fn req_bash_010_the_working_directory_comes_from_the_context() {
    let (state, one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let engine = engine(&state);
    for dir in [&one, &two, &one] {
        let outcome = engine.run(Request::new("pwd"), &ToolContext::from_host(dir.path())).await.unwrap();
        assert_eq!(outcome.output.stdout().trim(), dir.path().canonicalize().unwrap().to_str().unwrap());
    }
}

#[tokio::test]
async fn req_bash_010_the_contexts_token_cancels() {
    let dir = TempDir::new().unwrap();
    let cancel = CancellationToken::new();
    let context = ToolContext::from_host(dir.path()).cancel(cancel.clone());
    let (engine, up) = (engine(&dir), dir.path().join("up"));
    let run = engine.run(Request::new("echo begun; touch up; sleep 4403.3"), &context);
    let stop = async {
        while !up.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(run, stop);
    let outcome = outcome.unwrap();
    assert_eq!(
        (outcome.status, outcome.text.as_deref()),
        (Status::Cancelled, Some("begun\n[command cancelled]"))
    );
    assert_eq!(living_with("sleep 4403.3"), Vec::<i32>::new());
}

#[tokio::test]
async fn req_bash_010_nothing_of_one_conversation_is_left_for_the_next() {
    let dir = TempDir::new().unwrap();
    let engine = engine(&dir);
    let first = ToolContext::from_host(dir.path()).env("TALK", "one");
    engine.run(Request::new("cd /; export SET=1; echo $TALK"), &first).await.unwrap();
    let second = ToolContext::from_host(dir.path());
    let outcome = engine.run(Request::new("echo ${SET-unset} ${TALK-unset}; pwd"), &second).await.unwrap();
    let here = dir.path().canonicalize().unwrap();
    assert_eq!(outcome.output.stdout(), format!("unset unset\n{}\n", here.display()));
}

#[tokio::test]
async fn req_bash_010_one_tool_serves_conversations_at_once() {
    let (state, one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let engine = engine(&state);
    let contexts = [&one, &two].map(|dir| ToolContext::from_host(dir.path()));
    let meet = |other: &TempDir| {
        Request::new(format!(
            "touch here; while [ ! -e {}/here ]; do sleep 0.01; done",
            other.path().display()
        ))
    };
    let both = tokio::join!(engine.run(meet(&two), &contexts[0]), engine.run(meet(&one), &contexts[1]));
    assert!(both.0.unwrap().success() && both.1.unwrap().success());
}

// REQ-BASH-011: Display command simplification

/// What is shown of a command in which `HERE` stands for the working directory.
fn display(command: &str) -> (String, String) {
    let world = world();
    let here = world.work().to_str().unwrap().to_owned();
    let json = run(&world, &command.replace("HERE", &here));
    let field = |name: &str| json[name].as_str().unwrap().replace(&here, "HERE");
    (field("command"), field("display"))
}

fn shows(command: &str, shown: &str) {
    assert_eq!(display(command), (command.to_owned(), shown.to_owned()));
}

#[test]
fn req_bash_011_display_stands_beside_the_command() {
    shows("echo x", "echo x");
}

#[test]
fn req_bash_011_a_redundant_cd_is_stripped() {
    shows("cd HERE && echo x", "echo x");
    shows("cd \"HERE\" && echo x && echo y", "echo x && echo y");
}

#[test]
fn req_bash_011_a_cd_to_elsewhere_stays() {
    shows("cd / && echo x", "cd / && echo x");
    shows("cd HERE/.. && echo x", "cd HERE/.. && echo x");
}

#[test]
fn req_bash_011_a_redundant_cd_with_a_semicolon_is_stripped() {
    shows("cd HERE; echo x", "echo x");
    shows("cd /; echo x", "cd /; echo x");
}

#[test]
fn req_bash_011_nothing_before_an_or_is_stripped() {
    shows("cd HERE || echo fallback", "cd HERE || echo fallback");
    shows("echo x || echo fallback", "echo x || echo fallback");
}

#[test]
fn req_bash_011_of_mixed_operators_only_the_cd_is_stripped() {
    shows("cd HERE && echo x || echo fallback", "echo x || echo fallback");
    shows("cd / && echo x || echo fallback", "cd / && echo x || echo fallback");
}

#[tokio::test]
async fn req_bash_011_the_tools_reply_has_both() {
    let dir = TempDir::new().unwrap();
    let command = format!("cd {} && echo x", dir.path().display());
    let parsed = calls::parse(Vendor::Phoenix, json!({"command": command})).unwrap();
    let results = parsed.call().run(&engine(&dir), &ToolContext::from_host(dir.path())).await;
    let reply = parsed.reply(&results);
    assert_eq!((&reply["command"], &reply["display"]), (&command.into(), &"echo x".into()));
}
