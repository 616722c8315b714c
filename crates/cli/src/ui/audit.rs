//! Rows of the audit log, for people.

use bashtion_audit::Row;

use super::sanitize;

/// One row in a list.
pub(crate) fn audit_line(row: &Row) -> String {
    const LONGEST: usize = 100;
    let result = row.status.as_deref().or(row.decision.as_deref()).unwrap_or_default();
    let command = row.command.as_deref().unwrap_or_default();
    let line = sanitize::text(command.lines().next().unwrap_or_default());
    let line: String = line.chars().take(LONGEST).collect();
    format!("{:>6}  {}  {:8}  {result:14}  {line}\n", row.id, row.time, row.kind)
}

/// Everything about a row.
pub(crate) fn audit_details(row: &Row) -> String {
    let mut text =
        format!("row {}: {} at {}, call {}\n", row.id, row.kind, row.time, sanitize::text(&row.operation_id));
    for (name, value) in
        [("command", &row.command), ("cwd", &row.cwd), ("decision", &row.decision), ("status", &row.status)]
    {
        if let Some(value) = value {
            text += &format!("  {name:9} {}\n", sanitize::text(value));
        }
    }
    let data = serde_json::to_string_pretty(&row.data).unwrap_or_default();
    for line in data.lines() {
        text += &format!("    {}\n", sanitize::text(line));
    }
    text
}
