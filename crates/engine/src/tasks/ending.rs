//! The end of a task: `result.json`, of which a list reads only the beginning.
//!
//! The result stands in it twice: first without the text of the output, then whole. Releases before this one wrote only
//! the second and read only that:
//!
//! | | written before | written now |
//! |---|---|---|
//! | read before | whole | whole; the first is passed over |
//! | read now | whole, also for a list | whole; for a list the first |

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::PathBuf;

use memchr::memmem;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::TaskError;
use super::folder::{Folder, Versioned, decode};
use super::log::Layout;
use crate::Outcome;
use bashtion_sandbox::OwnFile;

/// The end of a task.
#[derive(Debug, Deserialize)]
pub(super) struct Ending {
    pub(super) version: u32,
    /// Milliseconds since 1970.
    pub(super) ended: u64,
    pub(super) layout: Layout,
    pub(super) outcome: Outcome,
}

/// An ending as it is written.
#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    ended: u64,
    layout: Layout,
    /// The outcome without texts, where it has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    brief: Option<&'a Outcome>,
    outcome: &'a Outcome,
}

/// The part of the file before the whole outcome.
#[derive(Deserialize)]
struct Opening {
    version: u32,
    ended: u64,
    layout: Layout,
    /// Missing in what was written before there was one.
    brief: Option<Outcome>,
}

impl Versioned for Ending {
    fn version(&self) -> u32 {
        self.version
    }
}

impl Versioned for Opening {
    fn version(&self) -> u32 {
        self.version
    }
}

const NAME: &str = "result.json";

impl Folder {
    /// None where it has not ended.
    pub(super) fn ending(&self) -> Result<Option<Ending>, TaskError> {
        self.read(NAME)
    }

    /// The ending without the texts of its outcome, and without reading them where that can be avoided.
    pub(super) fn ending_in_brief(&self) -> Result<Option<Ending>, TaskError> {
        let Some(beginning) = self.beginning_of_result()? else { return Ok(None) };
        if let Some(Opening { version, ended, layout, brief: Some(outcome) }) = beginning.opening()? {
            return Ok(Some(Ending { version, ended, layout, outcome }));
        }
        let ending =
            if beginning.is_all { beginning.decode(&beginning.text).map(Some) } else { self.ending() };
        Ok(ending?.map(|ending| Ending { outcome: without_texts(ending.outcome), ..ending }))
    }

    /// Returns the layout of a finished output. None: the task has not ended.
    pub(super) fn layout(&self) -> Result<Option<Layout>, TaskError> {
        let Some(beginning) = self.beginning_of_result()? else { return Ok(None) };
        match beginning.opening()? {
            Some(opening) => Ok(Some(opening.layout)),
            None => Ok(self.ending()?.map(|ending| ending.layout)),
        }
    }

    fn beginning_of_result(&self) -> Result<Option<Beginning>, TaskError> {
        /// Enough for nearly all; the rest is read whole.
        const MOST: u64 = 8 << 10;
        let text = self.read_bytes(NAME, MOST)?;
        Ok(text.map(|text| Beginning {
            path: self.path().join(NAME),
            is_all: (text.len() as u64) < MOST,
            text,
        }))
    }
}

/// The first bytes of a result.
struct Beginning {
    path: PathBuf,
    text: Vec<u8>,
    is_all: bool,
}

impl Beginning {
    /// None where it does not reach to the whole outcome.
    fn opening(&self) -> Result<Option<Opening>, TaskError> {
        // In a string the quotation marks would have backslashes, and nothing before it has a field of this name.
        let Some(end) = memmem::find(&self.text, b",\"outcome\":") else { return Ok(None) };
        let object = [&self.text[..end], b"}"].concat();
        self.decode(&object).map(Some)
    }

    fn decode<T: Versioned>(&self, text: &[u8]) -> Result<T, TaskError> {
        decode(text).map_err(|problem| TaskError::Unreadable { path: self.path.clone(), problem })
    }
}

fn without_texts(mut outcome: Outcome) -> Outcome {
    outcome.output.forget_text();
    outcome.text = None;
    outcome
}

/// The place for a result, taken when there still is some: a full disk must not swallow how a task ended.
#[derive(Debug)]
pub(super) struct Reserved {
    file: File,
    partial: PathBuf,
    whole: PathBuf,
}

impl Reserved {
    pub(super) fn in_folder(folder: &Folder) -> io::Result<Self> {
        const ROOM: u64 = 128 << 10;
        let (partial, whole) = (folder.path().join("result.json.new"), folder.path().join(NAME));
        let file = OwnFile::Replacing.open(&partial)?;
        match rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, ROOM) {
            // Not every file system can, and it is a precaution.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Self { file, partial, whole })
    }

    /// Without the text of the output if there is no room for it: that is in its file.
    pub(super) fn write(mut self, mut ending: Ending) -> io::Result<()> {
        let brief = without_texts(ending.outcome.clone());
        if self.fill(&ending, Some(&brief)).is_err() {
            ending.outcome.output.forget_text();
            self.fill(&ending, None)?;
        }
        fs::rename(&self.partial, &self.whole)
    }

    fn fill(&mut self, ending: &Ending, brief: Option<&Outcome>) -> io::Result<()> {
        let Ending { version, ended, layout, ref outcome } = *ending;
        let text = serde_json::to_vec(&Written { version, ended, layout, brief, outcome })?;
        self.file.rewind()?;
        self.file.write_all(&text)?;
        self.file.set_len(text.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// As the release before this one wrote it.
    const OLD: &str = r#"{"version":1,"ended":1794840009227,"layout":{"total":6,"head":6,"marker":0,"tail":0},"outcome":{"status":"exited","success":false,"command":"echo hello; exit 3","display":"echo hello; exit 3","description":null,"cwd":"/tmp","cwd_after":null,"session":null,"exit_code":3,"signal":null,"timed_out":false,"timeout_ms":null,"duration_ms":6,"pipe_status":null,"stdout":"hello\n","stderr":"","truncated":false,"stdout_bytes":6,"stderr_bytes":0,"stdout_cut":0,"stderr_cut":0,"output_file":"/s/task-output/bash-22aaaa","output_file_bytes":6,"task_id":"bash-22aaaa","approval_id":null,"pid":21631,"pgid":21631,"verdict":{"decision":"allow","findings":[]},"sandbox":{"mode":"off","filesystem":"none","network":"none","signals":"none","limits":"none","reason":"the sandbox is off"},"denials":[],"notes":[],"usage":{"cpu_ms":1,"max_rss_kib":5764},"tracking":"cgroup","killed":0,"leftovers":[]}}"#;

    fn folder() -> (tempfile::TempDir, Folder) {
        let temp = tempfile::tempdir().unwrap();
        let (_, folder) = Folder::create(temp.path(), temp.path()).unwrap();
        (temp, folder)
    }

    fn outcome(change: impl Fn(&mut Value)) -> Outcome {
        let mut old: Value = serde_json::from_str(OLD).unwrap();
        change(&mut old["outcome"]);
        serde_json::from_value(old["outcome"].take()).unwrap()
    }

    fn stored(folder: &Folder) -> String {
        fs::read_to_string(folder.path().join(NAME)).unwrap()
    }

    /// Everything but the texts and how much of them is cut.
    fn facts(outcome: &Outcome) -> Value {
        let mut facts = serde_json::to_value(outcome).unwrap();
        for text in ["text", "stdout", "stderr", "stdout_cut", "stderr_cut", "truncated"] {
            facts.as_object_mut().unwrap().remove(text);
        }
        facts
    }

    #[test]
    fn the_brief_says_what_the_whole_says_without_texts() {
        let tricky = r#"x","outcome":{"version":9}},"outcome":"#;
        let long = "y".repeat(20_000);
        for (command, stdout) in [("true", "hello\n"), (tricky, tricky), ("cat", &long), (&long, "")] {
            let (_temp, folder) = folder();
            let outcome = outcome(|outcome| {
                outcome["command"] = json!(command);
                outcome["stdout"] = json!(stdout);
                outcome["text"] = json!("in words");
                outcome["notes"] = json!([tricky]);
            });
            let layout = Layout { total: 9, head: 5, marker: 3, tail: 2 };
            let ending = Ending { version: 1, ended: 7, layout, outcome: outcome.clone() };
            assert!(folder.ending_in_brief().unwrap().is_none() && folder.layout().unwrap().is_none());
            Reserved::in_folder(&folder).unwrap().write(ending).unwrap();
            let (brief, whole) =
                (folder.ending_in_brief().unwrap().unwrap(), folder.ending().unwrap().unwrap());
            assert_eq!((brief.ended, brief.layout), (whole.ended, whole.layout));
            assert_eq!(folder.layout().unwrap(), Some(layout));
            assert_eq!(
                serde_json::to_value(&whole.outcome).unwrap(),
                serde_json::to_value(&outcome).unwrap()
            );
            assert_eq!(facts(&brief.outcome), facts(&whole.outcome));
            assert_eq!((brief.outcome.output.stdout(), brief.outcome.text), ("", None));
        }
    }

    #[test]
    fn the_texts_are_not_looked_at_for_a_list() {
        let (_temp, folder) = folder();
        let outcome = outcome(|outcome| outcome["stdout"] = json!("z".repeat(50_000)));
        let ending = Ending { version: 1, ended: 7, layout: Layout::default(), outcome };
        Reserved::in_folder(&folder).unwrap().write(ending).unwrap();
        fs::write(folder.path().join(NAME), &stored(&folder)[..20_000]).unwrap();
        assert!(folder.ending().is_err());
        assert_eq!(folder.ending_in_brief().unwrap().unwrap().ended, 7);
    }

    #[test]
    fn what_the_release_before_wrote_is_read() {
        let (_temp, folder) = folder();
        let long = OLD.replace("hello", &"hello".repeat(5000));
        for text in [OLD, &long] {
            fs::write(folder.path().join(NAME), text).unwrap();
            let (brief, whole) =
                (folder.ending_in_brief().unwrap().unwrap(), folder.ending().unwrap().unwrap());
            assert_eq!((brief.ended, brief.layout.total), (1_794_840_009_227, 6));
            assert_eq!(folder.layout().unwrap(), Some(whole.layout));
            assert_eq!(facts(&brief.outcome), facts(&whole.outcome));
            assert_eq!(brief.outcome.output.stdout(), "");
            assert!(whole.outcome.output.stdout().starts_with("hello"));
        }
    }

    #[test]
    fn newer_and_broken_results_are_told_by_all_readers() {
        let (_temp, folder) = folder();
        let newer = OLD.replace("\"version\":1", "\"version\":99");
        let foreign = newer.replace("\"ended\":1794840009227", "\"ended\":\"today\"");
        for (text, problem) in [
            (newer.as_str(), "version 99"),
            (foreign.as_str(), "version 99"),
            ("{\"version\": 99}", "version 99"),
            ("{\"version\": 1, \"ended\"", "EOF"),
            (&OLD[..300], "EOF"),
            ("", "EOF"),
        ] {
            fs::write(folder.path().join(NAME), text).unwrap();
            for error in [folder.ending().unwrap_err(), folder.ending_in_brief().unwrap_err()] {
                assert!(error.to_string().contains(problem), "{text}: {error}");
            }
        }
    }
}
