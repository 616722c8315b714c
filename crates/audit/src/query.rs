//! Finding rows again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::types::Value as Parameter;
use rusqlite::{OptionalExtension, Row as SqlRow, params_from_iter};
use serde::Serialize;
use serde_json::Value;

use crate::store::{Audit, AuditError, database_failed};

/// Which rows are wanted. What is none does not matter.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Not older than this.
    pub since: Option<SystemTime>,
    /// Older than this.
    pub until: Option<SystemTime>,
    /// `judged`, `asked`, `answered`, `started`, `ended` or `lost`.
    pub kind: Option<String>,
    /// `allow`, `ask` or `deny`.
    pub decision: Option<String>,
    /// As in a result: `exited`, `refused` …
    pub status: Option<String>,
    /// Something that its command or its data contains.
    pub text: Option<String>,
    /// The call it belongs to.
    pub operation: Option<String>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// One row.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Its number; one more than the one before.
    pub id: i64,
    /// When.
    pub time: String,
    /// What happened: `judged`, `asked`, `answered`, `started`, `ended` or `lost`.
    pub kind: String,
    /// The call.
    pub operation_id: String,
    /// What was asked for.
    pub command: Option<String>,
    /// Where.
    pub cwd: Option<String>,
    /// What was decided.
    pub decision: Option<String>,
    /// How it ended.
    pub status: Option<String>,
    /// Everything else.
    pub data: Value,
}

impl Audit {
    /// The latest first.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Row>, AuditError> {
        let mut rows = vec![];
        self.each(filter, "DESC", |row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The oldest first, one by one: there may be many.
    pub fn export(
        &self,
        filter: &Filter,
        take: impl FnMut(Row) -> Result<(), AuditError>,
    ) -> Result<(), AuditError> {
        self.each(filter, "ASC", take)
    }

    /// One row by its number.
    pub fn get(&self, id: i64) -> Result<Option<Row>, AuditError> {
        let failed = database_failed(&self.path);
        self.with_all(|connection, _| {
            let query = format!("{SELECT} WHERE id = ?1");
            connection.query_row(&query, [id], read).optional().map_err(failed)
        })
    }

    fn each(
        &self,
        filter: &Filter,
        order: &str,
        mut take: impl FnMut(Row) -> Result<(), AuditError>,
    ) -> Result<(), AuditError> {
        let failed = database_failed(&self.path);
        let (mut conditions, mut parameters) = (vec!["1"], vec![]);
        let mut add = |condition, value: Option<Parameter>| {
            if let Some(value) = value {
                conditions.push(condition);
                parameters.push(value);
            }
        };
        let text = |value: &Option<String>| value.clone().map(Parameter::from);
        let time = |value: Option<SystemTime>| value.map(|time| Parameter::from(milliseconds(time)));
        add("time >= ?", time(filter.since));
        add("time < ?", time(filter.until));
        add("kind = ?", text(&filter.kind));
        add("decision = ?", text(&filter.decision));
        add("status = ?", text(&filter.status));
        add("operation = ?", text(&filter.operation));
        add("instr(lower(coalesce(command, '') || data), lower(?)) > 0", text(&filter.text));
        let most = filter.limit.and_then(|most| i64::try_from(most).ok()).unwrap_or(-1);
        let query = format!("{SELECT} WHERE {} ORDER BY id {order} LIMIT {most}", conditions.join(" AND "));
        self.with_all(|connection, _| {
            let mut query = connection.prepare(&query).map_err(&failed)?;
            let mut rows = query.query(params_from_iter(parameters)).map_err(&failed)?;
            while let Some(row) = rows.next().map_err(&failed)? {
                take(read(row).map_err(&failed)?)?;
            }
            Ok(())
        })
    }
}

const SELECT: &str = "SELECT id, time, kind, operation, command, cwd, decision, status, data FROM entries";

fn read(row: &SqlRow<'_>) -> rusqlite::Result<Row> {
    let data: String = row.get(8)?;
    Ok(Row {
        id: row.get(0)?,
        time: shown(row.get(1)?),
        kind: row.get(2)?,
        operation_id: row.get(3)?,
        command: row.get(4)?,
        cwd: row.get(5)?,
        decision: row.get(6)?,
        status: row.get(7)?,
        data: serde_json::from_str(&data).unwrap_or(Value::String(data)),
    })
}

fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn shown(milliseconds: i64) -> String {
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)));
    humantime::format_rfc3339_millis(time.unwrap_or(UNIX_EPOCH)).to_string()
}
