//! Signals to `bashtion run` end the command.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::time::{Duration, Instant};

use bashtion_testkit::{living_with, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::world;

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

#[test]
fn the_tree_is_ended_and_the_code_says_which_signal() {
    for (signal, code) in [
        (Signal::SIGINT, 130),
        (Signal::SIGTERM, 143),
        (Signal::SIGHUP, 129),
        (Signal::SIGQUIT, 131),
        (Signal::SIGUSR1, 138),
        (Signal::SIGALRM, 142),
        (Signal::SIGXCPU, 152),
    ] {
        let world = world();
        let mut child = world.run("echo up; (setsid sleep 4324.1 &); sleep 4324.1").start();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut String::new()).unwrap();
        wait_until("all run", || living_with("sleep 4324.1").len() >= 2);
        send(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(living_with("sleep 4324.1"), Vec::<i32>::new());
    }
}

#[test]
fn the_result_is_printed_all_the_same() {
    let world = world();
    let mut child = world.run_with(&["--json"], "echo begun; touch up; sleep 1000").start();
    wait_until("it runs", || world.work().join("up").exists());
    send(&child, Signal::SIGINT);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["status"], &json["stdout"]), (&"cancelled".into(), &"begun\n".into()));
}

#[test]
fn the_second_one_does_not_wait_for_the_grace_period() {
    let world = world();
    let mut child = world.run("trap '' TERM; touch up; while :; do sleep 0.1; done").start();
    wait_until("it runs", || world.work().join("up").exists());
    let started = Instant::now();
    send(&child, Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(100));
    send(&child, Signal::SIGINT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(started.elapsed() < Duration::from_millis(1500), "{:?}", started.elapsed());
}

#[test]
fn nohup_means_that_a_hangup_does_not_end_it() {
    let world = world();
    let script = "trap '' HUP; exec \"$BASHTION\" run 'touch up; sleep 0.5; echo survived'";
    let mut child = world.program("/bin/bash").args(&["-c", script]).start();
    wait_until("it runs", || world.work().join("up").exists());
    send(&child, Signal::SIGHUP);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!((child.wait().unwrap().code(), text.as_str()), (Some(0), "survived\n"));
}

#[test]
fn a_reader_that_never_reads_does_not_keep_us() {
    for options in [
        &["--timeout", "300ms"][..],
        &["--stream", "--timeout", "300ms"],
        &["--json", "--max-output", "1000000", "--timeout", "300ms"],
    ] {
        let world = world();
        let mut child = world.run_with(options, "yes | head -c 400000; touch up; sleep 1000").start();
        std::thread::sleep(Duration::from_millis(800));
        assert_eq!(child.try_wait().unwrap(), None, "it waits for its reader");
        send(&child, Signal::SIGTERM);
        let started = Instant::now();
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(143), "{options:?}");
        assert!(started.elapsed() < Duration::from_secs(2));
    }
}

#[test]
fn two_signals_at_once_still_leave_a_result() {
    let world = world();
    let child =
        world.run_with(&["--json"], "echo hi; trap '' TERM; touch up; while :; do sleep 0.1; done").start();
    wait_until("it runs", || world.work().join("up").exists());
    send(&child, Signal::SIGTERM);
    std::thread::sleep(Duration::from_millis(50));
    send(&child, Signal::SIGTERM);
    let output = child.wait_with_output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["status"], &json["stdout"]), (&"cancelled".into(), &"hi\n".into()));
    assert_eq!(output.status.code(), Some(143));
}
