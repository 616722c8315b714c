//! Judging takes time that grows with the text, and nobody waits for ever for a verdict.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use bashtion_guard::{Analysis, Opaque, Span, Verdict, World, analyze};

use super::{judge, judge_with, variables_to_judge};
use crate::admit::Job;
use crate::engine::Settings;

/// Up to this length a text is judged at once: what the guard does with one is bounded, and starting a thread would take longer
/// than most commands.
const SHORT: usize = 1024;
/// As much as the main thread of a program has: the guard goes down into nested texts.
const STACK: usize = 8 << 20;
/// How many texts may be judged beyond their deadlines at the same time. A thread cannot be ended from outside.
const MOST_OVERDUE: usize = 4;

static OVERDUE: AtomicUsize = AtomicUsize::new(0);

/// Finds out what the command would do and judges it. None if that takes too long.
pub(super) fn within(
    deadline: Duration,
    job: &Job,
    world: &World,
    settings: &Arc<Settings>,
) -> Option<(Analysis, Verdict)> {
    if job.command.len() <= SHORT {
        let analysis = analyze(&job.command, world);
        let verdict = judge(&analysis, job, world, &settings.policy);
        return Some((analysis, verdict));
    }
    if OVERDUE.load(Ordering::Relaxed) >= MOST_OVERDUE {
        return None;
    }
    let (command, world, settings) = (job.command.clone(), world.clone(), Arc::clone(settings));
    let given = variables_to_judge(job);
    // Without a buffer: what is sent was received, or the sender learns that nobody is there any more.
    let (send, receive) = mpsc::sync_channel(0);
    let work = move || {
        let analysis = analyze(&command, &world);
        let verdict = judge_with(&analysis, &given, &world, &settings.policy);
        if send.send((analysis, verdict)).is_err() {
            OVERDUE.fetch_sub(1, Ordering::Relaxed);
        }
    };
    thread::Builder::new().name("judging".to_owned()).stack_size(STACK).spawn(work).ok()?;
    match receive.recv_timeout(deadline) {
        Ok(judged) => Some(judged),
        Err(RecvTimeoutError::Timeout) => {
            // While there is still a receiver, so that nothing is taken back before it is counted.
            OVERDUE.fetch_add(1, Ordering::Relaxed);
            None
        }
        Err(RecvTimeoutError::Disconnected) => None,
    }
}

/// The verdict on a command of which nothing is known in time: as the policy has it for whatever cannot be understood.
pub(super) fn too_slow(job: &Job, world: &World, settings: &Settings) -> (Analysis, Verdict) {
    /// A command of which nothing is known, as the guard and the permissions see it.
    const UNKNOWN: &str = "$__unknown";
    let span = Span { start: 0, end: job.command.len() };
    let reason = format!("judging it takes longer than {:?} (guard.deadline)", settings.judge_within);
    let mut analysis = analyze(UNKNOWN, world);
    analysis.opaque = vec![Opaque { reason: reason.clone(), span }];
    let mut verdict = judge(&analysis, job, world, &settings.policy);
    for finding in &mut verdict.findings {
        finding.span = span;
        if finding.rule == "opaque" {
            "write it to a file and run the file, or run it in parts".clone_into(&mut finding.help);
        }
    }
    analysis.commands.clear();
    (analysis, verdict)
}
