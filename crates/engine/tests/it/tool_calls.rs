//! Calls as vendors send them, run, and answered in their shape.

use bashtion::calls::{self, ParsedCall, Placement, Vendor};
use bashtion::{CancellationToken, Error, Outcome};
use serde_json::{Value, json};

use crate::World;

fn parsed(vendor: Vendor, sent: Value) -> ParsedCall {
    calls::parse(vendor, sent).unwrap()
}

async fn reply(world: &World, vendor: Vendor, sent: Value) -> Value {
    let parsed = parsed(vendor, sent);
    let results = parsed.call().run(&world.engine, &world.context()).await;
    parsed.reply(&results)
}

/// Without what differs from run to run.
async fn text(world: &World, vendor: Vendor, sent: Value) -> String {
    let reply = reply(world, vendor, sent).await;
    let text = reply.as_str().unwrap().replace(&world.path().display().to_string(), "WORLD");
    let stable = |line: &str| match line.split_once(": ") {
        Some((name @ ("Wall time" | "Process Group PGID"), _)) => format!("{name}: …"),
        _ => line.to_owned(),
    };
    text.lines().map(stable).collect::<Vec<_>>().join("\n")
}

fn shell_call(action: &Value) -> Value {
    json!({"type": "shell_call", "call_id": "call_1", "action": action, "status": "in_progress"})
}

#[tokio::test]
async fn openai_shell_has_one_output_per_command() {
    let world = World::new();
    let commands = json!([
        "echo out; echo err >&2; exit 3", "echo begun; kill -9 $$", "rm -rf /", "$UNKNOWN_COMMAND x",
        r"printf 'a\xffb'", "echo still run"
    ]);
    let reply = reply(&world, Vendor::OpenAiShell, shell_call(&json!({"commands": commands}))).await;
    assert_eq!((&reply["type"], &reply["call_id"]), (&json!("shell_call_output"), &json!("call_1")));
    assert_eq!(reply.get("max_output_length"), None);
    let output = reply["output"].as_array().unwrap();
    let exit = |code| json!({"type": "exit", "exit_code": code});
    assert_eq!(output[0], json!({"stdout": "out\n", "stderr": "err\n", "outcome": exit(3)}));
    assert_eq!(
        output[1],
        json!({"stdout": "begun\n", "stderr": "bashtion: ended by SIGKILL\n", "outcome": exit(137)})
    );
    assert_eq!(output[2]["outcome"], exit(126));
    let reason = output[2]["stderr"].as_str().unwrap();
    assert!(
        reason.starts_with("bashtion: refused: nothing was run: ") && reason.contains("removes-root"),
        "{reason}"
    );
    assert_eq!(output[3]["outcome"], exit(126));
    let reason = output[3]["stderr"].as_str().unwrap();
    assert!(reason.starts_with("bashtion: needs approval by a person: nothing was run: "), "{reason}");
    assert_eq!(output[4], json!({"stdout": "a\u{fffd}b", "stderr": "", "outcome": exit(0)}));
    assert_eq!(output[5]["stdout"], "still run\n");
    assert_eq!(output.len(), 6);
}

#[tokio::test]
async fn openai_shell_keeps_to_its_limits() {
    let world = World::new();
    let action = json!({"commands": ["seq 1 9999; seq 1 9999 >&2", "echo begun; sleep 60"], "timeout_ms": 400, "max_output_length": 200});
    let reply = reply(&world, Vendor::OpenAiShell, shell_call(&action)).await;
    assert_eq!(reply["max_output_length"], 200);
    let (stdout, stderr) = (&reply["output"][0]["stdout"], &reply["output"][0]["stderr"]);
    let (stdout, stderr) = (stdout.as_str().unwrap(), stderr.as_str().unwrap());
    assert!(stdout.len() + stderr.len() <= 200, "{stdout}\n{stderr}");
    assert!(
        stdout.starts_with("1\n2\n") && stdout.contains("characters cut") && stdout.ends_with("9999\n"),
        "{stdout}"
    );
    let late = &reply["output"][1];
    assert_eq!((&late["stdout"], &late["outcome"]), (&json!("begun\n"), &json!({"type": "timeout"})));
    assert_eq!(late["stderr"], "bashtion: timed out after 400ms; its processes were ended\n");
}

#[tokio::test]
async fn what_was_not_run_or_was_cancelled_is_said() {
    let world = World::new();
    let parsed = parsed(Vendor::OpenAiShell, shell_call(&json!({"commands": ["sleep 60", "true"]})));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let context = world.context().cancel(cancel);
    let first = world.engine.run(parsed.call().requests[0].clone(), &context).await;
    let reply = parsed.reply(&[first]);
    assert_eq!(reply["output"][0]["outcome"]["exit_code"], 130);
    assert_eq!(reply["output"][0]["stderr"], "bashtion: cancelled\n");
    assert_eq!(reply["output"][1]["outcome"]["exit_code"], 125);
    assert_eq!(reply["output"][1]["stderr"], "bashtion: not run: the call ended before it\n");
    assert_eq!(parsed.call().run(&world.engine, &context).await.len(), 1);
}

#[tokio::test]
async fn openai_local_shell_runs_programs_not_scripts() {
    let world = World::new();
    let run = async |command: Value, more: Value| {
        let mut action = json!({"type": "exec", "command": command, "env": {"A": "1"}});
        action.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let sent = json!({"type": "local_shell_call", "id": "lsh_1", "call_id": "call_2", "status": "completed", "action": action});
        let reply = reply(&world, Vendor::OpenAiLocalShell, sent).await;
        assert_eq!((&reply["type"], &reply["id"]), (&json!("local_shell_call_output"), &json!("call_2")));
        serde_json::from_str::<Value>(reply["output"].as_str().unwrap()).unwrap()
    };
    let none = json!({});
    let echoed = run(json!(["printf", "%s|", "it's", "$A", "a b", "; rm x", ""]), none.clone()).await;
    assert_eq!(
        echoed,
        json!({"stdout": "it's|$A|a b|; rm x||", "stderr": "", "exit_code": 0, "timed_out": false})
    );
    assert_eq!(run(json!(["bash", "-c", "echo $A; exit 4"]), none.clone()).await["exit_code"], 4);
    assert_eq!(run(json!(["bash", "-lc", "echo $A"]), none.clone()).await["stdout"], "1\n");
    // A builtin has no program: nothing is evaluated.
    assert_eq!(run(json!(["eval", "echo x"]), none.clone()).await["exit_code"], 127);
    assert_eq!(run(json!(["rm", "-rf", "/"]), none.clone()).await["exit_code"], 126);
    assert_eq!(run(json!(["bash", "-lc", "rm -rf /"]), none.clone()).await["exit_code"], 126);
    let late = run(json!(["sleep", "60"]), json!({"timeout_ms": 200, "user": null})).await;
    assert_eq!((&late["timed_out"], &late["exit_code"]), (&json!(true), &json!(124)));
    let elsewhere = run(json!(["pwd"]), json!({"working_directory": "/nowhere"})).await;
    assert_eq!(elsewhere["exit_code"], 125);
    assert_eq!(
        elsewhere["stderr"],
        "bashtion: not run: cannot open the working directory /nowhere: No such file or directory (os error 2)\n"
    );
}

#[tokio::test]
async fn anthropic_bash_is_one_session() {
    let world = World::new();
    let run = async |session: &str, input: Value| {
        let sent = json!({"type": "tool_use", "id": "toolu_1", "name": "bash", "input": input});
        let parsed = parsed(Vendor::AnthropicBash, sent).session(session);
        let results = parsed.call().run(&world.engine, &world.context()).await;
        parsed.reply(&results)
    };
    let result = |content: &str, is_error: bool| json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": content, "is_error": is_error});
    assert_eq!(run("a", json!({"command": "export N=5; mkdir d; cd d"})).await, result("(no output)", false));
    assert_eq!(run("a", json!({"command": "echo $N; basename $PWD"})).await, result("5\nd\n", false));
    assert_eq!(run("b", json!({"command": "echo ${N-none}"})).await, result("none\n", false));
    assert_eq!(run("a", json!({"restart": true})).await, result("the tool has been restarted", false));
    let failed =
        run("a", json!({"command": "printf out; echo ${N-none} >&2; exit 2", "restart": false})).await;
    assert_eq!(failed, result("out\nnone\nbashtion: exit code 2\n", true));
    let refused = run("a", json!({"command": "rm -rf /"})).await;
    assert!(refused["content"].as_str().unwrap().starts_with("bashtion: refused: nothing was run: "));
    assert_eq!(refused["is_error"], true);
}

#[tokio::test]
async fn claude_code_says_everything_in_one_text() {
    let world = World::new();
    let run = async |input: Value| reply(&world, Vendor::ClaudeCode, input).await;
    let late = run(json!({"command": "echo begun; sleep 60", "timeout": 300, "description": "Wait"})).await;
    assert_eq!(
        late,
        json!({"type": "tool_result", "content": "begun\nbashtion: timed out after 300ms; its processes were ended\n", "is_error": true})
    );
    let long = run(json!({"command": "seq 1 20000", "dangerouslyDisableSandbox": false})).await;
    let content = long["content"].as_str().unwrap();
    assert!(
        content.contains(" characters cut; "),
        "{}",
        &content[content.len() / 2 - 200..content.len() / 2 + 200]
    );
    assert!(
        run(json!({"command": "kill $$"})).await["content"].as_str().unwrap().contains("ended by SIGTERM")
    );
}

#[tokio::test]
async fn mycode_has_its_own_codes() {
    let world = World::new();
    let run = async |input: Value| reply(&world, Vendor::MyCode, input).await;
    let done = run(json!({"command": "echo $A; pwd; exit 3", "cwd": ".", "env": {"A": "1"}, "timeout": 0, "description": "d"})).await;
    assert_eq!(
        (&done["success"], &done["exit_code"], &done["truncated"]),
        (&json!(false), &json!(3), &json!(false))
    );
    assert_eq!(done["stdout"], format!("1\n{}\n", world.path().display()));
    let refused = run(json!({"command": "rm -rf /"})).await;
    assert_eq!(
        (&refused["exit_code"], &refused["duration_ms"], &refused["stdout"]),
        (&json!(-1), &json!(0), &json!(""))
    );
    assert!(refused["stderr"].as_str().unwrap().contains("refused"));
    let late = run(json!({"command": "sleep 60", "timeout": 200})).await;
    assert_eq!((&late["exit_code"], &late["success"]), (&json!(1), &json!(false)));
    assert!(late["stderr"].as_str().unwrap().contains("timed out after 200ms"));
    let killed = run(json!({"command": "kill -9 $$"})).await;
    assert_eq!(
        (&killed["exit_code"], &killed["stderr"]),
        (&json!(1), &json!("bashtion: ended by SIGKILL\n"))
    );
}

#[tokio::test]
async fn phoenix_combines_and_simplifies() {
    let world = World::new();
    let run = async |input: Value| reply(&world, Vendor::Phoenix, input).await;
    let command = format!("cd {} && echo out; echo err >&2; exit 3", world.path().display());
    let done = run(json!({"command": command, "mode": "slow"})).await;
    let expected = json!({
        "command": command,
        "display": "echo out; echo err >&2; exit 3",
        "output": "out\nerr\nbashtion: exit code 3\n",
        "exit_code": 3,
        "timed_out": false,
        "is_error": true,
    });
    assert_eq!(done, expected);
    let killed = run(json!({"command": "kill -9 $$", "mode": "default"})).await;
    assert_eq!(
        (&killed["exit_code"], &killed["output"]),
        (&json!(null), &json!("bashtion: ended by SIGKILL\n"))
    );
    assert_eq!(run(json!({"command": "rm -rf /", "mode": null})).await["is_error"], true);
}

#[tokio::test]
async fn tunacode_formats_its_text() {
    let world = World::new();
    let run = async |input: Value| text(&world, Vendor::TunaCode, input).await;
    insta::assert_snapshot!(run(json!({"command": "echo '  out  '; echo err >&2; exit 3", "env": {}, "timeout": 300})).await, @r"
    Command: echo '  out  '; echo err >&2; exit 3
    Exit Code: 3
    Working Directory: WORLD

    STDOUT:
    out

    STDERR:
    err
    ");
    insta::assert_snapshot!(run(json!({"command": "echo out", "capture_output": false})).await, @r"
    Command: echo out
    Exit Code: 0
    Working Directory: WORLD

    STDOUT:
    (no output)

    STDERR:
    (no errors)
    ");
    insta::assert_snapshot!(run(json!({"command": "echo begun; sleep 60", "timeout": 1, "cwd": "."})).await, @r"
    timed out after 1s; its processes were ended

    Command: echo begun; sleep 60
    Exit Code: 124
    Working Directory: WORLD

    STDOUT:
    begun

    STDERR:
    (no errors)
    ");
    assert!(run(json!({"command": "rm -rf /"})).await.starts_with("refused: nothing was run: "));
}

#[tokio::test]
async fn chorus_keeps_the_end() {
    let world = World::new();
    let run = async |input: Value| reply(&world, Vendor::Chorus, input).await;
    let done =
        run(json!({"command": "echo $A", "timeout": 30.0, "env_overrides": {"A": "ä"}, "max_output_len": 2}))
            .await;
    assert_eq!(
        (&done["stdout"], &done["truncated"], &done["exit_code"]),
        (&json!("ä\n"), &json!(false), &json!(0))
    );
    for (command, total) in
        [("seq 1000", 3893), ("head -c 5000 /dev/zero | tr '\\0' ä", 0), ("printf '%05000d' 7", 5000)]
    {
        for most in [10, 600, 1900] {
            let cut = run(json!({"command": command, "max_output_len": most})).await;
            let stdout = cut["stdout"].as_str().unwrap();
            let (header, end) = stdout.split_once('\n').unwrap();
            assert!(end.chars().count() == most && cut["truncated"] == true, "{command} {most}: {header}");
            if total > 0 {
                assert_eq!(header, format!("[Output truncated: showing last {most} chars of {total} chars]"));
            }
        }
    }
    let late = run(json!({"command": "echo begun >&2; sleep 60", "timeout": 0.3})).await;
    assert_eq!((&late["timed_out"], &late["exit_code"]), (&json!(true), &json!(null)));
    assert_eq!(late["stderr"], "begun\nbashtion: timed out after 300ms; its processes were ended\n");
    assert_eq!(run(json!({"command": "kill -9 $$"})).await["exit_code"], -9);
    assert_eq!(run(json!({"command": "rm -rf /"})).await["exit_code"], json!(null));
}

#[tokio::test]
async fn tachikoma_has_its_options() {
    let world = World::new();
    let run = async |input: Value| reply(&world, Vendor::Tachikoma, input).await;
    let done = run(json!({"command": "echo $A ${HOME-none}", "env_vars": {"A": "1"}, "clear_env": true, "working_dir": ".", "no_timeout": true})).await;
    assert_eq!(
        (&done["stdout"], &done["exit_code"], &done["timed_out"]),
        (&json!("1 none\n"), &json!(0), &json!(false))
    );
    assert_eq!(done["metadata"]["primitive"], "bash");
    assert!(done["metadata"]["duration"]["nanos"].is_u64());
    let late = run(json!({"command": "sleep 60", "timeout": 0.25})).await;
    assert_eq!((&late["timed_out"], &late["exit_code"]), (&json!(true), &json!(-1)));
    assert_eq!(run(json!({"command": "rm -rf /"})).await["exit_code"], -1);
    assert!(
        run(json!({"command": "seq 1000", "max_output_size": 100})).await["stdout"]
            .as_str()
            .unwrap()
            .contains(" cut; ")
    );
}

#[tokio::test]
async fn codex_and_gemini_answer_with_text() {
    let world = World::new();
    let codex = async |input: Value| text(&world, Vendor::Codex, input).await;
    let sent = json!({"cmd": "echo out; echo err >&2; exit 3", "workdir": ".", "shell": "bash", "login": false, "tty": false, "yield_time_ms": 10, "max_output_tokens": 10});
    assert_eq!(parsed(Vendor::Codex, sent.clone()).call().wait, Some(std::time::Duration::from_millis(250)));
    insta::assert_snapshot!(codex(sent).await, @r"
    Wall time: …
    Process exited with code 3
    Original token count: 2
    Output:
    out
    err
    ");
    insta::assert_snapshot!(codex(json!({"cmd": "kill -9 $$"})).await, @r"
    Wall time: …
    Process exited with code 137
    Output:
    bashtion: ended by SIGKILL
    ");
    let gemini = async |input: Value| text(&world, Vendor::Gemini, input).await;
    insta::assert_snapshot!(gemini(json!({"command": "true", "description": "Nothing", "is_background": false})).await, @r"
    Output: (empty)
    Process Group PGID: …
    ");
    insta::assert_snapshot!(gemini(json!({"command": "echo a; kill -9 $$", "dir_path": "."})).await, @r"
    Output: a
    Error: ended by SIGKILL
    Signal: SIGKILL
    Process Group PGID: …
    ");
    assert!(gemini(json!({"command": "rm -rf /"})).await.starts_with("Error: refused: nothing was run: "));
    assert_eq!(
        gemini(json!({"command": "pwd", "dir_path": "/etc"})).await,
        "Error: not run: the working directory /etc is outside the allowed root WORLD"
    );
}

/// A task as it is told of when it has been started.
fn running(world: &World) -> Outcome {
    let told = json!({
        "status": "running", "success": false, "command": "x", "display": "x", "description": null, "cwd": world.path(),
        "cwd_after": null, "session": null, "exit_code": null, "signal": null, "timed_out": false, "timeout_ms": null,
        "duration_ms": 7, "pipe_status": null, "stdout": "", "stderr": "", "truncated": false, "output_file": "/state/x.log",
        "output_file_bytes": null, "task_id": "bash-7k2m9q", "pid": 42, "pgid": 42,
        "verdict": {"decision": "allow", "findings": []},
        "sandbox": {"mode": "off", "filesystem": "none", "network": "none", "signals": "none", "limits": "none", "reason": null},
        "denials": [], "notes": [], "usage": {"cpu_ms": 0, "max_rss_kib": 0}, "tracking": null, "killed": 0, "leftovers": []
    });
    serde_json::from_value(told).unwrap()
}

#[tokio::test]
async fn background_tasks_are_named() {
    let world = World::new();
    let told = |vendor, sent| {
        let parsed = parsed(vendor, sent);
        assert_eq!(parsed.call().placement, Placement::Background);
        parsed.reply(&[Ok::<_, Error>(running(&world))])
    };
    let mycode = told(Vendor::MyCode, json!({"command": "x", "run_in_background": true}));
    let expected = json!({
        "success": true, "stdout": "Background task started: bash-7k2m9q", "stderr": "", "exit_code": 0, "duration_ms": 0,
        "truncated": false, "task_id": "bash-7k2m9q", "output_file": "/state/x.log"
    });
    assert_eq!(mycode, expected);
    let claude = told(Vendor::ClaudeCode, json!({"command": "x", "run_in_background": true}));
    assert_eq!(
        claude["content"],
        "Command running in background with ID: bash-7k2m9q. Output is being written to: /state/x.log"
    );
    assert_eq!(claude["is_error"], false);
    let phoenix = told(Vendor::Phoenix, json!({"command": "x", "mode": "background"}));
    assert_eq!(
        (&phoenix["pid"], &phoenix["pgid"], &phoenix["is_error"]),
        (&json!(42), &json!(42), &json!(false))
    );
    assert_eq!(
        phoenix["output"],
        "bashtion: started with process id 42; its output is written to /state/x.log; `kill -9 -42` ends it\n"
    );
    let gemini = told(Vendor::Gemini, json!({"command": "x", "is_background": true, "delay_ms": 500}));
    assert_eq!(gemini, "Command moved to background (PID: 42). Output: /state/x.log");
    let codex = parsed(Vendor::Codex, json!({"cmd": "x"})).reply(&[Ok::<_, Error>(running(&world))]);
    assert!(codex.as_str().unwrap().contains("\nProcess running with session ID bash-7k2m9q\n"));
}
