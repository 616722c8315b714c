//! REQ-BASH-008 and 009: Landlock, and its absence.

use super::*;

// REQ-BASH-008: Landlock enforcement

#[test]
fn req_bash_008_files_are_read_only() {
    let world = world();
    fs::write(world.work().join("old"), "old").unwrap();
    let command = "cat old; echo new > made; echo new > old; rm old; mkdir dir; chmod 777 old; true";
    let json = restricted(&world, command).json();
    assert_eq!(
        (&json["sandbox"]["mode"], &json["sandbox"]["filesystem"]),
        (&"read-only".into(), &"full".into())
    );
    assert!(json["output"].as_str().unwrap().starts_with("old"), "{json}");
    let names: Vec<_> = fs::read_dir(world.work()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["old"]);
    assert_eq!(fs::read_to_string(world.work().join("old")).unwrap(), "old");
}

#[test]
fn req_bash_008_tcp_connections_are_blocked() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let command = format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    assert_eq!(run(&world(), &command)["exit_code"], 0, "it works without Landlock");
    let json = restricted(&world(), &command).json();
    assert_eq!((&json["exit_code"], &json["sandbox"]["network"]), (&1.into(), &"full".into()), "{json}");
}

#[test]
fn req_bash_008_tcp_servers_are_blocked() {
    let command = "perl -MIO::Socket::INET -e \
                   'IO::Socket::INET->new(Listen => 1, LocalAddr => q(127.0.0.1)) or print $! and exit 9'";
    assert_eq!(run(&world(), command)["exit_code"], 0, "it works without Landlock");
    let json = restricted(&world(), command).json();
    assert_eq!(json["exit_code"], 9, "{json}");
}

#[test]
fn req_bash_008_signals_stay_inside() {
    let command = format!("kill -0 {}", std::process::id());
    assert_eq!(run(&world(), &command)["exit_code"], 0, "it works without Landlock");
    let json = restricted(&world(), &command).json();
    assert!(json["output"].as_str().unwrap().contains("Operation not permitted"), "{json}");
    assert_eq!(restricted(&world(), "sleep 60 & kill $!; wait $!").json()["exit_code"], 143, "its own");
}

#[test]
fn req_bash_008_resources_are_limited() {
    for (limit, value) in [("memory", json!("4G")), ("processes", json!(1024)), ("cpu", json!("15m"))] {
        assert_eq!(setting("phoenix-restricted", &format!("sandbox.limits.{limit}")), value);
    }
    let json = restricted(&world(), "ulimit -t").json();
    assert_eq!((&json["output"], &json["sandbox"]["limits"]), (&"900\n".into(), &"full".into()));
}

#[test]
fn req_bash_008_more_memory_than_the_limit_is_refused() {
    let options = ["--json", "--profile", "phoenix-restricted", "--limit", "memory=64M"];
    let json =
        world().run_with(&options, "x=$(head -c 200M /dev/zero | tr '\\0' x); echo ${#x}").finish().json();
    assert!(json["denials"][0].as_str().unwrap().starts_with("the memory limit of 64 MiB"), "{json}");
}

#[test]
fn req_bash_008_the_error_of_the_kernel_is_returned() {
    let json = restricted(&world(), "touch made").json();
    assert_eq!(
        (&json["exit_code"], &json["output"]),
        (&1.into(), &"touch: cannot touch 'made': Permission denied\n".into())
    );
    assert!(json["text"].as_str().unwrap().contains("in read-only mode nothing can be changed"), "{json}");
}

#[test]
fn req_bash_008_the_description_explains_the_sandbox() {
    let definition = schema("phoenix-restricted");
    let text = definition["description"].as_str().unwrap();
    assert!(text.contains("can change nothing but $TMPDIR") && text.contains("no network"), "{text}");
    assert!(text.contains("do not try to work around it"), "{text}");
}

#[test]
fn req_bash_008_a_blocked_command_is_not_tried_again() {
    let world = world();
    let json = restricted(&world, "echo tried; touch made").json();
    assert_eq!(json["output"].as_str().unwrap().matches("tried").count(), 1);
    let rows = world.bashtion().args(&["audit", "list", "--json", "--kind", "started"]).finish().json();
    assert_eq!(rows.as_array().unwrap().len(), 1, "{rows}");
}

#[test]
fn req_bash_008_each_version_of_landlock_lacks_what_the_matrix_says() {
    let lacks = |abi, word: &str| landlock_lacks(Landlock::Abi(abi)).iter().any(|gap| gap.contains(word));
    for (abi, tcp, devices, signals) in [
        (1, true, true, true),
        (3, true, true, true),
        (4, false, true, true),
        (5, false, false, true),
        (6, false, false, false),
    ] {
        assert_eq!(
            (lacks(abi, "TCP"), lacks(abi, "devices"), lacks(abi, "signals")),
            (tcp, devices, signals),
            "{abi}"
        );
    }
}

// REQ-BASH-009: Graceful degradation without Landlock

fn without_landlock(world: &World, profile: &str, command: &str) -> Finished {
    in_a_thread_without_landlock(|| world.run_with(&["--json", "--profile", profile], command).finish())
}

#[test]
fn req_bash_009_the_missing_landlock_is_detected() {
    let doctor = in_a_thread_without_landlock(|| world().bashtion().args(&["doctor", "--json"]).finish());
    let json = doctor.json();
    assert_eq!(
        (doctor.code(), &json["ok"], &json["landlock"]["status"]),
        (Some(1), &false.into(), &"missing".into())
    );
}

#[test]
fn req_bash_009_restricted_mode_is_disabled() {
    let world = world();
    let finished = without_landlock(&world, "phoenix-restricted", "touch made");
    assert_eq!((finished.code(), finished.json().get("output")), (Some(125), None));
    assert!(!world.work().join("made").exists());
}

#[test]
fn req_bash_009_the_weaker_protection_is_warned_of() {
    let finished = in_a_thread_without_landlock(|| world().run("true").finish());
    assert_eq!(finished.code(), Some(0));
    assert!(
        finished
            .stderr()
            .starts_with("warning: this command was not fully confined: there is no Landlock here"),
        "{}",
        finished.stderr()
    );
}

#[test]
fn req_bash_009_unrestricted_mode_still_works() {
    let finished = without_landlock(&world(), "phoenix", "echo ran");
    assert_eq!((finished.code(), &finished.json()["output"]), (Some(0), &"ran\n".into()));
}

#[test]
fn req_bash_009_safety_checks_still_apply() {
    let world = world();
    let finished = without_landlock(&world, "phoenix", "touch made; git add .");
    assert_eq!((finished.code(), world.work().join("made").exists()), (Some(126), false));
}

#[test]
fn req_bash_009_the_user_is_told_that_landlock_is_missing() {
    let doctor = in_a_thread_without_landlock(|| world().bashtion().arg("doctor").finish()).stdout();
    assert!(doctor.contains("\nlandlock     none\n"), "{doctor}");
}

#[test]
fn req_bash_009_restricted_mode_explains_what_landlock_needs() {
    let finished = without_landlock(&world(), "phoenix-restricted", "true");
    assert_eq!(
        finished.json()["error"]["message"],
        "the sandbox mode read-only cannot be enforced here: there is no Landlock here; it needs Linux 5.13 or newer, built with it"
    );
}
