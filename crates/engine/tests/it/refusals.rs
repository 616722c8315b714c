//! Requests that cannot be run, and hosts that cannot run them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

use bashtion::{Engine, Request, ToolContext};

use crate::World;

async fn refusal(request: Request) -> String {
    let world = World::new();
    let error = world.engine.run(request, &world.context()).await.unwrap_err();
    error.to_string()
}

#[tokio::test]
async fn each_says_what_is_wrong() {
    insta::assert_snapshot!(refusal(Request::new("")).await, @"the command is empty");
    insta::assert_snapshot!(refusal(Request::new(" \n\t")).await, @"the command is empty");
    insta::assert_snapshot!(refusal(Request::new("echo a\0b")).await, @"the command has a NUL byte at offset 6");
    insta::assert_snapshot!(refusal(Request::new("#".repeat(17 << 20))).await, @"the command has 17825792 bytes, and at most 1048576 can be judged; write it to a file and run the file");
    insta::assert_snapshot!(refusal(Request::new("true").timeout(Duration::ZERO)).await, @"a timeout of 0ns is impossible: it must be more than zero and at most a year");
    insta::assert_snapshot!(refusal(Request::new("true").timeout(Duration::MAX)).await, @"a timeout of 18446744073709551615.999999999s is impossible: it must be more than zero and at most a year");
    insta::assert_snapshot!(refusal(Request::new("true").env("", "x")).await, @r#""" cannot be the name of an environment variable: it is empty"#);
    insta::assert_snapshot!(refusal(Request::new("true").env("A=B", "x")).await, @r#""A=B" cannot be the name of an environment variable: it contains "=""#);
    let nul = OsString::from_vec(vec![b'x', 0]);
    insta::assert_snapshot!(refusal(Request::new("true").env("A", nul.clone())).await, @r#"the value of the environment variable "A" contains a NUL byte"#);
    insta::assert_snapshot!(refusal(Request::new("true").env(nul, "x")).await, @r#""x\0" cannot be the name of an environment variable: it contains a NUL byte"#);
}

#[tokio::test]
async fn a_shell_that_is_not_there() {
    let engine = Engine::builder().shell("/nowhere/bash").build();
    let error = engine.run(Request::new("true"), &ToolContext::from_host("/")).await.unwrap_err();
    let mut chain = vec![error.to_string()];
    let mut next = std::error::Error::source(&error);
    while let Some(cause) = next {
        chain.push(cause.to_string());
        next = cause.source();
    }
    insta::assert_snapshot!(chain.join(": "), @"cannot start /nowhere/bash in /: cannot execute the program: No such file or directory (os error 2)");
}

#[tokio::test]
async fn a_relative_path_entry_is_never_used_to_find_bash() {
    let world = World::new();
    std::fs::write(world.path().join("bash"), "#!/bin/sh\necho evil\n").unwrap();
    let context = ToolContext::new(world.path()).env("PATH", ".::bin");
    let outcome = world.engine.run(Request::new("echo good"), &context).await.unwrap();
    assert_eq!(outcome.output.stdout(), "good\n");
}
