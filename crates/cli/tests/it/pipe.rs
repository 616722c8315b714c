//! In a pipe: the raw output and nothing else.

use std::io::Read;
use std::time::{Duration, Instant};

use bashtion_testkit::{living_with, wait_until};

use crate::world;

#[test]
fn every_byte_to_where_it_was_written() {
    let finished = world().run("printf 'a\\0\\xff\\e[31m\\r\\n'; echo oops >&2; exit 3").finish();
    assert_eq!(finished.stdout_bytes(), b"a\0\xff\x1b[31m\r\n");
    assert_eq!(finished.stderr(), "oops\n");
}

#[test]
fn nothing_is_cut() {
    let finished = world().run("seq 1 300000; sleep 100 &").finish();
    assert!(finished.stdout().ends_with("299999\n300000\n"));
    assert_eq!(finished.stdout().lines().count(), 300_000);
    assert_eq!(finished.stderr(), "", "not a word about leftovers");
}

#[test]
fn unless_a_bound_is_given() {
    let finished = world().run_with(&["--max-output", "100"], "seq 1 1000; seq 1 1000 >&2").finish();
    assert!(
        finished.stdout().len() < 400 && finished.stdout().contains("characters cut"),
        "{}",
        finished.stdout()
    );
    assert!(finished.stderr().len() < 400 && finished.stderr().ends_with("1000\n"));
}

#[test]
fn a_reader_that_goes_away_ends_the_command() {
    let world = world();
    let started = Instant::now();
    let finished = world
        .program("/bin/bash")
        .args(&["-c", "\"$BASHTION\" run yes | head -2; echo ${PIPESTATUS[0]}"])
        .finish();
    assert_eq!(finished.stdout(), "y\ny\n141\n");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_reader_that_does_not_read_does_not_hold_up_the_deadline() {
    let world = world();
    let mut child = world.run_with(&["--timeout", "500ms", "--env", "MARK=4323.1"], "yes $MARK").start();
    let running = || !living_with("yes 4323.1").is_empty();
    wait_until("it runs", running);
    let started = Instant::now();
    wait_until("it is ended", || !running());
    assert!(started.elapsed() < Duration::from_secs(3));
    let mut rest = vec![];
    child.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
    assert!(rest.starts_with(b"4323.1\n"));
    assert_eq!(child.wait().unwrap().code(), Some(124));
}

#[test]
fn a_slow_reader_gets_every_byte() {
    let world = world();
    for options in ["", "--leftovers keep", "--combined"] {
        let script = format!("\"$BASHTION\" run {options} 'head -c 2000000 /dev/zero' | (sleep 1; wc -c)");
        let finished = world.program("/bin/bash").args(&["-c", &script]).finish();
        assert_eq!(finished.stdout(), "2000000\n", "{options}");
    }
}

#[test]
fn a_pipe_that_does_not_block_gets_every_byte() {
    use rustix::fs::OFlags;
    let world = world();
    let (mut read, write) = std::io::pipe().unwrap();
    rustix::fs::fcntl_setfl(&write, OFlags::NONBLOCK).unwrap();
    let mut child = world.run("head -c 1000000 /dev/zero; exit 3").start_with_stdout(write);
    std::thread::sleep(Duration::from_millis(300));
    let mut bytes = vec![];
    read.read_to_end(&mut bytes).unwrap();
    assert_eq!((bytes.len(), child.wait().unwrap().code()), (1_000_000, Some(3)));
}

#[test]
fn a_command_that_begins_with_a_dash_is_a_command() {
    for command in ["-x", "+x", "--version", "-c"] {
        let finished = world().run(command).finish();
        assert_eq!(finished.code(), Some(127), "{command}: {finished:?}");
    }
    let long = format!("-n foo; : {}", "x".repeat(200_000));
    let finished = world().bashtion().args(&["run", "-"]).finish_with_input(long.as_bytes());
    assert!(finished.stderr().contains("-n: command not found"), "{}", finished.stderr());
}
