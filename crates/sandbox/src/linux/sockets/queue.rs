//! Work for a command by others than the thread that answers: a command can make it take as long as it likes, and
//! must not hold up anybody but itself.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::Watch;
use super::connect::Connection;
use super::datagrams::{Delivery, Linking, Making};
use super::notice::Call;

/// Something that a command has asked for, after it was found to be allowed.
#[derive(Debug)]
pub(super) enum Task {
    Connection(Connection),
    /// A new socket for datagrams.
    Making(Making),
    /// Leading one to a fixed target.
    Linking(Linking),
    /// One datagram.
    Delivery(Delivery),
}

/// The time that a caller has for its call. None if it does not wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    pub(super) own: Option<Duration>,
    pub(super) since: Instant,
}

impl Patience {
    pub(super) fn is_over(self) -> bool {
        self.own.is_some_and(|own| self.since.elapsed() >= own)
    }
}

/// The tasks of one command that are being done.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    tasks: VecDeque<(Call, Task)>,
    workers: usize,
}

impl Queue {
    pub(super) fn add(watch: &Arc<Watch>, call: Call, task: Task) {
        const MOST: usize = 1024;
        const MOST_WORKERS: usize = 32;
        let mut waiting = watch.queue.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.tasks.len() >= MOST {
            return watch.listener.answer(call, Err(Errno::AGAIN));
        }
        waiting.tasks.push_back((call, task));
        if waiting.workers >= MOST_WORKERS {
            return;
        }
        let working = Arc::clone(watch);
        let thread = std::thread::Builder::new().name("bashtion-connect".to_owned()).stack_size(128 << 10);
        match thread.spawn(move || Self::work(&working)) {
            Ok(_) => waiting.workers += 1,
            Err(_) if waiting.workers > 0 => {}
            Err(_) => {
                waiting.tasks.pop_back();
                watch.listener.answer(call, Err(Errno::AGAIN));
            }
        }
    }

    /// Each in turn for a while, until there are none: more may wait than there are workers.
    fn work(watch: &Arc<Watch>) {
        const SLICE: Duration = Duration::from_millis(50);
        let waiting = || watch.queue.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (call, task) = {
                let mut waiting = waiting();
                match waiting.tasks.pop_front() {
                    Some(next) => next,
                    None => {
                        waiting.workers -= 1;
                        return;
                    }
                }
            };
            let (task, result) = match task {
                // The descriptor is the answer.
                Task::Making(making) => match making.make(watch, call) {
                    Ok(()) => continue,
                    Err(errno) => (None, Some(Err(errno))),
                },
                Task::Linking(linking) => (None, Some(linking.link(watch, call))),
                Task::Connection(connection) => {
                    let result = connection.attempt(watch, SLICE);
                    (Some(Task::Connection(connection)), result)
                }
                Task::Delivery(delivery) => {
                    let result = delivery.attempt(watch, SLICE);
                    (Some(Task::Delivery(delivery)), result)
                }
            };
            match result {
                Some(result) => watch.listener.answer(call, result),
                None if has_signal(call.thread) => watch.listener.answer(call, Err(Errno::INTR)),
                // Otherwise the command is gone.
                None if watch.listener.still_waits(call) => {
                    waiting().tasks.extend(task.map(|task| (call, task)));
                }
                None => {}
            }
        }
    }
}

/// Returns true if a signal waits for a thread that only an answer can wake.
fn has_signal(thread: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| u64::from_str_radix(value.trim(), 16).ok()).unwrap_or(0)
    };
    let pending = mask("SigPnd:") | mask("ShdPnd:");
    pending & !mask("SigBlk:") & !mask("SigIgn:") != 0
}
