use super::{Problem, Rule, about, rule};
use crate::analysis::{Found, Stream};
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
    about!(Help);

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let mut words: Vec<String> = found.arguments.iter().map(Text::rough).collect();
        if let Stream::Known(text) = &found.input {
            words.push(text.rough());
        }
        let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
        let contains = |parts: &[&str]| {
            words.iter().any(|word| parts.iter().any(|part| word.to_lowercase().contains(part)))
        };
        if has(&[":memory:"]) {
            return None;
        }
        let deletes = match found.program.as_str() {
            "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlcmd" | "clickhouse-client" | "duckdb" | "bq"
            | "sqlplus" | "cockroach" | "snowsql" | "usql" | "pgcli" | "mycli" | "trino" | "presto"
            | "cqlsh" => words.iter().any(|word| is_destructive_sql(word)),
            "redis-cli" | "valkey-cli" => contains(&["flushall", "flushdb"]),
            "mongosh" | "mongo" => contains(&["dropdatabase", ".drop(", "deletemany({})", "remove({})"]),
            "dropdb" | "dropuser" => true,
            "mysqladmin" => has(&["drop"]),
            "prisma" => has(&["reset"]) || has(&["--force-reset"]),
            "rails" | "rake" | "bin/rails" => {
                contains(&["db:drop", "db:reset", "db:purge", "db:schema:load"])
            }
            "artisan" | "php" => contains(&["migrate:fresh", "migrate:reset", "db:wipe"]),
            "python" | "python3" | "manage.py" | "django-admin" => {
                has(&["flush", "reset_db"]) && (has(&["manage.py"]) || found.program != "python3")
            }
            "sequelize" | "sequelize-cli" | "typeorm" | "knex" | "mix" | "alembic" | "flyway"
            | "liquibase" | "supabase" => {
                contains(&["db:drop", "schema:drop", "ecto.drop", "ecto.reset", "dropall", "drop-all"])
                    || has(&["clean", "base"])
                    || has(&["reset"])
            }
            "influx" => has(&["delete"]),
            "etcdctl" | "consul" | "vault" => has(&["del", "delete", "destroy"]),
            "curl" => contains(&["_all"]) && has(&["DELETE", "-XDELETE"]),
            _ => false,
        };
        deletes.then(|| {
            Problem::ask(
                format!("`{}` would delete data for good", found.program),
                "use a condition, a transaction, or a copy of the database",
            )
        })
    }
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
