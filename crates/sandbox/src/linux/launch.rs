//! From what shall run to a running child.

use std::io;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{WaitOptions, waitpid};

use super::cgroup::Cgroups;
use super::clone::{self, Started};
use super::confine::{Confined, Hold, Identity, Known, NO_LISTENER, Orders, Surroundings, capabilities};
use super::descriptors::Above;
use super::exec::{ALL_SIGNALS, Image};
use super::exhaustion::is_exhaustion;
use super::limits::{Limiters, TreeLimits, of_each_process};
use super::mark::Mark;
use super::orphans::Orphans;
use super::room::Waited;
use super::sockets::{Channel, Channels, Watch};
use super::tree::Tree;
use crate::spec::{Output, Prepared, SpawnError, Spec, Step, World};
use crate::{Child, ConfineError, Confinement, Report};

/// Starts children, and keeps what can serve more than one of them.
#[derive(Debug, Default)]
pub struct Sandbox {
    cgroups: Arc<Cgroups>,
    limiters: Arc<Limiters>,
    known: Known,
    channels: Channels,
    /// This host has refused them once, so they are not tried again.
    without_namespaces: Mutex<Option<Lack>>,
    orphans: Option<Orphans>,
}

impl Sandbox {
    /// One that looks at what the host offers when the first child is started.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One for a program that exists to run one command at a time: it becomes the parent of all orphans, so that none
    /// gets away or stays a zombie, and the shell is killed if the thread that starts it ends. Whoever uses it looks at
    /// [`Tree::asks`] while the command runs. Not for a host with
    /// other children, or with several commands at once.
    #[must_use]
    pub fn adopting_orphans() -> Self {
        Self { orphans: Orphans::adopt(), channels: Channels::on_demand(), ..Self::default() }
    }

    /// Whether memory and processes of a whole tree can be limited here.
    #[must_use]
    pub fn can_limit_trees(&self) -> bool {
        // When in doubt they can: it turns out when a command starts.
        self.cgroups.can_limit().unwrap_or(true)
    }

    /// Whether namespaces have been had so far.
    #[must_use]
    pub fn has_namespaces(&self) -> bool {
        self.lack().is_none()
    }

    /// Returns true if this host has refused namespaces, and not only because too many are in use just now.
    #[must_use]
    pub fn lacks_namespaces(&self) -> bool {
        self.lack().is_some_and(|lack| !lack.passes)
    }

    /// Makes the rules for a command, or takes those that an equal confinement had. Its workspaces are looked at now.
    pub fn confine(&self, confinement: &Confinement) -> Result<Confined, ConfineError> {
        self.known.confine(confinement)
    }

    /// Starts a child, and returns once it has become the program or has said why it cannot.
    ///
    /// Each way that the kernel or a container refuses is followed by the next plainer one, and the child's report says
    /// what that leaves open.
    pub fn launch(&self, prepared: &Prepared, output: &Output) -> Result<Child, SpawnError> {
        match &prepared.world {
            World::Room(visit) => visit.launch(prepared, output, &self.channels),
            World::Host | World::Alone(_) => self.start(prepared, output).map_err(|failed| failed.error),
        }
    }

    /// Gives a command to a shell of its room that has waited for such a one: after the prelude, if it has one, that bash would
    /// read first otherwise. None if no shell has, or the command has no room; then nothing was run.
    pub fn launch_in_waiting(
        &self,
        prepared: &Prepared,
        prelude: Option<&[u8]>,
    ) -> Result<Option<Waited>, SpawnError> {
        match &prepared.world {
            World::Room(visit) => visit.take(prepared, prelude, &self.channels),
            World::Host | World::Alone(_) => Ok(None),
        }
    }

    /// What would be enforced for a command with this confinement: a child applies all of it, and ends.
    pub fn assess(&self, confinement: &Confinement) -> Result<Report, SpawnError> {
        let failed = |source: rustix::io::Errno| SpawnError::refused(Step::Prepare, source);
        let open =
            |flags| rustix::fs::open("/dev/null", flags | OFlags::CLOEXEC, Mode::empty()).map_err(failed);
        let cwd = rustix::fs::open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let spec = Spec {
            // A directory: it can never be executed, so the child gets that far and no further.
            program: "/".into(),
            args: vec![],
            env: vec![],
            cwd: cwd.map_err(failed)?,
            cwd_path: "/".into(),
            world: World::Alone(self.confine(confinement)?),
        };
        let output = Output { stdout: open(OFlags::WRONLY)?, stderr: open(OFlags::WRONLY)? };
        match self.start(&spec.prepare()?, &output) {
            Ok(child) => Ok(child.report().clone()),
            Err(Failed { error: SpawnError::Refused { step: Step::Exec, .. }, report: Some(report) }) => {
                Ok(report)
            }
            Err(failed) => Err(failed.error),
        }
    }

    fn start(&self, prepared: &Prepared, output: &Output) -> Result<Child, Failed> {
        let namespaces = prepared.world.confined().is_some_and(Confined::wants_namespaces)
            && self.lack().is_none_or(Lack::may_be_over);
        if namespaces {
            match self.attempt_while_things_change(prepared, output) {
                Err(Failed { error: SpawnError::Refused { step, source }, .. })
                    if matches!(step, Step::Clone | Step::Namespaces) && is_refusal(&source) =>
                {
                    tracing::debug!(%source, "no namespaces here");
                    *self.lack() = Some(Lack::new(&source));
                }
                Ok(child) => {
                    *self.lack() = None;
                    return Ok(child);
                }
                Err(failed) => return Err(failed),
            }
        }
        self.attempt(prepared, output, false)
    }

    fn lack(&self) -> MutexGuard<'_, Option<Lack>> {
        self.without_namespaces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another command may move things about in the workspace just now.
    fn attempt_while_things_change(&self, prepared: &Prepared, output: &Output) -> Result<Child, Failed> {
        const TRIES: usize = 5;
        let mut result = self.attempt(prepared, output, true);
        for _ in 1..TRIES {
            let changing = match &result {
                Err(Failed { error: SpawnError::Confine(ConfineError::Changing), .. }) => true,
                Err(Failed { error: SpawnError::Refused { step, source }, .. }) => {
                    let gone = [libc::ESTALE, libc::ENOENT, libc::ENOTDIR].map(Some);
                    matches!(step, Step::Namespaces | Step::Mounts) && gone.contains(&source.raw_os_error())
                }
                Ok(_) | Err(_) => false,
            };
            if !changing {
                break;
            }
            prepared.world.confined().map_or(Ok(()), Confined::look_again).map_err(SpawnError::from)?;
            result = self.attempt(prepared, output, true);
        }
        result
    }

    fn attempt(&self, prepared: &Prepared, output: &Output, namespaces: bool) -> Result<Child, Failed> {
        let failed = |source| SpawnError::refused(Step::Prepare, source);
        let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|e| failed(e.into()))?;
        let null = Above::stderr(&null).map_err(failed)?;
        let stdout = Above::stderr(&output.stdout).map_err(failed)?;
        let stderr = Above::stderr(&output.stderr).map_err(failed)?;
        let cwd = Above::stderr(&prepared.cwd).map_err(failed)?;
        let argv = pointers(prepared.args.iter());
        let envp = pointers(prepared.variables());
        let start = |mark: &Mark| -> Result<(Started, Bonds), SpawnError> {
            let bonds = self.bonds(prepared, mark, namespaces)?;
            let channel = bonds.channel.as_ref().map(|channel| Above::stderr(channel.end()));
            let channel = channel.transpose().map_err(failed)?;
            let orders = bonds.orders(channel.as_ref().map(Above::raw));
            let image = Image {
                program: prepared.program.as_ptr(),
                argv: argv.as_ptr(),
                envp: envp.as_ptr(),
                above: None,
                streams: [null.raw(), stdout.raw(), stderr.raw()],
                cwd: cwd.raw(),
                // The descriptor leads to the host's mounts, where more is writable.
                cwd_path: bonds.has_mounts().then(|| prepared.cwd_path.as_ptr()),
                tag: mark.tag(),
                umask: None,
                dies_with_us: self.orphans.is_some(),
                signals: ALL_SIGNALS,
                orders: orders.as_ref(),
                failure: None,
            };
            let started = clone::start(image, mark.cgroup(), bonds.clone_flags());
            drop(orders);
            Ok((started, bonds))
        };

        let mut mark = Mark::strongest(&self.cgroups).map_err(failed)?;
        let ((mut born, mut failure), mut bonds) = start(&mark)?;
        if born.as_ref().is_err_and(|error| !is_exhaustion(error)) && mark.cgroup().is_some() {
            mark = Mark::without_cgroup();
            ((born, failure), bonds) = start(&mark)?;
        }
        if failure.is_some_and(|failure| failure.step == Step::Mark) && mark.tag().is_some() {
            // Inside of a room that limit is the room's to set. It has exited already.
            if let Ok((pid, _)) = &born {
                let _ = waitpid(Some(*pid), WaitOptions::empty());
            }
            mark = Mark::Kinship;
            ((born, failure), bonds) = start(&mark)?;
        }
        let (pid, pidfd) = born.map_err(|e| SpawnError::refused(Step::Clone, e))?;
        let sockets = bonds.watch(&self.channels);
        let Bonds { limits, report, surroundings, .. } = bonds;
        let tree = Tree::new(pid, mark, self.orphans, limits, surroundings.snapshot, sockets);
        let mut child = Child::new(pid, pidfd, tree, report);
        if let Some(failure) = failure {
            // It has exited already; unreaped it would stay a zombie.
            let _ = child.wait();
            let error = SpawnError::refused(failure.step, io::Error::from_raw_os_error(failure.errno));
            return Err(Failed { error, report: Some(child.report().clone()) });
        }
        // Now, because the child takes a moment to get going anyway.
        self.cgroups.remove_those_of_dead_hosts_now_and_then();
        Ok(child)
    }

    /// What holds one child. Groups are made for it, so it is asked for when the child is about to be born.
    fn bonds(&self, prepared: &Prepared, mark: &Mark, namespaces: bool) -> Result<Bonds, SpawnError> {
        let Some(confined) = prepared.world.confined() else { return Ok(Bonds::none()) };
        let confinement = confined.confinement();
        let hold = confined.hold(namespaces)?;
        let surroundings = confined.surroundings(namespaces)?;
        let limits = self
            .limiters
            .hold(&confinement.limits, confinement.mode, mark.directory(), &self.cgroups)
            .map_err(|source| ConfineError::Exhausted { source })?;
        let locked = confinement.mode != crate::Mode::Off;
        let held = limits.held();
        let capabilities = capabilities(confinement, namespaces);
        let identity = if hold.namespaces { Identity::needed(capabilities) } else { Ok(None) };
        let identity = identity.map_err(|e| SpawnError::refused(Step::Namespaces, e))?;
        let channel = hold.asking().map(|_| self.channels.take()).transpose();
        Ok(Bonds {
            channel: channel.map_err(|e| SpawnError::refused(Step::Prepare, e))?,
            report: confined.report(&hold, held),
            of_each: of_each_process(&confinement.limits, held, locked),
            identity,
            hold: Some(hold),
            surroundings,
            limits,
            capabilities: locked.then_some(capabilities),
        })
    }
}

/// Why there is no child, and what it would have been held to.
struct Failed {
    error: SpawnError,
    report: Option<Report>,
}

impl From<SpawnError> for Failed {
    fn from(error: SpawnError) -> Self {
        Self { error, report: None }
    }
}

/// Everything that holds one child.
struct Bonds {
    hold: Option<Arc<Hold>>,
    surroundings: Surroundings,
    identity: Option<Identity>,
    limits: TreeLimits,
    of_each: Vec<(u32, libc::rlimit)>,
    capabilities: Option<u32>,
    channel: Option<Channel>,
    report: Report,
}

impl Bonds {
    fn none() -> Self {
        Self {
            hold: None,
            surroundings: Surroundings::default(),
            identity: None,
            limits: TreeLimits::default(),
            of_each: vec![],
            capabilities: None,
            channel: None,
            report: Report::unconfined(),
        }
    }

    fn clone_flags(&self) -> u64 {
        let flags = self.hold.as_ref().map_or(0, |hold| hold.clone_flags());
        match self.identity {
            None => flags,
            Some(Identity::Own(_)) => flags | u64::from(libc::CLONE_NEWUSER.cast_unsigned()),
            // It makes the others there.
            Some(Identity::Joined(_)) => 0,
        }
    }

    fn has_mounts(&self) -> bool {
        self.surroundings.mounts.is_some()
    }

    /// Begins to answer for the child's connections.
    fn watch(&mut self, channels: &Channels) -> Option<Arc<Watch>> {
        let channel = self.channel.take()?;
        let listener = channel.received();
        channels.put_back(channel);
        if listener.is_none() {
            self.report.add_reason(NO_LISTENER);
        }
        let (_, reach) = self.hold.as_ref()?.asking()?;
        channels.watch(listener?, reach)
    }

    fn orders(&self, channel: Option<RawFd>) -> Option<Orders<'_>> {
        let hold = self.hold.as_ref()?;
        Some(Orders {
            groups: self.limits.to_join(),
            identity: self.identity.as_ref(),
            own_network: hold.own_network,
            mounts: self.surroundings.mounts.as_ref(),
            limits: &self.of_each,
            capabilities: self.capabilities,
            ruleset: hold.ruleset(),
            filter: hold.filter(),
            asking: hold.asking().map(|(filter, _)| filter).zip(channel),
        })
    }
}

/// The host does not let us have namespaces.
#[derive(Debug, Clone, Copy)]
struct Lack {
    since: Instant,
    /// Too many are in use just now, or may be: their number is limited, to none on some hosts.
    passes: bool,
}

impl Lack {
    fn new(error: &io::Error) -> Self {
        let passes = matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EUSERS));
        Self { since: Instant::now(), passes }
    }

    /// An attempt takes as long as a short command, so not each of them makes one.
    fn may_be_over(self) -> bool {
        const PAUSE: Duration = Duration::from_secs(1);
        self.passes && self.since.elapsed() >= PAUSE
    }
}

/// Whether the host does not let us have namespaces, rather than that something went wrong in them.
fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EPERM | libc::EACCES | libc::ENOSYS | libc::EINVAL | libc::ENOSPC | libc::EUSERS)
    )
}

fn pointers<'a>(strings: impl Iterator<Item = &'a std::ffi::CString>) -> Vec<*const libc::c_char> {
    strings.map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}
