//! Foreground commands of an agent, for as long as they run: so that they can be listed and ended with the agent.
//!
//! Each has a folder as background tasks do, without output, and takes orders through it as they do.

use std::io;

use tokio::task::JoinHandle;

use super::control::Orders;
use super::folder::{Claim, Folder, Record};
use super::supervisor::obey;
use super::{Placed, Tasks};
use crate::ToolContext;
use crate::engine::Settings;
use crate::launch::Running;

/// Somebody can see the command until this is dropped.
#[derive(Debug)]
pub(crate) struct Presence {
    folder: Folder,
    _claim: Claim,
    orders: JoinHandle<()>,
}

impl Presence {
    /// Makes a command of an agent known, and has it obey. None for those who work for nobody.
    pub(crate) fn enter(
        settings: &Settings,
        running: &Running,
        context: &mut ToolContext,
    ) -> io::Result<Option<Self>> {
        if context.agent_name().is_none() {
            return Ok(None);
        }
        let tasks = Tasks::of(settings, Placed::Foreground);
        let (running_folder, outputs) = tasks.make_directories().map_err(io::Error::other)?;
        let (id, folder) = Folder::create(&running_folder, &outputs)?;
        let claim = folder.claim()?;
        let orders = Orders::listen(&folder.control())?;
        folder.write_record(&Record::of(id, &running.so_far(None), running.timeout(), context, 0))?;
        // The caller's own tokens may be shared with other commands.
        let (cancel, kill) = (context.token().child_token(), context.kill_token().child_token());
        *context = context.clone().cancel(cancel.clone()).kill(kill.clone());
        let orders = tokio::spawn(obey(orders, context.clone(), cancel, kill, settings.limits.grace));
        Ok(Some(Self { folder, _claim: claim, orders }))
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.orders.abort();
        if let Err(error) = self.folder.remove() {
            tracing::warn!(path = %self.folder.path().display(), %error, "cannot remove the folder of a command");
        }
    }
}
