//! Forgetting what is old, with the rest of the chain still whole.

use rusqlite::{Connection, OptionalExtension};

use crate::chain::{Hash, Key};
use crate::store::{Settings, now, set_end};

/// Removes the oldest rows, beyond an age and a size. What was removed last is remembered and sealed: there the chain
/// begins from now on.
pub(crate) fn prune(connection: &Connection, key: &Key, settings: &Settings) -> rusqlite::Result<()> {
    let age = i64::try_from(settings.keep_for.as_millis()).unwrap_or(i64::MAX);
    let oldest = now().saturating_sub(age);
    let by_age: Option<i64> =
        connection.query_row("SELECT max(id) FROM entries WHERE time < ?1", [oldest], |row| row.get(0))?;
    let mut until = by_age.unwrap_or(0);
    let bytes: i64 = connection.query_row(
        "SELECT coalesce(sum(length(data) + length(coalesce(command, '')) + 200), 0) FROM entries WHERE id > ?1",
        [until],
        |row| row.get(0),
    )?;
    if bytes > i64::try_from(settings.keep_size).unwrap_or(i64::MAX) {
        // Down to nine tenths, so that it is not done for every row.
        let most = i64::try_from(settings.keep_size / 10 * 9).unwrap_or(i64::MAX);
        until = connection.query_row(
            "SELECT coalesce(max(id), ?2) FROM (
                 SELECT id, sum(length(data) + length(coalesce(command, '')) + 200) OVER (ORDER BY id DESC) AS newer
                 FROM entries WHERE id > ?2) WHERE newer > ?1",
            [most, until],
            |row| row.get(0),
        )?;
    }
    let last: Option<Vec<u8>> = connection
        .query_row("SELECT hash FROM entries WHERE id = ?1", [until], |row| row.get(0))
        .optional()?;
    if let Some(hash) = last {
        connection.execute("DELETE FROM entries WHERE id <= ?1", [until])?;
        set_end(connection, key, "first", until, &Hash::from_bytes(&hash))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::store::{Audit, Entry};
    use crate::{Broken, Settings};

    #[test]
    fn what_is_left_is_still_whole() {
        let temp = tempfile::tempdir().unwrap();
        let settings = Settings { keep_size: 40_000, ..Settings::in_directory(temp.path()) };
        let audit = Audit::open(&settings).unwrap();
        for round in 0..6 {
            for _ in 0..100 {
                audit.append(Entry::example()).unwrap();
            }
            let verified = audit.verify().unwrap();
            assert!(verified.broken.is_none() && verified.rows <= 200, "{round} {verified:?}");
            assert!(verified.rows >= 100, "{round} {verified:?}");
        }
        // Somebody who removes the oldest by hand is noticed all the same.
        let database = rusqlite::Connection::open(audit.path()).unwrap();
        let first: i64 = database.query_row("SELECT min(id) FROM entries", [], |row| row.get(0)).unwrap();
        assert!(first > 1);
        database.execute("DELETE FROM entries WHERE id = ?1", [first]).unwrap();
        assert_eq!(audit.verify().unwrap().broken, Some(Broken::Missing(first)));
    }
}
