//! Processes outside are out of reach.

use bashtion::{Limits, Outcome, Request};
use std::time::Duration;

use crate::scene::{accepted, settings};
use crate::{Hold, Scene};

fn ended(scene: &mut Scene, _: &Outcome) -> bool {
    !scene.victim_is_alive()
}

escapes! {
    t10_a_signal: "kill {victim}", ended, [Workspace, Plain, ReadOnly];
    t10_a_signal_by_descriptor: "{probe} pidfd_kill {victim}", ended, [Workspace, Plain, ReadOnly];
    t10_a_signal_to_a_thread: "{probe} tgkill {victim}", ended, [Workspace, Plain, ReadOnly];
    t10_a_queued_signal: "{probe} sigqueue {victim}", ended, [Workspace, Plain, ReadOnly];
    t10_a_signal_by_the_kernel: "{probe} fcntl_owner {victim}", ended, [Workspace, Plain, ReadOnly];
    t11_tracing: "{probe} ptrace {victim}", accepted, [Workspace, Plain, ReadOnly];
    t11_taking_a_descriptor: "{probe} pidfd_getfd {victim}", accepted, [Workspace, Plain, ReadOnly];
    t11_counting: "{probe} perf {victim}", accepted, [Workspace, Plain, ReadOnly];
    t11_comparing: "{probe} kcmp {victim}", accepted, [Workspace, Plain, ReadOnly];
    t12_priority: "{probe} setpriority {victim}", accepted, [Workspace, Plain, ReadOnly];
    t12_affinity: "{probe} affinity {victim}", accepted, [Workspace, Plain, ReadOnly];
    t12_scheduling: "{probe} scheduler {victim}", accepted, [Workspace, Plain, ReadOnly];
    t12_limits: "{probe} prlimit {victim}", accepted, [Workspace, Plain, ReadOnly];
    t12_input_priority: "{probe} ioprio {victim}", accepted, [Workspace, Plain, ReadOnly];
}

#[test]
fn t13_shared_objects_of_others() {
    let mut maker = std::process::Command::new("ipcmk")
        .args(["-M", "4096"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut maker.stdout.take().unwrap(), &mut text).unwrap();
    maker.wait().unwrap();
    let id = text.split_whitespace().last().unwrap().to_owned();
    let command = format!("{{probe}} shm {id}");
    let attached = |hold| Scene::new().run(hold, &command).success();
    let (off, inside) = (attached(Hold::Off), [Hold::Workspace, Hold::Plain, Hold::ReadOnly].map(attached));
    std::process::Command::new("ipcrm").args(["-m", &id]).status().unwrap();
    assert!(off, "it must succeed without the sandbox");
    assert_eq!(inside, [false; 3]);
}

#[test]
fn t14_nothing_outlives_its_command() {
    for (index, hold) in [Hold::Workspace, Hold::Plain, Hold::ReadOnly].into_iter().enumerate() {
        let scene = Scene::new();
        let mark = format!("71{index}.{}", scene.victim());
        let outcome = scene.run(
            hold,
            &format!("(setsid sleep {mark} & ) ; (trap '' TERM; setsid nohup sleep {mark} &) ; true"),
        );
        assert!(outcome.success(), "{hold:?}");
        assert_eq!(bashtion_testkit::living_with(&format!("sleep {mark}")), Vec::<i32>::new(), "{hold:?}");
        assert_eq!(outcome.leftovers.len(), 2, "{hold:?} {:?}", outcome.leftovers);
    }
}

#[test]
fn t14_a_timeout_ends_the_tree_in_every_mode() {
    for (index, hold) in [Hold::Workspace, Hold::Plain, Hold::ReadOnly].into_iter().enumerate() {
        let scene = Scene::new();
        let mark = format!("72{index}.{}", scene.victim());
        let limits = Limits { grace: Duration::from_millis(200), ..Limits::default() };
        let engine = bashtion::Engine::builder()
            .limits(limits)
            .state_dir(scene.path("state"))
            .sandbox(settings(hold))
            .build();
        let command = format!("(setsid sleep {mark} &); trap '' TERM; sleep {mark}");
        let request = Request::new(command).timeout(Duration::from_millis(500));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let outcome = runtime.block_on(engine.run(request, &scene.context())).unwrap();
        assert!(matches!(outcome.status, bashtion::Status::TimedOut { .. }), "{hold:?}");
        assert_eq!(bashtion_testkit::living_with(&format!("sleep {mark}")), Vec::<i32>::new(), "{hold:?}");
    }
}

/// Its own processes are its own business.
#[test]
fn own_processes_can_be_signalled_and_renice_themselves() {
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let outcome = Scene::new().run(
            hold,
            "sleep 60 & kill $! && wait $!; [ $? = 143 ] && nice -n 5 true && ulimit -n 64 && echo done",
        );
        assert_eq!(outcome.output.stdout(), "done\n", "{hold:?} {}", outcome.output.stderr());
    }
}
