use super::*;
use bashtion::{Finding, Span};

fn judged(decision: Decision) -> Judged {
    let finding = |severity| Finding {
        rule: "removes-root".to_owned(),
        severity,
        message: "all is gone".to_owned(),
        span: Span { start: 0, end: 1 },
        help: "name a directory".to_owned(),
    };
    let findings = if decision == Decision::Allow { vec![] } else { vec![finding(decision)] };
    Judged { verdict: Verdict::new(findings), limits: Limits::default() }
}

fn input(agent: Agent, arguments: &Value) -> String {
    let event = match agent {
        Agent::ClaudeCode | Agent::Codex => {
            serde_json::json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": arguments, "cwd": "/w" })
        }
        Agent::Gemini => serde_json::json!({
            "hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "tool_input": arguments, "cwd": "/w",
        }),
        Agent::Copilot => serde_json::json!({ "toolName": "bash", "toolArgs": arguments, "cwd": "/w" }),
        Agent::Cursor => {
            let mut fields = arguments.clone();
            fields["hook_event_name"] = "beforeShellExecution".into();
            fields["cwd"] = "/w".into();
            fields
        }
        Agent::Opencode => serde_json::json!({ "tool": "bash", "args": arguments, "cwd": "/w" }),
    };
    event.to_string()
}

fn said(agent: Agent, decision: Decision, options: &Options) -> String {
    let input = input(agent, &serde_json::json!({ "command": "c", "x": 1 }));
    let reply = answer(agent, input.as_bytes(), options, |call| {
        assert_eq!((call.command.as_str(), call.cwd.as_deref()), ("c", Some("/w".as_ref())));
        Ok(judged(decision))
    });
    assert_eq!((reply.exit, reply.stderr.as_str()), (0, ""));
    reply.stdout
}

fn all(decision: Decision, options: &Options) -> String {
    Agent::ALL.map(|agent| format!("{agent}: {}", said(agent, decision, options))).concat()
}

fn confining() -> Options {
    Options { confine: Some(Confine { program: "/b/bashtion".to_owned(), profile: None }), allow: false }
}

#[test]
fn a_hook_has_no_opinion_of_what_is_allowed() {
    insta::assert_snapshot!(all(Decision::Allow, &Options::default()), @r#"
    claude-code: {}
    codex: {}
    gemini: {}
    copilot: {}
    cursor: {}
    opencode: {"decision":"none"}
    "#);
}

#[test]
fn a_hook_spares_questions_only_if_told_to() {
    let options = Options { allow: true, ..Options::default() };
    insta::assert_snapshot!(all(Decision::Allow, &options), @r#"
    claude-code: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
    codex: {}
    gemini: {}
    copilot: {"permissionDecision":"allow"}
    cursor: {"permission":"allow"}
    opencode: {"decision":"none"}
    "#);
}

#[test]
fn a_hook_asks_where_it_can() {
    insta::assert_snapshot!(all(Decision::Ask, &Options::default()), @r#"
    claude-code: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Bashtion wants the user to agree: all is gone (removes-root)\nhelp: name a directory"}}
    codex: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"the user has to agree to this: all is gone (removes-root)\nhelp: name a directory\nhelp: a hook of codex cannot ask the user: tell them what you want to run and why, and let them run it themself"}}
    gemini: {"decision":"ask","reason":"Bashtion wants the user to agree: all is gone (removes-root)\nhelp: name a directory","systemMessage":"Bashtion wants the user to agree: all is gone (removes-root)\nhelp: name a directory"}
    copilot: {"permissionDecision":"ask","permissionDecisionReason":"Bashtion wants the user to agree: all is gone (removes-root)\nhelp: name a directory"}
    cursor: {"permission":"ask","user_message":"Bashtion wants the user to agree: all is gone (removes-root)\nhelp: name a directory","agent_message":"Bashtion wants the user to agree: all is gone (removes-root)\nhelp: name a directory"}
    opencode: {"decision":"deny","reason":"the user has to agree to this: all is gone (removes-root)\nhelp: name a directory\nhelp: a hook of opencode cannot ask the user: tell them what you want to run and why, and let them run it themself"}
    "#);
}

#[test]
fn a_hook_refuses_and_says_why_also_when_it_confines() {
    let refused = all(Decision::Deny, &Options::default());
    assert_eq!(refused, all(Decision::Deny, &Options { allow: true, ..confining() }));
    insta::assert_snapshot!(refused, @r#"
    claude-code: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"refused by Bashtion: all is gone (removes-root)\nhelp: name a directory"}}
    codex: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"refused by Bashtion: all is gone (removes-root)\nhelp: name a directory"}}
    gemini: {"decision":"deny","reason":"refused by Bashtion: all is gone (removes-root)\nhelp: name a directory"}
    copilot: {"permissionDecision":"deny","permissionDecisionReason":"refused by Bashtion: all is gone (removes-root)\nhelp: name a directory"}
    cursor: {"permission":"deny","user_message":"refused by Bashtion: all is gone (removes-root)\nhelp: name a directory","agent_message":"refused by Bashtion: all is gone (removes-root)\nhelp: name a directory"}
    opencode: {"decision":"deny","reason":"refused by Bashtion: all is gone (removes-root)\nhelp: name a directory"}
    "#);
    for agent in Agent::ALL {
        assert!(super::super::is_refusal(agent, said(agent, Decision::Deny, &Options::default()).as_bytes()));
        assert!(!super::super::is_refusal(
            agent,
            said(agent, Decision::Allow, &Options::default()).as_bytes()
        ));
    }
}

#[test]
fn a_hook_rewrites_and_keeps_every_other_argument() {
    insta::assert_snapshot!(all(Decision::Allow, &confining()), @r#"
    claude-code: {"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"'/b/bashtion' run --raw --timeout none -- 'c' </dev/null","x":1}}}
    codex: {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"'/b/bashtion' run --raw --timeout none -- 'c' </dev/null","x":1}}}
    gemini: {"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"'/b/bashtion' run --raw --timeout none -- 'c' </dev/null","x":1}}}
    copilot: {"modifiedArgs":{"command":"'/b/bashtion' run --raw --timeout none -- 'c' </dev/null","x":1}}
    cursor: {}
    opencode: {"decision":"none","args":{"command":"'/b/bashtion' run --raw --timeout none -- 'c' </dev/null","x":1}}
    "#);
}

/// Only the agents that ask their user say that somebody has agreed.
#[test]
fn a_hook_that_confines_leaves_the_question_to_whoever_can_ask_it() {
    for agent in Agent::ALL {
        let said = said(agent, Decision::Ask, &confining());
        let approved = said.contains("--approve always");
        assert_eq!(approved, agent.can_ask() && agent.can_rewrite(), "{said}");
        let asks = said.contains(r#""ask""#);
        assert_eq!(asks, agent.can_ask(), "{said}");
    }
}

#[test]
fn a_hook_knows_where_and_how_long() {
    let heard = |agent, arguments: Value| {
        let mut call = None;
        let judge = |heard: &Call| {
            call = Some(heard.clone());
            Ok(judged(Decision::Allow))
        };
        answer(agent, input(agent, &arguments).as_bytes(), &Options::default(), judge);
        call.unwrap()
    };
    let call = heard(Agent::Gemini, serde_json::json!({ "command": "c", "dir_path": "sub" }));
    assert_eq!(call.cwd.as_deref(), Some("/w/sub".as_ref()));
    let call =
        heard(Agent::Opencode, serde_json::json!({ "command": "c", "workdir": "/else", "timeout": 1500 }));
    assert_eq!(call.cwd.as_deref(), Some("/else".as_ref()));
    assert_eq!(call.timeout, Some(std::time::Duration::from_millis(1500)));
    for odd in ["-1", "0", "\"5\"", "null", "1e300", "[]"] {
        let odd: Value = serde_json::from_str(odd).unwrap();
        assert_eq!(
            heard(Agent::ClaudeCode, serde_json::json!({ "command": "c", "timeout": odd })).timeout,
            None
        );
    }
    let text = serde_json::json!({ "toolName": "bash", "toolArgs": "{\"command\": \"c\"}" }).to_string();
    let reply = answer(Agent::Copilot, text.as_bytes(), &Options::default(), |call| {
        assert_eq!((call.command.as_str(), &call.cwd), ("c", &None));
        Ok(judged(Decision::Deny))
    });
    assert!(reply.stdout.contains("deny"));
    let roots = br#"{"command": "c", "cwd": "", "workspace_roots": ["/r", "/s"]}"#;
    answer(Agent::Cursor, roots, &Options::default(), |call| {
        assert_eq!(call.cwd.as_deref(), Some("/r".as_ref()));
        Ok(judged(Decision::Allow))
    });
}

#[test]
fn a_hook_leaves_other_tools_and_events_alone() {
    let others = [
        (Agent::ClaudeCode, r#"{"tool_name": "Write", "tool_input": {"command": "rm"}}"#),
        (Agent::ClaudeCode, r#"{"tool_name": "mcp__x__bash", "tool_input": 3}"#),
        (Agent::ClaudeCode, r#"{"hook_event_name": "PostToolUse", "tool_name": "Bash"}"#),
        (Agent::Codex, r#"{"tool_name": "apply_patch", "tool_input": {"command": "*** Begin"}}"#),
        (Agent::Gemini, r#"{"tool_name": "write_file"}"#),
        (Agent::Copilot, r#"{"toolName": "edit"}"#),
        (Agent::Cursor, r#"{"hook_event_name": "afterShellExecution", "command": "c"}"#),
        (Agent::Opencode, r#"{"tool": "edit"}"#),
    ];
    for (agent, text) in others {
        let options = Options { allow: true, ..confining() };
        let reply = answer(agent, text.as_bytes(), &options, |_| panic!("it is judged: {text}"));
        let nothing = if agent == Agent::Opencode { "{\"decision\":\"none\"}\n" } else { "{}\n" };
        assert_eq!((reply.stdout.as_str(), reply.exit), (nothing, 0), "{text}");
    }
}

fn is_refused(agent: Agent, reply: &Reply) -> bool {
    match agent {
        Agent::ClaudeCode | Agent::Codex => {
            reply.exit == 2 && reply.stdout.is_empty() && !reply.stderr.trim().is_empty()
        }
        _ => reply.exit == 0 && super::super::is_refusal(agent, reply.stdout.as_bytes()),
    }
}

#[test]
fn a_hook_refuses_what_it_cannot_understand() {
    let deep = "[".repeat(100_000);
    let deep_object = format!("{}1{}", r#"{"a":"#.repeat(500), "}".repeat(500));
    let long = format!(r#"{{"x": "{}"}}"#, "a".repeat(super::super::LONGEST_INPUT));
    let hostile = [
        "",
        " ",
        "null",
        "3",
        "[]",
        "{",
        "{}",
        "\u{feff}{}",
        "\"text\"",
        "nul",
        r#"{"tool_name": ["Bash"], "toolName": {}, "tool": 1}"#,
        r#"{"tool_name": "\ud800", "toolName": "\ud800", "tool": "\ud800", "command": "\ud800"}"#,
        &deep,
        &deep_object,
        &long,
    ];
    for agent in Agent::ALL {
        for text in hostile {
            let reply = answer(agent, text.as_bytes(), &confining(), |_| panic!("it is judged"));
            let start: String = text.chars().take(60).collect();
            assert!(is_refused(agent, &reply), "{agent} {start:?}: {reply:?}");
        }
        let reply = answer(agent, b"{\"tool_name\": \"\xff\"}", &confining(), |_| panic!("it is judged"));
        assert!(is_refused(agent, &reply));
        for command in ["null", "3", "[\"ls\"]", "{}", "true", "\"a\\u0000b\""] {
            let text = input(agent, &serde_json::from_str(&format!(r#"{{"command": {command}}}"#)).unwrap());
            let reply = answer(agent, text.as_bytes(), &confining(), |_| panic!("it is judged"));
            assert!(is_refused(agent, &reply), "{agent} {command}: {reply:?}");
        }
        let text = input(agent, &serde_json::json!({ "command": "ls" }));
        let reply =
            answer(agent, text.as_bytes(), &confining(), |_| Err("the configuration is wrong".to_owned()));
        assert!(is_refused(agent, &reply) && format!("{reply:?}").contains("the configuration is wrong"));
    }
}

/// Whatever is changed in an input, the answer is one of those that the agent knows.
#[test]
fn a_hook_survives_every_small_change_of_its_input() {
    for agent in Agent::ALL {
        let text = input(agent, &serde_json::json!({ "command": "ls 'é'\n", "timeout": 5 })).into_bytes();
        for at in 0..text.len() {
            for byte in [b'"', b'{', b'}', b'\\', 0, 0xff, b'9', b','] {
                let mut changed = text.clone();
                changed[at] = byte;
                let reply = answer(agent, &changed, &confining(), |_| Ok(judged(Decision::Ask)));
                let is_json = serde_json::from_str::<Value>(&reply.stdout).is_ok_and(|said| said.is_object());
                assert!(is_json || is_refused(agent, &reply), "{reply:?}");
            }
            let reply = answer(agent, &text[..at], &confining(), |_| panic!("it is judged"));
            assert!(is_refused(agent, &reply));
        }
    }
}
