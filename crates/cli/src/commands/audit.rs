//! `bashtion audit`

use std::process::ExitCode;
use std::time::SystemTime;

use bashtion_audit::{Audit, AuditError, Filter, Row, Settings, Trouble};
use clap::{Subcommand, ValueEnum};
use serde_json::json;

use crate::error::CliError;
use crate::exit_code::FAILURE;
use crate::state_dir::state_dir;
use crate::ui::{self, Format};
use bashtion::quantities::parse_moment;

/// Look at what was asked, decided and done.
///
/// Every request is written down with its verdict, its start and its end; secrets are replaced by their names. Each row
/// is bound to the one before, so that none can be changed or removed unnoticed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    List(List),
    Show(Show),
    Verify(Verify),
    Export(Export),
}

/// Show rows, the latest first.
#[derive(Debug, clap::Args)]
struct List {
    #[command(flatten)]
    filter: FilterArgs,

    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// Print them as a JSON array.
    #[arg(long)]
    json: bool,
}

/// Show everything about one row, or about all rows of one call.
#[derive(Debug, clap::Args)]
struct Show {
    /// The number of a row, or the name of a call, as `list` shows them.
    id: String,

    /// Print it as a JSON array.
    #[arg(long)]
    json: bool,
}

/// Check that no row was changed, removed, put elsewhere or cut off. The exit code is 1 if one was.
#[derive(Debug, clap::Args)]
struct Verify {
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

/// Print rows, the oldest first, for other programs.
#[derive(Debug, clap::Args)]
struct Export {
    #[command(flatten)]
    filter: FilterArgs,

    /// How.
    #[arg(long, value_enum, default_value_t)]
    format: ExportFormat,

    /// The same as --format jsonl.
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum ExportFormat {
    #[default]
    Jsonl,
    Csv,
}

#[derive(Debug, clap::Args)]
struct FilterArgs {
    /// Not older than this: 2026-01-31, 2026-01-31T12:00:00Z, or a time ago such as 2h or 7d.
    #[arg(long, value_name = "WHEN", value_parser = parse_moment)]
    since: Option<SystemTime>,

    /// Older than this.
    #[arg(long, value_name = "WHEN", value_parser = parse_moment)]
    until: Option<SystemTime>,

    /// Only what was decided so.
    #[arg(long, value_name = "DECISION", value_parser = ["allow", "ask", "deny"])]
    decision: Option<String>,

    /// Only what ended so.
    #[arg(long, value_name = "STATUS", value_parser = ["exited", "signaled", "timed_out", "cancelled", "refused", "needs_approval", "lost"])]
    status: Option<String>,

    /// Only rows of this kind.
    #[arg(long, value_name = "KIND", value_parser = ["judged", "asked", "answered", "started", "ended", "lost"])]
    kind: Option<String>,

    /// Only rows that contain this, in any case.
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

impl FilterArgs {
    fn filter(&self) -> Filter {
        Filter {
            since: self.since,
            until: self.until,
            kind: self.kind.clone(),
            decision: self.decision.clone(),
            status: self.status.clone(),
            text: self.text.clone(),
            ..Filter::default()
        }
    }
}

impl Args {
    pub(crate) fn error_format(&self) -> Format {
        let json = match &self.verb {
            Verb::List(args) => args.json,
            Verb::Show(args) => args.json,
            Verb::Verify(args) => args.json,
            Verb::Export(args) => args.json,
        };
        if json { Format::Json } else { Format::Text }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let directory = state_dir().ok_or_else(|| {
        CliError::new("there is no state directory").help("name one with BASHTION_STATE_DIR")
    })?;
    let audit = Audit::open_existing(&Settings::in_directory(directory.join("private/audit")))?;
    match &args.verb {
        Verb::List(args) => list(&audit, args),
        Verb::Show(args) => show(&audit, args),
        Verb::Verify(args) => verify(&audit, args),
        Verb::Export(args) => export(&audit, args),
    }
}

fn list(audit: &Audit, args: &List) -> Result<ExitCode, CliError> {
    let rows = audit.list(&Filter { limit: Some(args.limit), ..args.filter.filter() })?;
    if args.json {
        return ui::print_json(&rows);
    }
    if rows.is_empty() {
        return ui::print(b"no rows\n");
    }
    let lines: String = rows.iter().map(ui::audit_line).collect();
    ui::print(lines.as_bytes())
}

fn show(audit: &Audit, args: &Show) -> Result<ExitCode, CliError> {
    let rows: Vec<Row> = match args.id.parse::<i64>() {
        Ok(id) => audit.get(id)?.into_iter().collect(),
        Err(_) => audit.list(&Filter { operation: Some(args.id.clone()), ..Filter::default() })?,
    };
    if rows.is_empty() {
        let message = format!("there is no row and no call {:?}", args.id);
        return Err(CliError::new(message).help("`bashtion audit list` shows those there are"));
    }
    if args.json {
        return ui::print_json(&rows);
    }
    let text: String = rows.iter().rev().map(ui::audit_details).collect();
    ui::print(text.as_bytes())
}

fn verify(audit: &Audit, args: &Verify) -> Result<ExitCode, CliError> {
    let verified = audit.verify()?;
    let problem = verified.broken.as_ref().map(ToString::to_string);
    if args.json {
        ui::print_json(&json!({ "ok": problem.is_none(), "rows": verified.rows, "problem": problem }))?;
    } else if let Some(problem) = &problem {
        ui::print(
            format!("broken: {problem}; {} rows before it are as they were written\n", verified.rows)
                .as_bytes(),
        )?;
    } else {
        ui::print(format!("ok: {} rows are as they were written\n", verified.rows).as_bytes())?;
    }
    Ok(if problem.is_none() { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) })
}

fn export(audit: &Audit, args: &Export) -> Result<ExitCode, CliError> {
    let mut failed = None;
    let format = if args.json { ExportFormat::Jsonl } else { args.format };
    if matches!(format, ExportFormat::Csv) {
        ui::print(b"id,time,kind,operation_id,decision,status,command,cwd,data\n")?;
    }
    audit.export(&args.filter.filter(), |row| {
        if failed.is_none() {
            let printed = match format {
                ExportFormat::Jsonl => ui::print_json(&row),
                ExportFormat::Csv => ui::print(csv(&row).as_bytes()),
            };
            failed = printed.err();
        }
        Ok(())
    })?;
    failed.map_or(Ok(ExitCode::SUCCESS), Err)
}

/// As RFC 4180 says. What a spreadsheet would calculate is made text.
fn csv(row: &Row) -> String {
    let id = row.id.to_string();
    let data = row.data.to_string();
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    let fields = [
        id,
        row.time.clone(),
        row.kind.clone(),
        row.operation_id.clone(),
        optional(&row.decision),
        optional(&row.status),
        optional(&row.command),
        optional(&row.cwd),
        data,
    ];
    let quoted = fields.map(|field| {
        let formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let field = if formula { format!("'{field}") } else { field };
        if field.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field
        }
    });
    quoted.join(",") + "\n"
}

impl From<AuditError> for CliError {
    fn from(error: AuditError) -> Self {
        let help = match (&error, error.trouble()) {
            (AuditError::None { .. }, _) => "it begins with the first command that is run",
            (AuditError::Newer { .. }, _) => "use the Bashtion that wrote it",
            (AuditError::Tail { .. }, _) => {
                "see `bashtion audit verify`; to begin anew, move the audit files away"
            }
            (AuditError::File { .. } | AuditError::Database { .. }, trouble) => match trouble {
                Some(Trouble::Full) => {
                    "the disk, or your share of it, is full: make room and try again; the log need not be damaged"
                }
                Some(Trouble::ReadOnly) => {
                    "the file system is read-only: name another directory with BASHTION_STATE_DIR"
                }
                Some(Trouble::Failing) => {
                    "the disk reports errors, see the system's log; the audit log need not be damaged"
                }
                Some(Trouble::NotUsable) => "name a directory of your own with BASHTION_STATE_DIR",
                Some(Trouble::Damaged) | None => {
                    "name a directory of your own with BASHTION_STATE_DIR, or move the damaged file away"
                }
            },
        };
        let told = CliError::new(error.to_string()).help(help);
        match std::error::Error::source(&error) {
            Some(source) => told.caused_by(source),
            None => told,
        }
    }
}
