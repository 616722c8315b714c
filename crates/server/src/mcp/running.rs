//! Commands that somebody waits for: how many run at once, and what ends them.

use std::sync::Arc;
use std::time::Duration;

use bashtion::CancellationToken;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// All of one server.
#[derive(Debug)]
pub(super) struct Running {
    places: Arc<Semaphore>,
    calls: TaskTracker,
    stopping: CancellationToken,
}

/// A call that takes part. As long as it lives, the server does not end.
#[derive(Debug)]
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
    _token: TaskTrackerToken,
}

/// What ends a call from outside.
#[derive(Debug, Clone)]
pub(super) struct Ends {
    cancelled: CancellationToken,
    gone: CancellationToken,
    stopping: CancellationToken,
}

/// How long a command that was cancelled may take to end by itself. Nobody waits for what it says.
const GRACE: Duration = Duration::from_millis(500);

impl Running {
    pub(super) fn new(most: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(most.max(1))),
            calls: TaskTracker::new(),
            stopping: CancellationToken::new(),
        }
    }

    pub(super) fn ends(&self, gone: &CancellationToken, context: &RequestContext<RoleServer>) -> Ends {
        Ends { cancelled: context.ct.clone(), gone: gone.clone(), stopping: self.stopping.clone() }
    }

    /// Waits until there is room. None if the call ends before that.
    pub(super) async fn enter(&self, ends: &Ends) -> Option<Place> {
        let token = self.calls.token();
        tokio::select! {
            biased;
            () = ends.come() => None,
            permit = Arc::clone(&self.places).acquire_owned() => {
                Some(Place { _permit: permit.ok()?, _token: token })
            }
        }
    }

    pub(super) async fn stop(&self) {
        const PATIENCE: Duration = Duration::from_secs(5);
        self.stopping.cancel();
        self.calls.close();
        let _ = tokio::time::timeout(PATIENCE, self.calls.wait()).await;
    }
}

impl Ends {
    /// When the client cancels it or is gone, or the server ends.
    pub(super) async fn come(&self) {
        tokio::select! {
            () = self.cancelled.cancelled() => {}
            () = self.gone.cancelled() => {}
            () = self.stopping.cancelled() => {}
        }
    }

    /// Does the work to its end. When the call ends before, `cancel` is told, and shortly after `kill`.
    pub(super) async fn meanwhile<T>(
        &self,
        work: impl Future<Output = T>,
        cancel: &CancellationToken,
        kill: &CancellationToken,
    ) -> T {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = self.come() => cancel.cancel(),
        }
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = sleep(GRACE) => kill.cancel(),
        }
        work.await
    }
}
