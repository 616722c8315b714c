//! From what happens to what is written.

use std::borrow::Cow;
use std::path::Path;

use bashtion::{Answer, Event, Ledger, LedgerError, Outcome};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

use crate::store::{Audit, AuditError, Entry, Mode, database_failed};

impl Ledger for Audit {
    fn record(&self, event: &Event) -> Result<(), LedgerError> {
        let Some(entry) = self.entry(event) else { return Ok(()) };
        self.append(entry).map(drop).map_err(|source| LedgerError { source: source.into() })
    }

    fn is_required(&self) -> bool {
        self.settings.mode == Mode::Required
    }

    fn failures_in_a_row(&self, command: &str, cwd: &Path) -> u32 {
        self.count_failures(command, cwd).unwrap_or(0)
    }
}

impl Audit {
    /// None for what is not written: output is in the result.
    fn entry(&self, event: &Event) -> Option<Entry> {
        let mask = |text: &str| self.masker.mask(text);
        let empty = |kind, operation: &str| Entry {
            kind: Cow::Borrowed(kind),
            operation: operation.to_owned(),
            command: None,
            cwd: None,
            decision: None,
            status: None,
            data: "{}".to_owned(),
        };
        Some(match event {
            Event::Judged { operation_id, command, description, cwd, verdict } => Entry {
                command: Some(mask(command)),
                cwd: Some(mask(&cwd.to_string_lossy())),
                decision: Some(verdict.decision.to_string()),
                data: self.text(json!({ "description": description, "verdict": verdict })),
                ..empty("judged", operation_id)
            },
            Event::Asked { operation_id, approval_id, command, description, cwd, verdict, effects } => {
                Entry {
                    command: Some(mask(command)),
                    cwd: Some(mask(&cwd.to_string_lossy())),
                    decision: Some(verdict.decision.to_string()),
                    data: self.text(json!({
                        "approval_id": approval_id,
                        "description": description,
                        "verdict": verdict,
                        "effects": effects,
                    })),
                    ..empty("asked", operation_id)
                }
            }
            // Without the command: whoever answers elsewhere does not know what to mask in it.
            Event::Answered { operation_id, approval_id, answer } => {
                let (decision, by, reason) = match answer {
                    Answer::Approved { by } | Answer::Waived { by } => (Some("allow"), Some(by), None),
                    Answer::Denied { by, reason } => (Some("deny"), Some(by), Some(reason)),
                    Answer::NoAnswer => (None, None, None),
                };
                Entry {
                    decision: decision.map(str::to_owned),
                    data: self.text(json!({ "approval_id": approval_id, "by": by, "reason": reason })),
                    ..empty("answered", operation_id)
                }
            }
            Event::Started { operation_id, command, cwd, pid, .. } => Entry {
                command: Some(mask(command)),
                cwd: Some(mask(&cwd.to_string_lossy())),
                data: self.text(json!({ "pid": pid })),
                ..empty("started", operation_id)
            },
            Event::Ended { operation_id, outcome } => Entry {
                command: Some(mask(&outcome.command)),
                cwd: Some(mask(&outcome.cwd.to_string_lossy())),
                decision: Some(outcome.verdict.decision.to_string()),
                status: Some(outcome.status.name().to_owned()),
                data: self.text(previewed(outcome)),
                ..empty("ended", operation_id)
            },
            Event::Lost { operation_id } => {
                Entry { status: Some("lost".to_owned()), ..empty("lost", operation_id) }
            }
            Event::Output { .. } | Event::Missed { .. } => return None,
        })
    }

    /// Masked string by string, so that what is left is still JSON.
    fn text(&self, mut value: Value) -> String {
        self.mask_value(&mut value);
        value.to_string()
    }

    fn mask_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.masker.mask(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_value(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.mask_value(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn count_failures(&self, command: &str, cwd: &Path) -> Result<u32, AuditError> {
        /// Enough to make the point.
        const MOST: u32 = 100;
        let (command, cwd) = (self.masker.mask(command), self.masker.mask(&cwd.to_string_lossy()));
        let count = |connection: &Connection| -> rusqlite::Result<u32> {
            let last_success: Option<i64> = connection
                .query_row(
                    "SELECT max(id) FROM entries WHERE kind = 'ended' AND command = ?1 AND cwd = ?2
                     AND status = 'exited' AND data LIKE '%\"success\":true%'",
                    [&command, &cwd],
                    |row| row.get(0),
                )
                .optional()?
                .flatten();
            connection.query_row(
                "SELECT count(*) FROM (SELECT 1 FROM entries WHERE kind = 'ended' AND command = ?1 AND cwd = ?2
                 AND id > ?3 AND status NOT IN ('running', 'cancelled') LIMIT ?4)",
                rusqlite::params![command, cwd, last_success.unwrap_or(0), MOST],
                |row| row.get(0),
            )
        };
        self.with_all(|connection, _| count(connection).map_err(database_failed(&self.path)))
    }
}

/// The result with as much of its output as tells what it was.
fn previewed(outcome: &Outcome) -> Value {
    const PREVIEW: usize = 2000;
    let mut value = serde_json::to_value(outcome).unwrap_or_default();
    for name in ["stdout", "stderr", "output"] {
        if let Some(Value::String(text)) = value.get_mut(name)
            && let Some((end, _)) = text.char_indices().nth(PREVIEW)
        {
            text.truncate(end);
            text.push('…');
        }
    }
    value
}
