//! The verbs with which a person answers questions.

pub(crate) mod approve;
pub(crate) mod deny;

use std::fs;
use std::process::ExitCode;

use bashtion::{Approval, ApprovalError, ApprovalId, Approvals};

use crate::config;
use crate::error::CliError;
use crate::state_dir::state_dir;
use crate::ui;

/// The questions of this user.
fn approvals() -> Approvals {
    Approvals::new(state_dir().as_deref())
}

/// Whether whoever answers has seen the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sure {
    Yes,
    /// At a terminal it is shown first.
    IfNobodyCanBeAsked,
}

/// Finds the question, shows it in full, and answers it.
fn answer(
    given: &str,
    format: ui::Format,
    sure: Sure,
    answer: impl FnOnce(&Approvals, &ApprovalId, &str) -> Result<Approval, ApprovalError>,
) -> Result<ExitCode, CliError> {
    refuse_commands()?;
    let approvals = approvals();
    let id = approvals.find(given)?;
    let waiting = approvals.get(&id)?;
    let loaded = config::load_for_answer(&waiting.cwd)?;
    let approvals = match loaded.audit {
        None => approvals,
        Some(settings) => match super::run::ledger(&settings) {
            Ok(ledger) => approvals.ledger(ledger),
            Err(error) if settings.mode == bashtion_audit::Mode::Required => return Err(error.into()),
            Err(error) => {
                ui::note(&format!("this is not written down: {error}"));
                approvals
            }
        },
    };
    if sure == Sure::IfNobodyCanBeAsked && format == ui::Format::Text && ui::can_ask() {
        ui::print(ui::approval_in_full(&waiting, "nothing was answered yet").as_bytes())?;
        let failed = |error| CliError::new("cannot ask").caused_by(&error);
        if !ui::confirm("Approve it? [y]es, [n]o: ").map_err(failed)? {
            let message = format!("{id} was not approved, and waits on");
            return Err(CliError::new(message).help("refuse it with `bashtion deny`"));
        }
        let answered = answer(&approvals, &id, &user())?;
        return ui::print(ui::approval_answered(&answered).as_bytes());
    }
    let answered = answer(&approvals, &id, &user())?;
    if format == ui::Format::Json {
        return ui::print_json(&ui::approval_as_json(&answered));
    }
    let closing = ui::approval_answered(&answered);
    ui::print(ui::approval_in_full(&answered, closing.trim_end()).as_bytes())
}

/// What Bashtion runs cannot answer for the user. The sandbox hides the questions from it, and the guard refuses the verbs; this
/// is for those who have switched both off.
fn refuse_commands() -> Result<(), CliError> {
    if std::env::var_os("AI_AGENT").is_some_and(|agent| agent == "bashtion") {
        return Err(CliError::new("a command that Bashtion runs cannot answer for the user")
            .help("tell the user which question waits"));
    }
    Ok(())
}

/// The name of whoever runs this, as the system knows it: the environment can say anything.
pub(crate) fn user() -> String {
    let id = rustix::process::getuid().as_raw();
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let own = accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(id)).then(|| name.to_owned())
    });
    own.unwrap_or_else(|| format!("user {id}"))
}

impl From<ApprovalError> for CliError {
    fn from(error: ApprovalError) -> Self {
        let help = match &error {
            ApprovalError::Unknown { .. } => Some("`bashtion approve` shows what waits"),
            ApprovalError::Ambiguous { .. } => Some("give more letters of its name"),
            ApprovalError::Expired { .. } => Some("run the command again to ask anew"),
            ApprovalError::Answered { .. } => {
                Some("an answer that nobody uses expires by itself, and then it can be asked anew")
            }
            ApprovalError::Used { .. } => Some("run the command again to ask anew"),
            ApprovalError::Untrusted { .. } => Some(
                "remove it, and run the command again to ask anew; if no update explains it, look for what wrote the file",
            ),
            ApprovalError::State { .. } => Some("name a directory of your own with BASHTION_STATE_DIR"),
            ApprovalError::Unreadable { .. } => Some("if it is of no use, remove it"),
            ApprovalError::TooMany { .. } => Some("answer some: `bashtion approve` shows them"),
            ApprovalError::Ledger(_) => Some("the audit log is required; make room for it"),
        };
        let mut told = CliError::new(error.to_string());
        if let Some(source) = std::error::Error::source(&error) {
            told = told.caused_by(source);
        }
        told.help = help.map(str::to_owned);
        told
    }
}
