//! A result as JSON: the names and the order that every face of Bashtion shows, and the way back.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use bashtion_sandbox::{Exit, Report, Signal, Usage};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Leftover, Outcome, Status};
use crate::approval::ApprovalId;
use crate::tasks::TaskId;
use crate::{Output, Verdict};

#[derive(Serialize, Deserialize)]
struct Wire<'a> {
    status: Cow<'a, str>,
    success: bool,
    command: Cow<'a, str>,
    display: Cow<'a, str>,
    description: Option<Cow<'a, str>>,
    cwd: Cow<'a, str>,
    cwd_after: Option<Cow<'a, str>>,
    session: Option<Cow<'a, str>>,
    exit_code: Option<i32>,
    signal: Option<String>,
    timed_out: bool,
    timeout_ms: Option<u64>,
    duration_ms: u64,
    pipe_status: Option<Cow<'a, [i32]>>,
    #[serde(flatten)]
    output: Cow<'a, Output>,
    output_file: Option<Cow<'a, str>>,
    output_file_bytes: Option<u64>,
    task_id: Option<Cow<'a, TaskId>>,
    approval_id: Option<Cow<'a, ApprovalId>>,
    pid: Option<i32>,
    pgid: Option<i32>,
    #[serde(default)]
    room_pid: Option<i32>,
    #[serde(default)]
    room_pgid: Option<i32>,
    #[serde(default)]
    ports: Cow<'a, [u16]>,
    verdict: Cow<'a, Verdict>,
    sandbox: Cow<'a, Report>,
    denials: Cow<'a, [String]>,
    notes: Cow<'a, [String]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    usage: WireUsage,
    tracking: Option<Cow<'a, str>>,
    killed: usize,
    leftovers: Cow<'a, [Leftover]>,
}

#[derive(Serialize, Deserialize)]
struct WireUsage {
    cpu_ms: u64,
    max_rss_kib: u64,
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Wire::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Wire::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
    }
}

impl<'a> From<&'a Outcome> for Wire<'a> {
    fn from(outcome: &'a Outcome) -> Self {
        let (exit_code, signal) = match outcome.exit {
            Some(Exit::Code(code)) => (Some(code), None),
            Some(Exit::Signal(signal)) => (None, Some(signal.to_string())),
            None => (None, None),
        };
        let timeout = match outcome.status {
            Status::TimedOut { after, .. } => Some(after),
            _ => None,
        };
        Self {
            status: outcome.status.name().into(),
            success: outcome.success(),
            command: outcome.command.as_str().into(),
            display: outcome.display.as_str().into(),
            description: outcome.description.as_deref().map(Cow::from),
            cwd: outcome.cwd.to_string_lossy(),
            cwd_after: outcome.cwd_after.as_deref().map(Path::to_string_lossy),
            session: outcome.session.as_deref().map(Cow::from),
            exit_code,
            signal,
            timed_out: timeout.is_some(),
            timeout_ms: timeout.map(milliseconds),
            duration_ms: milliseconds(outcome.duration),
            pipe_status: outcome.pipe_status.as_deref().map(Cow::from),
            output: Cow::Borrowed(&outcome.output),
            output_file: outcome.output_file.as_deref().map(Path::to_string_lossy),
            output_file_bytes: outcome.output_file_bytes,
            task_id: outcome.task_id.as_ref().map(Cow::Borrowed),
            approval_id: outcome.approval_id.as_ref().map(Cow::Borrowed),
            pid: outcome.pid,
            pgid: outcome.pid,
            room_pid: outcome.room_pid,
            room_pgid: outcome.room_pid,
            ports: Cow::Borrowed(&outcome.ports),
            verdict: Cow::Borrowed(&outcome.verdict),
            sandbox: Cow::Borrowed(&outcome.sandbox),
            denials: Cow::Borrowed(&outcome.denials),
            notes: Cow::Borrowed(&outcome.notes),
            text: outcome.text.as_deref().map(Cow::from),
            usage: WireUsage {
                cpu_ms: milliseconds(outcome.usage.cpu),
                max_rss_kib: outcome.usage.max_rss_kib,
            },
            tracking: outcome.tracking.map(Cow::from),
            killed: outcome.killed,
            leftovers: Cow::Borrowed(&outcome.leftovers),
        }
    }
}

impl TryFrom<Wire<'_>> for Outcome {
    type Error = String;

    fn try_from(wire: Wire<'_>) -> Result<Self, String> {
        let signal = wire.signal.map(|name| name.parse::<Signal>().map_err(|error| error.to_string()));
        let exit = match (wire.exit_code, signal.transpose()?) {
            (Some(code), _) => Some(Exit::Code(code)),
            (None, signal) => signal.map(Exit::Signal),
        };
        let status = match (&*wire.status, exit) {
            ("exited", Some(Exit::Code(code))) => Status::Exited(code),
            ("signaled", Some(Exit::Signal(signal))) => Status::Signaled(signal),
            ("timed_out", _) => {
                let after = Duration::from_millis(wire.timeout_ms.unwrap_or(wire.duration_ms));
                Status::TimedOut { after, killed: wire.killed > 0 }
            }
            ("cancelled", _) => Status::Cancelled,
            ("refused", _) => Status::Refused,
            ("needs_approval", _) => Status::NeedsApproval,
            ("invalid", _) => Status::Invalid,
            ("running", _) => Status::Running,
            (other, _) => return Err(format!("{other:?} is not how a command ends")),
        };
        Ok(Self {
            status,
            command: wire.command.into_owned(),
            display: wire.display.into_owned(),
            description: wire.description.map(Cow::into_owned),
            cwd: wire.cwd.into_owned().into(),
            cwd_after: wire.cwd_after.map(|path| path.into_owned().into()),
            session: wire.session.map(Cow::into_owned),
            exit,
            duration: Duration::from_millis(wire.duration_ms),
            output: wire.output.into_owned(),
            output_file: wire.output_file.map(|path| path.into_owned().into()),
            output_file_bytes: wire.output_file_bytes,
            task_id: wire.task_id.map(Cow::into_owned),
            approval_id: wire.approval_id.map(Cow::into_owned),
            pid: wire.pid,
            room_pid: wire.room_pid,
            ports: wire.ports.into_owned(),
            verdict: wire.verdict.into_owned(),
            sandbox: wire.sandbox.into_owned(),
            denials: wire.denials.into_owned(),
            notes: wire.notes.into_owned(),
            text: wire.text.map(Cow::into_owned),
            pipe_status: wire.pipe_status.map(Cow::into_owned),
            usage: Usage {
                cpu: Duration::from_millis(wire.usage.cpu_ms),
                max_rss_kib: wire.usage.max_rss_kib,
            },
            tracking: ["cgroup", "limit tag", "kinship"]
                .into_iter()
                .find(|known| wire.tracking.as_deref() == Some(known)),
            killed: wire.killed,
            leftovers: wire.leftovers.into_owned(),
        })
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
