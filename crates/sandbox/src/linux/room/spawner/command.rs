//! One command of a room, from its start until nothing is left of it.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr;

use rustix::process::Pid;

use super::super::groups::Groups;
use super::super::link::{ToKeeper, send_long};
use super::super::order::{Answering, Order, Reply, Started};
use crate::imp::clone;
use crate::imp::confine::{Filters, Orders, Snapshot, TreeHeld};
use crate::imp::descriptors::Above;
use crate::imp::exec::Image;
use crate::imp::limits::{TreeLimits, hard_limit, of_each_process};
use crate::imp::mark::Mark;
use crate::imp::sockets::Channel;
use crate::imp::tag::{self, Tag};
use crate::imp::tree::Tree;
use crate::imp::wait;
use crate::spec::Step;
use crate::{Exit, Usage};

/// A command that was started.
#[derive(Debug)]
pub(super) struct Command {
    pid: i32,
    process: OwnedFd,
    groups: Option<Groups>,
    tag: Option<Tag>,
    has_ended: bool,
    /// True if nobody can answer for its connections, though the keeper was to.
    is_unheard: bool,
    /// The end of the pipe on which it waits for a script.
    waits: Option<OwnedFd>,
    /// The count of changes in the room when it was started.
    changes: u32,
    was_clear: bool,
}

/// The parts of a spawner that starting needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tools<'a> {
    pub(super) null: &'a OwnedFd,
    pub(super) filters: &'a Filters,
    pub(super) link: &'a OwnedFd,
}

/// Why one could not be.
#[derive(Debug)]
pub(super) enum Refused {
    /// A step failed. Nothing was run.
    AtStep { step: Step, errno: i32 },
    /// The keeper was killed, and the room ends with it.
    KeeperIsGone { has_begun: bool },
}

impl Refused {
    pub(super) fn new(step: Step, error: &io::Error) -> Self {
        Self::AtStep { step, errno: error.raw_os_error().unwrap_or(libc::EIO) }
    }
}

impl Command {
    /// Starts it in these groups, which come back if it cannot be.
    pub(super) fn start(
        order: &Order,
        descriptors: &[OwnedFd],
        groups: Option<Groups>,
        changes: u32,
        tools: Tools<'_>,
    ) -> Result<Self, Box<(Option<Groups>, Refused)>> {
        let tag = order.tag.filter(|tag| *tag < tag::own_limit()).map(Tag::of_value);
        let has_group = groups.as_ref().is_some_and(|groups| groups.directory().is_some());
        let tag = tag.filter(|_| !has_group);
        match launch(order, descriptors, groups.as_ref(), tag, tools) {
            Ok(Launched { pid, process, is_unheard, waits }) => {
                let pid = pid.as_raw_nonzero().get();
                Ok(Self {
                    pid,
                    process,
                    groups,
                    tag,
                    has_ended: false,
                    is_unheard,
                    waits,
                    changes,
                    was_clear: false,
                })
            }
            Err(refused) => Err(Box::new((groups, refused))),
        }
    }

    pub(super) fn pid(&self) -> i32 {
        self.pid
    }

    /// Returns true if it waits for its script.
    pub(super) fn is_waiting(&self) -> bool {
        self.waits.is_some()
    }

    pub(super) fn changes(&self) -> u32 {
        self.changes
    }

    /// Gives it its script. If it cannot have all of it, it is killed before it can go on with a part.
    pub(super) fn go_on(&mut self, script: &[u8]) -> io::Result<()> {
        let pipe = self.waits.take().ok_or(io::ErrorKind::InvalidInput)?;
        let written = rustix::io::retry_on_intr(|| rustix::io::write(&pipe, script))?;
        if written < script.len() {
            self.kill();
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    /// Can be read when the shell has ended.
    pub(super) fn process(&self) -> &OwnedFd {
        &self.process
    }

    /// For whoever ordered it: a message and its descriptors.
    pub(super) fn told(&self, unprotected: bool) -> (Vec<u8>, Vec<BorrowedFd<'_>>) {
        let groups = self.groups.as_ref().map(Groups::told);
        let (started, descriptors) = groups.unwrap_or_default();
        let (room_pid, is_tagged, unheard) = (self.pid, self.tag.is_some(), self.is_unheard);
        let started = Started { room_pid, is_tagged, unprotected, unheard, ..started };
        let descriptors = [self.process.as_fd()].into_iter().chain(descriptors).collect();
        (Reply::Started(started).to_bytes(), descriptors)
    }

    /// Returns how the shell has ended, the first time that this is known.
    pub(super) fn look(&mut self) -> Option<(Exit, Usage)> {
        if self.has_ended {
            return None;
        }
        let ended = wait::look(wait::Whose::This(self.pid))?;
        self.has_ended = true;
        Some((ended.exit, ended.usage))
    }

    /// Reaps the shell; false if it has not ended.
    pub(super) fn reap(&mut self) -> bool {
        wait::reap(self.pid)
    }

    pub(super) fn into_groups(self) -> Option<Groups> {
        self.groups
    }

    /// Kills all that is left of it.
    pub(super) fn kill(&mut self) {
        let by_group = self.groups.as_ref().is_some_and(Groups::kill);
        if !by_group {
            let _ = self.tree().kill();
        }
    }

    /// Its shell has ended. Returns true if nothing else is left, as far as that is found here at less cost than outside.
    pub(super) fn note_end(&mut self) -> bool {
        let groups = self.groups.as_ref().filter(|groups| groups.directory().is_some());
        let by_group = groups.map(Groups::are_empty);
        self.was_clear = by_group.unwrap_or_else(|| self.tree().is_clear().unwrap_or(false));
        self.was_clear && by_group.is_none()
    }

    /// Returns true if nothing else was left when its shell had ended.
    pub(super) fn was_clear(&self) -> bool {
        self.was_clear
    }

    /// Returns true if nothing is left of it, after reaping its shell.
    pub(super) fn is_over(&mut self) -> bool {
        let is_clear = match self.groups.as_ref().filter(|groups| groups.directory().is_some()) {
            Some(groups) => groups.are_empty(),
            None => self.tree().members().is_ok_and(|members| members.is_empty()),
        };
        is_clear && self.reap()
    }

    fn tree(&self) -> Tree {
        let mark = self.tag.map_or(Mark::Kinship, Mark::Tag);
        let shell = Pid::from_raw(self.pid).expect("the kernel gives positive ids");
        Tree::new(shell, mark, None, TreeLimits::default(), Snapshot::default(), None)
    }
}

struct Launched {
    pid: Pid,
    process: OwnedFd,
    is_unheard: bool,
    waits: Option<OwnedFd>,
}

fn launch(
    order: &Order,
    descriptors: &[OwnedFd],
    groups: Option<&Groups>,
    tag: Option<Tag>,
    Tools { null, filters, link }: Tools<'_>,
) -> Result<Launched, Refused> {
    let failed = |error: io::Error| Refused::new(Step::Prepare, &error);
    let missing = || Refused::AtStep { step: Step::Prepare, errno: libc::EMFILE };
    let [stdout, stderr, cwd, rest @ ..] = descriptors else { return Err(missing()) };
    let own = match order.answering {
        Answering::Caller => None,
        Answering::Keeper => Some(Channel::new().map_err(failed)?),
    };
    let channel = match &own {
        Some(own) => own.end(),
        None => rest.first().ok_or_else(missing)?,
    };
    let (script, waits) = order.waits.then(pipe).transpose().map_err(failed)?.unzip();
    let stdin = script.as_ref().unwrap_or(null);
    let [stdin, stdout, stderr, cwd] = [stdin, stdout, stderr, cwd].map(Above::stderr);
    let (stdin, stdout, stderr) = (stdin.map_err(failed)?, stdout.map_err(failed)?, stderr.map_err(failed)?);
    let (cwd, channel) = (cwd.map_err(failed)?, Above::stderr(channel).map_err(failed)?);
    let held = groups.map_or(TreeHeld::default(), Groups::held);
    let limits = limits(order, held);
    let orders = Orders {
        groups: groups.map(Groups::to_join).unwrap_or_default(),
        identity: None,
        own_network: false,
        mounts: None,
        limits: &limits,
        // They are gone already, and with them every way to get others.
        capabilities: None,
        ruleset: None,
        filter: filters.refusing(),
        asking: Some((filters.asking(), channel.raw())),
    };
    let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
        strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
    };
    let (argv, envp) = (pointers(&order.args), pointers(&order.env));
    let image = Image {
        program: order.program.as_ptr(),
        argv: argv.as_ptr(),
        envp: envp.as_ptr(),
        streams: [stdin.raw(), stdout.raw(), stderr.raw()],
        cwd: cwd.raw(),
        cwd_path: Some(order.cwd.as_ptr()),
        tag: tag.map(Tag::value),
        umask: Some(order.umask),
        dies_with_us: false,
        orders: Some(&orders),
        failure: None,
    };
    let (born, failure) = clone::start(image, groups.and_then(Groups::directory), 0);
    let (pid, process) = born.map_err(|error| Refused::new(Step::Clone, &error))?;
    if let Some(failure) = failure {
        // It has exited already.
        wait::reap(pid.as_raw_nonzero().get());
        return Err(Refused::AtStep { step: failure.step, errno: failure.errno });
    }
    let listener = own.as_ref().and_then(Channel::received);
    let is_unheard = own.is_some() && listener.is_none();
    if let Some(listener) = listener {
        let message = ToKeeper::Listener { network: order.network, sockets: order.sockets.clone() };
        send_long(link, &message.to_bytes(), &[listener.as_fd()])
            .map_err(|_| Refused::KeeperIsGone { has_begun: true })?;
    }
    Ok(Launched { pid, process, is_unheard, waits })
}

/// A pipe into which can be written without waiting.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&write, true)?;
    Ok((read, write))
}

/// Those of the caller, then those of the order. What we may not have ourselves we cannot give.
fn limits(order: &Order, held: TreeHeld) -> Vec<(u32, libc::rlimit)> {
    let inherited = order.inherited.iter().map(|(resource, now, most)| {
        let ceiling = hard_limit(*resource);
        let most = (*most).min(ceiling);
        (*resource, libc::rlimit { rlim_cur: (*now).min(most), rlim_max: most })
    });
    inherited.chain(of_each_process(&order.limits, held, true)).collect()
}
