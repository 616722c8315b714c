//! Tasks as text and as JSON.

use std::time::{Duration, SystemTime};

use bashtion::{KeptRoom, Live, Outcome, Task, TaskState};

use super::sanitize;

/// For people: a line for each.
pub(crate) fn task_table(tasks: &[Task]) -> String {
    if tasks.is_empty() {
        return "no background tasks; start one with `bashtion run --background 'COMMAND'`\n".to_owned();
    }
    let mut text =
        format!("{:12} {:14} {:>8} {:>8} {:>8}  COMMAND\n", "TASK", "STATUS", "AGE", "CPU", "MEMORY");
    for task in tasks {
        let (cpu, memory) = used(&task.state);
        let age = short(since(task.started));
        let said = first_line(task.description.as_deref().unwrap_or(&task.display));
        text += &format!("{:12} {:14} {age:>8} {cpu:>8} {memory:>8}  {said}\n", task.id.as_str(), told(task));
        if !task.last_line.is_empty() {
            text += &format!("{:12} | {}\n", "", first_line(&task.last_line));
        }
    }
    text
}

fn in_room(task: &Task) -> String {
    let room = task.room.as_deref().unwrap_or_default();
    task.room_pid.map_or_else(|| room.to_owned(), |pid| format!("{room}, where it is process {pid}"))
}

fn listed(ports: &[u16]) -> String {
    ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")
}

/// For people: a line for each room.
pub(crate) fn room_table(rooms: &[KeptRoom], tasks: impl Fn(&KeptRoom) -> usize) -> String {
    if rooms.is_empty() {
        return "no rooms are kept; the next confined command makes one\n".to_owned();
    }
    let mut text = format!(
        "{:24} {:>8} {:>6} {:>8} {:>8}  {:16} WORKSPACE\n",
        "ROOM", "COMMANDS", "TASKS", "AGE", "IDLE", "PORTS"
    );
    for room in rooms {
        let status = &room.status;
        let workspace = room.workspaces.first().map(|path| path.display().to_string()).unwrap_or_default();
        let door = |port: &u16| match status.exposed.iter().find(|(inner, _)| inner == port) {
            Some((_, outer)) => format!("{port} as {outer}"),
            None => port.to_string(),
        };
        let ports = status.ports.iter().map(door).collect::<Vec<_>>().join(", ");
        let (age, idle) = (short(since(room.started)), short(status.idle));
        text += &format!(
            "{:24} {:>8} {:>6} {age:>8} {idle:>8}  {ports:16} {}\n",
            room.name,
            status.commands,
            tasks(room),
            sanitize::text(&workspace)
        );
    }
    text
}

/// For people: everything about one.
pub(crate) fn task_details(task: &Task) -> String {
    let (cpu, memory) = used(&task.state);
    let mut lines = vec![
        ("task", task.id.to_string()),
        ("status", told(task)),
        ("command", task.command.clone()),
        ("directory", task.cwd.display().to_string()),
        ("started", humantime::format_rfc3339_seconds(task.started).to_string()),
        ("duration", short(task.duration())),
        ("process", format!("{} (also its process group)", task.pid)),
        ("room", in_room(task)),
        ("ports", listed(&task.ports)),
        ("cpu", cpu),
        ("memory", memory),
        ("output", format!("{} bytes in {}", task.output_bytes, task.output_file.display())),
        ("last line", task.last_line.clone()),
    ];
    if let Some(agent) = &task.agent {
        lines.insert(3, ("agent", agent.clone()));
    }
    if let Some(description) = &task.description {
        lines.insert(3, ("for", description.clone()));
    }
    if let TaskState::Lost { reason, survivors } = &task.state {
        lines.insert(2, ("reason", (*reason).to_owned()));
        let alive: Vec<_> = survivors.iter().map(|p| format!("{} {}", p.pid, p.command)).collect();
        if !alive.is_empty() {
            lines.insert(3, ("still alive", alive.join(", ")));
        }
    }
    let shown = |(name, value): &(&str, String)| format!("{name:12} {}\n", sanitize::text(value));
    lines.iter().filter(|(_, value)| !value.is_empty()).map(shown).collect()
}

/// For people: how it stands, in one line.
pub(crate) fn task_line(task: &Task) -> String {
    let time = short(task.duration());
    match &task.state {
        TaskState::Running(_) => format!("{} is running since {time}\n", task.id),
        TaskState::Ended(outcome) => format!("{}: {} after {time}\n", task.id, outcome.status),
        TaskState::Over => format!("{} has ended\n", task.id),
        TaskState::Lost { reason, survivors } if survivors.is_empty() => {
            format!("{} is lost: {reason}; what it printed is in {}\n", task.id, task.output_file.display())
        }
        TaskState::Lost { reason, survivors } => {
            let alive: Vec<_> = survivors.iter().map(|process| process.pid.to_string()).collect();
            format!(
                "{} is lost: {reason}; processes {} of it still run, end them with `bashtion kill {0}`\n",
                task.id,
                alive.join(", ")
            )
        }
    }
}

/// For people: what was started, and what can be done with it.
pub(crate) fn task_started(outcome: &Outcome) -> String {
    let Some(id) = &outcome.task_id else { return String::new() };
    let pid = outcome.pid.unwrap_or(0);
    let file = outcome.output_file.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    format!(
        "Background task started: {id}\nprocess {pid}, process group {pid}, output in {file}\n\
         see it with `bashtion output {id}`, wait with `bashtion wait {id}`, end it with `bashtion kill {id}`\n"
    )
}

fn told(task: &Task) -> String {
    match &task.state {
        TaskState::Running(_) => "running".to_owned(),
        TaskState::Ended(outcome) => outcome.status.to_string(),
        TaskState::Over => "ended".to_owned(),
        TaskState::Lost { .. } => "lost".to_owned(),
    }
}

fn used(state: &TaskState) -> (String, String) {
    let kib = |kib: u64| if kib >= 10 * 1024 { format!("{}M", kib / 1024) } else { format!("{kib}K") };
    match state {
        TaskState::Running(Live { cpu, rss_kib, .. }) => (short(*cpu), kib(*rss_kib)),
        TaskState::Ended(outcome) => (short(outcome.usage.cpu), kib(outcome.usage.max_rss_kib)),
        TaskState::Over | TaskState::Lost { .. } => (String::new(), String::new()),
    }
}

fn since(time: SystemTime) -> Duration {
    time.elapsed().unwrap_or_default()
}

/// `850ms`, `12s`, `3m20s`, `2h5m`, `4d`
pub(super) fn short(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{}ms", duration.as_millis()),
        1..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h{}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d", seconds / 86_400),
    }
}

fn first_line(text: &str) -> String {
    const LONGEST: usize = 100;
    let line = sanitize::text(text.lines().next().unwrap_or_default()).replace(['\t', '\r'], " ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        let cases = [(0, "0ms"), (850, "850ms"), (12_000, "12s"), (200_000, "3m20s"), (7_500_000, "2h5m")];
        for (milliseconds, expected) in cases {
            assert_eq!(short(Duration::from_millis(milliseconds)), expected);
        }
        assert_eq!(short(Duration::from_secs(86_400 * 4)), "4d");
    }
}
