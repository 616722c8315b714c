//! The process on the host that makes a room and keeps it.
#![expect(
    unsafe_code,
    reason = "making a process in new namespaces, and entering them, have no safe interface"
)]

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, pidfd_send_signal, setrlimit};

use super::first::{Ends, First};
use super::groups::GroupMaker;
use super::link::{ToKeeper, ToSpawner, receive_long, send_long};
use super::order::step_of;
use super::shared::Shared;
use super::visit::reach;
use super::watch::Watch;
use crate::OwnFile;
use crate::imp::confine::{IdMaps, Identity, Protected, RoomTree, capabilities, may_listen, may_mount};
use crate::imp::exhaustion::is_exhaustion;
use crate::imp::namespaces::Namespaces;
use crate::imp::sockets;
use crate::room::{RoomFacts, RoomPlan, Stamp};
use crate::spec::{SpawnError, Step};

mod expose;
mod stopped;
use expose::Doors;

/// Makes the room, says so, and keeps it until it ends. Only for a process of its own with one thread.
///
/// An error of the first kind is told to `ready`; what happens later ends the room.
pub fn keep(plan: &RoomPlan, ready: impl FnOnce(Result<(), &SpawnError>)) -> io::Result<()> {
    match Keeper::make(plan) {
        Ok(mut keeper) => {
            ready(Ok(()));
            let kept = keeper.run();
            keeper.end_room();
            // Those of a room that has left may be another's by now.
            if !keeper.has_left {
                keeper.remove_files();
            }
            kept
        }
        Err(error) => {
            remove_files(Path::new("."), &plan.key);
            ready(Err(&error));
            Ok(())
        }
    }
}

struct Keeper<'a> {
    plan: &'a RoomPlan,
    tree: RoomTree,
    listed: Vec<(std::path::PathBuf, Stamp)>,
    started: u64,
    processes: Option<u64>,
    network: Option<u64>,
    shared: Shared,
    /// Of the spawner inside, and of the one in the host's network.
    links: [OwnedFd; 2],
    /// Nobody asks the one in the host's network for sockets. It ends when this does.
    _unused: OwnedFd,
    doors: Doors,
    first: OwnedFd,
    first_pid: i32,
    /// To arrange mounts in the room later. Taken before its first process closes itself to everybody.
    namespaces: Namespaces,
    groups: GroupMaker,
    /// None where too many are in use. Then it is looked now and then.
    watch: Option<Watch>,
    is_dirty: bool,
    /// Nobody finds the room any more.
    has_left: bool,
}

const FIRST: u64 = 0;
const LINKS: u64 = 1;
const WATCH: u64 = 3;
const DOORS: u64 = 4;

impl<'a> Keeper<'a> {
    fn make(plan: &'a RoomPlan) -> Result<Self, SpawnError> {
        let prepared = |source: io::Error| SpawnError::refused(Step::Prepare, source);
        close_inherited();
        raise_descriptor_limit();
        std::env::set_current_dir(&plan.directory).map_err(prepared)?;
        let mut watch = Watch::new(&plan.directory).ok();
        let tree = RoomTree::new(plan)?;
        watch.iter_mut().for_each(|watch| watch.add(&tree.repositories.searched));
        let shared = Shared::new().map_err(prepared)?;
        let (inner, [inner_link, outside]) = ends(&plan.key, "room").map_err(prepared)?;
        let (outer, [outer_link, outer_outside]) = ends(&plan.key, "host").map_err(prepared)?;
        let door = listen(&file_name(&plan.key, "door")).map_err(prepared)?;
        let doors = Doors::open(door, outside).map_err(prepared)?;
        let (wait, go) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(|e| prepared(e.into()))?;
        let capabilities = capabilities(&plan.confinement, true);
        let in_user_namespace = !may_mount();
        let own = (in_user_namespace && capabilities == 0).then(|| Identity::Own(IdMaps::of_caller()));
        let has_groups = plan.confinement.limits.processes.is_some();
        let processes = (in_user_namespace && !has_groups).then(limit_processes).flatten();
        let first = First {
            plan,
            tree: &tree,
            identity: own.as_ref(),
            capabilities,
            shared,
            inner,
            outer,
            go: wait,
            news: watch
                .as_ref()
                .map(|watch| watch.as_fd().try_clone_to_owned())
                .transpose()
                .map_err(prepared)?,
        };
        let (pid, process) =
            born(first, in_user_namespace).map_err(|e| SpawnError::refused(Step::Clone, e))?;
        if in_user_namespace && own.is_none() {
            let maps = IdMaps::of_everybody().and_then(|maps| maps.write_for(pid));
            maps.map_err(|e| SpawnError::refused(Step::Namespaces, e))?;
        }
        let namespaces = Namespaces::of(pid).map_err(prepared)?;
        rustix::io::write(&go, b".").map_err(|e| prepared(e.into()))?;
        let answer = receive_long(&inner_link).map_err(prepared)?;
        let (listed, network) = match answer.as_ref().and_then(|(bytes, _)| ToKeeper::from_bytes(bytes)) {
            Some(ToKeeper::Ready { listed, network }) => (listed, network),
            Some(ToKeeper::Failed { step, errno }) => {
                return Err(SpawnError::refused(step_of(step), io::Error::from_raw_os_error(errno)));
            }
            Some(_) | None => return Err(prepared(io::ErrorKind::UnexpectedEof.into())),
        };
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let keeper = Self {
            plan,
            tree,
            listed,
            started: u64::try_from(started.as_millis()).unwrap_or(0),
            processes,
            network,
            shared,
            links: [inner_link, outer_link],
            _unused: outer_outside,
            doors,
            first: process,
            first_pid: pid,
            namespaces,
            groups: GroupMaker::default(),
            watch,
            is_dirty: false,
            has_left: false,
        };
        keeper.shared.set_dirty(keeper.watch.is_none());
        keeper.shared.set_nested(keeper.tree.repositories.has_nested());
        keeper.write_facts().map_err(prepared)?;
        Ok(keeper)
    }

    /// For all who use the room, found by its name.
    fn write_facts(&self) -> io::Result<()> {
        let mut confinement = self.plan.confinement.clone();
        confinement.writable = self.tree.writable().to_vec();
        let settings = self.plan.settings.iter().map(|known| (known.path.clone(), known.stamp));
        let facts = RoomFacts {
            keeper: rustix::process::getpid().as_raw_nonzero().get(),
            started: self.started,
            confinement,
            watched: self.listed.iter().chain(&self.plan.watched).cloned().chain(settings).collect(),
            copied: self.tree.copied(),
            repositories: self.tree.repositories.known.clone(),
            gap: self.tree.repositories.gap.map(str::to_owned),
            are_closed: may_listen(),
            processes: self.processes,
            network: self.network,
        };
        let (draft, name) = (file_name(&self.plan.key, "draft"), file_name(&self.plan.key, "facts"));
        let mut file = OwnFile::Replacing.open(draft.as_ref())?;
        file.write_all(&facts.to_bytes())?;
        fs::rename(draft, name)
    }

    fn run(&mut self) -> io::Result<()> {
        let events = epoll::create(CreateFlags::CLOEXEC)?;
        let add = |fd: rustix::fd::BorrowedFd<'_>, key| {
            epoll::add(&events, fd, EventData::new_u64(key), EventFlags::IN)
        };
        add(self.first.as_fd(), FIRST)?;
        for (link, key) in self.links.iter().zip(LINKS..) {
            add(link.as_fd(), key)?;
        }
        if let Some(watch) = &self.watch {
            add(watch.as_fd(), WATCH)?;
        }
        add(self.doors.as_fd(), DOORS)?;
        let mut found = Vec::with_capacity(16);
        loop {
            // What appears comes in crowds, and is looked at when they have passed.
            const QUIET: Duration = Duration::from_millis(100);
            const NOW_AND_THEN: Duration = Duration::from_secs(5);
            let pause = if self.is_dirty { QUIET } else { NOW_AND_THEN };
            let pause: Option<Timespec> = pause.try_into().ok();
            match epoll::wait(&events, rustix::buffer::spare_capacity(&mut found), pause.as_ref()) {
                Ok(0) => {
                    if !self.is_at_home() {
                        return Ok(());
                    }
                    self.is_dirty |= self.watch.is_none();
                    self.look_again();
                    self.groups.tidy();
                }
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            stopped::let_go_on(self.shared, self.first_pid);
            for event in found.drain(..) {
                match event.data.u64() {
                    FIRST => return Ok(()),
                    WATCH => {
                        let happened = self.watch.as_ref().map(Watch::read).unwrap_or_default();
                        if happened.home_is_gone {
                            return Ok(());
                        }
                        self.is_dirty |= happened.something_new;
                        self.shared.set_dirty(self.is_dirty || self.watch.is_none());
                    }
                    DOORS => self.doors.answer(),
                    key => self.answer(usize::try_from(key - LINKS).unwrap_or(0))?,
                }
            }
        }
    }

    fn answer(&mut self, which: usize) -> io::Result<()> {
        let link = &self.links[which];
        let Some((bytes, descriptors)) = receive_long(link)? else {
            // The one outside may go without the room.
            return if which == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { self.forget_outer() };
        };
        match ToKeeper::from_bytes(&bytes) {
            Some(ToKeeper::Groups { memory, processes }) => {
                let link = link.try_clone()?;
                // The command is refused then, by the spawner.
                match self.groups.lend(&link, memory, processes) {
                    Err(error) if is_exhaustion(&error) => send_long(&link, &ToSpawner::Done.to_bytes(), &[]),
                    lent => lent,
                }
            }
            Some(ToKeeper::Drop { id }) => {
                self.groups.take_back(id);
                Ok(())
            }
            Some(ToKeeper::Protect) => {
                let happened = self.watch.as_ref().map(Watch::read).unwrap_or_default();
                self.is_dirty |= happened.something_new || self.watch.is_none();
                self.look_again();
                if self.shared.running() == 0 {
                    self.protect();
                }
                send_long(&self.links[which], &ToSpawner::Done.to_bytes(), &[])
            }
            Some(ToKeeper::Listener { network, sockets }) => {
                let reach = {
                    let home = (self.plan.directory.as_path(), self.plan.key.as_str());
                    reach(
                        &self.plan.confinement, &self.tree.repositories.known, network, self.network,
                        sockets, home,
                    )
                };
                // Until its last process has ended.
                descriptors
                    .into_iter()
                    .for_each(|listener| drop(sockets::watch(listener, &Arc::new(reach.clone()))));
                Ok(())
            }
            Some(ToKeeper::Leave) => {
                if !std::mem::replace(&mut self.has_left, true) {
                    self.remove_files();
                }
                send_long(&self.links[which], &ToSpawner::Done.to_bytes(), &[])
            }
            Some(ToKeeper::Ready { .. } | ToKeeper::Failed { .. }) | None => {
                Err(io::ErrorKind::InvalidData.into())
            }
        }
    }

    fn forget_outer(&mut self) -> io::Result<()> {
        let _ = fs::remove_file(file_name(&self.plan.key, "host"));
        let (_, nobody) = pair()?;
        self.links[1] = nobody;
        Ok(())
    }

    /// Looks for repositories that have appeared. They are protected when nothing runs that may be making them.
    fn look_again(&mut self) {
        if !std::mem::take(&mut self.is_dirty) {
            return;
        }
        self.shared.set_dirty(self.watch.is_none());
        if let Ok((found, _)) = Protected::find(&self.plan.confinement) {
            self.watch.iter_mut().for_each(|watch| watch.add(&found.searched));
            self.shared.set_unprotected(self.tree.repositories.lacks_some_of(&found));
        }
        // Where it is asked about each name, those who are just making a repository do not notice.
        if self.shared.running() == 0 || may_listen() {
            self.protect();
        }
    }

    fn protect(&mut self) {
        if !self.shared.has_unprotected() {
            return;
        }
        let Ok((found, _)) = Protected::find(&self.plan.confinement) else { return };
        let Some(mounts) = self.tree.over_new(&found) else { return };
        if self.namespaces.with(|| mounts.lay_over()) {
            self.tree.repositories = found;
            self.shared.set_nested(self.tree.repositories.has_nested());
            self.shared.note_change();
            self.shared.set_unprotected(false);
            let _ = self.write_facts();
        }
    }

    /// Ends all that runs in the room: only then can its groups be removed.
    fn end_room(&self) {
        const PATIENCE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };
        let _ = pidfd_send_signal(&self.first, Signal::KILL);
        // The first process is over when all others are: pid_namespaces(7).
        let _ = poll(&mut [PollFd::new(&self.first, PollFlags::IN)], Some(&PATIENCE));
    }

    fn remove_files(&self) {
        remove_files(Path::new("."), &self.plan.key);
    }

    /// Returns true if the room's directory is still where it was: without it nobody can enter or end the room.
    fn is_at_home(&self) -> bool {
        let identity = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino())).ok();
        let here = identity(Path::new("."));
        here.is_some() && here == identity(&self.plan.directory)
    }
}

/// Makes the first process of the room.
fn born(first: First<'_>, in_user_namespace: bool) -> io::Result<(i32, OwnedFd)> {
    let mut flags =
        libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWPID | libc::CLONE_PIDFD | libc::SIGCHLD;
    if in_user_namespace {
        flags |= libc::CLONE_NEWUSER;
    }
    let mut pidfd: RawFd = -1;
    // SAFETY: without a stack of its own the child gets a copy of this process, as by `fork`; there is one thread.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, &raw mut pidfd, 0_usize, 0_usize) };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => first.live(),
        // SAFETY: the kernel has just opened it for us.
        pid => Ok((i32::try_from(pid).unwrap_or(0), unsafe { OwnedFd::from_raw_fd(pidfd) })),
    }
}

/// The ends of a spawner, and the keeper's.
fn ends(key: &str, name: &str) -> io::Result<(Ends, [OwnedFd; 2])> {
    let (our_link, link) = pair()?;
    let (our_outside, outside) = pair()?;
    let listener = listen(&file_name(key, name))?;
    Ok((Ends { link, outside, listener }, [our_link, our_outside]))
}

fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
    Ok(rustix::net::socketpair(AddressFamily::UNIX, kind, flags, None)?)
}

/// A socket in the room's directory, which is the working directory.
fn listen(name: &str) -> io::Result<OwnedFd> {
    const BACKLOG: i32 = 4096;
    let _ = fs::remove_file(name);
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(name)?)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

pub(super) fn file_name(key: &str, kind: &str) -> String {
    format!("{key}.{kind}")
}

/// Nobody finds the room any more.
pub(super) fn remove_files(directory: &Path, key: &str) {
    const FILES: [&str; 5] = ["facts", "room", "host", "door", "draft"];
    FILES.iter().for_each(|kind| drop(fs::remove_file(directory.join(file_name(key, kind)))));
    let _ = fs::remove_dir_all(directory.join(file_name(key, "settings")));
}

/// Whoever started this program may have left more open than the standard streams, and may wait for their end.
fn close_inherited() {
    // SAFETY: there is one thread, and nothing in it has opened a descriptor yet that it will use again.
    unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
}

/// A user namespace counts its processes, and allows as many as its maker might have had. Not for root, whom nothing limits.
fn limit_processes() -> Option<u64> {
    const MOST: u64 = 4096;
    let most = getrlimit(Resource::Nproc).maximum.map_or(MOST, |own| own.min(MOST));
    setrlimit(Resource::Nproc, Rlimit { current: Some(most), maximum: Some(most) }).ok()?;
    Some(most)
}

/// Every command takes a few. Commands themselves get the limits of whoever runs them.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}
