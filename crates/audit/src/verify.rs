//! Has anybody touched it?

use std::fmt;

use rusqlite::Connection;

use crate::chain::Hash;
use crate::store::{Audit, AuditError, Entry, database_failed, end};

/// What was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// How many rows.
    pub rows: u64,
    /// The first one that is wrong.
    pub broken: Option<Broken>,
}

/// Where the chain breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// This row was changed, or put there.
    Changed(i64),
    /// This row is missing.
    Missing(i64),
    /// Rows after this one are missing.
    Cut(i64),
    /// What says where the chain begins or ends was changed or removed.
    Ends,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(id) => write!(f, "row {id} was changed, or put there by somebody else"),
            Self::Missing(id) => write!(f, "row {id} is missing"),
            Self::Cut(id) => write!(f, "the rows after {id} are missing"),
            Self::Ends => f.write_str("the mark that says where the log begins or ends was changed"),
        }
    }
}

impl Audit {
    /// Looks at every row, and names the first that is not as it was written.
    pub fn verify(&self) -> Result<Verified, AuditError> {
        self.with_all(|connection, last| match last {
            Ok(last) => self.walk(connection, last).map_err(database_failed(&self.path)),
            Err(_) => Ok(Verified { rows: 0, broken: Some(Broken::Ends) }),
        })
    }

    fn walk(&self, connection: &mut Connection, last: (i64, Hash)) -> rusqlite::Result<Verified> {
        let mut verified = Verified { rows: 0, broken: None };
        let Ok(first) = self.sealed_end(connection, "first")? else {
            return Ok(Verified { broken: Some(Broken::Ends), ..verified });
        };
        let (mut id, mut before) = first.unwrap_or((0, Hash::ZERO));
        let mut query = connection.prepare(
            "SELECT id, time, kind, operation, command, cwd, decision, status, data, hash FROM entries ORDER BY id",
        )?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (found, time): (i64, i64) = (row.get(0)?, row.get(1)?);
            if found > id + 1 {
                return Ok(Verified { broken: Some(Broken::Missing(id + 1)), ..verified });
            }
            let entry = Entry {
                kind: row.get::<_, String>(2)?.into(),
                operation: row.get(3)?,
                command: row.get(4)?,
                cwd: row.get(5)?,
                decision: row.get(6)?,
                status: row.get(7)?,
                data: row.get(8)?,
            };
            let hash = Hash::from_bytes(&row.get::<_, Vec<u8>>(9)?);
            if found <= id || hash != self.key.link(&before, found, time, &entry) {
                return Ok(Verified { broken: Some(Broken::Changed(found)), ..verified });
            }
            (id, before) = (found, hash);
            verified.rows += 1;
        }
        verified.broken = match last {
            (newest, hash) if newest == id && hash == before => None,
            (newest, _) if newest > id => Some(Broken::Cut(id)),
            _ => Some(Broken::Ends),
        };
        Ok(verified)
    }

    /// An end, if its seal is right. None if there is none.
    fn sealed_end(
        &self,
        connection: &Connection,
        name: &str,
    ) -> rusqlite::Result<Result<Option<(i64, Hash)>, ()>> {
        let Some((id, hash)) = end(connection, name)? else { return Ok(Ok(None)) };
        let seal: Vec<u8> =
            connection.query_row("SELECT seal FROM ends WHERE name = ?1", [name], |row| row.get(0))?;
        let is_right = Hash::from_bytes(&seal) == self.key.seal(name, id, &hash);
        Ok(if is_right { Ok(Some((id, hash))) } else { Err(()) })
    }
}
