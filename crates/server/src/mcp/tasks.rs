//! The tools for background tasks. Only those of the workspace are known here.

use std::path::Path;
use std::time::Duration;

use bashtion::{CancellationToken, Kill, Signal, Task, TaskError, TaskId, TaskState, Tasks};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, JsonObject};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::arguments::{self, read};
use super::progress::Progress;
use super::reply::{append, result, task_line};
use super::tools::USUAL_WAIT_MS;
use super::wrong::Wrong;
use super::{Setup, Shared, reply};

type Replied = Result<CallToolResult, Wrong>;

pub(super) async fn list(shared: &Shared, given: Option<JsonObject>) -> Replied {
    let wanted: arguments::List = read(given)?;
    let listed = blocking(shared, |setup| {
        let mut found = setup.engine.tasks().list()?.tasks;
        found.retain(|task| is_ours(task, setup));
        Ok(found)
    });
    let mut found = listed.await?;
    if wanted.running == Some(true) {
        found.retain(|task| matches!(task.state, TaskState::Running(_)));
    }
    let mut text = String::new();
    if found.is_empty() {
        text.push_str("no background tasks; bash with mode background starts one");
    }
    for task in &found {
        let said = task.description.as_deref().unwrap_or(&task.display);
        append(&mut text, &format!("{}: {}", task_line(task), first_line(said)));
    }
    let facts = json!({"tasks": found.iter().map(facts).collect::<Vec<_>>()});
    Ok(result(text, facts, false, &shared.setup))
}

pub(super) async fn output(shared: &Shared, given: Option<JsonObject>) -> Replied {
    let wanted: arguments::Output = read(given)?;
    let id: TaskId = wanted.task_id.parse()?;
    let most = shared.setup.profile.output.cut.max.clamp(1000, 1 << 20);
    let shown = blocking(shared, move |setup| {
        let tasks = setup.engine.tasks();
        let task = ours(&tasks, &id, setup)?;
        let shown = match (wanted.since, wanted.tail) {
            (None, None) => Shown::whole(&tasks, &task, most)?,
            (Some(since), None) => Shown::part(&tasks, &task, since, most)?,
            (since, Some(lines)) => {
                let last = tasks.offset_of_last(&task.id, usize::try_from(lines).unwrap_or(usize::MAX))?;
                Shown::part(&tasks, &task, last.max(since.unwrap_or(0)), most)?
            }
        };
        Ok((task, shown))
    });
    let (task, shown) = shown.await?;
    let mut text = format!("{}; next_offset {}\n", task_line(&task), shown.next);
    append(&mut text, if shown.text.is_empty() { "(no new output)" } else { &shown.text });
    let mut told = json!({
        "task_id": task.id, "status": task.status(), "output": shown.text, "next_offset": shown.next,
    });
    if shown.truncated {
        told["truncated"] = json!(true);
    }
    if let Some(remark) = shown.remark {
        append(&mut text, &remark);
        told["notes"] = json!([remark]);
    }
    Ok(result(text, told, false, &shared.setup))
}

pub(super) async fn wait(
    shared: &Shared,
    gone: &CancellationToken,
    given: Option<JsonObject>,
    context: &RequestContext<RoleServer>,
) -> Replied {
    let wanted: arguments::Wait = read(given)?;
    let id: TaskId = wanted.task_id.parse()?;
    let patience = Duration::from_millis(wanted.timeout_ms.unwrap_or(USUAL_WAIT_MS));
    let known = id.clone();
    blocking(shared, move |setup| ours(&setup.engine.tasks(), &known, setup)).await?;
    let tasks = shared.setup.engine.tasks();
    let progress = Progress::of(context);
    let remind = async {
        let Some(progress) = progress else { return std::future::pending().await };
        loop {
            tokio::time::sleep(Duration::from_secs(5)).await;
            let last = tasks.get(&id).map(|task| task.last_line).unwrap_or_default();
            progress.tell(last).await;
        }
    };
    let ends = shared.running.ends(gone, context);
    tokio::select! {
        ended = tasks.wait(&id) => drop(ended),
        () = remind => {}
        () = tokio::time::sleep(patience) => {}
        () = ends.come() => {}
    }
    how_it_stands(shared, id).await
}

pub(super) async fn kill(shared: &Shared, given: Option<JsonObject>) -> Replied {
    let wanted: arguments::Kill = read(given)?;
    let id: TaskId = wanted.task_id.parse()?;
    let signal = wanted.signal.as_deref().map(str::parse::<Signal>).transpose()?;
    let how = signal.map_or(Kill::Gently, Kill::With);
    let known = id.clone();
    let told = blocking(shared, move |setup| {
        let tasks = setup.engine.tasks();
        ours(&tasks, &known, setup)?;
        match tasks.kill(&known, how) {
            // As wanted.
            Err(TaskError::NotRunning { .. }) => Ok(()),
            other => other,
        }
    });
    told.await?;
    let soon = Duration::from_secs(if how.ends() { 10 } else { 0 });
    let _ = tokio::time::timeout(soon, shared.setup.engine.tasks().wait(&id)).await;
    how_it_stands(shared, id).await
}

/// The result of a task that has ended, or that it runs.
async fn how_it_stands(shared: &Shared, id: TaskId) -> Replied {
    let task = blocking(shared, move |setup| ours(&setup.engine.tasks(), &id, setup)).await?;
    if let TaskState::Ended(outcome) = &task.state {
        return Ok(reply::outcome(outcome, &shared.setup));
    }
    let mut text = task_line(&task);
    if !task.last_line.is_empty() {
        append(&mut text, &format!("last line: {}", first_line(&task.last_line)));
    }
    Ok(result(text, facts(&task), false, &shared.setup))
}

/// A part of what a task printed, for a model.
struct Shown {
    text: String,
    next: u64,
    truncated: bool,
    remark: Option<String>,
}

impl Shown {
    /// All of it, without its middle if it is long.
    fn whole(tasks: &Tasks, task: &Task, most: usize) -> Result<Self, TaskError> {
        // First: what comes meanwhile comes again rather than not at all.
        let next = tasks.output_bytes(&task.id)?;
        let text = tasks.text(&task.id, most)?;
        Ok(Self { truncated: text.cut > 0, text: text.text, next, remark: None })
    }

    fn part(tasks: &Tasks, task: &Task, since: u64, most: usize) -> Result<Self, TaskError> {
        let passage = tasks.passage(&task.id, since, most)?;
        let more = tasks.output_bytes(&task.id)?.saturating_sub(passage.next);
        let remark = match (passage.dropped, more) {
            (0, 0) => None,
            (0, more) => Some(format!("{more} more bytes: call again with since {}", passage.next)),
            (dropped, _) => Some(format!("{dropped} bytes before offset {} were dropped", passage.offset)),
        };
        Ok(Self { text: passage.text, next: passage.next, truncated: more > 0, remark })
    }
}

/// What a list tells about each.
fn facts(task: &Task) -> Value {
    const TOLD: [&str; 11] = [
        "task_id", "status", "success", "exit_code", "signal", "display", "description", "duration_ms",
        "output_bytes", "last_line", "pid",
    ];
    let Ok(Value::Object(whole)) = serde_json::to_value(task) else { return json!({}) };
    let runs = matches!(task.state, TaskState::Running(_));
    let told = TOLD.iter().filter(|name| !(runs && **name == "success"));
    let told = told.filter_map(|name| Some(((*name).to_owned(), whole.get(*name)?.clone())));
    told.filter(|(_, value)| !value.is_null()).collect()
}

/// A task of another workspace is as good as none.
fn ours(tasks: &Tasks, id: &TaskId, setup: &Setup) -> Result<Task, TaskError> {
    let task = tasks.get(id)?;
    if is_ours(&task, setup) { Ok(task) } else { Err(TaskError::Unknown { id: id.clone() }) }
}

fn is_ours(task: &Task, setup: &Setup) -> bool {
    let within = |root: &Path| task.origin.starts_with(root);
    setup.roots.iter().any(|root| within(root) || root.canonicalize().is_ok_and(|real| within(&real)))
}

fn first_line(text: &str) -> String {
    const LONGEST: usize = 200;
    let line: String = text.lines().next().unwrap_or_default().chars().take(LONGEST).collect();
    bashtion::visible(&line)
}

/// Files and locks are looked at where nobody waits for them.
async fn blocking<T: Send + 'static>(
    shared: &Shared,
    work: impl FnOnce(&Setup) -> Result<T, TaskError> + Send + 'static,
) -> Result<T, Wrong> {
    let setup = shared.setup.clone();
    Ok(tokio::task::spawn_blocking(move || work(&setup)).await??)
}
