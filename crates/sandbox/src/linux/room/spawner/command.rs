//! One command of a room, from its start until nothing is left of it.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::super::groups::Groups;
use super::super::link::{ToKeeper, send_long};
use super::super::order::{Answering, Order, Started};
use super::slots::{OwnLimits, Slots};
use crate::imp::clone;
use crate::imp::confine::{Filters, Orders, Snapshot, TreeHeld};
use crate::imp::exec::Image;
use crate::imp::limits::{TreeLimits, of_each_process};
use crate::imp::mark::Mark;
use crate::imp::sockets::Channel;
use crate::imp::tag::{self, Tag};
use crate::imp::tree::{self, Tree};
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
    born: Instant,
    /// When it began to do what somebody wants; none as long as it waits for its command.
    began: Option<Instant>,
    /// True if nobody can answer for its connections, though the keeper was to.
    is_unheard: bool,
    was_clear: bool,
}

/// The descriptors that a command begins with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) stdin: &'a OwnedFd,
    pub(super) stdout: &'a OwnedFd,
    pub(super) stderr: &'a OwnedFd,
    pub(super) cwd: &'a OwnedFd,
    /// On which it sends what asks about its connections.
    pub(super) channel: &'a OwnedFd,
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
    /// Starts what was ordered in these groups, which come back if it cannot be.
    pub(super) fn start(
        order: &Order,
        descriptors: &[OwnedFd],
        groups: Option<Groups>,
        tools: Tools<'_>,
        slots: &mut Slots,
    ) -> Result<Self, Box<(Option<Groups>, Refused)>> {
        let missing = || Refused::AtStep { step: Step::Prepare, errno: libc::EMFILE };
        let [stdout, stderr, cwd, rest @ ..] = descriptors else { return Err(Box::new((groups, missing()))) };
        let own = match order.answering {
            Answering::Caller => None,
            Answering::Keeper => match Channel::new() {
                Ok(channel) => Some(channel),
                Err(error) => return Err(Box::new((groups, Refused::new(Step::Prepare, &error)))),
            },
        };
        let Some(channel) = own.as_ref().map(Channel::end).or(rest.first()) else {
            return Err(Box::new((groups, missing())));
        };
        let given = Given { stdin: tools.null, stdout, stderr, cwd, channel };
        let mut command = Self::begin(order, given, groups, tools.filters, slots)?;
        command.begin_for_somebody();
        if let Some(own) = own {
            let listener = own.received();
            command.is_unheard = listener.is_none();
            let message = ToKeeper::Listener { network: order.network, sockets: order.sockets.clone() };
            let sent = listener
                .map_or(Ok(()), |listener| send_long(tools.link, &message.to_bytes(), &[listener.as_fd()]));
            if sent.is_err() {
                return Err(Box::new((None, Refused::KeeperIsGone { has_begun: true })));
            }
        }
        Ok(command)
    }

    /// Starts it with what it is given.
    pub(super) fn begin(
        order: &Order,
        given: Given<'_>,
        groups: Option<Groups>,
        filters: &Filters,
        slots: &mut Slots,
    ) -> Result<Self, Box<(Option<Groups>, Refused)>> {
        let tag = order.tag.filter(|tag| *tag < tag::own_limit()).map(Tag::of_value);
        let has_group = groups.as_ref().is_some_and(|groups| groups.directory().is_some());
        let tag = tag.filter(|_| !has_group);
        match launch(order, given, groups.as_ref(), tag, filters, slots) {
            Ok((pid, process)) => {
                let pid = pid.as_raw_nonzero().get();
                Ok(Self {
                    pid,
                    process,
                    groups,
                    tag,
                    has_ended: false,
                    born: Instant::now(),
                    began: None,
                    is_unheard: false,
                    was_clear: false,
                })
            }
            Err(refused) => Err(Box::new((groups, refused))),
        }
    }

    pub(super) fn pid(&self) -> i32 {
        self.pid
    }

    /// Notes that it does what somebody wants from now on.
    pub(super) fn begin_for_somebody(&mut self) {
        self.began = Some(Instant::now());
    }

    /// Returns true if it does what somebody wants, or has done so.
    pub(super) fn is_anybodys(&self) -> bool {
        self.began.is_some()
    }

    /// Returns true if it began to do so just now.
    pub(super) fn is_new(&self) -> bool {
        const BRIEF: Duration = Duration::from_millis(100);
        self.began.is_some_and(|began| began.elapsed() < BRIEF)
    }

    /// Can be read when the shell has ended.
    pub(super) fn process(&self) -> &OwnedFd {
        &self.process
    }

    /// For whoever ordered it: a message and its descriptors.
    pub(super) fn told(&self, unprotected: bool) -> (Started, Vec<BorrowedFd<'_>>) {
        let groups = self.groups.as_ref().map(Groups::told);
        let (started, descriptors) = groups.unwrap_or_default();
        let (room_pid, tag, unheard) = (self.pid, self.tag.map(Tag::value), self.is_unheard);
        let started = Started { room_pid, tag, unprotected, unheard, ..started };
        (started, [self.process.as_fd()].into_iter().chain(descriptors).collect())
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

    /// Returns true if its end is known. Nobody watches its process from then on.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
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
        self.was_clear =
            by_group.unwrap_or_else(|| self.is_clear_by_tag().unwrap_or_else(|| self.is_clear()));
        self.was_clear && by_group.is_none()
    }

    /// Returns true if nobody born since its shell carries its tag, which in a room nobody can shed. None if too many were born,
    /// or the shell is so old that their ids may have gone round.
    fn is_clear_by_tag(&self) -> Option<bool> {
        /// There are 32,768 ids at least, and no more than that many are given out in a second.
        const BRIEF: Duration = Duration::from_millis(250);
        let tag = self.tag.filter(|_| self.born.elapsed() < BRIEF)?;
        tree::nobody_since(self.pid, tag)
    }

    /// Returns true if nothing else was left when its shell had ended.
    pub(super) fn was_clear(&self) -> bool {
        self.was_clear
    }

    /// Returns true if nothing is left of it, after reaping its shell.
    pub(super) fn is_over(&mut self) -> bool {
        self.is_clear() && self.reap()
    }

    /// Returns true if nothing of it is alive.
    pub(super) fn is_clear(&self) -> bool {
        match self.groups.as_ref().filter(|groups| groups.directory().is_some()) {
            Some(groups) => groups.are_empty(),
            None => self.tree().members().is_ok_and(|members| members.is_empty()),
        }
    }

    fn tree(&self) -> Tree {
        let mark = self.tag.map_or(Mark::Kinship, Mark::Tag);
        let shell = Pid::from_raw(self.pid).expect("the kernel gives positive ids");
        Tree::new(shell, mark, None, TreeLimits::default(), Snapshot::default(), None)
    }
}

fn launch(
    order: &Order,
    given: Given<'_>,
    groups: Option<&Groups>,
    tag: Option<Tag>,
    filters: &Filters,
    slots: &mut Slots,
) -> Result<(Pid, OwnedFd), Refused> {
    let Given { stdin, stdout, stderr, cwd, channel } = given;
    let held = groups.map_or(TreeHeld::default(), Groups::held);
    let limits = limits(order, held, slots.limits());
    let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
        strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
    };
    let (argv, envp) = (pointers(&order.args), pointers(&order.env));
    let (above, has_nested, signals) = (slots.above(), slots.has_nested(), slots.signals());
    let joins = groups.map(Groups::to_join).unwrap_or_default();
    let wanted = [stdin, stdout, stderr, cwd, channel].map(AsFd::as_fd);
    let wanted: Vec<BorrowedFd<'_>> = wanted.into_iter().chain(joins).collect();
    let started = slots.with(&wanted, |numbers| {
        let orders = Orders {
            groups: numbers[5..].to_vec(),
            identity: None,
            own_network: false,
            mounts: None,
            limits: &limits,
            // They are gone already, and with them every way to get others.
            capabilities: None,
            ruleset: None,
            filter: filters.refusing(),
            asking: Some((filters.asking(has_nested), numbers[4])),
        };
        let image = Image {
            program: order.program.as_ptr(),
            argv: argv.as_ptr(),
            envp: envp.as_ptr(),
            above: Some(above),
            streams: [numbers[0], numbers[1], numbers[2]],
            cwd: numbers[3],
            cwd_path: Some(order.cwd.as_ptr()),
            tag: tag.map(Tag::value),
            umask: Some(order.umask),
            dies_with_us: false,
            signals,
            orders: Some(&orders),
            failure: None,
        };
        clone::start(image, groups.and_then(Groups::directory), clone::SHARED_TABLE)
    });
    let (born, failure) = started.map_err(|error| Refused::new(Step::Prepare, &error))?;
    let (pid, process) = born.map_err(|error| Refused::new(Step::Clone, &error))?;
    if let Some(failure) = failure {
        // It has exited already.
        wait::reap(pid.as_raw_nonzero().get());
        return Err(Refused::AtStep { step: failure.step, errno: failure.errno });
    }
    Ok((pid, process))
}

/// Those of the caller, then those of the order. What we may not have ourselves we cannot give, and what we have ourselves a
/// child begins with.
fn limits(order: &Order, held: TreeHeld, own: &OwnLimits) -> Vec<(u32, libc::rlimit)> {
    let inherited = order.inherited.iter().filter_map(|(resource, now, most)| {
        let known = own.of(*resource);
        let most = (*most).min(known.map_or(libc::RLIM_INFINITY, |(_, ceiling)| ceiling));
        let now = (*now).min(most);
        (known != Some((now, most))).then_some((*resource, libc::rlimit { rlim_cur: now, rlim_max: most }))
    });
    inherited.chain(of_each_process(&order.limits, held, true)).collect()
}
