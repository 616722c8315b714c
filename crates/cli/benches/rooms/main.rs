//! The cost of a command in a kept room, as ratios to starting a shell with the same environment in the same run.
//!
//! Run it with `cargo bench --bench rooms`. Run by root, it does everything a second time as an ordinary user. With
//! `-- --chart FILE` it draws what it measured, with `-- --only WORDS` it measures what is called so.
#![expect(clippy::print_stdout, reason = "printing is what a benchmark is for")]

mod chart;

use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bashtion::{Engine, Request, ToolContext};
use bashtion_testkit::bench::{OverStdio, by_posix_spawn, medians, ratio};
use tokio::runtime::Runtime;

use chart::Row;

const ROUNDS: usize = 300;
/// Of programs that take long.
const FEW: usize = 20;
/// The pause in which a shell can start that waits for the next command, as agents make them.
const PAUSE: Duration = Duration::from_millis(8);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after =
        |name: &str| Some(arguments.get(arguments.iter().position(|known| known == name)? + 1)?.clone());
    let place = after("--in").map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
    // As programs do that never change it.
    bashtion::note_umask();
    let host = Host::new(&place);
    let only = after("--only").unwrap_or_default();
    let rows = host.measure(&only);
    if let Some(file) = after("--chart") {
        fs::write(&file, chart::draw(&rows)).expect("the chart can be written");
    }
    drop(host);
    if rustix::process::geteuid().is_root() {
        as_somebody_else(&only);
    }
}

/// Everything once more, by a user with no privileges.
fn as_somebody_else(only: &str) {
    let place = tempfile::tempdir().expect("a temporary directory");
    let own = place.path().join("bench");
    fs::copy(std::env::current_exe().expect("it has a file"), &own).expect("it can be copied");
    fs::copy(env!("CARGO_BIN_EXE_bashtion"), place.path().join("bashtion")).expect("it can be copied");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o1777)).expect("it is ours");
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let status = Command::new("setpriv")
        .args(user)
        .args([&own, Path::new("--in"), place.path()])
        .args(["--only", only])
        .current_dir(place.path())
        .env("HOME", place.path())
        .status();
    assert!(status.expect("setpriv is installed").success());
}

struct Host {
    state: tempfile::TempDir,
    cli: CString,
    env: Vec<CString>,
    /// The environment of a command.
    given: Vec<CString>,
    engine: Engine,
    /// No shell waits for its commands.
    plain: Engine,
    /// With one thread, for commands one after another.
    alone: Runtime,
    runtime: Runtime,
}

impl Host {
    fn new(place: &Path) -> Self {
        let state = tempfile::tempdir_in(place).expect("a temporary directory");
        // As it is when it was installed: the kernel keeps a copy in large pieces.
        let cli = state.path().join("bashtion");
        let beside = place.join("bashtion");
        let built = if beside.exists() { beside } else { PathBuf::from(env!("CARGO_BIN_EXE_bashtion")) };
        fs::copy(built, &cli).expect("it can be copied");
        let home = state.path().join("home");
        furnish(&home);
        let variable = |name: &str, value: &Path| {
            CString::new([name.as_bytes(), b"=", value.as_os_str().as_bytes()].concat()).expect("no NUL")
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let env = vec![
            variable("PATH", Path::new(&path)),
            variable("HOME", &home),
            variable("SHELL", Path::new("/bin/bash")),
            variable("BASHTION_STATE_DIR", &state.path().join("state")),
        ];
        let builder = || Engine::builder().state_dir(state.path().join("state")).supervisor(&cli);
        let (engine, plain) = (builder().build(), builder().pool(0).build());
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let alone = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let cli = CString::new(cli.as_os_str().as_bytes()).expect("no NUL");
        let host = Self { state, cli, env, given: vec![], engine, plain, alone, runtime };
        Self { given: host.environment(), ..host }
    }

    fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.env.iter().filter_map(|entry| entry.to_str().ok()?.split_once('='))
    }

    fn environment(&self) -> Vec<CString> {
        let mut printing = Command::new(self.program());
        printing.args(["run", "env"]).env_clear().envs(self.variables()).current_dir(self.state.path());
        let printed = printing.output().expect("it runs").stdout;
        let lines = printed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| CString::new(line).expect("no NUL")).collect()
    }

    /// Measures everything whose name has this in it.
    fn measure(&self, only: &str) -> Vec<Row> {
        let (empty, large) = (self.workspace("empty", 0), self.workspace("large", 1000));
        let user = if rustix::process::geteuid().is_root() { "root" } else { "an ordinary user" };
        println!(
            "a command in its room, for {user}, {ROUNDS} rounds, ratio to posix_spawn of `bash -c true`"
        );
        let mut rows = vec![];
        let mut tell = |what: &str, goal: Option<f64>, measure: &dyn Fn() -> (Duration, f64)| {
            if !what.contains(only) {
                return;
            }
            let (base, ratio) = measure();
            let wanted = goal.map(|goal| format!("  goal {goal:.2}")).unwrap_or_default();
            println!("  {what:56} {ratio:.2}{wanted}  ({:.2} ms)", base.as_secs_f64() * 1e3 * ratio);
            rows.push(Row { what: what.to_owned(), ratio, goal });
        };
        let run =
            |workspace: &Path, options: &[&CStr]| self.against_spawning(&|| self.run(workspace, options));
        tell("`bashtion run true`, empty workspace", Some(2.3), &|| run(&empty, &[]));
        tell("`bashtion run true`, repository of 1,000 directories", Some(2.3), &|| run(&large, &[]));
        tell("`bashtion run --sandbox off true`", None, &|| run(&empty, &[c"--sandbox", c"off"]));
        tell("the first command of a room, and its end", None, &|| run(&empty, &[c"--room", c"none"]));
        let context = ToolContext::from_host(&large);
        let library = |engine| self.by_library(engine, &context);
        tell("library", Some(1.3), &|| self.against_spawning(&|| library(&self.engine)));
        tell("library, no shell waits", None, &|| self.against_spawning(&|| library(&self.plain)));
        tell("library, a shell has waited", Some(0.4), &|| self.with_pauses(&|| library(&self.engine)));
        let without = self.state.path().join("without-pool.toml");
        fs::write(&without, "[room]\npool = 0\n").expect("it can be written");
        let server = |options: &[&OsStr]| {
            let mut serve = Command::new(self.program());
            serve.arg("serve").args(options).current_dir(&large).env_clear().envs(self.variables());
            RefCell::new(OverStdio::new(serve))
        };
        let served = |options: &[&OsStr]| {
            let server = server(options);
            self.against_spawning(&|| drop(server.borrow_mut().bash("true")))
        };
        tell("MCP over stdio", Some(1.5), &|| served(&[]));
        let plain = ["--profile".as_ref(), without.as_os_str()];
        tell("MCP over stdio, no shell waits", None, &|| served(&plain));
        tell("MCP over stdio, a shell has waited", Some(0.6), &|| {
            let server = server(&[]);
            self.with_pauses(&|| drop(server.borrow_mut().bash("true")))
        });
        for (what, program, arguments) in peers() {
            tell(what, None, &|| self.against_peer(&program, &arguments));
        }
        if !"at once".contains(only) {
            return rows;
        }
        println!("commands at once, commands a second to plain spawning at the same concurrency");
        for count in [1, 8, 64, 512] {
            let (ratio, tail) = self.at_once(&context, count);
            println!("  {count:4}  {ratio:.2}  goal 0.70  slowest hundredth {tail:.1} x the median");
        }
        rows
    }

    fn program(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.cli.as_bytes()))
    }

    /// A workspace: a repository with so many directories, or nothing at all.
    fn workspace(&self, name: &str, directories: usize) -> PathBuf {
        let path = self.state.path().join(name);
        for number in 0..directories {
            let directory = path.join(format!("part{}/inner{number}", number % 30));
            fs::create_dir_all(&directory).expect("it can be made");
            fs::write(directory.join("file.txt"), "text\n").expect("it can be written");
        }
        fs::create_dir_all(&path).expect("it can be made");
        if directories > 0 {
            assert!(
                Command::new("git").args(["init", "-q"]).arg(&path).status().expect("git runs").success()
            );
        }
        path
    }

    /// A shell as plain as can be, with the environment that commands get: bash spends some of its time on it.
    fn spawn(&self) {
        by_posix_spawn(c"/bin/bash", &[c"bash", c"-c", c"true"], &self.given);
    }

    fn against_spawning(&self, other: &dyn Fn()) -> (Duration, f64) {
        let bash: &dyn Fn() = &|| self.spawn();
        let [base, time] = medians([bash, other], ROUNDS);
        (base, ratio(time, base))
    }

    fn run(&self, workspace: &Path, options: &[&CStr]) {
        let cwd = CString::new(workspace.as_os_str().as_bytes()).expect("no NUL");
        let mut arguments = vec![c"bashtion", c"run", c"--cwd", cwd.as_c_str()];
        arguments.extend(options);
        arguments.push(c"true");
        by_posix_spawn(&self.cli, &arguments, &self.env);
    }

    /// As agents do it, who think for a while between two commands.
    fn with_pauses(&self, other: &dyn Fn()) -> (Duration, f64) {
        let bash: &dyn Fn() = &|| self.spawn();
        let mut times = [(); 2].map(|()| Vec::with_capacity(ROUNDS));
        // In turns, so that the machine's mood falls on both alike.
        for _ in 0..ROUNDS {
            for (one, times) in [bash, other].into_iter().zip(&mut times) {
                std::thread::sleep(PAUSE);
                let started = Instant::now();
                one();
                times.push(started.elapsed());
            }
        }
        let [base, time] = times.each_mut().map(|times| {
            times.sort();
            times[times.len() / 2]
        });
        (base, ratio(time, base))
    }

    fn against_peer(&self, program: &CStr, arguments: &[CString]) -> (Duration, f64) {
        let arguments: Vec<&CStr> = arguments.iter().map(CString::as_c_str).collect();
        let peer: &dyn Fn() = &|| by_posix_spawn(program, &arguments, &self.env);
        let bash: &dyn Fn() = &|| self.spawn();
        let [base, time] = medians([bash, peer], FEW);
        (base, ratio(time, base))
    }

    fn by_library(&self, engine: &Engine, context: &ToolContext) {
        let outcome = self.alone.block_on(engine.run(Request::new("true"), context)).expect("it runs");
        assert!(outcome.success() && outcome.sandbox.room.is_some(), "{outcome:?}");
    }

    /// Commands a second by the library, to those by plain spawning; and how much longer the slowest hundredth takes than
    /// the median.
    fn at_once(&self, context: &ToolContext, count: usize) -> (f64, f64) {
        let total = (count * 4).clamp(400, 2000);
        let plain = self.runtime.block_on(async {
            timed(count, total, || {
                let given = self.given.clone();
                async move {
                    let env = given.iter().filter_map(|entry| entry.to_str().ok()?.split_once('='));
                    let mut bash = tokio::process::Command::new("/bin/bash");
                    let status = bash.args(["-c", "true"]).env_clear().envs(env).status().await;
                    assert!(status.expect("it runs").success());
                }
            })
            .await
        });
        let ours = self.runtime.block_on(async {
            timed(count, total, || {
                let (engine, context) = (self.engine.clone(), context.again());
                async move {
                    let outcome = engine.run(Request::new("true"), &context).await;
                    assert!(outcome.expect("it runs").success());
                }
            })
            .await
        });
        let mut times = ours.1;
        times.sort();
        let (median, slowest) = (times[times.len() / 2], times[times.len() * 99 / 100]);
        (plain.0.as_secs_f64() / ours.0.as_secs_f64(), ratio(slowest, median))
    }
}

/// Runs so many in all, so many at once; how long all took, and each.
async fn timed<F: Future<Output = ()> + Send + 'static>(
    at_once: usize,
    total: usize,
    make: impl Fn() -> F,
) -> (Duration, Vec<Duration>) {
    let begun = Instant::now();
    let mut running = tokio::task::JoinSet::new();
    let mut times = Vec::with_capacity(total);
    for _ in 0..total {
        if running.len() >= at_once {
            times.push(running.join_next().await.expect("some run").expect("none panics"));
        }
        let one = make();
        running.spawn(async move {
            let started = Instant::now();
            one.await;
            started.elapsed()
        });
    }
    while let Some(time) = running.join_next().await {
        times.push(time.expect("none panics"));
    }
    (begun.elapsed(), times)
}

/// Other sandboxes that are installed and work, each as it comes closest.
fn peers() -> Vec<(&'static str, CString, Vec<CString>)> {
    let bubblewrap = [
        "bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
        "--unshare-net", "--unshare-ipc",
    ];
    let all = [
        ("bubblewrap, mounts, network, IPC", bubblewrap.to_vec()),
        ("Codex' sandbox", vec!["codex", "sandbox", "--"]),
        ("sandbox-runtime", vec!["srt"]),
    ];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let c_string = |text: &OsStr| CString::new(text.as_bytes()).expect("no NUL");
    let find =
        |name: &str| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.exists());
    let found = all.into_iter().filter_map(|(what, start)| {
        let (program, arguments) = (find(start[0])?, [start.as_slice(), &["bash", "-c", "true"]].concat());
        let works =
            Command::new(&program).args(&arguments[1..]).output().is_ok_and(|done| done.status.success());
        let arguments = arguments.iter().map(|text| c_string(OsStr::new(text))).collect();
        works.then(|| (what, c_string(program.as_os_str()), arguments))
    });
    found.collect()
}

/// A home as people have it: settings, secrets, caches and other things.
fn furnish(home: &Path) {
    for directory in
        [".ssh", ".config/gh", ".aws", ".cargo/registry", ".npm", ".cache/pip", "Documents", "src"]
    {
        fs::create_dir_all(home.join(directory)).expect("it can be made");
    }
    for number in 0..60 {
        fs::write(home.join(format!(".setting{number}")), "x").expect("it can be written");
        fs::create_dir_all(home.join(format!(".config/program{number}"))).expect("it can be made");
    }
}
