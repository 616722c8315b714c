//! Looking at tasks: at one of them, or at all at once.

use std::cell::OnceCell;

use super::ending::Ending;
use super::folder::{Folder, Record};
use super::log::{Layout, Outputs};
use super::processes::{Root, Snapshot, boot, listening};
use super::{Placed, Task, TaskError, TaskId, TaskList, TaskState, Tasks, reading, time};
use crate::seal::Seals;

impl Tasks {
    /// Lists all of them, running and finished.
    ///
    /// The outcomes of finished ones are without the texts of what was printed; [`Tasks::get`] has them.
    pub fn list(&self) -> Result<TaskList, TaskError> {
        let shared = Shared::new(self);
        let mut list = TaskList { tasks: vec![], problems: vec![] };
        for folder in self.folders()? {
            match self.look(&folder, &shared, Folder::ending_in_brief) {
                Ok(Some(Task { state: TaskState::Lost { .. }, .. })) if self.placed == Placed::Foreground => {
                    // Whoever waited for it was killed, and the command with it.
                    let _ = folder.remove_without_output();
                }
                Ok(task) => list.tasks.extend(task),
                Err(problem) => list.problems.push(problem),
            }
        }
        list.tasks.sort_by(|a, b| b.started.cmp(&a.started).then(a.id.cmp(&b.id)));
        Ok(list)
    }

    /// One of them.
    pub fn get(&self, id: &TaskId) -> Result<Task, TaskError> {
        let found = self.look(&self.folder(id), &Shared::new(self), Folder::ending)?;
        found.ok_or_else(|| TaskError::Unknown { id: id.clone() })
    }

    /// None where none has started.
    fn look(
        &self,
        folder: &Folder,
        shared: &Shared,
        ending_of: impl Fn(&Folder) -> Result<Option<Ending>, TaskError>,
    ) -> Result<Option<Task>, TaskError> {
        let mut ending = ending_of(folder)?;
        let is_running = ending.is_none() && folder.is_claimed()?;
        if ending.is_none() && !is_running {
            // A supervisor writes the result before it lets go, perhaps just now.
            ending = ending_of(folder)?;
        }
        let Some(record) = folder.vouched_record(&shared.seals)? else { return Ok(None) };
        let layout = ending.as_ref().map(|ending| ending.layout);
        let (output_bytes, last_line) = printed(folder, &record, layout, &shared.outputs);
        let ended = ending.as_ref().map(|ending| time(ending.ended));
        let mut ports = vec![];
        let state = match ending {
            Some(Ending { outcome, .. }) => TaskState::Ended(Box::new(outcome)),
            None if is_running => {
                // In a room they are not the supervisor's own: those of the shell are looked at.
                let root =
                    record.room.as_ref().map_or(Root::Above(record.supervisor), |_| Root::Itself(record.pid));
                let (live, pids) = shared.processes().beneath(root);
                ports = listening(&pids);
                TaskState::Running(live)
            }
            None if record.boot != *shared.boot() => {
                TaskState::Lost { reason: "the machine was restarted", survivors: vec![] }
            }
            None => TaskState::Lost {
                reason: "its supervisor was killed",
                survivors: shared.processes().of_task(&record.id),
            },
        };
        Ok(Some(Task {
            id: record.id,
            command: record.command,
            display: record.display,
            description: record.description,
            agent: record.agent,
            placed: self.placed,
            origin: record.origin.unwrap_or_else(|| record.cwd.clone()).into(),
            cwd: record.cwd.into(),
            started: time(record.started),
            ended,
            pid: record.pid,
            room_pid: record.room_pid,
            room: record.room,
            ports,
            output_file: folder.output(),
            output_bytes,
            last_line,
            state,
        }))
    }
}

/// Facts that all tasks of a list share, found out when one first needs them.
#[derive(Debug)]
struct Shared {
    seals: Seals,
    processes: OnceCell<Snapshot>,
    boot: OnceCell<String>,
    outputs: Outputs,
}

impl Shared {
    fn new(tasks: &Tasks) -> Self {
        Self {
            seals: Seals::new(&tasks.state),
            processes: OnceCell::new(),
            boot: OnceCell::new(),
            outputs: Outputs::default(),
        }
    }

    fn processes(&self) -> &Snapshot {
        self.processes.get_or_init(Snapshot::take)
    }

    fn boot(&self) -> &String {
        self.boot.get_or_init(boot)
    }
}

/// Returns how many bytes a task has printed, and the last line that is not blank, if it is not too long.
fn printed(folder: &Folder, record: &Record, layout: Option<Layout>, outputs: &Outputs) -> (u64, String) {
    const NEAR: u64 = 4096;
    const LONGEST: usize = 200;
    let (length, end) = reading::end(folder, record, layout, NEAR, outputs).unwrap_or_default();
    let text = String::from_utf8_lossy(&end);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    (length, line.chars().take(LONGEST).collect())
}
