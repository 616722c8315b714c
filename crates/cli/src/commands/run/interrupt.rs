//! Ctrl-C and its like end the command, not just us.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use bashtion::CancellationToken;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The first signal that would end us cancels the command; the second kills it at once.
#[derive(Debug)]
pub(super) struct Interrupts {
    pub(super) cancel: CancellationToken,
    pub(super) kill: CancellationToken,
    first: Arc<AtomicI32>,
}

const NONE_YET: i32 = 0;
/// How long a reader may take for the rest after a signal.
const PATIENCE: Duration = Duration::from_secs(1);
#[cfg(target_os = "linux")]
const SIGXFSZ: i32 = 25;

impl Interrupts {
    pub(super) fn watch(runtime: &Runtime) -> io::Result<Self> {
        let _entered = runtime.enter();
        // Handled only so that they do what they say: an ignored SIGCHLD makes the kernel throw exit codes away, and
        // SIGXFSZ would kill us where a failed write can be told.
        drop(signal(SignalKind::child())?);
        #[cfg(target_os = "linux")]
        drop(signal(SignalKind::from_raw(SIGXFSZ))?);

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
        // `nohup bashtion run` means that a hangup shall not end it.
        if !is_ignored(SignalKind::hangup()) {
            kinds.push(SignalKind::hangup());
        }
        for kind in kinds {
            let (cancel, kill, first) =
                (interrupts.cancel.clone(), interrupts.kill.clone(), interrupts.first.clone());
            let number = kind.as_raw_value();
            runtime.spawn(forward(signal(kind)?, move || {
                if first.compare_exchange(NONE_YET, number, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                    cancel.cancel();
                } else {
                    kill.cancel();
                }
            }));
        }
        Ok(interrupts)
    }

    /// The signal that cancelled the command, if one did.
    pub(super) fn first(&self) -> Option<i32> {
        Some(self.first.load(Ordering::Acquire)).filter(|&number| number != NONE_YET)
    }

    /// Waits until whoever interrupted us has waited long enough, and says with which signal.
    pub(super) async fn patience_over(&self) -> i32 {
        self.cancel.cancelled().await;
        let Some(signal) = self.first() else { return pending().await };
        tokio::select! {
            () = tokio::time::sleep(PATIENCE) => signal,
            () = self.kill.cancelled() => signal,
        }
    }
}

/// Acts each time the signal comes.
async fn forward(mut signal: Signal, act: impl Fn()) {
    while signal.recv().await.is_some() {
        act();
    }
}

/// Whether it was ignored when we were started, as far as that can be told here.
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read("/proc/self/status").unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (kind.as_raw_value() - 1)) != 0
}
