//! What a command prints, as notifications while it runs.

use std::time::{Duration, Instant};

use bashtion::{Decoder, Event, Events};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::time::{sleep, timeout};

/// Tells one client how far a call is, if it wants to know.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    began: Instant,
}

/// No more than one in this time.
const PAUSE: Duration = Duration::from_millis(200);
/// Silence longer than this is broken, so that nobody believes the call dead.
const SILENCE: Duration = Duration::from_secs(10);
/// No more text than this in one; the result has it all.
const LONGEST: usize = 4000;

impl Progress {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Option<Self> {
        let token = context.meta.get_progress_token()?;
        Some(Self { peer: context.peer.clone(), token, began: Instant::now() })
    }

    /// Seconds since the beginning count as progress: they only grow.
    pub(super) async fn tell(&self, message: String) {
        let progress = ProgressNotificationParam::new(self.token.clone(), self.began.elapsed().as_secs_f64());
        // A client that cannot be told is noticed elsewhere.
        let _ = self.peer.notify_progress(progress.with_message(message)).await;
    }

    /// Passes on what is printed. Never ends: whoever waits for the command drops it.
    pub(super) async fn stream(&self, mut events: Events) {
        let mut text = Recent::default();
        loop {
            match timeout(SILENCE, events.recv()).await {
                Ok(Some(event)) => text.take(&event),
                Ok(None) => std::future::pending().await,
                Err(_) => {
                    let seconds = self.began.elapsed().as_secs();
                    self.tell(format!("still running after {seconds} s")).await;
                }
            }
            if text.is_empty() {
                continue;
            }
            let gather = async {
                while let Some(event) = events.recv().await {
                    text.take(&event);
                }
                // It is over: the result comes now.
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = gather => {}
                () = sleep(PAUSE) => {}
            }
            self.tell(text.say()).await;
        }
    }
}

/// What has been printed since the last time, the end of it.
#[derive(Default)]
struct Recent {
    decoder: Decoder,
    text: String,
    skipped: u64,
}

impl Recent {
    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::Output { bytes, .. } => self.decoder.push(bytes, |decoded| self.text.push_str(decoded)),
            Event::Missed { bytes, .. } => self.skipped += bytes,
            _ => {}
        }
        if let Some(beyond) = self.text.len().checked_sub(LONGEST).filter(|beyond| *beyond > 0) {
            let start = (beyond..self.text.len())
                .find(|at| self.text.is_char_boundary(*at))
                .unwrap_or(self.text.len());
            self.skipped += start as u64;
            self.text.drain(..start);
        }
    }

    fn say(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        match std::mem::take(&mut self.skipped) {
            0 => text,
            skipped => format!("[{skipped} bytes skipped]\n{text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bashtion::Stream;

    fn printed(text: &str) -> Event {
        Event::Output { operation_id: "op".into(), stream: Stream::Stdout, bytes: text.as_bytes().to_vec() }
    }

    #[test]
    fn the_end_of_much_is_kept_in_whole_characters() {
        let mut recent = Recent::default();
        recent.take(&printed(&"ä".repeat(4000)));
        assert_eq!(recent.say(), format!("[4000 bytes skipped]\n{}", "ä".repeat(2000)));
        assert!(recent.is_empty());
        recent.take(&printed("next"));
        assert_eq!(recent.say(), "next");
    }
}
