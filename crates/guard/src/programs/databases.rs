//! Databases, and the tools that change their tables.

use super::page::Concern::{Data, Sql};
use super::page::Deed::Concerns;
use super::page::{Deed, Page, Style, always, page, sub, with};

const DATA: &[Deed] = &[Concerns(Data)];

pub(super) const PAGES: &[Page] = &[
    page(
        &[
            "psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "clickhouse-client", "clickhouse", "duckdb", "bq", "sqlplus",
            "cockroach", "snowsql", "usql", "pgcli", "mycli", "litecli", "trino", "presto", "cqlsh",
        ],
        "Runs statements in SQL.",
    )
    .cases(&[always(&[Concerns(Sql)])])
    .examples(&["psql -c 'DROP TABLE users'", "sqlite3 app.db 'DELETE FROM users'", "psql -c 'drop table users' help"], &["psql -c 'SELECT 1'", "sqlite3 :memory: 'DROP TABLE x'"]),
    page(&["redis-cli", "valkey-cli", "keydb-cli"], "Keys and values.")
        .help("--help --version")
        .values("-h -p -a -n -u -i -r -x")
        .cases(&[with("flushall flushdb FLUSHALL FLUSHDB FlushAll FlushDB", DATA)])
        .examples(&["redis-cli FLUSHALL", "redis-cli -n 2 flushdb"], &["redis-cli GET x"]),
    page(&["mongosh", "mongo"], "Documents.")
        .values("--eval --host --port -u -p")
        .cases(&[always(&[Concerns(Sql)])])
        .examples(&["mongosh --eval 'db.dropDatabase()'"], &["mongosh --eval 'db.stats()'"]),
    page(&["dropdb", "dropuser"], "Deletes a database or its user.")
        .cases(&[always(DATA)])
        .examples(&["dropdb app", "dropuser bob"], &["dropdb --help"]),
    page(&["mysqladmin", "mariadb-admin"], "Looks after a database.")
        .cases(&[with("drop", DATA)])
        .examples(&["mysqladmin drop app"], &["mysqladmin status"]),
    page(&["prisma"], "Tables of JavaScript programs.")
        .cases(&[with("reset --force-reset --accept-data-loss", DATA)])
        .examples(&["npx prisma migrate reset", "prisma db push --force-reset"], &["prisma migrate status", "npx prisma generate"]),
    page(&["rails", "rake"], "Tasks of Ruby programs.")
        .cases(&[with("db:drop* db:reset* db:purge* db:schema:load* db:migrate:reset db:truncate_all", DATA), with("db:drop db:reset db:purge db:schema:load", DATA)])
        .examples(&["rails db:drop", "rake db:reset RAILS_ENV=test", "bin/rails db:drop:all"], &["rails db:migrate", "rake test"]),
    page(&["artisan", "php"], "Tasks of PHP programs.")
        .cases(&[with("migrate:fresh migrate:reset db:wipe migrate:refresh", DATA)])
        .examples(&["php artisan migrate:fresh", "php artisan db:wipe"], &["php artisan migrate", "php -v"]),
    page(&["manage.py", "django-admin"], "Tasks of Python programs.")
        .cases(&[sub("flush|reset_db|sqlflush", DATA)])
        .examples(&["./manage.py flush", "django-admin reset_db"], &["./manage.py migrate"]),
    page(
        &["sequelize", "sequelize-cli", "typeorm", "knex", "mix", "alembic", "flyway", "liquibase", "supabase", "drizzle-kit"],
        "Changes tables as versions say.",
    )
    .cases(&[
        with("db:drop* schema:drop* ecto.drop* ecto.reset* db:drop schema:drop ecto.drop ecto.reset dropAll drop-all clean reset drop", DATA),
        sub("downgrade base", DATA),
        sub("db reset", DATA),
        sub("projects|branches|functions|secrets delete|remove|unset", &[Concerns(super::page::Concern::Infrastructure)]),
    ])
    .examples(&["sequelize db:drop", "alembic downgrade base", "flyway clean", "supabase projects delete x"], &["alembic upgrade head", "mix test"]),
    page(&["influx"], "Values over time.")
        .cases(&[with("delete", DATA)])
        .examples(&["influx bucket delete -n x"], &["influx query x"]),
    page(&["etcdctl", "consul", "vault"], "Settings of many machines.")
        .style(Style::Words)
        .help("--help --version -help help")
        .cases(&[with("del delete destroy", DATA)])
        .examples(&["etcdctl del x", "vault delete secret/x"], &["etcdctl get x", "vault status", "vault delete -help"]),
];
