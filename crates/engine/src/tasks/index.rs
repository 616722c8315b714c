//! The turn to start a task, and what is known then without looking at every task: `index.json`.
//!
//! The lock of its folder says whether a task runs. The index only says whose locks to look at: a task is in it before
//! it has a folder, and until it has been seen to be over. All folders are looked at where there is no index yet, from
//! time to time (another release may have started tasks that are not in it), and when the finished ones take too much.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bashtion_sandbox::OwnFile;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::folder::{Folder, VERSION, Versioned, decode, milliseconds_since_1970, plain};
use super::log::Outputs;
use super::{TaskError, TaskId, TaskLimits, Tasks};

/// The turn to start a task. One at a time: the limit would mean nothing, and pruning could take a folder that is just
/// being made.
#[derive(Debug)]
pub(super) struct Turn {
    folder: PathBuf,
    outputs: PathBuf,
    index: Index,
    _lock: File,
}

/// The index of all tasks.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Index {
    version: u32,
    /// When all folders were last looked at, in milliseconds since 1970.
    swept: u64,
    /// The bytes that finished ones take. Those that somebody has removed since are still counted.
    finished_bytes: u64,
    /// The tasks that may be running.
    live: Vec<TaskId>,
}

impl Versioned for Index {
    fn version(&self) -> u32 {
        self.version
    }
}

impl Turn {
    /// Waits for the turn. Forgets finished tasks beyond the limits, and what was never started.
    pub(super) fn take(tasks: &Tasks, limits: &TaskLimits) -> Result<Self, TaskError> {
        let (folder, outputs) = tasks.make_directories()?;
        let lock = take_lock(&folder)?;
        let index = match Index::read(&folder).map(|index| index.without_finished(tasks)) {
            Some(index) if !index.is_due(limits) => index,
            Some(_) | None => {
                let index = Index::sweep(tasks, limits)?;
                // At once: a start that fails must not make the next one look at everything again.
                let failed = |source| TaskError::State { path: folder.clone(), source };
                index.write(&folder).map_err(failed)?;
                index
            }
        };
        Ok(Self { folder, outputs, index, _lock: lock })
    }

    /// The tasks that run.
    pub(super) fn live(&self) -> Vec<TaskId> {
        let mut live = self.index.live.clone();
        live.sort();
        live
    }

    /// Makes the folder of a new task.
    pub(super) fn create_folder(&self) -> Result<(TaskId, Folder), TaskError> {
        // First the index: whoever is killed in between leaves a name without a folder, not a folder that nobody knows.
        let announce = |id: &TaskId| {
            let mut index = self.index.clone();
            index.live.push(id.clone());
            index.write(&self.folder)
        };
        Folder::create_announced(&self.folder, &self.outputs, announce)
            .map_err(|source| TaskError::State { path: self.folder.clone(), source })
    }
}

fn take_lock(folder: &Path) -> Result<File, TaskError> {
    let path = folder.join("lock");
    let taken = OwnFile::Keeping.open(&path).and_then(|file| {
        rustix::io::retry_on_intr(|| flock(&file, FlockOperation::LockExclusive))?;
        Ok(file)
    });
    taken.map_err(|source| TaskError::State { path, source })
}

impl Index {
    /// None where there is none that this release can read.
    fn read(folder: &Path) -> Option<Self> {
        let mut text = vec![];
        plain(&folder.join("index.json")).ok()?.read_to_end(&mut text).ok()?;
        decode(&text).ok()
    }

    fn write(&self, folder: &Path) -> io::Result<()> {
        let (partial, whole) = (folder.join("index.json.new"), folder.join("index.json"));
        let text = serde_json::to_vec(self)?;
        OwnFile::Replacing.open(&partial)?.write_all(&text)?;
        fs::rename(partial, whole)
    }

    /// Looks at those that may be running, and keeps those that are.
    fn without_finished(mut self, tasks: &Tasks) -> Self {
        let outputs = Outputs::default();
        let mut finished_bytes = self.finished_bytes;
        self.live.retain(|id| {
            let folder = tasks.folder(id);
            match Standing::of(&folder, &outputs) {
                Standing::Live => return true,
                Standing::Finished => finished_bytes = finished_bytes.saturating_add(folder.size()),
                Standing::NeverStarted => {}
            }
            false
        });
        Self { finished_bytes, ..self }
    }

    /// Returns true if it is time to look at all folders again.
    fn is_due(&self, limits: &TaskLimits) -> bool {
        const LONGEST: Duration = Duration::from_secs(10 * 60);
        let pause = (limits.keep_for / 16).min(LONGEST);
        // A clock that was set back does not put it off.
        let since = milliseconds_since_1970().checked_sub(self.swept).map(Duration::from_millis);
        self.finished_bytes > limits.keep_size || since.is_none_or(|since| since >= pause)
    }

    /// Looks at all folders. Removes finished tasks that are too old, the oldest beyond a size, and what was never started.
    fn sweep(tasks: &Tasks, limits: &TaskLimits) -> Result<Self, TaskError> {
        let outputs = Outputs::default();
        let (mut live, mut finished) = (vec![], vec![]);
        for folder in tasks.folders()? {
            match Standing::of(&folder, &outputs) {
                Standing::Live => live.extend(folder.name()),
                Standing::Finished => finished.push((age(&folder), folder.size(), folder)),
                Standing::NeverStarted => {}
            }
        }
        let finished_bytes = prune(finished, limits, &outputs);
        Ok(Self { version: VERSION, swept: milliseconds_since_1970(), finished_bytes, live })
    }
}

/// The state of a task, as far as starting another is concerned.
enum Standing {
    /// When in doubt it lives.
    Live,
    Finished,
    /// Whoever was about to start it was killed. It has been removed.
    NeverStarted,
}

impl Standing {
    fn of(folder: &Folder, outputs: &Outputs) -> Self {
        match folder.is_claimed() {
            Ok(false) => {}
            Ok(true) | Err(_) => return Self::Live,
        }
        // A record is written by a supervisor that lives, so what has one and is not claimed never will be again.
        if folder.has_record() {
            return Self::Finished;
        }
        match folder.remove_never_started(outputs) {
            Ok(()) => Self::NeverStarted,
            Err(_) => Self::Live,
        }
    }
}

fn age(folder: &Folder) -> Duration {
    let modified = fs::metadata(folder.path()).and_then(|metadata| metadata.modified());
    modified.ok().and_then(|time| time.elapsed().ok()).unwrap_or_default()
}

/// Removes what is beyond the limits, and returns how many bytes are left.
fn prune(mut finished: Vec<(Duration, u64, Folder)>, limits: &TaskLimits, outputs: &Outputs) -> u64 {
    finished.sort_by_key(|(old, ..)| *old);
    let all = finished.iter().fold(0, |sum: u64, (_, bytes, _)| sum.saturating_add(*bytes));
    // More than needed: otherwise every start from now on would find them to be over the limit again.
    let spare = if all > limits.keep_size { limits.keep_size / 16 } else { 0 };
    let (mut total, mut kept): (u64, u64) = (0, 0);
    for (old, bytes, folder) in finished {
        total = total.saturating_add(bytes);
        if old > limits.keep_for || total > limits.keep_size - spare {
            let _ = folder.remove(outputs);
        } else {
            kept = kept.saturating_add(bytes);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::super::folder::Claim;
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    struct Place {
        _temp: tempfile::TempDir,
        tasks: Tasks,
    }

    impl Place {
        fn new() -> Self {
            let temp = tempfile::tempdir().unwrap();
            let tasks = Tasks::new(Some(&temp.path().join("state")));
            tasks.make_directories().unwrap();
            Self { _temp: temp, tasks }
        }

        fn take(&self, limits: &TaskLimits) -> Turn {
            Turn::take(&self.tasks, limits).unwrap()
        }

        fn live(&self) -> Vec<TaskId> {
            self.take(&TaskLimits::default()).live()
        }

        /// As if it had been started the usual way.
        fn start(&self) -> (TaskId, Claim) {
            let (id, folder) = self.take(&TaskLimits::default()).create_folder().unwrap();
            (id, run(&folder))
        }

        /// As if a release without an index had started it.
        fn start_unannounced(&self) -> (TaskId, Claim) {
            let (id, folder) = self.create();
            (id, run(&folder))
        }

        fn finished(&self, bytes: usize, old: Duration) -> Folder {
            let (_, folder) = self.create();
            drop(run(&folder));
            fs::write(folder.output(), vec![b'x'; bytes]).unwrap();
            let time = std::time::SystemTime::now() - old;
            File::open(folder.path()).unwrap().set_modified(time).unwrap();
            folder
        }

        fn create(&self) -> (TaskId, Folder) {
            Folder::create(&self.tasks.directory(), &self.tasks.state.path().join("task-output")).unwrap()
        }

        fn exists(&self, id: &TaskId) -> bool {
            self.tasks.folder(id).path().exists()
        }
    }

    fn run(folder: &Folder) -> Claim {
        let claim = folder.claim().unwrap();
        fs::write(folder.path().join("task.json"), "{}").unwrap();
        claim
    }

    #[test]
    fn those_that_run_are_known_among_many_that_do_not() {
        let place = Place::new();
        (0..300).for_each(|_| drop(place.finished(10, HOUR)));
        assert_eq!(place.live(), []);
        let (first, first_claim) = place.start();
        let (second, second_claim) = place.start();
        let mut both = vec![first.clone(), second.clone()];
        both.sort();
        assert_eq!(place.live(), both);
        drop(first_claim);
        assert_eq!(place.live(), [second]);
        drop(second_claim);
        assert_eq!(place.live(), []);
        assert!(place.exists(&first));
        assert_eq!(place.tasks.folders().unwrap().len(), 302);
    }

    #[test]
    fn whoever_is_killed_while_starting_leaves_nothing() {
        let place = Place::new();
        let (running, _claim) = place.start();
        let (without_folder, folder) = place.take(&TaskLimits::default()).create_folder().unwrap();
        fs::remove_dir(folder.path()).unwrap();
        assert_eq!(place.live(), std::slice::from_ref(&running));
        let (without_supervisor, _) = place.take(&TaskLimits::default()).create_folder().unwrap();
        assert!(place.exists(&without_supervisor));
        let (without_record, folder) = place.take(&TaskLimits::default()).create_folder().unwrap();
        assert!(!place.exists(&without_supervisor));
        drop(folder.claim().unwrap());
        fs::write(folder.output(), "begun").unwrap();
        assert_eq!(place.live(), [running]);
        assert!(!place.exists(&without_folder) && !place.exists(&without_record));
        assert!(!folder.output().exists());
    }

    #[test]
    fn a_supervisor_without_a_record_yet_lives() {
        let place = Place::new();
        let (id, folder) = place.take(&TaskLimits::default()).create_folder().unwrap();
        let _claim = folder.claim().unwrap();
        assert_eq!(place.live(), std::slice::from_ref(&id));
        assert!(place.exists(&id) && folder.remove_never_started(&Outputs::default()).is_err());
    }

    #[test]
    fn without_an_index_or_with_a_broken_one_all_are_looked_at() {
        let place = Place::new();
        let (running, _claim) = place.start_unannounced();
        let path = place.tasks.directory().join("index.json");
        assert_eq!(place.live(), std::slice::from_ref(&running));
        for text in ["", "{", "{\"version\":99}", "{\"version\":1}", "{\"version\":1,\"live\":[\"../x\"]}"] {
            fs::write(&path, text).unwrap();
            assert_eq!(place.live(), std::slice::from_ref(&running), "{text}");
        }
    }

    #[test]
    fn tasks_that_another_release_starts_are_found_in_time() {
        let place = Place::new();
        drop(place.start());
        let (other, _claim) = place.start_unannounced();
        let (folder, now) = (place.tasks.directory(), milliseconds_since_1970());
        // After some time, or when the clock was set back.
        for swept in [now - 11 * 60_000, now + 60_000] {
            let known = Index::read(&folder).unwrap();
            Index { swept, live: vec![], ..known }.write(&folder).unwrap();
            assert_eq!(place.live(), std::slice::from_ref(&other), "{swept}");
        }
    }

    #[test]
    fn the_oldest_beyond_the_size_go_and_then_nothing_is_looked_at_for_a_while() {
        let place = Place::new();
        let limits = TaskLimits { keep_size: 64_000, ..TaskLimits::default() };
        let kept: Vec<_> = (1..=5).map(|hours| place.finished(10_000, HOUR * hours)).collect();
        drop(place.take(&limits));
        let sweep = Index::read(&place.tasks.directory()).unwrap();
        assert!(kept.iter().all(|folder| folder.path().exists()), "{sweep:?}");
        let (id, claim) = place.start();
        fs::write(place.tasks.folder(&id).output(), vec![b'x'; 20_000]).unwrap();
        drop(place.take(&limits));
        assert!(kept.iter().all(|folder| folder.path().exists()), "what runs does not count");
        drop(claim);
        drop(place.take(&limits));
        let exist: Vec<_> = kept.iter().map(|folder| folder.path().exists()).collect();
        assert_eq!(exist, [true, true, true, false, false], "there is some room now");
        assert!(place.exists(&id));
        let index = Index::read(&place.tasks.directory()).unwrap();
        assert!(index.finished_bytes <= 60_000 && !index.is_due(&limits), "{index:?}");
    }

    #[test]
    fn old_ones_go_when_it_is_time_to_look() {
        let place = Place::new();
        let limits = TaskLimits { keep_for: HOUR, ..TaskLimits::default() };
        let (young, old) = (place.finished(10, HOUR / 2), place.finished(10, HOUR * 2));
        drop(place.take(&limits));
        assert!(young.path().exists() && !old.path().exists() && !old.output().exists());
        let later = place.finished(10, HOUR * 2);
        drop(place.take(&limits));
        assert!(later.path().exists());
        drop(place.take(&TaskLimits { keep_for: Duration::ZERO, ..TaskLimits::default() }));
        assert!(!later.path().exists() && !young.path().exists());
    }
}
