//! From what was typed to what is meant, checked once before any work.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bashtion::{Builder, Engine, KeepFile, Ledger, Leftovers, Mode, Profile, Reader, Request, Streams};
use bashtion_audit::{Audit, AuditError};
use clap::builder::{OsStringValueParser, TypedValueParser};

use super::{Approve, Args, Place, approving};
use crate::commands::{confining, judging};
use crate::config::{self, Loaded};
use crate::error::CliError;
use crate::exit_code::BASHTION_FAILED;
use crate::ui::{self, Face, Own};

/// Everything one run needs.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) request: Request,
    pub(super) cwd: PathBuf,
    pub(super) repository: Option<PathBuf>,
    pub(super) face: Face,
    pub(super) profile: Profile,
    audit: Option<bashtion_audit::Settings>,
    approve: Approve,
    reader: Reader,
    /// How long a command is waited for that then goes on in the background.
    pub(super) soft_wait: Duration,
    pub(super) max_output: usize,
}

/// A timeout as it can be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    Until(Duration),
    ForEver,
}

impl Settings {
    /// For a background task the supervisor writes everything down.
    pub(super) fn engine(&self, place: Place) -> Result<Builder, CliError> {
        let engine = judging::engine(&self.profile).reader(self.reader);
        let engine = approving::asking(engine, self.approve, &self.profile);
        let Some(audit) = &self.audit else { return Ok(engine) };
        if place != Place::Foreground {
            // Its own attempt has nobody to tell.
            with_ledger(Engine::builder(), audit)?;
            return Ok(engine.hand_down(hand_down(audit)?));
        }
        with_ledger(engine, audit)
    }

    /// What the profile has to say on a terminal.
    pub(super) fn words(&self) -> ui::Words {
        let limit = self.soft_wait.min(self.profile.limits.longest_timeout);
        ui::Words { wording: self.profile.wording.clone(), limit }
    }

    pub(super) fn new(args: &Args) -> Result<Self, CliError> {
        let command = match args.command.as_deref().unwrap_or(":") {
            "-" => read_command().map_err(|error| {
                CliError::failed("cannot read the command from standard input", &error)
                    .help("it must be UTF-8 text")
            })?,
            command => command.to_owned(),
        };
        let failed = |error: CliError| CliError { exit_code: BASHTION_FAILED, ..error };
        let session = args.session.as_deref().filter(|_| !args.reset);
        let cwd = judging::directory(args.cwd.as_deref(), session).map_err(failed)?;
        let Loaded { mut profile, mut audit, repository } =
            config::load_for_command(&cwd, args.profile.as_deref(), &command).map_err(failed)?;
        profile.sandbox = confining::with_flags(profile.sandbox, &args.confinement)?;
        let face = face(args, &profile);
        let mut request = Request::new(command).envs(args.env.iter().cloned()).mode(match args.mode {
            super::Mode::Default | super::Mode::Background => Mode::Default,
            super::Mode::Slow => Mode::Slow,
        });
        request = match args.leftovers {
            Some(super::Leftovers::End) => request.leftovers(Leftovers::End),
            Some(super::Leftovers::Keep) => request.leftovers(Leftovers::Keep),
            None => request,
        };
        if args.combined || face.shows_both_streams_in_one_place() {
            request = request.streams(Streams::Combined);
        }
        if face.shows_every_byte() {
            request = request.keep_file(KeepFile::Never);
        }
        if let Some(name) = &args.session {
            request = request.session(name);
            if args.reset {
                request = request.reset_session();
            }
            if args.cwd.is_some() {
                request = request.cwd(&cwd);
            }
        }
        if args.clear_env {
            request = request.clear_env();
        }
        if let Some(text) = &args.description {
            request = request.description(text);
        }
        if let Some(characters) = args.max_output {
            request = request.max_output(characters);
        }
        let limits = &profile.limits;
        let soft_wait = match (args.timeout, args.mode) {
            (Some(Patience::Until(after)), _) => after,
            (Some(Patience::ForEver), _) => Duration::MAX / 4,
            (None, super::Mode::Slow) => limits.slow_timeout,
            (None, _) => limits.timeout,
        };
        request = match (args.timeout, args.place()) {
            (_, Place::BackgroundLater) | (None, Place::Background) => request,
            (Some(Patience::Until(after)), _) => request.timeout(after),
            (Some(Patience::ForEver), _) => request.no_timeout(),
            (None, Place::Foreground) => request,
        };
        if let Some(audit) = &mut audit {
            let given = args.env.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
            let secret = given.filter(|(name, _)| bashtion_audit::is_secret_name(name));
            audit.secrets.extend(secret.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        let max_output = args.max_output.unwrap_or(profile.output.cut.max);
        Ok(Self {
            request,
            cwd,
            repository,
            face,
            profile,
            audit,
            approve: args.approve,
            // Hooks put a model's command into this form, which cannot add options to it.
            reader: if args.raw { Reader::Model } else { Reader::CommandLine },
            soft_wait,
            max_output,
        })
    }
}

/// For [`super::handed_down`].
pub(crate) fn hand_down(audit: &bashtion_audit::Settings) -> Result<String, CliError> {
    serde_json::to_string(audit)
        .map_err(|error| CliError::failed("cannot pass on the settings of the audit log", &error))
}

/// An engine that writes down what happens, unless it cannot and need not.
pub(crate) fn with_ledger(engine: Builder, audit: &bashtion_audit::Settings) -> Result<Builder, CliError> {
    match ledger(audit) {
        Ok(ledger) => Ok(engine.ledger(ledger)),
        Err(error) if audit.mode == bashtion_audit::Mode::Required => {
            let told =
                CliError::failed("cannot write the audit log, which is required; nothing was run", &error);
            Err(told.help("make room, or name another directory with BASHTION_STATE_DIR"))
        }
        Err(error) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            ui::note(&format!("this is not written down: {error}: {cause}"));
            Ok(engine)
        }
    }
}

fn face(args: &Args, profile: &Profile) -> Face {
    let own = match args.place() {
        Place::Foreground if profile.wording.has_screen() => Own::Screen,
        _ if profile.has_own_words() => Own::Words,
        _ => Own::Nothing,
    };
    if args.raw { Face::Raw } else { Face::choose(args.error_format(), args.max_output.is_some(), own) }
}

/// Somebody who writes down what happens.
pub(crate) fn ledger(settings: &bashtion_audit::Settings) -> Result<Arc<dyn Ledger>, AuditError> {
    Ok(Arc::new(Audit::open(settings)?))
}

/// One byte more than the engine takes, so that it can say that it is too much.
fn read_command() -> std::io::Result<String> {
    const MOST: u64 = (16 << 20) + 1;
    let mut command = String::new();
    std::io::stdin().lock().take(MOST).read_to_string(&mut command)?;
    Ok(command)
}

pub(crate) fn parse_env() -> impl TypedValueParser<Value = (OsString, OsString)> {
    OsStringValueParser::new().try_map(|text| {
        let bytes = text.as_bytes();
        let wrong = || "expected NAME=VALUE, for example RUST_LOG=debug or EMPTY=".to_owned();
        let equals = bytes.iter().position(|&byte| byte == b'=').ok_or_else(wrong)?;
        let (name, value) = (&bytes[..equals], &bytes[equals + 1..]);
        if name.is_empty() {
            return Err(wrong());
        }
        Ok((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())))
    })
}

pub(super) fn parse_timeout(text: &str) -> Result<Patience, String> {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    if text == "none" {
        return Ok(Patience::ForEver);
    }
    let given = match text.parse::<f64>() {
        Ok(seconds) => Some(Duration::try_from_secs_f64(seconds).unwrap_or_default()),
        Err(_) => humantime::parse_duration(text).ok(),
    };
    match given {
        Some(given) if !given.is_zero() && given <= YEAR => Ok(Patience::Until(given)),
        Some(_) => Err("it must be more than zero and at most a year; `none` for no limit".to_owned()),
        None => {
            Err("expected a time such as 30s, 5m, 1h30m or 500ms, a number of seconds, or none".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_are_possible() {
        let cases = [
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("500ms", 500),
            ("30", 30_000),
            ("0.5", 500),
        ];
        for (text, milliseconds) in cases {
            assert_eq!(
                parse_timeout(text),
                Ok(Patience::Until(Duration::from_millis(milliseconds))),
                "{text}"
            );
        }
        assert_eq!(parse_timeout("none"), Ok(Patience::ForEver));
    }

    #[test]
    fn times_that_are_not() {
        for text in
            ["", "0", "0s", "-1", "-5s", "abc", "30x", "NaN", "inf", "1e400", "9999999999h", "400d", "1s;"]
        {
            parse_timeout(text).expect_err(text);
        }
    }
}
