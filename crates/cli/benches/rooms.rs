//! The cost of a command in a kept room, as ratios to plain ways of starting a shell in the same run.
//!
//! Run it with `cargo bench --bench rooms`.
#![expect(clippy::print_stdout, reason = "printing is what a benchmark is for")]

use std::ffi::{CStr, CString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bashtion::{Engine, Request, ToolContext};
use bashtion_testkit::bench::{by_posix_spawn, medians, ratio};
use tokio::runtime::Runtime;

const ROUNDS: usize = 300;

fn main() {
    let host = Host::new();
    let empty = host.workspace("empty", 0);
    let large = host.workspace("large", 1000);
    println!("a command in its room, {ROUNDS} rounds, ratio to posix_spawn of `bash -c true`");
    let run = |workspace: &Path, options: &[&CStr]| host.against_spawning(&|| host.run(workspace, options));
    let (base, in_empty) = run(&empty, &[]);
    println!("  posix_spawn                              1.00  ({:.2} ms)", base.as_secs_f64() * 1e3);
    println!("  `bashtion run true`, empty workspace     {in_empty:.2}  goal 2.30");
    let (_, in_large) = run(&large, &[]);
    println!("  the same in a repository of 1,000 directories  {in_large:.2}  goal 2.30");
    let (_, off) = run(&empty, &[c"--sandbox", c"off"]);
    println!("  `bashtion run --sandbox off true`        {off:.2}");
    let (_, first) = run(&empty, &[c"--room", c"none"]);
    println!("  the first command of a room, and its end {first:.2}");
    let context = ToolContext::from_host(&empty);
    let (_, library) = host.against_spawning(&|| host.by_library(&context));
    println!("  library, default mode                    {library:.2}  goal 1.30");
    if Path::new("/usr/bin/bwrap").exists() {
        let (_, bubblewrap) = host.against_spawning(&|| host.by_bubblewrap());
        println!("  bubblewrap, mounts, network, IPC         {bubblewrap:.2}");
    }
    println!("commands at once, commands a second to plain spawning at the same concurrency");
    for count in [1, 8, 64, 512] {
        let (ratio, tail) = host.at_once(&context, count);
        println!("  {count:4}  {ratio:.2}  goal 0.70  slowest hundredth {tail:.1} x the median");
    }
}

struct Host {
    state: tempfile::TempDir,
    cli: CString,
    env: Vec<CString>,
    engine: Engine,
    runtime: Runtime,
}

impl Host {
    fn new() -> Self {
        let state = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
        // As it is when it was installed: the kernel keeps a copy in large pieces.
        let cli = state.path().join("bashtion");
        fs::copy(env!("CARGO_BIN_EXE_bashtion"), &cli).expect("it can be copied");
        let home = state.path().join("home");
        furnish(&home);
        let variable = |name: &str, value: &Path| {
            CString::new([name.as_bytes(), b"=", value.as_os_str().as_bytes()].concat()).expect("no NUL")
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let env = vec![
            variable("PATH", Path::new(&path)),
            variable("HOME", &home),
            variable("BASHTION_STATE_DIR", &state.path().join("state")),
        ];
        let engine = Engine::builder().state_dir(state.path().join("state")).supervisor(&cli).build();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        Self { cli: CString::new(cli.as_os_str().as_bytes()).expect("no NUL"), state, env, engine, runtime }
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

    fn against_spawning(&self, other: &dyn Fn()) -> (Duration, f64) {
        let bash: &dyn Fn() = &|| by_posix_spawn(c"/bin/bash", &[c"bash", c"-c", c"true"], &self.env);
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

    fn by_library(&self, context: &ToolContext) {
        let outcome = self.runtime.block_on(self.engine.run(Request::new("true"), context));
        let outcome = outcome.expect("it runs");
        assert!(outcome.success() && outcome.sandbox.room.is_some(), "{outcome:?}");
    }

    fn by_bubblewrap(&self) {
        let arguments = [
            c"bwrap", c"--ro-bind", c"/", c"/", c"--dev", c"/dev", c"--proc", c"/proc", c"--tmpfs", c"/tmp",
            c"--unshare-net", c"--unshare-ipc", c"bash", c"-c", c"true",
        ];
        by_posix_spawn(c"/usr/bin/bwrap", &arguments, &self.env);
    }

    /// Commands a second by the library, to those by plain spawning; and how much longer the slowest hundredth takes than
    /// the median.
    fn at_once(&self, context: &ToolContext, count: usize) -> (f64, f64) {
        let total = (count * 4).clamp(400, 2000);
        let plain = self.runtime.block_on(async {
            timed(count, total, || async {
                let status = tokio::process::Command::new("/bin/bash").args(["-c", "true"]).status().await;
                assert!(status.expect("it runs").success());
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
