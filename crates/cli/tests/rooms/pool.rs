//! Shells that have waited for their commands: nothing of that can be seen.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use bashtion::{Engine, KeptRooms, Network, Outcome, Output, Policy, Request, SandboxSettings, ToolContext};
use bashtion_testkit::{wait_until, waiting_shell};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::runtime::Runtime;

/// Two engines in one room: the commands of one have shells that have waited, those of the other never do.
struct Pair {
    runtime: Runtime,
    waiting: Engine,
    plain: Engine,
    context: ToolContext,
    directory: tempfile::TempDir,
}

impl Pair {
    fn new() -> Self {
        Self::on(Network::Off)
    }

    fn on(network: Network) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (work, state) = (directory.path().join("work"), directory.path().join("state"));
        std::fs::create_dir(&work).unwrap();
        let builder = || {
            let sandbox = SandboxSettings { network, ..SandboxSettings::default() };
            let engine = Engine::builder().state_dir(&state).policy(Policy::off()).sandbox(sandbox);
            engine.supervisor(env!("CARGO_BIN_EXE_bashtion"))
        };
        Self {
            runtime: tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap(),
            waiting: builder().build(),
            plain: builder().pool(0).build(),
            context: ToolContext::from_host(&work),
            directory,
        }
    }

    fn run(&self, engine: &Engine, command: &str) -> Outcome {
        self.runtime.block_on(engine.run(Request::new(command), &self.context)).unwrap()
    }

    fn work(&self) -> PathBuf {
        self.directory.path().join("work").canonicalize().unwrap()
    }

    /// The shell that waits, after a while.
    fn waiting_shell(&self) -> i32 {
        wait_until("a shell waits", || {
            // One that has waited in vain often is not followed by another.
            waiting_shell(&self.work()).is_some() || !self.run(&self.waiting, "true").success()
        });
        waiting_shell(&self.work()).expect("it was there a moment ago")
    }

    /// Runs it in a shell that has waited.
    fn run_in_waiting(&self, command: &str) -> Outcome {
        let work = self.work();
        for tries in 0..50 {
            self.run(&self.waiting, "true");
            thread::sleep(Duration::from_millis(20 * tries));
            let Some(shell) = waiting_shell(&work) else { continue };
            let outcome = self.run(&self.waiting, command);
            if outcome.pid == Some(shell) {
                return outcome;
            }
        }
        panic!("no shell has waited for {command:?}");
    }
}

fn text(outcome: &Outcome) -> String {
    match &outcome.output {
        Output::Separate { stdout, .. } => stdout.text.clone(),
        Output::Combined(output) => output.text.clone(),
    }
}

const SCRIPTS: &[&str] = &[
    "true",
    "false",
    "echo hello; echo error >&2; exit 3",
    "echo \"$0 $# $- $LINENO $SHLVL $BASH_SUBSHELL\"",
    "echo \"[$_]\"",
    "echo \"[$BASH_EXECUTION_STRING]\"",
    "echo \"[$?] [$!] [$*]\"",
    "echo 'it'\\''s \"quoted\" $HOME `echo x`'",
    "echo one\n\necho $LINENO\n# a comment\necho $LINENO",
    "cat <<END\nhere $LINENO\nEND",
    "cat <<END\nno end",
    "no-such-program-anywhere",
    "./not-there",
    "return 4",
    "exec echo became",
    "exec no-such-program-anywhere",
    "exit",
    "(exit 5)",
    "kill -TERM $$",
    "kill -KILL $$; echo not here",
    "trap 'echo bye' EXIT; echo hi",
    "trap 'echo ERR $?' ERR; false; true",
    "trap 'echo debug $LINENO' DEBUG; echo a; echo b",
    "trap -p; trap",
    "set -e; false; echo not here",
    "set -u; echo $UNSET_VARIABLE; echo not here",
    "set -x; echo traced",
    "set -v; echo verbose\necho second",
    "set -o pipefail; false | true; echo $?",
    "shopt -s extglob; echo @(a|b)",
    "shopt -p; set +o",
    "alias; alias x=y; alias",
    "f() { echo \"$FUNCNAME ${BASH_SOURCE[0]} ${BASH_LINENO[0]}\"; caller; }; f",
    "caller; echo $?",
    "echo ${#BASH_SOURCE[@]} ${#FUNCNAME[@]}",
    "read line; echo \"[$line] $?\"",
    "cat; echo $?",
    "[ -t 0 ] && echo terminal || echo none",
    "stat -Lc %F /dev/stdin",
    "ls -l /dev/stdin | wc -l",
    "exec 5>&1; echo five >&5",
    "(cd /; pwd); pwd",
    "echo \"$PWD $OLDPWD\"; cd /; echo \"$OLDPWD\"",
    "export -p",
    "env | sort",
    "printenv BASH_ENV; echo $?",
    "bash -c 'echo $0 $BASH_ENV'",
    "sh -c 'echo $PPID' > /dev/null; echo $?",
    "umask; ulimit -a",
    "jobs; sleep 0.01 & wait; echo $?",
    "sleep 0.01 & jobs",
    "a=(1 2 3); echo ${a[@]: -1} ${#a[@]}",
    "declare -A m=([x]=1); echo ${m[x]}",
    "echo $SECONDS",
    "echo $((1 + 2)) $(echo nested) {a..c} ~ *",
    "hash; type echo cat",
    "command -v bash; builtin echo x",
    "printf '%s\\n' \"$IFS\" | od -c",
    "echo \"$BASHOPTS $SHELLOPTS $BASH_VERSION\"",
    "set -- a b; shift; echo $1 $#",
    "for i in 1 2; do echo $i; done; select x in; do :; done",
    "case x in x) echo matched;; esac",
    "while false; do :; done; until true; do :; done; echo $?",
    "TIMEFORMAT=took; time true; echo $?",
    "echo a | cat | cat; echo ${?}",
    "false | true; echo $?",
    "diff <(echo a) <(echo a) && echo same",
    "coproc cat; echo ${#COPROC[@]}",
    "eval 'echo evaluated $LINENO'",
    "source /dev/null; echo $?",
    "unset BASH_ENV HOME; echo [$HOME]",
    "readonly R=1; R=2; echo not here",
    "history; fc -l; echo $?",
    "complete; bind -p 2> /dev/null | head -1",
    "echo \u{fc}n\u{ef}c\u{f6}d\u{e9} \u{1f600}; echo ${#PATH} | wc -l",
    "printf 'no newline'",
    "  \t echo blanks  ",
    "-c echo dash",
    "#only a comment",
    "! true; echo $?",
    "{ echo group; } 2>&1 | cat",
    "enable -n echo; echo x; enable | wc -l",
    "ulimit -c 0; ulimit -c",
    "disown; suspend; logout",
    "mapfile -t lines < <(printf 'a\\nb\\n'); echo ${lines[1]}",
    "echo $PPID | wc -l; echo $UID $EUID",
    "getopts a opt -a; echo $opt $OPTIND",
    "let x=1+1; echo $x; [[ abc =~ b ]] && echo ${BASH_REMATCH[0]}",
];

#[test]
fn a_command_cannot_see_that_its_shell_has_waited() {
    let pair = Pair::new();
    for script in SCRIPTS {
        let (plain, waited) = (pair.run(&pair.plain, script), pair.run_in_waiting(script));
        assert_eq!((waited.status, waited.exit), (plain.status, plain.exit), "{script}");
        assert_eq!(format!("{:?}", waited.output), format!("{:?}", plain.output), "{script}");
        assert_eq!(waited.sandbox, plain.sandbox, "{script}");
    }
}

#[test]
fn a_shell_that_was_killed_while_it_waited_is_not_missed() {
    let pair = Pair::new();
    pair.run_in_waiting("true");
    for _ in 0..10 {
        let shell = pair.waiting_shell();
        kill(Pid::from_raw(shell), Signal::SIGKILL).unwrap();
        wait_until("it is gone", || waiting_shell(&pair.work()) != Some(shell));
        let after = pair.run(&pair.waiting, "echo here");
        assert!(after.success() && text(&after) == "here\n", "{after:?}");
    }
}

#[test]
fn a_room_with_nothing_but_a_shell_that_waits_is_idle() {
    for network in [Network::Off, Network::On] {
        let pair = Pair::on(network);
        pair.run_in_waiting("true");
        let kept = KeptRooms::new(Some(&pair.directory.path().join("state")));
        wait_until("nothing but a shell that waits is there", || {
            let rooms = kept.list().unwrap();
            waiting_shell(&pair.work()).is_some()
                && (rooms[0].status.commands, rooms[0].status.processes) == (0, 0)
        });
    }
}

#[test]
fn a_command_that_looks_at_processes_sees_none_that_waits() {
    let pair = Pair::new();
    for _ in 0..5 {
        pair.run_in_waiting("true");
        let seen = pair.run(&pair.waiting, "pgrep -xc bash; ps -ef | grep -c 'bash -c --   *$'");
        assert_eq!(text(&seen), "1\n0\n", "{seen:?}");
    }
}

/// Their traces in a shell would stay when they have ended.
#[test]
fn none_waits_while_processes_are_kept() {
    let pair = Pair::new();
    pair.run_in_waiting("true");
    let poison =
        "for p in /proc/[0-9]*; do p=${p#/proc/}; [ $p -gt 2 ] && echo 'echo planted' > /proc/$p/fd/0; done";
    let keep = format!("(sleep 0.3; {poison}) > /dev/null 2>&1 &");
    let request = Request::new(keep).leftovers(bashtion::Leftovers::Keep);
    let kept = pair.runtime.block_on(pair.waiting.run(request, &pair.context)).unwrap();
    assert!(kept.success(), "{kept:?}");
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(50));
        assert_eq!(text(&pair.run(&pair.waiting, "echo own")), "own\n");
    }
    pair.run_in_waiting("true");
}

#[test]
fn variables_of_a_session_are_not_seen_in_a_shell_that_waits() {
    let pair = Pair::new();
    for _ in 0..4 {
        let request = Request::new("export TOKEN=abc; true").session("one");
        pair.runtime.block_on(pair.waiting.run(request, &pair.context)).unwrap();
    }
    let seen =
        pair.run(&pair.waiting, "cat /proc/[0-9]*/environ 2> /dev/null | tr '\\0' '\\n' | grep -c TOKEN=");
    assert_eq!(text(&seen).trim(), "0");
}

#[test]
fn another_directory_or_environment_is_another_shell() {
    let pair = Pair::new();
    pair.run_in_waiting("mkdir below");
    pair.waiting_shell();
    let below = pair.directory.path().join("work/below");
    let request = |text: &str| Request::new(text).cwd(&below).env("NAME", "value");
    let outcome = pair.runtime.block_on(pair.waiting.run(request("pwd; echo $NAME"), &pair.context)).unwrap();
    assert_eq!(text(&outcome), format!("{}\nvalue\n", below.display()));
    // What it was given is nobody else's to see.
    let seen =
        pair.run(&pair.plain, "cat /proc/[0-9]*/environ 2> /dev/null | tr '\\0' '\\n' | grep -c ^NAME=");
    assert_eq!(text(&seen).trim(), "0");
}

/// A shell that has waited in a directory that is covered by then would still be beneath.
#[test]
fn a_repository_that_appears_is_protected_from_a_shell_that_waits_in_it() {
    let pair = Pair::new();
    let hooks = pair.directory.path().join("work/r/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    let run = |command: &str| {
        pair.runtime.block_on(pair.waiting.run(Request::new(command).cwd(&hooks), &pair.context)).unwrap()
    };
    run("true");
    // By the user: a command could not.
    let made = Command::new("git").args(["init", "-q", "--bare", "."]).current_dir(hooks.join("..")).status();
    assert!(made.unwrap().success());
    wait_until("the repository is protected", || !pair.run(&pair.plain, "echo x > r/hooks/x").success());
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(20));
        let planted = run("echo 'echo planted' > post-commit");
        assert!(!planted.success() && !hooks.join("post-commit").exists(), "{planted:?}");
    }
}

/// A connection to the room serves command after command, and each of them has a life of its own.
#[test]
fn what_runs_on_a_used_connection_ends_with_its_caller() {
    let pair = Pair::new();
    for engine in [&pair.plain, &pair.waiting] {
        (0..3).for_each(|_| assert!(pair.run(engine, "true").success()));
        let request = Request::new("sleep 4337 & setsid sleep 4337 & echo begun > begun; wait");
        let running = engine.run(request, &pair.context);
        let begun = pair.work().join("begun");
        let given_up = pair.runtime.block_on(async {
            tokio::select! {
                outcome = running => Some(outcome),
                () = appears(&begun) => None,
            }
        });
        assert!(given_up.is_none(), "{given_up:?}");
        std::fs::remove_file(&begun).unwrap();
        wait_until("nothing of it is left", || {
            text(&pair.run(&pair.plain, "pgrep -fc '^sleep 4337'")).trim() == "0"
        });
    }
}

/// The kernel closes its connection, which has served other commands before.
#[test]
fn a_killed_server_takes_along_what_it_ran() {
    let pair = Pair::new();
    let mut serve = Command::new(env!("CARGO_BIN_EXE_bashtion"));
    serve
        .arg("serve")
        .current_dir(pair.work())
        .env("BASHTION_STATE_DIR", pair.directory.path().join("state"));
    let mut server = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, stdout) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    let mut answers = BufReader::new(stdout).lines();
    let mut say = |method: &str, params: &str| {
        writeln!(stdin, r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#).unwrap();
    };
    let hello =
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#;
    let bash = |command: &str| format!(r#"{{"name":"bash","arguments":{{"command":"{command}"}}}}"#);
    say("initialize", hello);
    answers.next().unwrap().unwrap();
    for _ in 0..3 {
        say("tools/call", &bash("true"));
        let answer = answers.next().unwrap().unwrap();
        assert!(answer.contains("\"exit_code\":0"), "{answer}");
    }
    let sleep = format!("sleep 4338.{}", std::process::id());
    say("tools/call", &bash(&format!("{sleep} & setsid {sleep} & echo begun > begun; wait")));
    wait_until("it runs", || pair.work().join("begun").exists());
    server.kill().unwrap();
    server.wait().unwrap();
    wait_until("nothing of it is left", || {
        let found = Command::new("pgrep").args(["-f", &format!("^{sleep}")]).output().unwrap();
        found.stdout.is_empty()
    });
}

async fn appears(file: &std::path::Path) {
    while !file.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn a_room_that_has_ended_between_two_commands_is_followed_by_another() {
    let pair = Pair::new();
    let rooms = KeptRooms::new(Some(&pair.directory.path().join("state")));
    for _ in 0..3 {
        for engine in [&pair.plain, &pair.waiting, &pair.plain] {
            let outcome = pair.run(engine, "true");
            assert!(outcome.success() && outcome.sandbox.room.is_some(), "{outcome:?}");
        }
        let kept = rooms.list().unwrap();
        assert_eq!(kept.len(), 1);
        rooms.end(&kept[0].name).unwrap();
    }
}
