//! The first process of a room: it makes the world, then serves.
#![expect(unsafe_code, reason = "namespaces, signals and a second spawner have no safe interface")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use rustix::fs::{Mode, OFlags};

use super::link::{ToKeeper, send_long};
use super::ports::make_socket;
use super::shared::Shared;
use super::spawner::{Spawner, serve};
use crate::imp::confine::{
    Filters, Identity, Orders, RoomRules, RoomTree, marker, mount_cover, mount_proc, mount_shared_memory,
    mount_terminals, raise_loopback,
};
use crate::imp::sockets::network_of;
use crate::room::{RoomPlan, Stamp};
use crate::spec::Step;
use crate::{ConfineError, Network};

/// Everything that the first process needs, made by the keeper.
#[derive(Debug)]
pub(super) struct First<'a> {
    pub(super) plan: &'a RoomPlan,
    pub(super) tree: &'a RoomTree,
    /// Who it is in a user namespace; none if it is in none, or the keeper says so.
    pub(super) identity: Option<&'a Identity>,
    pub(super) capabilities: u32,
    pub(super) shared: Shared,
    /// For commands on the room's network.
    pub(super) inner: Ends,
    /// For those on the host's.
    pub(super) outer: Ends,
    /// The keeper is ready when something can be read from it.
    pub(super) go: OwnedFd,
    /// Can be read when something has appeared in the workspace; none if that is not watched.
    pub(super) news: Option<OwnedFd>,
}

/// A spawner's ends of what connects it.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) link: OwnedFd,
    pub(super) outside: OwnedFd,
    pub(super) listener: OwnedFd,
}

impl Ends {
    fn all(&self) -> Vec<RawFd> {
        [&self.link, &self.outside, &self.listener].map(AsRawFd::as_raw_fd).to_vec()
    }
}

/// A step that was refused, and why.
struct Refused(Step, io::Error);

impl First<'_> {
    /// The whole life of the process. Never returns: there is nothing of the keeper's left to go on with.
    pub(super) fn live(self) -> ! {
        let settled = match self.inner.link.try_clone() {
            Ok(link) => self.settle(&link).map_err(|Refused(step, error)| {
                let errno = error.raw_os_error().unwrap_or(libc::EIO);
                let failed = ToKeeper::Failed { step: step as i32, errno };
                let _ = send_long(&link, &failed.to_bytes(), &[]);
            }),
            Err(_) => Err(()),
        };
        let code = i32::from(settled.is_err());
        // SAFETY: ends this process only; what the keeper would do at its end is not done twice.
        unsafe { libc::_exit(code) }
    }

    /// Makes the world and serves. The link is for saying why it could not, when all of this has been dropped.
    fn settle(self, link: &OwnedFd) -> Result<(), Refused> {
        let ok = |done: bool, step: Step| {
            if done { Ok(()) } else { Err(Refused(step, io::Error::last_os_error())) }
        };
        // With the keeper goes everything.
        ok(die_with_parent(), Step::Prepare)?;
        // What is open in the keeper must end when the keeper closes it.
        let news = self.news.as_ref().map(AsRawFd::as_raw_fd);
        let kept = [&self.inner, &self.outer].map(Ends::all).concat();
        let link = link.as_raw_fd();
        close_all_but(&[kept, news.into_iter().chain([link]).collect()].concat(), self.go.as_raw_fd());
        detach_streams().map_err(|error| Refused(Step::Streams, error))?;
        let waited = rustix::io::read(&self.go, &mut [0]);
        if !matches!(waited, Ok(1)) {
            return Err(Refused(Step::Prepare, io::ErrorKind::BrokenPipe.into()));
        }
        let _ = rustix::process::setsid();
        let mut orders = Orders {
            groups: vec![],
            identity: self.identity,
            own_network: false,
            mounts: Some(&self.tree.mounts),
            limits: &[],
            capabilities: Some(self.capabilities),
            ruleset: None,
            filter: &[],
            asking: None,
        };
        ok(orders.settle_in(), Step::Namespaces)?;
        // Those that could be refused by a host that gives namespaces and no rights in them come first.
        let mounted = self.tree.mounts.put_kept() && mount_cover() && mount_proc(&[]) && mount_terminals();
        ok(mounted, Step::Namespaces)?;
        ok(self.tree.mounts.lay_over() && mount_shared_memory(), Step::Mounts)?;
        std::env::set_current_dir("/").map_err(|error| Refused(Step::Cwd, error))?;
        let rules = self.tree.rules(self.plan).map_err(|error| Refused(Step::Landlock, error_of(error)))?;
        let RoomRules { ruleset, listed } = rules;
        // All commands share the domain that is entered here, so they can signal and trace each other, and nobody else.
        orders.ruleset = ruleset.as_ref().map(AsRawFd::as_raw_fd);
        ok(allow_rules(), Step::Landlock)?;
        ok(orders.apply_ruleset(), Step::Landlock)?;
        drop(ruleset);
        let news = self.news.as_ref().map(OwnedFd::try_clone).transpose();
        let news = news.map_err(|error| Refused(Step::Prepare, error))?;
        let has_outer = fork_outer(&orders, self.outer, self.shared, news)?;
        // Those without network must not trace those that have it. They can still signal each other.
        let marker = marker().map_err(|error| Refused(Step::Landlock, error_of(error)))?;
        orders.ruleset = marker.as_ref().map(AsRawFd::as_raw_fd);
        ok(orders.apply_ruleset(), Step::Landlock)?;
        drop(marker);
        ok(leave_network() && raise_loopback(), Step::Namespaces)?;
        ok(orders.give_up_privileges() && close_to_others(), Step::Privileges)?;
        let filters = Filters::new(Network::Off);
        ok(filters.install_common(), Step::Filter)?;
        let children = children_ending().map_err(|error| Refused(Step::Prepare, error))?;
        tell_ready(&self.inner.link, listed).map_err(|error| Refused(Step::Prepare, error))?;
        let spawner = Spawner {
            link: self.inner.link,
            outside: self.inner.outside,
            listener: self.inner.listener,
            shared: self.shared,
            news: self.news,
            idle: Some(self.plan.idle),
            network: Network::Off,
            servants: 1 + u64::from(has_outer),
            filters,
        };
        // Whatever ends it, the room ends with it.
        let _ = serve(spawner, &children);
        Ok(())
    }
}

fn tell_ready(link: &OwnedFd, listed: Vec<(std::path::PathBuf, Stamp)>) -> io::Result<()> {
    let network = make_socket(false).and_then(|socket| network_of(&socket));
    send_long(link, &ToKeeper::Ready { listed, network }.to_bytes(), &[])
}

/// A second spawner that stays in the host's network, in the same domain.
fn fork_outer(
    orders: &Orders<'_>,
    ends: Ends,
    shared: Shared,
    news: Option<OwnedFd>,
) -> Result<bool, Refused> {
    let refused = |step| Refused(step, io::Error::last_os_error());
    // SAFETY: this process has one thread, so no lock is held by another that the copy has not.
    match unsafe { libc::fork() } {
        -1 => Err(refused(Step::Clone)),
        0 => {
            let kept = [ends.all(), news.iter().map(AsRawFd::as_raw_fd).collect()].concat();
            close_all_but(&kept, ends.link.as_raw_fd());
            let filters = Filters::new(Network::On);
            let settled = die_with_parent()
                && orders.give_up_privileges()
                && close_to_others()
                && filters.install_common();
            if let Some(children) = settled.then(children_ending).and_then(Result::ok) {
                let Ends { link, outside, listener } = ends;
                let _ = serve(
                    Spawner {
                        link,
                        outside,
                        listener,
                        shared,
                        news,
                        idle: None,
                        network: Network::On,
                        servants: 2,
                        filters,
                    },
                    &children,
                );
            }
            // SAFETY: as above.
            unsafe { libc::_exit(0) }
        }
        _ => Ok(true),
    }
}

/// Closes every descriptor above the standard streams but these.
fn close_all_but(kept: &[RawFd], and: RawFd) {
    let mut kept: Vec<u32> = kept.iter().chain([&and]).map(|fd| fd.cast_unsigned()).collect();
    kept.sort_unstable();
    let mut first = 3;
    for fd in kept.into_iter().map(Some).chain([None]) {
        let last = fd.map_or(u32::MAX, |fd| fd.saturating_sub(1));
        if first <= last {
            // SAFETY: nothing in this copy of the process uses the others.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) };
        }
        first = fd.map_or(u32::MAX, |fd| fd + 1);
    }
}

/// Whoever waits for the keeper's answer waits for the end of its output.
fn detach_streams() -> io::Result<()> {
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}

fn die_with_parent() -> bool {
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL)
}

/// Landlock wants to be sure that nobody gains privileges in spite of it.
fn allow_rules() -> bool {
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1)
}

/// Nobody can trace this process or look into it, not even those that it starts.
fn close_to_others() -> bool {
    prctl(libc::PR_SET_DUMPABLE, 0)
}

fn prctl(option: i32, value: i32) -> bool {
    // SAFETY: these options take numbers only.
    unsafe { libc::prctl(option, value, 0, 0, 0) == 0 }
}

fn leave_network() -> bool {
    // SAFETY: takes a number.
    unsafe { libc::unshare(libc::CLONE_NEWNET) == 0 }
}

/// Can be read when a child has ended.
fn children_ending() -> io::Result<OwnedFd> {
    // SAFETY: the set is plain memory that the first call fills; the others read it.
    let fd = unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just opened it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn error_of(error: ConfineError) -> io::Error {
    match error {
        ConfineError::Exhausted { source } | ConfineError::Temporary { source, .. } => source,
        other => io::Error::other(other),
    }
}
