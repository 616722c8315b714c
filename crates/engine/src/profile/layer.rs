//! What stands in one file: a profile, the user's configuration, or a project's. What is not given stays as it is below.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::environment::{Base, Home};
use crate::limits::Beyond;
use crate::output::Unit;
use crate::{CustomRule, Decision, TextRule};

/// One file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table")]
#[schemars(title = "Bashtion configuration")]
pub(crate) struct Layer {
    /// What it is for, in words.
    pub(crate) description: Option<String>,
    /// The profile beneath: one that is built in, or a file.
    pub(crate) inherits: Option<String>,
    /// Times, and what happens when they are over.
    pub(crate) limits: LimitsLayer,
    /// How output is captured and cut.
    pub(crate) output: OutputLayer,
    /// What environment commands get.
    pub(crate) env: EnvLayer,
    /// How commands are judged.
    pub(crate) guard: GuardLayer,
    /// Which commands run, are asked about, or are refused.
    pub(crate) permissions: PermissionsLayer,
    /// How commands are confined.
    pub(crate) sandbox: SandboxLayer,
    /// The rooms that confined commands share.
    pub(crate) room: RoomLayer,
    /// Background tasks.
    pub(crate) tasks: TasksLayer,
    /// What is written down.
    pub(crate) audit: AuditLayer,
    /// How results are put into words.
    pub(crate) wording: WordingLayer,
    /// The tool as a model sees it.
    pub(crate) tool: ToolLayer,
}

/// `[limits]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct LimitsLayer {
    /// How long a command may take if nothing is said.
    pub(crate) timeout: Option<Quantity>,
    /// The same in the slow mode.
    pub(crate) slow_timeout: Option<Quantity>,
    /// The shortest time that can be asked for.
    pub(crate) shortest_timeout: Option<Quantity>,
    /// The longest.
    pub(crate) longest_timeout: Option<Quantity>,
    /// What becomes of a time beyond these.
    pub(crate) beyond: Option<Beyond>,
    /// Between SIGTERM and SIGKILL.
    pub(crate) grace: Option<Quantity>,
    /// What happens to processes that outlive the shell.
    pub(crate) leftovers: Option<LeftoversWord>,
}

/// What happens to processes that outlive the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LeftoversWord {
    End,
    Keep,
}

/// `[output]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct OutputLayer {
    /// Each stream by itself, or both together in the order written.
    pub(crate) streams: Option<StreamsWord>,
    /// What is not longer is whole.
    pub(crate) max: Option<usize>,
    /// So much is kept of the beginning of what is longer.
    pub(crate) head: Option<usize>,
    /// And so much of its end.
    pub(crate) tail: Option<usize>,
    /// What these count.
    pub(crate) unit: Option<Unit>,
    /// What stands where something was cut: {cut} {cut,} {total} {total,} {max} {max,} {file}. Empty: a line of its own.
    pub(crate) marker: Option<String>,
    /// Whether space at both ends is taken off.
    pub(crate) trim: Option<bool>,
    /// Whether the text is kept at all.
    pub(crate) capture: Option<bool>,
    /// So many bytes of one command's output are kept in a file, when they are not all in the result.
    pub(crate) file_size: Option<Quantity>,
    /// For so long.
    pub(crate) keep_for: Option<Quantity>,
    /// And so much of all commands together.
    pub(crate) keep_size: Option<Quantity>,
}

/// How the two streams are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StreamsWord {
    Separate,
    Combined,
}

/// `[env]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct EnvLayer {
    /// What of the caller's environment it begins with.
    pub(crate) base: Option<Base>,
    /// The names that the allow-list lets through.
    pub(crate) allow: Option<Vec<String>>,
    /// Patterns of names that are not inherited.
    pub(crate) withhold: Option<Vec<String>>,
    /// What HOME is.
    pub(crate) home: Option<Home>,
    /// Whether variables are set that keep programs from asking, paging and colouring.
    pub(crate) non_interactive: Option<bool>,
    /// Variables for every command.
    pub(crate) set: Option<BTreeMap<String, String>>,
}

/// `[guard]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct GuardLayer {
    /// What a rule calls for, instead of what it says itself.
    pub(crate) severity: Option<BTreeMap<String, Decision>>,
    /// Text that no command may contain, wherever it stands in it.
    pub(crate) block: Option<Vec<String>>,
    /// What is said about such a text; {text} is the text.
    pub(crate) block_message: Option<String>,
    /// Simple commands, exactly as written, that run without being asked about.
    pub(crate) allow: Option<Vec<String>>,
    /// Rules of one's own, over commands.
    pub(crate) rules: Option<Vec<CustomRule>>,
    /// Rules of one's own, over the text as it is written.
    pub(crate) texts: Option<Vec<TextRule>>,
    /// What becomes of everything that would be asked about.
    pub(crate) questions: Option<Decision>,
    /// Judging may take so long; what takes longer is asked about.
    pub(crate) deadline: Option<Quantity>,
}

/// `[permissions]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct PermissionsLayer {
    /// What no entry decides.
    pub(crate) default: Option<Decision>,
    /// What runs.
    pub(crate) allow: Option<Vec<String>>,
    /// What somebody has to agree to.
    pub(crate) ask: Option<Vec<String>>,
    /// What does not run.
    pub(crate) deny: Option<Vec<String>>,
    /// A question waits for an answer for so long.
    pub(crate) answer_within: Option<Quantity>,
    /// An approval can be used for so long.
    pub(crate) use_within: Option<Quantity>,
}

/// `[sandbox]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct SandboxLayer {
    /// How tightly.
    pub(crate) mode: Option<ModeWord>,
    /// Whether commands may talk to other machines.
    pub(crate) network: Option<Switch>,
    /// Where the kernel has no Landlock, run nothing.
    pub(crate) required: Option<bool>,
    /// Whether namespaces are used.
    pub(crate) namespaces: Option<bool>,
    /// More that commands may change.
    pub(crate) writable: Option<Vec<PathBuf>>,
    /// More that they may not read.
    pub(crate) secrets: Option<Vec<PathBuf>>,
    /// What of the built-in secrets they may read after all.
    pub(crate) readable: Option<Vec<PathBuf>>,
    /// Unix sockets of this machine that they may connect to.
    pub(crate) sockets: Option<Vec<PathBuf>>,
    /// How much they may use.
    pub(crate) limits: ResourcesLayer,
}

/// How tightly commands are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ModeWord {
    Off,
    Workspace,
    ReadOnly,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Switch {
    On,
    Off,
}

/// `[sandbox.limits]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct ResourcesLayer {
    /// Memory of all processes together.
    pub(crate) memory: Option<Quantity>,
    /// Processes and threads, all together.
    pub(crate) processes: Option<Quantity>,
    /// Processor time of each process.
    pub(crate) cpu: Option<Quantity>,
    /// Open files of each process.
    pub(crate) open_files: Option<Quantity>,
    /// The size of each file.
    pub(crate) file_size: Option<Quantity>,
}

/// `[room]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct RoomLayer {
    /// The time that a room is kept with nothing in it.
    pub(crate) idle: Option<Quantity>,
    /// The time that unused files in its /tmp are kept.
    pub(crate) keep_tmp: Option<Quantity>,
    /// And how much they may take; the oldest go first.
    pub(crate) keep_tmp_size: Option<Quantity>,
    /// 1: a shell waits in it for the next command of `run` or of a server; 0: none does.
    pub(crate) pool: Option<u16>,
    /// Ports of the room that are reachable on this machine's loopback under the same number.
    pub(crate) expose: Option<Vec<u16>>,
}

/// `[tasks]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct TasksLayer {
    /// So many may run at once.
    pub(crate) limit: Option<Quantity>,
    /// Of one task's output.
    pub(crate) output_size: Option<Quantity>,
    /// Finished ones are remembered for so long.
    pub(crate) keep_for: Option<Quantity>,
    /// And take so much together.
    pub(crate) keep_size: Option<Quantity>,
}

/// `[audit]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct AuditLayer {
    /// Whether it is written, and whether it has to be.
    pub(crate) mode: Option<super::AuditMode>,
    /// Rows are kept for so long.
    pub(crate) keep_for: Option<Quantity>,
    /// And take so much.
    pub(crate) keep_size: Option<Quantity>,
}

/// `[wording]`: templates. {name} is a field of the result, {name|text} has something to say if it is empty, and [[…]] is left
/// out if a field in it is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct WordingLayer {
    /// It exited with 0.
    pub(crate) succeeded: Option<String>,
    /// The same, and its output was cut. Empty: as `succeeded`.
    pub(crate) truncated: Option<String>,
    /// It exited otherwise, or by a signal.
    pub(crate) failed: Option<String>,
    /// It ran out of time.
    pub(crate) timed_out: Option<String>,
    /// It was cancelled.
    pub(crate) cancelled: Option<String>,
    /// It may not run.
    pub(crate) refused: Option<String>,
    /// Somebody has to agree first.
    pub(crate) needs_approval: Option<String>,
    /// It goes on in the background.
    pub(crate) background: Option<String>,
    /// On a terminal, before output that is shown as it comes.
    pub(crate) opening: Option<String>,
    /// And after it, instead of the usual last line.
    pub(crate) closing: Option<String>,
    /// On a terminal, all of it at the end, instead of output as it comes. {limit} is how long it might have taken.
    pub(crate) screen: Option<String>,
    /// More characters than these are cut, as the output is. 0: never.
    pub(crate) max: Option<usize>,
    /// What to say about errors that are common: a text to look for in standard error, and what to try.
    pub(crate) hints: Option<Vec<Hint>>,
}

/// Something to try after a common error.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hint {
    /// A text in the output of a command that failed, in any case of letters.
    pub contains: String,
    /// What to try.
    pub hint: String,
}

/// `[tool]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default, expecting = "a table")]
pub(crate) struct ToolLayer {
    /// What it is called.
    pub(crate) name: Option<String>,
    /// What a model is told about it. {cwd}, {timeout}, {slow-timeout}, {longest-timeout}, {output}, {sandbox} and {background}
    /// are replaced.
    pub(crate) description: Option<String>,
    /// The shape of its calls.
    pub(crate) input: Option<String>,
    /// Whether each call has to say what it is for.
    pub(crate) require_description: Option<bool>,
    /// Whether a command that ran and did not exit with 0 is an error of the tool, for protocols that tell errors from results.
    pub(crate) failure_is_error: Option<bool>,
}

/// `2048` or `"2G"`, `30` or `"30s"`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, or a text such as \"30s\" or \"2G\"")]
pub(crate) enum Quantity {
    Number(u64),
    Text(String),
}

impl Quantity {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}
