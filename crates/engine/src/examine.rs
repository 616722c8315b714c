//! What this host can enforce.

use std::path::{Path, PathBuf};

use bashtion_sandbox::{
    Confinement, Enforced, Landlock, Mode, Namespaces, Network, Report, Requirement, ResourceLimits, Sandbox,
    has_seccomp, landlock,
};

use crate::{causes, usual_limits};

/// What this host can enforce, found out by doing it.
///
/// ```
/// let examination = bashtion::Examination::of_this_host(std::path::Path::new("/tmp"));
/// assert_eq!(examination.modes.len(), 2);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Examination {
    /// The kernel's version.
    pub kernel: String,
    /// What Landlock can do.
    pub landlock: Landlock,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
    /// Whether mount, network and IPC namespaces can be made.
    pub namespaces: bool,
    /// Whether memory and processes of a whole tree can be limited.
    pub tree_limits: bool,
    /// Whether we are root.
    pub root: bool,
    /// The container that we are in, if there are signs of one.
    pub container: Option<&'static str>,
    /// What each mode would enforce, or why it cannot be used.
    pub modes: Vec<(Mode, Result<Report, String>)>,
}

impl Examination {
    /// Tries each mode on a child that applies it and ends. `temporary` is where private directories are made.
    #[must_use]
    pub fn of_this_host(temporary: &Path) -> Self {
        let sandbox = Sandbox::new();
        let tree_limits = sandbox.can_limit_trees();
        let confinement = |mode| Confinement {
            mode,
            network: Network::Off,
            writable: vec![],
            workspaces: vec![],
            kept: vec![],
            secrets: vec![],
            settings: vec![],
            sockets: vec![],
            attended: true,
            temporary: temporary.to_owned(),
            limits: if tree_limits { usual_limits() } else { ResourceLimits::default() },
            namespaces: Namespaces::WherePossible,
            requirement: Requirement::BestEffort,
        };
        let assess = |mode| sandbox.assess(&confinement(mode)).map_err(|error| causes(&error));
        let modes: Vec<_> = [Mode::Workspace, Mode::ReadOnly].map(|mode| (mode, assess(mode))).into();
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            kernel: kernel.trim().to_owned(),
            landlock: landlock(),
            seccomp: has_seccomp(),
            namespaces: sandbox.has_namespaces(),
            tree_limits,
            root: rustix::process::geteuid().is_root(),
            container: container(),
            modes,
        }
    }

    /// Whether the default mode is enforced in every respect.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.modes
            .iter()
            .any(|(mode, report)| *mode == Mode::default() && report.as_ref().is_ok_and(Report::is_full))
    }

    /// What could be done so that more is enforced.
    #[must_use]
    pub fn advice(&self) -> Vec<String> {
        let mut advice = vec![];
        let weak = |area: fn(&Report) -> Enforced| {
            self.modes
                .iter()
                .any(|(_, report)| report.as_ref().is_ok_and(|report| area(report) != Enforced::Full))
        };
        if let Some(problem) = self.landlock.problem() {
            advice.push(problem.to_owned());
        } else if weak(|report| report.signals) {
            advice.push("use Linux 6.12 or newer, so that signals to other processes are held".to_owned());
        }
        if !self.namespaces {
            let how = match self.container {
                Some(_) => {
                    "allow user namespaces in this container, for example with a seccomp profile that permits clone and unshare"
                }
                None => {
                    "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, or on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0"
                }
            };
            advice.push(how.to_owned());
        }
        if !self.tree_limits {
            advice.push("to limit memory and processes together, run as root or in a control group that is delegated to you, with its memory and pids controllers on and no process of its own".to_owned());
        }
        if !self.seccomp {
            advice.push("use a kernel with CONFIG_SECCOMP_FILTER".to_owned());
        }
        advice
    }
}

/// What an older Landlock does not hold.
#[must_use]
pub fn landlock_lacks(landlock: Landlock) -> Vec<&'static str> {
    const GAPS: [(u32, &str); 5] = [
        (
            2,
            "moving files between directories is refused everywhere (allowed where it should be since Linux 5.19)",
        ),
        (3, "truncation is not held, only by the filter of system calls (Linux 6.2)"),
        (4, "TCP is not held, only by the filter of system calls (Linux 6.7)"),
        (5, "control calls to devices are not held (Linux 6.10)"),
        (6, "signals and abstract sockets are not held (Linux 6.12)"),
    ];
    match landlock {
        Landlock::Abi(abi) => GAPS.iter().filter(|(since, _)| abi < *since).map(|(_, gap)| *gap).collect(),
        Landlock::Disabled | Landlock::Missing => vec![],
    }
}

fn container() -> Option<&'static str> {
    let exists = |path: &str| PathBuf::from(path).exists();
    if exists("/.dockerenv") {
        return Some("docker");
    }
    if exists("/run/.containerenv") {
        return Some("podman");
    }
    if exists("/var/run/secrets/kubernetes.io") {
        return Some("kubernetes");
    }
    let groups = std::fs::read_to_string("/proc/1/cgroup").unwrap_or_default();
    ["docker", "kubepods", "lxc", "containerd"].into_iter().find(|name| groups.contains(name))
}
