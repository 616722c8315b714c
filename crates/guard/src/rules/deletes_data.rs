use super::{Problem, Rule, about, rule};
use crate::analysis::{Found, Stream};
use crate::programs::Concern;
use crate::text::Text;
use crate::world::World;

rule! {
    /// Deletion of tables, databases or all keys.
    ///
    /// ## Why
    /// Rows that are deleted are gone unless somebody has a backup.
    ///
    /// ## Example
    /// `psql -c "DROP TABLE users"`, `redis-cli FLUSHALL`, `sqlite3 app.db "DELETE FROM users"`, `npx prisma migrate reset`
    ///
    /// ## Instead
    /// Delete with a condition, inside a transaction, or on a copy of the database.
    DeletesData, "deletes-data", Ask
}

impl Rule for DeletesData {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let deletes =
            found.is_about(Concern::Data) || found.is_about(Concern::Sql) && runs_destructive_code(found);
        deletes.then(|| {
            Problem::ask(
                format!("`{}` would delete data for good", found.program),
                "use a condition, a transaction, or a copy of the database",
            )
        })
    }
}

fn runs_destructive_code(found: &Found) -> bool {
    let mut words: Vec<String> = found.arguments.iter().map(Text::rough).collect();
    if let Stream::Known(text) = &found.input {
        words.push(text.rough());
    }
    // A database that is gone afterwards anyway.
    !found.has(":memory:") && words.iter().any(|word| is_destructive_sql(word) || drops_documents(word))
}

fn drops_documents(code: &str) -> bool {
    let code = code.to_lowercase();
    ["dropdatabase(", ".drop(", "deletemany({})", "remove({})"].iter().any(|call| code.contains(call))
}

fn is_destructive_sql(text: &str) -> bool {
    // `-e"…"` and `--command="…"`.
    let text = ["-e", "-c", "--command=", "--execute="]
        .iter()
        .find_map(|flag| text.strip_prefix(flag))
        .unwrap_or(text);
    text.split(';').any(|statement| {
        let words: Vec<String> = statement.split_whitespace().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["drop", what, ..] => [
                "table", "database", "schema", "view", "column", "user", "role", "collection", "keyspace",
                "materialized",
            ]
            .contains(what),
            ["truncate", ..] => true,
            ["delete", "from", ..] => !words.contains(&"where"),
            ["update", ..] => words.contains(&"set") && !words.contains(&"where"),
            ["alter", "table", ..] => {
                words.windows(2).any(|pair| matches!(pair, ["drop", "column" | "partition"]))
            }
            _ => false,
        }
    })
}
