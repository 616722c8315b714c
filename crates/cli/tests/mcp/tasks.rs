//! Background tasks: named in arguments, alive without the server.

use bashtion_testkit::{living_with, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::stdio::{Client, text};
use crate::world;

fn started(client: &mut Client, command: &str) -> String {
    let result = client.result("bash", &json!({"command": command, "mode": "background"}));
    assert_eq!(result["structuredContent"]["status"], "running", "{result}");
    result["structuredContent"]["task_id"].as_str().unwrap().to_owned()
}

#[test]
fn from_start_to_end_by_its_name() {
    let world = world();
    let mut client = Client::new(&world);
    let id = started(&mut client, "echo first; until [ -e go ]; do sleep 0.02; done; echo second; exit 4");
    wait_until("it has printed", || {
        client.result("task_output", &json!({"task_id": id}))["structuredContent"]["output"] == "first\n"
    });
    let early = client.result("task_wait", &json!({"task_id": id, "timeout_ms": 50}));
    assert_eq!(
        (&early["structuredContent"]["status"], &early["isError"]),
        (&json!("running"), &json!(false))
    );
    let list = client.result("task_list", &json!({"running": true}));
    assert_eq!(list["structuredContent"]["tasks"][0]["task_id"], id.as_str());
    client.bash("touch go");
    let ended = client.result("task_wait", &json!({"task_id": id}));
    assert_eq!(
        (&ended["structuredContent"]["exit_code"], &ended["isError"]),
        (&json!(4), &json!(false)),
        "{ended}"
    );
    let new = client.result("task_output", &json!({"task_id": id, "since": 6}));
    assert_eq!(
        (&new["structuredContent"]["output"], &new["structuredContent"]["next_offset"]),
        (&json!("second\n"), &json!(13))
    );
    let last = client.result("task_output", &json!({"task_id": id, "tail": 1}));
    assert_eq!(last["structuredContent"]["output"], "second\n");
    assert!(text(&last).starts_with(&format!("task {id}: exit 4 after ")), "{last}");
}

#[test]
fn killing_ends_the_whole_tree_and_twice_is_fine() {
    let world = world();
    let mut client = Client::new(&world);
    let id = started(&mut client, "setsid sleep 817263 & sleep 817263");
    wait_until("it runs", || living_with("817263").len() >= 2);
    let killed = client.result("task_kill", &json!({"task_id": id}));
    assert_eq!(killed["structuredContent"]["signal"], "SIGTERM", "{killed}");
    assert_eq!(living_with("sleep 817263"), Vec::<i32>::new());
    let again = client.result("task_kill", &json!({"task_id": id}));
    assert_eq!(
        (&again["structuredContent"]["signal"], &again["isError"]),
        (&json!("SIGTERM"), &json!(false))
    );
    let wrong = client.result("task_kill", &json!({"task_id": id, "signal": "NONSENSE"}));
    assert_eq!(wrong["isError"], true);
}

#[test]
fn they_survive_the_server_and_the_next_one_knows_them() {
    let world = world();
    let mut client = Client::new(&world);
    let id = started(&mut client, "until [ -e go ]; do sleep 0.02; done; echo survived");
    kill(Pid::from_raw(client.child.id().cast_signed()), Signal::SIGKILL).unwrap();
    drop(client);
    let mut client = Client::new(&world);
    let list = client.result("task_list", &json!({}));
    assert_eq!(list["structuredContent"]["tasks"][0]["status"], "running", "{list}");
    client.bash("touch go");
    let ended = client.result("task_wait", &json!({"task_id": id}));
    assert_eq!(ended["structuredContent"]["stdout"], "survived\n");
}

#[test]
fn those_of_another_workspace_are_no_business_of_this_one() {
    let world = world();
    let elsewhere = world.work().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut client = Client::new(&world);
    let id = started(&mut client, "sleep 0.1; echo private");
    client.result("task_wait", &json!({"task_id": id}));
    let mut other = Client::with_capabilities(&world, &["--cwd", "elsewhere"], &json!({}));
    assert_eq!(other.result("task_list", &json!({}))["structuredContent"]["tasks"], json!([]));
    for tool in ["task_output", "task_wait", "task_kill"] {
        let result = other.result(tool, &json!({"task_id": id}));
        assert_eq!(
            (text(&result), &result["isError"]),
            (format!("there is no task {id}").as_str(), &json!(true))
        );
    }
    let mut both = Client::with_capabilities(&world, &["--cwd", "elsewhere", "--root", "."], &json!({}));
    assert_eq!(
        both.result("task_output", &json!({"task_id": id}))["structuredContent"]["output"],
        "private\n"
    );
}

#[test]
fn a_task_belongs_to_whoever_started_it_wherever_it_runs() {
    let world = world();
    for name in ["a", "b"] {
        std::fs::create_dir(world.work().join(name)).unwrap();
    }
    let mut first = Client::with_capabilities(&world, &["--cwd", "a"], &json!({}));
    first.result("bash", &json!({"command": "cd /usr", "session": "s"}));
    let task = json!({"command": "pwd; sleep 717171", "session": "s", "mode": "background"});
    let result = first.result("bash", &task);
    let id = result["structuredContent"]["task_id"].as_str().unwrap().to_owned();
    let mut second = Client::with_capabilities(&world, &["--cwd", "b"], &json!({}));
    assert_eq!(second.result("task_kill", &json!({"task_id": id}))["isError"], true);
    let killed = first.result("task_kill", &json!({"task_id": id}));
    assert_eq!(killed["structuredContent"]["stdout"], "/usr\n", "{killed}");
}

#[test]
fn of_very_much_output_a_part_is_shown_and_the_rest_can_be_asked_for() {
    let world = world();
    let mut client = Client::new(&world);
    let id = started(&mut client, "seq 30000");
    client.result("task_wait", &json!({"task_id": id}));
    let whole = client.result("task_output", &json!({"task_id": id}));
    assert_eq!(whole["structuredContent"]["truncated"], true);
    assert!(text(&whole).contains("characters cut"), "{whole}");
    let (mut all, mut since) = (String::new(), 0);
    loop {
        let part = client.result("task_output", &json!({"task_id": id, "since": since}));
        all += part["structuredContent"]["output"].as_str().unwrap();
        since = part["structuredContent"]["next_offset"].as_u64().unwrap();
        if part["structuredContent"]["truncated"] != true {
            break;
        }
    }
    let expected: String = (1..=30000).map(|n| format!("{n}\n")).collect();
    assert_eq!(all, expected);
}
