//! Calls that nobody should send, and what is said about them.

use bashtion::calls::{self, CallError, ClaudeCodeBash, LocalShellCall, ShellCall, Vendor};
use serde_json::{Value, json};

fn error(vendor: Vendor, sent: Value) -> String {
    calls::parse(vendor, sent).unwrap_err().to_string()
}

fn shell(commands: &Value) -> Value {
    json!({"type": "shell_call", "call_id": "c", "action": {"commands": commands}})
}

/// The least that each vendor accepts, and where its command is.
fn least(vendor: Vendor, command: &Value) -> Value {
    match vendor {
        Vendor::OpenAiShell => shell(&json!([command])),
        Vendor::OpenAiLocalShell => {
            json!({"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": [command]}})
        }
        Vendor::AnthropicBash => {
            json!({"type": "tool_use", "id": "t", "name": "bash", "input": {"command": command}})
        }
        Vendor::Codex => json!({"cmd": command}),
        Vendor::ClaudeCode | Vendor::MyCode | Vendor::Phoenix | Vendor::TunaCode => {
            json!({"command": command})
        }
        Vendor::Bashtion | Vendor::Chorus | Vendor::Tachikoma | Vendor::Gemini => json!({"command": command}),
    }
}

#[test]
fn every_vendor_checks_its_command() {
    for vendor in Vendor::ALL {
        calls::parse(vendor, least(vendor, &json!("ls"))).unwrap();
        for (command, said) in [
            (json!(""), "is empty"),
            (json!(" \n"), "is empty"),
            (json!("a\0b"), "has a NUL byte at offset 1"),
            (json!(7), "must be a string, not 7"),
            (json!(["ls"]), "must be a string, not a list"),
            (json!({"a": 1}), "must be a string, not an object"),
        ] {
            let error = error(vendor, least(vendor, &command));
            assert!(error.contains(said), "{vendor} {command}: {error}");
        }
    }
}

#[test]
fn every_vendor_rejects_what_is_no_call_and_answers_it() {
    let deep = (0..100).fold(json!(1), |value, _| json!([value]));
    for vendor in Vendor::ALL {
        for sent in [
            json!(null),
            json!([]),
            json!("ls"),
            json!(1e308),
            json!({}),
            deep.clone(),
            json!({"type": 3, "id": [], "call_id": {}}),
        ] {
            let error = calls::parse(vendor, sent.clone()).unwrap_err();
            let reply = calls::reject(vendor, &sent, &error).to_string();
            assert!(reply.contains("the call was not understood: "), "{vendor} {sent}: {reply}");
        }
        let mut sent = least(vendor, &json!("ls"));
        sent["comand"] = json!(1);
        assert!(error(vendor, sent).starts_with("there is no \"comand\""), "{vendor}");
    }
}

#[test]
fn texts() {
    insta::assert_snapshot!(error(Vendor::MyCode, json!([])), @"the call must be an object, not a list");
    insta::assert_snapshot!(error(Vendor::MyCode, json!({"comand": "ls"})), @r#"there is no "comand"; did you mean "command"? (known: command, cwd, description, env, run_in_background, timeout)"#);
    insta::assert_snapshot!(error(Vendor::Codex, json!({"command": "ls", "xyzzy": 1})), @r#"there is no "command"; did you mean "cmd"? (known: cmd, justification, login, max_output_tokens, prefix_rule, sandbox_permissions, shell, tty, workdir, yield_time_ms)"#);
    insta::assert_snapshot!(error(Vendor::MyCode, json!({})), @r#""command" is missing: it must be a string"#);
    insta::assert_snapshot!(error(Vendor::MyCode, json!({"command": "ls", "timeout": -1})), @r#""timeout" must be an integer of at least 0, not -1"#);
    insta::assert_snapshot!(error(Vendor::MyCode, json!({"command": "ls", "timeout": 1.5})), @r#""timeout" must be an integer of at least 0, not 1.5"#);
    insta::assert_snapshot!(error(Vendor::MyCode, json!({"command": "ls", "timeout": 1e300})), @r#""timeout" must be an integer of at least 0, not 1e+300"#);
    insta::assert_snapshot!(error(Vendor::MyCode, json!({"command": "ls", "timeout": "30"})), @r#""timeout" must be an integer of at least 0, not the string "30""#);
    insta::assert_snapshot!(error(Vendor::MyCode, json!({"command": "ls", "run_in_background": "yes"})), @r#""run_in_background" must be true or false, not the string "yes""#);
    insta::assert_snapshot!(error(Vendor::MyCode, json!({"command": "ls", "env": {"A": 1}})), @r#""env.A" must be a string, not 1"#);
    insta::assert_snapshot!(error(Vendor::MyCode, json!({"command": "ls", "env": ["A=1"]})), @r#""env" must be an object, not a list"#);
    insta::assert_snapshot!(error(Vendor::MyCode, json!({"command": "ls", "env": {"A\0": "1"}})), @r#""env.A\0" has a NUL byte at offset 1; leave it out, or print it with printf '\0'"#);
    insta::assert_snapshot!(error(Vendor::MyCode, json!({"command": "ls", "cwd": ""})), @r#""cwd" is empty"#);
    insta::assert_snapshot!(error(Vendor::TunaCode, json!({"command": "ls", "timeout": 0})), @r#""timeout" must be an integer from 1 to 300, not 0"#);
    insta::assert_snapshot!(error(Vendor::TunaCode, json!({"command": "ls", "timeout": 301})), @r#""timeout" must be an integer from 1 to 300, not 301"#);
    insta::assert_snapshot!(error(Vendor::Chorus, json!({"command": "ls", "timeout": 0})), @r#""timeout" must be a number from 0.001 to 86400, not 0"#);
    insta::assert_snapshot!(error(Vendor::Chorus, json!({"command": "ls", "max_output_len": u64::MAX})), @r#""max_output_len" must be an integer from 1 to 10000000, not 18446744073709551615"#);
    insta::assert_snapshot!(error(Vendor::Tachikoma, json!({"command": "ls", "timeout": 1, "no_timeout": true})), @r#"send either "timeout" or "no_timeout": true, not both"#);
    insta::assert_snapshot!(error(Vendor::OpenAiShell, shell(&json!([]))), @r#""action.commands" must be a list of 1 to 100 entries, not one of 0"#);
    insta::assert_snapshot!(error(Vendor::OpenAiShell, shell(&json!(vec!["ls"; 10_000]))), @r#""action.commands" must be a list of 1 to 100 entries, not one of 10000"#);
    insta::assert_snapshot!(error(Vendor::OpenAiShell, shell(&json!("ls"))), @r#""action.commands" must be a list of 1 to 100 entries, not the string "ls""#);
    insta::assert_snapshot!(error(Vendor::OpenAiShell, shell(&json!(["ls", null]))), @r#""action.commands[1]" must be a string, not null"#);
    insta::assert_snapshot!(error(Vendor::OpenAiShell, shell(&json!(["ls", "x\0"]))), @r#""action.commands[1]" has a NUL byte at offset 1; leave it out, or print it with printf '\0'"#);
    insta::assert_snapshot!(error(Vendor::OpenAiShell, json!({"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"], "timeout": 5}})), @r#"there is no "action.timeout"; did you mean "timeout_ms"? (known: commands, max_output_length, timeout_ms)"#);
    insta::assert_snapshot!(error(Vendor::OpenAiShell, json!({"type": "local_shell_call", "call_id": "c", "action": {"commands": ["ls"]}})), @r#""type" must be "shell_call", not the string "local_shell_call""#);
    insta::assert_snapshot!(error(Vendor::OpenAiShell, json!({"type": "shell_call", "call_id": "", "action": {"commands": ["ls"]}})), @r#""call_id" is empty"#);
    insta::assert_snapshot!(error(Vendor::OpenAiShell, json!({"type": "shell_call", "call_id": "c", "status": "incomplete", "action": {"commands": ["ls"]}})), @r#""status" cannot be honoured: an incomplete call is not run, because its end is missing; send it again"#);
    insta::assert_snapshot!(error(Vendor::OpenAiShell, json!({"type": "shell_call", "call_id": "c", "environment": {"type": "container_reference"}, "action": {"commands": ["ls"]}})), @r#""environment.type" must be "local", not the string "container_reference""#);
    insta::assert_snapshot!(error(Vendor::OpenAiLocalShell, json!({"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["ls"], "user": "root"}})), @r#""action.user" cannot be honoured: commands run as the user who runs Bashtion; leave it out or send null"#);
    insta::assert_snapshot!(error(Vendor::OpenAiLocalShell, json!({"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": []}})), @r#""action.command" must be a list of 1 to 10000 entries, not one of 0"#);
    insta::assert_snapshot!(error(Vendor::AnthropicBash, json!({"restart": false})), @r#"send "command" with a string, or "restart": true"#);
    insta::assert_snapshot!(error(Vendor::AnthropicBash, json!({"type": "tool_use", "id": "t", "name": "bash", "input": {"restart": "true"}})), @r#""input.restart" must be true or false, not the string "true""#);
    insta::assert_snapshot!(error(Vendor::ClaudeCode, json!({"command": "ls", "dangerouslyDisableSandbox": true})), @r#""dangerouslyDisableSandbox" cannot be honoured: how commands are confined is not the model's to decide; leave it out"#);
    insta::assert_snapshot!(error(Vendor::Codex, json!({"cmd": "ls", "shell": "/tmp/bash"})), @r#""shell" cannot be honoured: commands run with bash; leave it out, and call another shell by name in "cmd""#);
    insta::assert_snapshot!(error(Vendor::Codex, json!({"cmd": "ls", "login": true})), @r#""login" cannot be honoured: profiles are not read; leave it out or send false"#);
    insta::assert_snapshot!(error(Vendor::Codex, json!({"cmd": "ls", "sandbox_permissions": "require_escalated"})), @r#""sandbox_permissions" cannot be honoured: how commands are confined is not the model's to decide; leave it out"#);
    insta::assert_snapshot!(error(Vendor::Gemini, json!({"command": "ls", "x".repeat(100_000): 1})), @r#"there is no "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" (known: command, delay_ms, description, dir_path, is_background)"#);
}

/// Where the document says so, too much is made the most.
#[test]
fn mycode_clamps() {
    for sent in [json!(600_001), json!(u64::MAX), json!(600_000)] {
        let parsed = calls::parse(Vendor::MyCode, json!({"command": "ls", "timeout": sent})).unwrap();
        let request = serde_json::to_value(&parsed.call().requests[0]).unwrap();
        assert_eq!(request["timeout"], json!({"After": {"secs": 600, "nanos": 0}}));
    }
    for absent in [
        json!({"command": "ls"}),
        json!({"command": "ls", "timeout": null}),
        json!({"command": "ls", "timeout": 0}),
    ] {
        let parsed = calls::parse(Vendor::MyCode, absent).unwrap();
        assert_eq!(serde_json::to_value(&parsed.call().requests[0]).unwrap()["timeout"], "OfMode");
    }
}

#[test]
fn only_the_same_script_is_taken_out_of_its_argv() {
    let script = |command: Value, env: Value| {
        let sent = json!({"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": command, "env": env}});
        serde_json::from_value::<LocalShellCall>(sent).unwrap().action.script()
    };
    let none = json!({});
    for (command, env, expected) in [
        (json!(["bash", "-c", "a; b"]), none.clone(), "a; b"),
        (json!(["bash", "-c", "a"]), json!({"PATH": "/x"}), "exec 'bash' '-c' 'a'"),
        (json!(["bash", "-c", "a", "zero"]), none.clone(), "exec 'bash' '-c' 'a' 'zero'"),
        (json!(["bash", "-c", "-x"]), none.clone(), "exec 'bash' '-c' '-x'"),
        (json!(["bash", "-c", " "]), none.clone(), "exec 'bash' '-c' ' '"),
        (json!(["/bin/bash", "-c", "a"]), none.clone(), "exec '/bin/bash' '-c' 'a'"),
        (json!(["sh", "-c", "a"]), none.clone(), "exec 'sh' '-c' 'a'"),
        (json!(["bash", "-lc", "a"]), none.clone(), "exec 'bash' '-lc' 'a'"),
        (json!(["A=1", "-a"]), none.clone(), "exec 'A=1' '-a'"),
        (json!(["-a", "x"]), none.clone(), "exec -- '-a' 'x'"),
        (json!(["a\nb'"]), none, "exec 'a\nb'\\'''"),
    ] {
        assert_eq!(script(command, env), expected);
    }
}

#[test]
fn inputs_are_written_as_they_were_read() {
    let sent = json!({
        "type": "shell_call", "call_id": "c", "id": "sh_1", "status": "completed", "environment": {"type": "local"},
        "action": {"commands": ["ls"], "timeout_ms": 1, "max_output_length": 10_000_000}
    });
    let read: ShellCall = serde_json::from_value(sent.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), sent);
    let sent = json!({"command": "ls", "dangerouslyDisableSandbox": false});
    let read: ClaudeCodeBash = serde_json::from_value(sent.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), sent);
}

/// What is wrong is found by the schema: no model reads what serde says.
#[test]
fn no_value_gets_past_the_schema() {
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1.5),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1e308),
        json!(""),
        json!("\0"),
        json!("x".repeat(100_000)),
        json!([]),
        json!([[]]),
        json!(["", 1]),
        json!({}),
        json!({"": null}),
        json!({"type": "local"}),
    ];
    for vendor in Vendor::ALL {
        for place in ["", "/action", "/input"] {
            let mut sent = least(vendor, &json!("ls"));
            let Some(object) = sent.pointer_mut(place) else { continue };
            object["xyzzy"] = json!(1);
            let Err(CallError::Unknown { known, .. }) = calls::parse(vendor, sent) else {
                panic!("{vendor}")
            };
            for (name, value) in known.iter().flat_map(|name| values.iter().map(move |value| (name, value))) {
                let mut sent = least(vendor, &json!("ls"));
                sent.pointer_mut(place).unwrap()[name] = value.clone();
                let Err(error) = calls::parse(vendor, sent) else { continue };
                let serde = ["invalid ", "expected ", "unknown field", "missing field"];
                let text = error.to_string();
                assert!(
                    !serde.iter().any(|word| text.contains(word)) && text.len() < 500,
                    "{vendor} {name}: {text}"
                );
            }
        }
    }
}

#[test]
fn variables_are_no_way_around_the_guard() {
    let env = json!({"LD_PRELOAD": "./x.so"});
    for (vendor, sent) in [
        (Vendor::MyCode, json!({"command": "ls", "env": env})),
        (Vendor::TunaCode, json!({"command": "ls", "env": env})),
        (Vendor::Chorus, json!({"command": "ls", "env_overrides": env})),
        (Vendor::Tachikoma, json!({"command": "ls", "env_vars": env})),
        (
            Vendor::OpenAiLocalShell,
            json!({"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["ls"], "env": env}}),
        ),
    ] {
        let error = error(vendor, sent);
        assert!(error.contains(".LD_PRELOAD\" cannot be honoured"), "{error}");
    }
    let many: serde_json::Map<_, _> = (0..10_000).map(|index| (format!("A{index}"), json!(""))).collect();
    let error = error(Vendor::MyCode, json!({"command": "ls", "env": many}));
    assert_eq!(error, "\"env\" must be an object of at most 1000 entries, not one of 10000");
}

#[test]
fn errors_can_be_told_apart() {
    let error = calls::parse(Vendor::Phoenix, json!({"command": "ls", "mod": "slow"})).unwrap_err();
    let CallError::Unknown { field, nearest, known } = error else { panic!("{error}") };
    assert_eq!((field.as_str(), nearest.as_deref()), ("mod", Some("mode")));
    assert_eq!(known, ["command", "mode"]);
}
