//! What Bashtion costs, as ratios to plain ways of doing the same, measured in the same run.
//!
//! Run it with `cargo bench`. Each round does every variant once, in an order that changes, and the median round
//! counts: the machine's mood falls on all variants alike.
#![expect(clippy::print_stdout, reason = "printing is what a benchmark is for")]
#![expect(clippy::cast_precision_loss, reason = "ratios need few digits")]

use std::ffi::{CStr, CString};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bashtion::{Engine, Events, Policy, Request, SandboxMode, SandboxSettings, ToolContext};
use bashtion_audit::{Audit, Settings};
use bashtion_guard::{World, analyze};
use bashtion_testkit::bench::{ballast, by_posix_spawn, medians, ratio};
use tokio::runtime::Runtime;

/// The program where cargo has built it.
const LINKED: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_BIN_EXE_bashtion"), "\0").as_bytes()) {
        Ok(path) => path,
        Err(_) => panic!("no NUL"),
    };
const ROUNDS: usize = 300;
const CAPTURE_ROUNDS: usize = 15;
const GIB: usize = 1 << 30;

fn main() {
    judging();
    let host = Host::new();
    println!("spawning, {ROUNDS} rounds, ratio to posix_spawn of `bash -c true`");
    let library = || host.by_library("true");
    let small = host.against_spawning(&library);
    let unconfined = [c"bashtion", c"run", c"--sandbox", c"off", c"true"];
    let run = host.against_spawning(&|| host.by_command_line(&unconfined));
    let linked = host.against_spawning(&|| by_posix_spawn(LINKED, &unconfined, &host.env));
    let cwd = CString::new(host.workspace.path().as_os_str().as_bytes()).expect("no NUL");
    let confined =
        host.against_spawning(&|| host.by_command_line(&[c"bashtion", c"run", c"--cwd", &cwd, c"true"]));
    let check =
        host.against_spawning(&|| host.by_command_line(&[c"bashtion", c"check", c"git status && ls"]));
    let hook = host.against_spawning(&|| host.by_hook());
    println!("  posix_spawn                              1.00  ({:.2} ms)", small.base.as_secs_f64() * 1e3);
    println!("  library run, judged, pipes and result    {:.2}  goal 1.15", small.ratio());
    println!("  `bashtion run --sandbox off true`        {:.2}  goal 2.50", run.ratio());
    println!("    the file that the linker has written   {:.2}", linked.ratio());
    println!("  `bashtion run true`, in the workspace    {:.2}", confined.ratio());
    println!("  `bashtion check 'git status && ls'`      {:.2}  goal 1.30", check.ratio());
    println!("  `bashtion hook claude-code`, allowed     {:.2}  goal 1.50", hook.ratio());
    let ballast = ballast();
    let large = host.against_spawning(&library);
    println!("  library run, 2 GiB resident              {:.2}", large.ratio());
    println!("    to the same from a small host          {:.2}  goal 1.10", ratio(large.time, small.time));
    drop(ballast);

    writing_down(&host);
    among_finished_tasks(&host);

    println!("capturing 1 GiB, {CAPTURE_ROUNDS} rounds, ratio to a loop that reads and forgets");
    for (name, command) in [
        ("zeros", "head -c 1G /dev/zero"),
        ("lines", "yes 'a line of output as programs print it' | head -c 1G"),
    ] {
        let (raw, captured, grown) = host.capturing(command);
        println!(
            "  {name}: {:.2}  goal 1.30  ({:.2} GB/s), memory grew by {grown:.1} MiB, goal 10",
            ratio(captured, raw),
            GIB as f64 / 1e9 / captured.as_secs_f64()
        );
    }
}

/// What it costs that everything is written down, and how fast a background task is started.
fn writing_down(host: &Host) {
    let audit =
        Audit::open(&Settings::in_directory(host.state.path().join("audit"))).expect("it can be made");
    let off = SandboxSettings { mode: SandboxMode::Off, ..SandboxSettings::default() };
    let engine = Engine::builder().state_dir(host.state.path().join("state")).sandbox(off);
    let engine = engine.ledger(Arc::new(audit)).build();
    let written = || {
        let (sender, events) = Events::watching();
        let context = host.context.clone().events(sender);
        let outcome = host.runtime.block_on(engine.run(Request::new("true"), &context));
        assert!(outcome.expect("it runs").success());
        drop(events);
    };
    let run: [&CStr; 5] = [c"bashtion", c"run", c"--sandbox", c"off", c"true"];
    let with_audit = |mode: &str| {
        let config = host.state.path().join(format!("{mode}.toml"));
        fs::write(&config, format!("[audit]\nmode = \"{mode}\"\n")).expect("it can be written");
        let mut env = host.env.clone();
        env.push(CString::new(format!("BASHTION_CONFIG={}", config.display())).expect("no NUL"));
        move || by_posix_spawn(&host.cli, &run, &env)
    };
    let [plain, library] = medians([&|| host.by_library("true"), &written as &dyn Fn()], ROUNDS);
    let [off, on] = medians([&with_audit("off") as &dyn Fn(), &with_audit("on")], ROUNDS);
    let background: &dyn Fn() =
        &|| host.by_command_line(&[c"bashtion", c"run", c"--background", c"--json", c"true"]);
    let [start] = medians([background], TASKS);
    println!("writing everything down, {ROUNDS} rounds, ratio to not doing it");
    println!("  library run, audit and events            {:.2}  goal 1.10", ratio(library, plain));
    println!("  `bashtion run --sandbox off true`        {:.2}  goal 1.10", ratio(on, off));
    println!("starting a background task                 {:.1} ms  goal 50", start.as_secs_f64() * 1e3);
}

const TASKS: usize = 40;

/// Measures how finished tasks slow down listing and starting.
fn among_finished_tasks(host: &Host) {
    const FINISHED: usize = 3000;
    let in_state = |name: &str| {
        let mut env = host.env.clone();
        env.retain(|entry| !entry.as_bytes().starts_with(b"BASHTION_STATE_DIR="));
        let state = host.state.path().join(name);
        env.push(CString::new(format!("BASHTION_STATE_DIR={}", state.display())).expect("no NUL"));
        (state, env)
    };
    let start = [c"bashtion", c"run", c"--sandbox", c"off", c"--background", c"true"];
    let ((_, few), (state, many)) = (in_state("few"), in_state("many"));
    by_posix_spawn(&host.cli, &start, &many);
    multiply_the_only_task(&state, FINISHED);
    let starting = |env: &[CString]| by_posix_spawn(&host.cli, &start, env);
    let [base, time] = medians([&|| starting(&few), &|| starting(&many)], TASKS);
    let [list] = medians([&|| by_posix_spawn(&host.cli, &[c"bashtion", c"tasks"], &many)], TASKS);
    println!("{FINISHED} finished tasks");
    println!("  starting another, ratio to few of them   {:.2}  goal 1.10", ratio(time, base));
    println!("  `bashtion tasks`                         {:.0} ms  goal 100", list.as_secs_f64() * 1e3);
}

/// Copies the folder of a task under other names, once it is over.
fn multiply_the_only_task(state: &Path, count: usize) {
    let (folders, outputs) = (state.join("private/tasks"), state.join("task-output"));
    let entry =
        fs::read_dir(&outputs).expect("it was made").next().expect("there is a task").expect("it is there");
    let id = entry.file_name().into_string().expect("UTF-8");
    while !folders.join(&id).join("result.json").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    for number in 1..count {
        let name = format!("bash-z{number:05}");
        fs::create_dir(folders.join(&name)).expect("it can be made");
        for file in ["task.json", "result.json", "lock"] {
            let text = fs::read_to_string(folders.join(&id).join(file)).expect("it can be read");
            fs::write(folders.join(&name).join(file), text.replace(&id, &name)).expect("it can be written");
        }
        fs::copy(outputs.join(&id), outputs.join(&name)).expect("it can be copied");
    }
}

/// How long it takes to judge each command of the corpus, in this process.
fn judging() {
    const ROUNDS: usize = 21;
    let corpus = include_str!("../../guard/tests/corpus/commands.tsv");
    let policy = Policy::default();
    let mut each: Vec<Duration> = vec![];
    for row in corpus.lines().skip(1) {
        let columns: Vec<&str> = row.splitn(5, '\t').collect();
        let world = World::new(columns[3], "/home/dev");
        let command = columns[4].replace("\\n", "\n");
        let judge = || drop(policy.judge(&analyze(&command, &world), &world));
        let [median] = medians([&judge], ROUNDS);
        each.push(median);
    }
    each.sort();
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let (median, slow) = (each[each.len() / 2], each[each.len() * 99 / 100]);
    println!("judging {} commands in process", each.len());
    println!("  median {:.0} µs  goal 60, 99 of 100 within {:.0} µs", micros(median), micros(slow));
}

struct Host {
    runtime: Runtime,
    engine: Engine,
    context: ToolContext,
    /// The program `bashtion` as it is when it was installed: a copy, which the kernel keeps in large pieces. What the
    /// linker has written it keeps page by page.
    cli: CString,
    /// Where there is nothing.
    workspace: tempfile::TempDir,
    /// Kept for as long as the rest.
    state: tempfile::TempDir,
    /// What the library gives a command. Bash spends some of its time on it, so the baseline gets the same.
    env: Vec<CString>,
}

impl Host {
    fn new() -> Self {
        // Not in the usual place: whatever else lies there would need a rule, because a command may not see our state.
        let state = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
        let off = SandboxSettings { mode: SandboxMode::Off, ..SandboxSettings::default() };
        let cli = state.path().join("bashtion");
        fs::copy(LINKED.to_str().expect("UTF-8"), &cli).expect("it can be copied");
        let workspace = tempfile::tempdir().expect("a temporary directory");
        let mut host = Self {
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime"),
            engine: Engine::builder().state_dir(state.path().join("state")).sandbox(off).build(),
            context: ToolContext::from_host("/"),
            cli: CString::new(cli.into_os_string().into_vec()).expect("no NUL"),
            workspace,
            state,
            env: vec![],
        };
        let outcome = host.runtime.block_on(host.engine.run(Request::new("env -0"), &host.context));
        let outcome = outcome.expect("it runs");
        let entries = outcome.output.stdout().split_terminator('\0');
        host.env = entries.map(|entry| CString::new(entry).expect("no NUL")).collect();
        let state = format!("BASHTION_STATE_DIR={}", host.state.path().display());
        host.env.push(CString::new(state).expect("no NUL"));
        host
    }

    /// Medians of posix_spawn and of something else, turn about: what runs in between is felt by what comes after.
    fn against_spawning(&self, other: &dyn Fn()) -> Compared {
        let bash: &dyn Fn() = &|| by_posix_spawn(c"/bin/bash", &[c"bash", c"-c", c"true"], &self.env);
        let [base, time] = medians([bash, other], ROUNDS);
        Compared { base, time }
    }

    /// Medians of reading and of capturing, and by how many MiB memory grew.
    fn capturing(&self, command: &str) -> (Duration, Duration, f64) {
        self.by_library(command);
        reset_peak();
        let before = peak_kib();
        self.by_library(command);
        let grown = peak_kib().saturating_sub(before) as f64 / 1024.0;
        let variants: [&dyn Fn(); 2] = [&|| by_reading(command), &|| self.by_library(command)];
        let [raw, captured] = medians(variants, CAPTURE_ROUNDS);
        (raw, captured, grown)
    }

    fn by_library(&self, command: &str) {
        let outcome = self.runtime.block_on(self.engine.run(Request::new(command), &self.context));
        assert!(outcome.expect("it runs").success());
    }

    /// Through a file, so that nobody has to feed it.
    fn by_hook(&self) {
        let event = self.state.path().join("event.json");
        if !event.exists() {
            let text = r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/", "tool_input": {"command": "git status && ls"}}"#;
            fs::write(&event, text).expect("it can be written");
        }
        let mut hook = Command::new(self.cli.to_str().expect("UTF-8"));
        hook.args(["hook", "claude-code"]).env_clear().env("BASHTION_STATE_DIR", self.state.path());
        let event = fs::File::open(&event).expect("it was written");
        let status = hook.env("HOME", "/").stdin(event).stdout(Stdio::null()).status().expect("it runs");
        assert!(status.success());
    }

    fn by_command_line(&self, arguments: &[&CStr]) {
        by_posix_spawn(&self.cli, arguments, &self.env);
    }
}

/// Two medians of the same rounds.
struct Compared {
    base: Duration,
    time: Duration,
}

impl Compared {
    fn ratio(&self) -> f64 {
        ratio(self.time, self.base)
    }
}

fn by_reading(command: &str) {
    let mut child =
        Command::new("bash").args(["-c", command]).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut stdout = child.stdout.take().expect("it is piped");
    let mut buffer = vec![0; 64 * 1024];
    while stdout.read(&mut buffer).expect("it can be read") > 0 {}
    assert!(child.wait().expect("it ends").success());
}

/// Writing 5 there sets the peak to what is resident now.
fn reset_peak() {
    fs::write("/proc/self/clear_refs", "5").expect("a kernel that can");
}

fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("proc is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it has a line for it");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
