//! Is this a request that can be run? Everything is checked before anything happens.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bashtion_guard::secrets::{MovedPlace, moved_places};
use bashtion_sandbox::open_directory;

use crate::approval::Grant;
use crate::context::Roots;
use crate::display::display;
use crate::engine::Settings;
use crate::environment;
use crate::environment::Base;
use crate::limits::Beyond;
use crate::output::temporary_directory;
use crate::request::{BaseEnv, Timeout};
use crate::rooms::may_be_of_room;
use crate::{KeepFile, Leftovers, Limits, Mode, OutputSettings, Request, SandboxSettings, ToolContext};

/// A request that has passed every check.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) command: String,
    pub(crate) display: String,
    pub(crate) description: Option<String>,
    pub(crate) cwd: PathBuf,
    /// None for one that only the room of a command can have.
    pub(crate) cwd_fd: Option<OwnedFd>,
    /// What the command belongs to: its working directory, unless its session has gone elsewhere.
    pub(crate) workspace: PathBuf,
    /// Directories that belong to the task, beside the working directory.
    pub(crate) roots: Vec<PathBuf>,
    /// The caller's own, whatever the command is told.
    pub(crate) home: Option<PathBuf>,
    /// Places of secrets that the caller's environment names.
    pub(crate) moved: Vec<MovedPlace>,
    /// Where temporary directories are made, and whether `TMPDIR` may name one of them.
    pub(crate) temporary: PathBuf,
    pub(crate) tells_temporary: bool,
    pub(crate) env: Vec<(OsString, OsString)>,
    /// What of it the request itself has set.
    pub(crate) given: Vec<(OsString, OsString)>,
    pub(crate) search_path: Option<OsString>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) output: OutputSettings,
    pub(crate) leftovers: Leftovers,
    pub(crate) keep_file: KeepFile,
    pub(crate) sandbox: Option<SandboxSettings>,
    /// What it gets beside that if somebody agrees; after that, what it has got.
    pub(crate) grant: Grant,
}

/// Longer commands cannot be judged in reasonable time, and nobody writes one.
const LONGEST_COMMAND: usize = bashtion_guard::LONGEST_TEXT;
/// Longer timeouts are a mistake too, and clocks cannot add them.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

pub(crate) const LARGEST_OUTPUT: usize = 64 << 20;

/// What is wrong with the request.
///
/// ```
/// use bashtion::{AdmitError, Engine, Error, Request, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let request = Request::new("true").cwd("/etc");
/// let error = Engine::new().run(request, &ToolContext::from_host("/tmp")).await.unwrap_err();
/// assert!(matches!(error, Error::Admit(AdmitError::OutsideRoots { .. })));
/// assert_eq!(error.to_string(), "the working directory /etc is outside the allowed root /tmp");
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
pub enum AdmitError {
    /// Nothing to run.
    #[error("the command is empty")]
    EmptyCommand,
    /// The kernel takes no NUL byte in an argument.
    #[error("the command has a NUL byte at offset {at}")]
    NulInCommand {
        /// Where, in bytes.
        at: usize,
    },
    /// Far beyond what anyone writes.
    #[error(
        "the command has {bytes} bytes, and at most {LONGEST_COMMAND} can be judged; write it to a file and run the file"
    )]
    CommandTooLong {
        /// Its length.
        bytes: usize,
    },
    /// Zero, or longer than a year.
    #[error("a timeout of {given:?} is impossible: it must be more than zero and at most a year")]
    Timeout {
        /// What was asked for.
        given: Duration,
    },
    /// Shorter or longer than the engine takes.
    #[error("a timeout of {given:?} is not possible here: it must be between {shortest:?} and {longest:?}")]
    TimeoutRange {
        /// What was asked for.
        given: Duration,
        /// The shortest.
        shortest: Duration,
        /// The longest.
        longest: Duration,
    },
    /// The engine lets nothing run for ever.
    #[error("a command must have a timeout here, of at most {longest:?}")]
    NoTimeout {
        /// The longest.
        longest: Duration,
    },
    /// The engine wants to know what each command is for.
    #[error("the command has no description, and the profile requires one")]
    NoDescription,
    /// A variable that no environment can hold.
    #[error("{name:?} cannot be the name of an environment variable: it {problem}")]
    EnvName {
        /// The name.
        name: OsString,
        /// Why not.
        problem: &'static str,
    },
    /// A value that no environment can hold.
    #[error("the value of the environment variable {name:?} contains a NUL byte")]
    EnvValue {
        /// The variable's name.
        name: OsString,
    },
    /// The directory cannot be had.
    #[error("cannot open the working directory {}", path.display())]
    Cwd {
        /// Which.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The path leads outside what the caller may use.
    #[error("the working directory {} is outside the allowed {}", path.display(), list(roots))]
    OutsideRoots {
        /// Where it leads, after symbolic links.
        path: PathBuf,
        /// Where it may lead.
        roots: Vec<PathBuf>,
    },
    /// More than anyone can read, and it is held in memory.
    #[error("{asked} characters of output cannot be kept; at most {LARGEST_OUTPUT}")]
    MaxOutput {
        /// What was asked for.
        asked: usize,
    },
}

/// What becomes of a request whose directory does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// It cannot be run.
    Refused,
    /// It is judged as if the directory existed, and whatever else only running needs, and can never be run.
    Imagined,
}

impl Job {
    pub(crate) fn admit(
        request: Request,
        context: &ToolContext,
        settings: &Settings,
        absent: Absent,
    ) -> Result<Self, AdmitError> {
        check_command(&request.command)?;
        check_env(&request.env)?;
        if settings.requires_description
            && absent == Absent::Refused
            && request.description.as_ref().is_none_or(|text| text.trim().is_empty())
        {
            return Err(AdmitError::NoDescription);
        }
        let timeout = timeout(&request, &settings.limits)?;
        let output = output(&request, &settings.output)?;
        let asked_for = match &request.cwd {
            Some(dir) => context.working_dir().join(dir),
            None => context.working_dir().to_owned(),
        };
        // Where a session has gone to changes nothing about what may be changed.
        let roots = if request.moved { &Roots::Any } else { context.allowed_roots() };
        let (cwd, cwd_fd) = match open_within(&asked_for, roots) {
            Err(AdmitError::Cwd { .. })
                if request.moved && may_be_of_room(&asked_for, context.working_dir()) =>
            {
                (asked_for.clone(), None)
            }
            Err(AdmitError::Cwd { .. }) if absent == Absent::Imagined => {
                let (cwd, stand_in) = imagine(&asked_for, roots)?;
                (cwd, Some(stand_in))
            }
            opened => opened.map(|(path, fd)| (path, Some(fd)))?,
        };
        let workspace = if request.moved { context.working_dir().to_owned() } else { cwd.clone() };
        Ok(Self {
            display: display(&request.command, &[&cwd, &asked_for]),
            env: environment::build(&settings.env, &request, context, &workspace),
            home: absolute(context.var("HOME")),
            moved: moved_places(|name| context.var(name).map(OsStr::to_owned)),
            temporary: temporary_directory(
                absolute(context.var("TMPDIR")).as_deref(),
                settings.state_dir.as_deref(),
            ),
            tells_temporary: request.base_env == BaseEnv::OfEngine
                && settings.env.base != Base::Empty
                && !request.env.iter().any(|(name, _)| name == "TMPDIR"),
            given: vec![],
            search_path: context.var("PATH").map(OsStr::to_owned),
            command: request.command,
            description: request.description,
            workspace,
            cwd,
            cwd_fd,
            roots: context.own_directories(),
            timeout,
            output,
            leftovers: request.leftovers.unwrap_or(settings.leftovers),
            keep_file: request.keep_file,
            sandbox: request.sandbox,
            grant: Grant::default(),
        })
    }
}

/// A home that is a link is where it leads: that is what the kernel will compare.
fn absolute(path: Option<&OsStr>) -> Option<PathBuf> {
    let path = path.map(PathBuf::from).filter(|path| path.is_absolute())?;
    Some(path.canonicalize().unwrap_or(path))
}

fn check_command(command: &str) -> Result<(), AdmitError> {
    if command.trim().is_empty() {
        return Err(AdmitError::EmptyCommand);
    }
    if command.len() > LONGEST_COMMAND {
        return Err(AdmitError::CommandTooLong { bytes: command.len() });
    }
    match command.find('\0') {
        Some(at) => Err(AdmitError::NulInCommand { at }),
        None => Ok(()),
    }
}

fn check_env(env: &[(OsString, OsString)]) -> Result<(), AdmitError> {
    for (name, value) in env {
        let problem = match name.as_bytes() {
            b"" => Some("is empty"),
            bytes if bytes.contains(&b'=') => Some("contains \"=\""),
            bytes if bytes.contains(&0) => Some("contains a NUL byte"),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(AdmitError::EnvName { name: name.clone(), problem });
        }
        if value.as_bytes().contains(&0) {
            return Err(AdmitError::EnvValue { name: name.clone() });
        }
    }
    Ok(())
}

fn timeout(request: &Request, limits: &Limits) -> Result<Option<Duration>, AdmitError> {
    let (shortest, longest) = (limits.shortest_timeout, limits.longest_timeout);
    let given = match (request.timeout, request.mode, limits.beyond) {
        (Timeout::OfTask, _, _) => return Ok(None),
        (Timeout::Never, _, _) if longest >= LONGEST_TIMEOUT => return Ok(None),
        (Timeout::Never, _, Beyond::Clamp) => return Ok(Some(longest)),
        (Timeout::Never, _, Beyond::Reject) => return Err(AdmitError::NoTimeout { longest }),
        (Timeout::OfMode, Mode::Default, _) => limits.timeout,
        (Timeout::OfMode, Mode::Slow, _) => limits.slow_timeout,
        (Timeout::After(given), _, Beyond::Clamp) if !given.is_zero() => given.clamp(shortest, longest),
        (Timeout::After(given), _, _) => given,
    };
    let possible = shortest..=longest;
    if !possible.contains(&given) && longest < LONGEST_TIMEOUT {
        return Err(AdmitError::TimeoutRange { given, shortest, longest });
    }
    if given.is_zero() || given > LONGEST_TIMEOUT {
        return Err(AdmitError::Timeout { given });
    }
    Ok(Some(given))
}

fn output(request: &Request, settings: &OutputSettings) -> Result<OutputSettings, AdmitError> {
    let cut = match request.max_output {
        Some(asked) if asked > LARGEST_OUTPUT => return Err(AdmitError::MaxOutput { asked }),
        Some(most) => settings.cut.to(most),
        None => settings.cut.clone(),
    };
    Ok(OutputSettings {
        cut,
        streams: request.streams.unwrap_or(settings.streams),
        capture: request.capture.unwrap_or(settings.capture),
        ..settings.clone()
    })
}

/// Opens the directory first and judges what was opened, so that what was judged is what will be entered.
fn open_within(path: &Path, roots: &Roots) -> Result<(PathBuf, OwnedFd), AdmitError> {
    let (fd, real) =
        open_directory(path).map_err(|source| AdmitError::Cwd { path: path.to_owned(), source })?;
    match roots {
        Roots::Within(allowed) if !roots.contain(&real) => {
            Err(AdmitError::OutsideRoots { path: real, roots: allowed.clone() })
        }
        Roots::Within(_) | Roots::Any => Ok((real, fd)),
    }
}

/// The directory as it would be named after symbolic links, and the nearest one around it that exists.
fn imagine(path: &Path, roots: &Roots) -> Result<(PathBuf, OwnedFd), AdmitError> {
    let opened = path.ancestors().skip(1).find_map(|around| Some((around, open_directory(around).ok()?)));
    let Some((around, (fd, real))) = opened else {
        return Err(AdmitError::Cwd { path: path.to_owned(), source: io::ErrorKind::NotFound.into() });
    };
    let real = real.join(path.strip_prefix(around).unwrap_or(path));
    match roots {
        Roots::Within(allowed) if !roots.contain(&real) => {
            Err(AdmitError::OutsideRoots { path: real, roots: allowed.clone() })
        }
        Roots::Within(_) | Roots::Any => Ok((real, fd)),
    }
}

fn list(roots: &[PathBuf]) -> String {
    let names: Vec<_> = roots.iter().map(|root| root.display().to_string()).collect();
    match names.as_slice() {
        [] => "roots: there are none".to_owned(),
        [one] => format!("root {one}"),
        many => format!("roots {}", many.join(", ")),
    }
}
