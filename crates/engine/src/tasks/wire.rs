//! A task as JSON: the names that every face of Bashtion shows.

use std::time::{Duration, SystemTime};

use bashtion_sandbox::Exit;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{Placed, Task, TaskState};

impl Task {
    /// How it stands, as it is called in results; one whose supervisor is gone is `lost`.
    #[must_use]
    pub fn status(&self) -> &'static str {
        match &self.state {
            TaskState::Running(_) => "running",
            TaskState::Ended(outcome) => outcome.status.name(),
            TaskState::Over => "cancelled",
            TaskState::Lost { .. } => "lost",
        }
    }

    /// How long it ran, or has been running.
    #[must_use]
    pub fn duration(&self) -> Duration {
        match &self.state {
            TaskState::Ended(outcome) => outcome.duration,
            TaskState::Running(_) | TaskState::Over | TaskState::Lost { .. } => since(self.started),
        }
    }
}

impl Serialize for Task {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (mut exit_code, mut signal, mut usage) = (Value::Null, Value::Null, Value::Null);
        let (mut reason, mut survivors) = (Value::Null, json!([]));
        match &self.state {
            TaskState::Running(live) => {
                usage = json!({
                    "cpu_ms": milliseconds(live.cpu),
                    "rss_kib": live.rss_kib,
                    "processes": live.processes,
                });
            }
            TaskState::Ended(outcome) => {
                match outcome.exit {
                    Some(Exit::Code(code)) => exit_code = json!(code),
                    Some(Exit::Signal(by)) => signal = json!(by.to_string()),
                    None => {}
                }
                usage = json!({
                    "cpu_ms": milliseconds(outcome.usage.cpu),
                    "max_rss_kib": outcome.usage.max_rss_kib,
                });
            }
            TaskState::Over => {}
            TaskState::Lost { reason: why, survivors: alive } => {
                reason = json!(why);
                survivors = alive.iter().map(|p| json!({ "pid": p.pid, "command": p.command })).collect();
            }
        }
        json!({
            "task_id": self.id,
            "status": self.status(),
            "success": matches!(&self.state, TaskState::Ended(outcome) if outcome.success()),
            "command": self.command,
            "display": self.display,
            "description": self.description,
            "agent": self.agent,
            "background": self.placed == Placed::Background,
            "cwd": self.cwd.to_string_lossy(),
            "exit_code": exit_code,
            "signal": signal,
            "started": humantime::format_rfc3339_millis(self.started).to_string(),
            "ended": self.ended.map(|time| humantime::format_rfc3339_millis(time).to_string()),
            "age_ms": milliseconds(since(self.started)),
            "duration_ms": milliseconds(self.duration()),
            "output_file": self.output_file.to_string_lossy(),
            "output_bytes": self.output_bytes,
            "last_line": self.last_line,
            "pid": self.pid,
            "pgid": self.pid,
            "room": self.room,
            "room_pid": self.room_pid,
            "room_pgid": self.room_pid,
            "ports": self.ports,
            "usage": usage,
            "reason": reason,
            "survivors": survivors,
        })
        .serialize(serializer)
    }
}

fn since(time: SystemTime) -> Duration {
    time.elapsed().unwrap_or_default()
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
