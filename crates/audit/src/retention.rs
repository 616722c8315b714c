//! Forgetting what is old, with the rest of the chain still whole.

use rusqlite::{Connection, OptionalExtension};

use crate::chain::{Hash, Key};
use crate::store::{Settings, now, set_end};

/// Removes the oldest rows, beyond an age and a size. What was removed last is remembered and sealed: there the chain
/// begins from now on. Only what is removed is read: there may be a million rows.
pub(crate) fn prune(connection: &Connection, key: &Key, settings: &Settings) -> rusqlite::Result<()> {
    let age = i64::try_from(settings.keep_for.as_millis()).unwrap_or(i64::MAX);
    remove(connection, key, last_before(connection, now().saturating_sub(age))?)?;
    let keep = i64::try_from(settings.keep_size).unwrap_or(i64::MAX);
    let used = used_bytes(connection)?;
    if used > keep {
        // Down to nine tenths, so that it is not done for every row.
        remove(connection, key, end_of_share(connection, used - keep / 10 * 9, used)?)?;
    }
    Ok(())
}

fn remove(connection: &Connection, key: &Key, until: i64) -> rusqlite::Result<()> {
    let last: Option<Vec<u8>> = connection
        .query_row("SELECT hash FROM entries WHERE id = ?1", [until], |row| row.get(0))
        .optional()?;
    if let Some(hash) = last {
        connection.execute("DELETE FROM entries WHERE id <= ?1", [until])?;
        set_end(connection, key, "first", until, &Hash::from_bytes(&hash))?;
    }
    Ok(())
}

/// The last of the rows at the beginning that are older than this. A row from a clock that was ahead keeps what comes
/// after it until its time has come.
fn last_before(connection: &Connection, time: i64) -> rusqlite::Result<i64> {
    connection.query_row(
        "SELECT coalesce((SELECT min(id) - 1 FROM entries WHERE time >= ?1), (SELECT max(id) FROM entries), 0)",
        [time],
        |row| row.get(0),
    )
}

fn used_bytes(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row(
        "SELECT (page_count - freelist_count) * page_size
         FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
        [],
        |row| row.get(0),
    )
}

/// The last row of the oldest `part` in `whole` of all rows, as if they were of one size. The newest stays.
fn end_of_share(connection: &Connection, part: i64, whole: i64) -> rusqlite::Result<i64> {
    let (first, last): (i64, i64) = connection.query_row(
        "SELECT coalesce((SELECT min(id) FROM entries), 0), coalesce((SELECT max(id) FROM entries), 0)",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let rows = i128::from(last - first + 1) * i128::from(part) / i128::from(whole.max(1));
    Ok((first + i64::try_from(rows).unwrap_or(0)).min(last - 1))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::store::{Audit, Entry};
    use crate::{Broken, Settings};

    #[test]
    fn what_is_left_is_still_whole() {
        let temp = tempfile::tempdir().unwrap();
        let settings = Settings { keep_size: 200_000, ..Settings::in_directory(temp.path()) };
        let audit = Audit::open(&settings).unwrap();
        let database = rusqlite::Connection::open(audit.path()).unwrap();
        for round in 0..12 {
            for _ in 0..500 {
                audit.append(Entry::example()).unwrap();
            }
            let verified = audit.verify().unwrap();
            assert!(verified.broken.is_none(), "{round} {verified:?}");
            let used = super::used_bytes(&database).unwrap();
            assert!(used <= 200_000 && (round < 6 || used > 150_000), "{round}: {used} {verified:?}");
        }
        // Somebody who removes the oldest by hand is noticed all the same.
        let first: i64 = database.query_row("SELECT min(id) FROM entries", [], |row| row.get(0)).unwrap();
        assert!(first > 1);
        database.execute("DELETE FROM entries WHERE id = ?1", [first]).unwrap();
        assert_eq!(audit.verify().unwrap().broken, Some(Broken::Missing(first)));
    }

    #[test]
    fn what_is_too_old_goes_and_the_rest_stays() {
        let temp = tempfile::tempdir().unwrap();
        let hour = Duration::from_secs(3600);
        let settings = Settings { keep_for: hour, ..Settings::in_directory(temp.path()) };
        let audit = Audit::open(&settings).unwrap();
        for _ in 0..10 {
            audit.append(Entry::example()).unwrap();
        }
        assert_eq!(audit.verify().unwrap().rows, 10);
        let database = rusqlite::Connection::open(audit.path()).unwrap();
        let oldest = |until: i64| {
            let changed = "UPDATE entries SET time = time - 3601000 WHERE id <= ?1";
            database.execute(changed, [until]).unwrap();
            audit.append(Entry::example()).unwrap();
            let _ = audit.verify().unwrap();
            database.query_row("SELECT min(id) FROM entries", [], |row| row.get::<_, i64>(0)).unwrap()
        };
        assert_eq!([oldest(0), oldest(4), oldest(4), oldest(11)], [1, 5, 5, 12]);
    }
}
