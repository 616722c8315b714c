//! Ctrl-C and its like end the command, not just us.

use std::future::{pending, poll_fn};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::task::Poll;
use std::time::Duration;

use bashtion::{CancellationToken, Signal};
use nix::sys::signal::SigSet;
use rustix::process::{Resource, getrlimit};
use tokio::runtime::Runtime;
use tokio::signal::unix::{self, SignalKind, signal};

/// The first signal that would end us cancels the command; the second kills it at once.
#[derive(Debug, Clone)]
pub(super) struct Interrupts {
    pub(super) cancel: CancellationToken,
    pub(super) kill: CancellationToken,
    first: Arc<AtomicI32>,
}

const NONE_YET: i32 = 0;
/// How long a reader may take for the rest after a signal.
const PATIENCE: Duration = Duration::from_secs(1);
const SIGXFSZ: i32 = 25;
/// SIGSTKFLT, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO and SIGPWR of Linux.
#[cfg(target_os = "linux")]
const ALSO_FATAL: [i32; 6] = [16, 24, 26, 27, 29, 30];
#[cfg(not(target_os = "linux"))]
const ALSO_FATAL: [i32; 0] = [];

impl Interrupts {
    pub(super) fn watch(runtime: &Runtime) -> io::Result<Self> {
        let _entered = runtime.enter();
        // Whoever started us may have blocked them.
        SigSet::all().thread_unblock()?;
        let is_ignored = |kind: SignalKind| Signal::from_raw(kind.as_raw_value()).is_ignored();
        // Handled only so that it is not ignored: the kernel would throw exit codes away.
        if is_ignored(SignalKind::child()) {
            drop(signal(SignalKind::child())?);
        }
        // Handled only so that it does not kill us: the write that failed can be told.
        if getrlimit(Resource::Fsize).current.is_some() {
            drop(signal(SignalKind::from_raw(SIGXFSZ))?);
        }

        let interrupts = Self {
            cancel: CancellationToken::new(),
            kill: CancellationToken::new(),
            first: Arc::new(AtomicI32::new(NONE_YET)),
        };
        let mut kinds = vec![
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::quit(),
            SignalKind::user_defined1(),
            SignalKind::user_defined2(),
            SignalKind::alarm(),
        ];
        kinds.extend(ALSO_FATAL.map(SignalKind::from_raw));
        // `nohup bashtion run` means that a hangup shall not end it.
        if !is_ignored(SignalKind::hangup()) {
            kinds.push(SignalKind::hangup());
        }
        let signals = kinds.into_iter().map(|kind| Ok((kind.as_raw_value(), signal(kind)?)));
        let signals = signals.collect::<io::Result<Vec<_>>>()?;
        runtime.spawn(interrupts.clone().act_on(signals));
        Ok(interrupts)
    }

    /// One task for all of them, because starting many takes its time.
    async fn act_on(self, mut signals: Vec<(i32, unix::Signal)>) {
        loop {
            let number = poll_fn(|context| {
                let mut came = signals
                    .iter_mut()
                    .filter_map(|(number, signal)| signal.poll_recv(context).is_ready().then_some(*number));
                came.next().map_or(Poll::Pending, Poll::Ready)
            })
            .await;
            if self.first.compare_exchange(NONE_YET, number, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                self.cancel.cancel();
            } else {
                self.kill.cancel();
            }
        }
    }

    /// The signal that cancelled the command, if one did.
    pub(super) fn first(&self) -> Option<i32> {
        Some(self.first.load(Ordering::Acquire)).filter(|&number| number != NONE_YET)
    }

    /// Waits until whoever interrupted us has waited long enough for the rest, and says with which signal.
    pub(super) async fn patience_over(&self) -> i32 {
        self.cancel.cancelled().await;
        let Some(signal) = self.first() else { return pending().await };
        tokio::time::sleep(PATIENCE).await;
        signal
    }
}
