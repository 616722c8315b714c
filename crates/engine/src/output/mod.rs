//! A command's output: bounded in memory, whole in a file, and made readable.

mod clean;
mod cut;
mod decode;
mod file;
mod piece;
mod state;
mod window;

use std::path::{Path, PathBuf};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde::{Deserialize, Deserializer, Serialize as Serde};

use crate::tasks::Log;
use crate::{KeepFile, Limits, Stream, Streams};
use clean::Cleaner;
pub(crate) use cut::separated;
pub use cut::{Cut, Unit};
pub use decode::Decoder;
use file::{OutputFile, Saved};
pub(crate) use state::StateDir;
pub use state::temporary_directory;
use window::Window;

/// What a command printed.
///
/// ```
/// use bashtion::{Engine, Output, Request, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let request = Request::new("printf '10%%\\r100%%\\n'; seq 1 1000 >&2").max_output(100);
/// let outcome = Engine::new().run(request, &ToolContext::from_host("/tmp")).await?;
/// let Output::Separate { stdout, stderr } = outcome.output else { panic!() };
/// assert_eq!((stdout.text.as_str(), stdout.bytes), ("100%\n", 9));
/// assert!(stderr.cut > 3_000 && stderr.text.ends_with("1000\n"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Each stream by itself.
    Separate {
        /// Standard output.
        stdout: Text,
        /// Standard error.
        stderr: Text,
    },
    /// Both in the order written.
    Combined(Text),
}

/// How output is captured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serde, Deserialize)]
pub struct OutputSettings {
    /// Each stream by itself, or both in the order written.
    pub streams: Streams,
    /// What becomes of what is too long.
    pub cut: Cut,
    /// Whether space at both ends of a text stays.
    pub ends: Ends,
    /// Whether there is a text at all.
    pub capture: Captures,
}

/// Whether space at both ends of a text stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serde, Deserialize)]
pub enum Ends {
    /// As printed.
    #[default]
    Kept,
    /// Taken off.
    Trimmed,
}

/// Whether the text of the output is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serde, Deserialize)]
pub enum Captures {
    /// It is in the result.
    #[default]
    Text,
    /// It is only counted, and told to observers while it comes.
    Nothing,
}

/// One stream, fit to be read: valid UTF-8, no escape sequences, progress bars as they ended, the middle cut.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// The text, with a line that says so where something was cut.
    pub text: String,
    /// How many bytes were printed.
    pub bytes: u64,
    /// How many characters of the readable text were cut; bytes, if those are counted.
    pub cut: u64,
}

impl Output {
    /// Of a command that was not run.
    pub(crate) fn empty(streams: Streams) -> Self {
        match streams {
            Streams::Separate => Self::Separate { stdout: Text::default(), stderr: Text::default() },
            Streams::Combined => Self::Combined(Text::default()),
        }
    }

    /// Standard output, or both streams if they are combined.
    #[must_use]
    pub fn stdout(&self) -> &str {
        match self {
            Self::Separate { stdout, .. } | Self::Combined(stdout) => &stdout.text,
        }
    }

    /// Standard error; empty if the streams are combined.
    #[must_use]
    pub fn stderr(&self) -> &str {
        match self {
            Self::Separate { stderr, .. } => &stderr.text,
            Self::Combined(_) => "",
        }
    }

    /// Leaves only the counts.
    pub(crate) fn forget_text(&mut self) {
        let forget = |text: &mut Text| {
            text.cut += text.text.chars().count() as u64;
            text.text.clear();
        };
        match self {
            Self::Separate { stdout, stderr } => {
                forget(stdout);
                forget(stderr);
            }
            Self::Combined(output) => forget(output),
        }
    }

    /// Whether anything was cut.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        match self {
            Self::Separate { stdout, stderr } => stdout.cut > 0 || stderr.cut > 0,
            Self::Combined(output) => output.cut > 0,
        }
    }
}

impl Serialize for Output {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Separate { stdout, stderr } => {
                map.serialize_entry("stdout", &stdout.text)?;
                map.serialize_entry("stderr", &stderr.text)?;
                map.serialize_entry("truncated", &self.is_truncated())?;
                map.serialize_entry("stdout_bytes", &stdout.bytes)?;
                map.serialize_entry("stderr_bytes", &stderr.bytes)?;
                map.serialize_entry("stdout_cut", &stdout.cut)?;
                map.serialize_entry("stderr_cut", &stderr.cut)?;
            }
            Self::Combined(output) => {
                map.serialize_entry("output", &output.text)?;
                map.serialize_entry("truncated", &self.is_truncated())?;
                map.serialize_entry("output_bytes", &output.bytes)?;
                map.serialize_entry("output_cut", &output.cut)?;
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Output {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(default)]
        #[derive(Default)]
        struct Names {
            stdout: String,
            stderr: String,
            stdout_bytes: u64,
            stderr_bytes: u64,
            stdout_cut: u64,
            stderr_cut: u64,
            output: Option<String>,
            output_bytes: u64,
            output_cut: u64,
        }
        let names = Names::deserialize(deserializer)?;
        Ok(match names.output {
            Some(text) => Self::Combined(Text { text, bytes: names.output_bytes, cut: names.output_cut }),
            None => Self::Separate {
                stdout: Text { text: names.stdout, bytes: names.stdout_bytes, cut: names.stdout_cut },
                stderr: Text { text: names.stderr, bytes: names.stderr_bytes, cut: names.stderr_cut },
            },
        })
    }
}

/// Takes output as it comes.
#[derive(Debug)]
pub(crate) struct Capture {
    settings: OutputSettings,
    first: Reading,
    second: Reading,
    sink: Sink,
}

/// Where the bytes go, as they are.
#[derive(Debug)]
pub(crate) enum Sink {
    /// To a file, if the text in the result is not all of it.
    File(Box<OutputFile>),
    /// To the output of a background task.
    Log(Log),
}

impl Sink {
    pub(crate) fn file(keep: KeepFile, state: StateDir, limits: &Limits) -> Self {
        Self::File(Box::new(OutputFile::new(keep, state, limits)))
    }

    fn write(&mut self, bytes: &[u8]) {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Log(log) => log.write(bytes),
        }
    }

    fn finish(self, differs: bool) -> (Saved, Option<Log>) {
        match self {
            Self::File(file) => (file.finish(differs), None),
            Self::Log(log) => (Saved::Whole(log.path().to_owned(), log.seen()), Some(log)),
        }
    }
}

/// All of it, when no more comes.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) output: Output,
    /// Where all of it is, and how many bytes are there.
    pub(crate) file: Option<(PathBuf, u64)>,
    /// The output of a background task, to be finished.
    pub(crate) log: Option<Log>,
}

/// One stream on its way to a text.
#[derive(Debug)]
pub(crate) struct Reading {
    bytes: u64,
    cleaner: Cleaner,
    window: Window,
}

impl Capture {
    pub(crate) fn new(settings: OutputSettings, sink: Sink) -> Self {
        let reading = || {
            let reading = Reading::new(settings.cut.clone());
            match settings.ends {
                Ends::Trimmed => Reading { window: reading.window.trimmed(), ..reading },
                Ends::Kept => reading,
            }
        };
        Self { first: reading(), second: reading(), settings, sink }
    }

    pub(crate) fn streams(&self) -> Streams {
        self.settings.streams
    }

    /// Where everything is written, if it is.
    pub(crate) fn log_path(&self) -> Option<&Path> {
        match &self.sink {
            Sink::File(_) => None,
            Sink::Log(log) => Some(log.path()),
        }
    }

    pub(crate) fn absorb(&mut self, stream: Stream, bytes: &[u8]) {
        self.sink.write(bytes);
        match stream {
            Stream::Stdout | Stream::Output => self.first.absorb(bytes),
            Stream::Stderr => self.second.absorb(bytes),
        }
    }

    pub(crate) fn finish(mut self) -> Captured {
        self.first.cleaner.finish(&mut self.first.window);
        self.second.cleaner.finish(&mut self.second.window);
        let differs = self.first.differs() || self.second.differs();
        let (saved, log) = self.sink.finish(differs);
        let finished = |reading: Reading| {
            let mut text = reading.into_text(&saved);
            match (self.settings.capture, self.settings.ends) {
                (Captures::Nothing, _) => (text.text, text.cut) = (String::new(), 0),
                (Captures::Text, Ends::Trimmed) => text.text = text.text.trim().to_owned(),
                (Captures::Text, Ends::Kept) => {}
            }
            text
        };
        let (first, second) = (finished(self.first), finished(self.second));
        let output = match self.settings.streams {
            Streams::Separate => Output::Separate { stdout: first, stderr: second },
            Streams::Combined => Output::Combined(first),
        };
        Captured { output, file: saved.into_file(), log }
    }
}

impl Reading {
    pub(crate) fn new(cut: Cut) -> Self {
        Self { bytes: 0, cleaner: Cleaner::default(), window: Window::new(cut) }
    }

    /// The text, whose whole is in a file.
    pub(crate) fn finish(mut self, file: &Path) -> Text {
        self.cleaner.finish(&mut self.window);
        let saved = Saved::Whole(file.to_owned(), self.bytes);
        self.into_text(&saved)
    }

    pub(crate) fn absorb(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.cleaner.push(bytes, &mut self.window);
    }

    fn differs(&self) -> bool {
        self.cleaner.has_altered() || self.window.is_cut()
    }

    fn into_text(self, saved: &Saved) -> Text {
        let bytes = self.bytes;
        let how = self.window.cut().clone();
        let (text, cut) = self.window.finish(|cut, total| how.mark(cut, total, &saved.to_string()));
        Text { text, bytes, cut }
    }
}
