//! The result object, whole.

use bashtion::{Request, Streams};

use crate::World;

fn object(outcome: &bashtion::Outcome, world: &World) -> String {
    let mut json = serde_json::to_value(outcome).unwrap();
    for (name, value) in [("pid", 4242), ("pgid", 4242), ("duration_ms", 12)] {
        assert!(json[name].is_u64(), "{name}");
        json[name] = value.into();
    }
    assert!(json["tracking"].is_string());
    json["tracking"] = "cgroup".into();
    assert!(json["usage"]["max_rss_kib"].as_u64().unwrap() > 500);
    json["usage"] = serde_json::json!({ "cpu_ms": 3, "max_rss_kib": 3000 });
    // What is in it depends on the host; that it has these names does not.
    for name in ["mode", "filesystem", "network", "signals", "limits"] {
        assert!(json["sandbox"][name].is_string(), "{name}");
        json["sandbox"][name] = if name == "mode" { "workspace" } else { "full" }.into();
    }
    assert!(json["sandbox"].get("reason").is_some());
    json["sandbox"]["reason"] = serde_json::Value::Null;
    let here = world.path().canonicalize().unwrap();
    serde_json::to_string(&json).unwrap().replace(here.to_str().unwrap(), "/w")
}

#[tokio::test]
async fn has_the_names_of_the_contract() {
    let world = World::new();
    let request = Request::new("echo hi; echo oops >&2; exit 3").description("Say hi");
    let outcome = world.run(request).await;
    insta::assert_snapshot!(object(&outcome, &world));
    let json = serde_json::to_string(&outcome).unwrap();
    let names = [
        "status", "success", "command", "display", "description", "cwd", "exit_code", "signal", "timed_out",
        "duration_ms", "stdout", "stderr", "truncated", "stdout_bytes", "stderr_bytes", "output_file",
        "task_id", "pid", "pgid", "verdict", "sandbox", "denials", "usage", "leftovers",
    ];
    let places: Vec<_> = names.iter().map(|name| json.find(&format!("\"{name}\":")).expect(name)).collect();
    assert!(places.is_sorted(), "in the order of the contract");
}

#[tokio::test]
async fn combined_output_has_one_text() {
    let world = World::new();
    let outcome = world.run(Request::new("echo a; echo b >&2").streams(Streams::Combined)).await;
    let json = serde_json::to_value(&outcome).unwrap();
    assert_eq!(json["output"], "a\nb\n");
    assert_eq!(json["output_bytes"], 4);
    assert!(json.get("stdout").is_none() && json.get("stderr_bytes").is_none());
}

#[tokio::test]
async fn how_it_ended_in_each_case() {
    let world = World::new();
    let cases = [
        ("exit 0", "exited", serde_json::json!(0), serde_json::Value::Null, true),
        ("exit 255", "exited", serde_json::json!(255), serde_json::Value::Null, false),
        ("nonexistent-command", "exited", serde_json::json!(127), serde_json::Value::Null, false),
        ("kill -SEGV $$", "signaled", serde_json::Value::Null, serde_json::json!("SIGSEGV"), false),
        ("kill -USR1 $$", "signaled", serde_json::Value::Null, serde_json::json!("SIGUSR1"), false),
    ];
    for (command, status, code, signal, success) in cases {
        let json = serde_json::to_value(world.run(command).await).unwrap();
        assert_eq!((&json["status"], &json["exit_code"]), (&status.into(), &code), "{command}");
        assert_eq!((&json["signal"], &json["success"]), (&signal, &success.into()), "{command}");
    }
}

#[tokio::test]
async fn time_and_usage_are_measured() {
    let world = World::new();
    let outcome = world.run("for ((i = 0; i < 300000; i++)); do :; done; sleep 0.3").await;
    assert!(outcome.duration.as_millis() >= 300);
    assert!(outcome.usage.cpu.as_millis() >= 30, "{:?}", outcome.usage);
    let heavy = world.run("x=$(head -c 60000000 /dev/zero | tr '\\0' x); echo ${#x}").await;
    assert!(heavy.usage.max_rss_kib > 50_000, "{:?}", heavy.usage);
}
