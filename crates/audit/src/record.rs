//! From what happens to what is written.

use std::borrow::Cow;
use std::time::{Duration, UNIX_EPOCH};

use bashtion::{Answer, Attempt, Event, LastEnd, Ledger, LedgerError, Outcome};
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

    fn last_end(&self, attempt: &Attempt<'_>) -> Option<LastEnd> {
        self.find_last_end(attempt).ok().flatten()
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
            Event::Ended { operation_id, agent, outcome } => Entry {
                command: Some(mask(&outcome.command)),
                cwd: Some(mask(&outcome.cwd.to_string_lossy())),
                decision: Some(outcome.verdict.decision.to_string()),
                status: Some(outcome.status.name().to_owned()),
                data: self.text(previewed(outcome, agent.as_deref())),
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

    fn find_last_end(&self, attempt: &Attempt<'_>) -> Result<Option<LastEnd>, AuditError> {
        let mask = |text: &str| self.masker.mask(text);
        let (command, cwd) = (mask(attempt.command), mask(&attempt.cwd.to_string_lossy()));
        let (agent, session) = (attempt.agent.map(mask), attempt.session.map(mask));
        let found = |connection: &Connection| {
            connection
                .query_row(
                    "SELECT time, status, data ->> 'exit_code' FROM entries WHERE kind = 'ended' AND command = ?1
                     AND cwd = ?2 AND data ->> 'agent' IS ?3 AND data ->> 'session' IS ?4 ORDER BY id DESC LIMIT 1",
                    rusqlite::params![command, cwd, agent, session],
                    |row| {
                        let milliseconds = u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0);
                        Ok(LastEnd {
                            at: UNIX_EPOCH + Duration::from_millis(milliseconds),
                            status: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
                            exit_code: row.get(2)?,
                        })
                    },
                )
                .optional()
        };
        self.with_all(|connection, _| found(connection).map_err(database_failed(&self.path)))
    }
}

/// The result with as much of its output as tells what it was.
fn previewed(outcome: &Outcome, agent: Option<&str>) -> Value {
    const PREVIEW: usize = 2000;
    let mut value = serde_json::to_value(outcome).unwrap_or_default();
    if let (Value::Object(fields), Some(agent)) = (&mut value, agent) {
        fields.insert("agent".to_owned(), agent.into());
    }
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
