//! Foreground commands of an agent, for as long as they run: so that they can be listed and ended with the agent.
//!
//! Each has a folder as background tasks do, without output, and takes orders through it as they do.

use std::io;

use tokio::task::JoinHandle;

use super::control::Orders;
use super::folder::{Claim, Folder, Record};
use super::supervisor::obey;
use super::{Placed, TaskId, Tasks};
use crate::ToolContext;
use crate::engine::Settings;
use crate::launch::Running;

/// Somebody can see the command, and end it, until this is dropped.
#[derive(Debug)]
pub(crate) struct Presence {
    id: TaskId,
    folder: Folder,
    _claim: Claim,
    orders: JoinHandle<()>,
}

impl Presence {
    /// Makes a command of an agent known before it runs, so that there is no moment at which it could be missed, and has it
    /// obey through a context of its own. None for those who work for nobody.
    pub(crate) fn enter(
        settings: &Settings,
        command: &str,
        context: &ToolContext,
    ) -> io::Result<Option<(Self, ToolContext)>> {
        if context.agent_name().is_none() {
            return Ok(None);
        }
        let tasks = Tasks::of(settings, Placed::Foreground);
        let (running, outputs) = tasks.make_directories().map_err(io::Error::other)?;
        let (id, folder) = Folder::create(&running, &outputs)?;
        let announced = folder.claim().and_then(|claim| {
            let orders = Orders::listen(&folder.control())?;
            folder.write_record(&Record::announced(id.clone(), command, context))?;
            Ok((claim, orders))
        });
        let (claim, orders) = announced.inspect_err(|_| drop(folder.remove_without_output()))?;
        // The caller's own tokens may be shared with other commands.
        let (cancel, kill) = (context.token().child_token(), context.kill_token().child_token());
        let context = context.clone().cancel(cancel.clone()).kill(kill.clone());
        let orders = tokio::spawn(obey(orders, context.clone(), cancel, kill, settings.limits.grace));
        Ok(Some((Self { id, folder, _claim: claim, orders }, context)))
    }

    /// Says what is known now that it runs.
    pub(crate) fn runs(&self, running: &Running, context: &ToolContext) {
        let record = Record::of(self.id.clone(), &running.so_far(None), running.timeout(), context, 0);
        if let Err(error) = self.folder.write_record(&record) {
            tracing::warn!(path = %self.folder.path().display(), %error, "cannot say that a command runs");
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.orders.abort();
        if let Err(error) = self.folder.remove_without_output() {
            tracing::warn!(path = %self.folder.path().display(), %error, "cannot remove the folder of a command");
        }
    }
}
