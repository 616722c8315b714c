//! What confinement costs: a child that is started, held and waited for, against `posix_spawn`, in the same run.
//!
//! Run it with `cargo bench -p bashtion-sandbox`.
#![expect(clippy::print_stdout, reason = "printing is what a benchmark is for")]

use std::ffi::{CString, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};

use bashtion_sandbox::{
    Confinement, Exit, Mode, Namespaces, Network, Output, Requirement, ResourceLimits, Sandbox, Spec, World,
    open_directory,
};
use bashtion_testkit::bench::{ballast, by_posix_spawn, medians, ratio};

const ROUNDS: usize = 300;

fn main() {
    let workspace = tempfile::tempdir().expect("a temporary directory");
    println!("a confined `bash -c true`, {ROUNDS} rounds, ratio to posix_spawn of the same");
    measure(workspace.path());
    let ballast = ballast();
    println!("the same from a process with 2 GiB resident");
    measure(workspace.path());
    drop(ballast);
}

fn measure(workspace: &Path) {
    let env = [CString::new("PATH=/usr/bin:/bin").expect("no NUL")];
    let base: &dyn Fn() = &|| by_posix_spawn(c"/bin/bash", &[c"bash", c"-c", c"true"], &env);
    let held = |mode, namespaces| {
        let sandbox = Sandbox::new();
        let confinement = confinement(workspace, mode, namespaces, &sandbox);
        move || launched(&sandbox, &confinement)
    };
    let read_only = held(Mode::ReadOnly, Namespaces::Never);
    let plain = held(Mode::Workspace, Namespaces::Never);
    let namespaces = held(Mode::Workspace, Namespaces::WherePossible);
    for (name, goal, run) in [
        ("read-only", "goal 1.25", &read_only as &dyn Fn()),
        ("workspace, without namespaces", "goal 1.25", &plain),
        ("workspace, with namespaces", "goal 2.50", &namespaces),
        ("bubblewrap, mounts and network", "", &bubblewrap(workspace, &["--unshare-net", "--unshare-ipc"])),
        ("bubblewrap, all namespaces", "", &bubblewrap(workspace, &["--unshare-all"])),
    ] {
        let [base, time] = medians([base, run], ROUNDS);
        println!("  {name:34} {:.2}  {goal}", ratio(time, base));
    }
}

/// What the command line uses for an ordinary user on a machine like this.
fn confinement(workspace: &Path, mode: Mode, namespaces: Namespaces, sandbox: &Sandbox) -> Confinement {
    let home = std::env::var_os("HOME").map_or_else(|| PathBuf::from("/root"), PathBuf::from);
    let secrets = [".ssh", ".aws", ".npmrc", ".config/gh"].map(|name| home.join(name));
    let limits = ResourceLimits { memory: Some(8 << 30), processes: Some(4096), ..ResourceLimits::default() };
    Confinement {
        mode,
        network: Network::Off,
        writable: vec![workspace.to_owned()],
        workspaces: vec![workspace.to_owned()],
        kept: vec![],
        secrets: secrets.into_iter().chain(["/etc/shadow".into()]).filter(|path| path.exists()).collect(),
        settings: vec![],
        sockets: vec![],
        attended: true,
        temporary: "/tmp".into(),
        limits: if sandbox.can_limit_trees() { limits } else { ResourceLimits::default() },
        namespaces,
        requirement: Requirement::Required,
    }
}

fn launched(sandbox: &Sandbox, confinement: &Confinement) {
    let null = File::options().write(true).open("/dev/null").expect("it can be opened");
    let directory = &confinement.workspaces[0];
    let spec = Spec {
        program: "/bin/bash".into(),
        args: ["bash", "-c", "true"].map(OsString::from).to_vec(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: open_directory(directory).expect("it exists").0,
        cwd_path: directory.clone(),
        world: World::Alone(sandbox.confine(confinement).expect("it can be confined")),
    };
    let output =
        Output { stdout: null.try_clone().expect("descriptors are left").into(), stderr: null.into() };
    let mut child = sandbox.launch(&spec.prepare().expect("no NUL"), &output).expect("it starts");
    assert_eq!(child.wait().expect("it ends").0, Exit::Code(0));
}

fn bubblewrap(workspace: &Path, namespaces: &'static [&'static str]) -> impl Fn() + 'static {
    let workspace = workspace.display().to_string();
    move || {
        let fixed = [
            "bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", &workspace,
            &workspace,
        ];
        let arguments = fixed.iter().chain(namespaces).chain(&["/bin/bash", "-c", "true"]);
        let arguments: Vec<CString> = arguments.map(|text| CString::new(*text).expect("no NUL")).collect();
        let arguments: Vec<_> = arguments.iter().map(CString::as_c_str).collect();
        by_posix_spawn(c"/usr/bin/bwrap", &arguments, &[]);
    }
}
