//! The library with real processes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod approval;
mod approval_queue;
mod cancellation;
mod descriptors;
mod dropped_future;
mod environment;
mod events;
mod hostile_calls;
mod judged;
mod leftovers;
mod long_command;
mod many_at_once;
mod memory;
mod one_judgement;
mod output_bounds;
mod output_file;
mod readable_output;
mod refusals;
mod result;
mod sessions;
mod timeout_ends_the_tree;
mod tool_calls;
mod working_directory;

use std::path::Path;
use std::time::{Duration, Instant};

use bashtion::{Engine, Limits, Outcome, Request, ToolContext};
use tempfile::TempDir;

/// An engine, a workspace and a state directory that only this test knows.
struct World {
    root: TempDir,
    engine: Engine,
}

impl World {
    fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    fn with_limits(limits: Limits) -> Self {
        let root = TempDir::new().unwrap();
        let engine = Engine::builder().limits(limits).state_dir(root.path().join("state")).build();
        Self { root, engine }
    }

    fn path(&self) -> &Path {
        self.root.path()
    }

    fn context(&self) -> ToolContext {
        ToolContext::from_host(self.path())
    }

    async fn run(&self, request: impl Into<Request>) -> Outcome {
        self.engine.run(request.into(), &self.context()).await.unwrap()
    }
}

/// How long something took.
async fn timed<T>(future: impl Future<Output = T>) -> (T, Duration) {
    let started = Instant::now();
    (future.await, started.elapsed())
}
