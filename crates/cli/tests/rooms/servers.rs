//! A server in one command, its client in the next.

use crate::place::Place;

/// `PATH` with the programs of PostgreSQL that Debian keeps for each version.
const POSTGRES: &str = "PATH=$(echo /usr/lib/postgresql/*/bin):$PATH";

#[test]
fn a_web_server_and_curl() {
    for place in Place::both() {
        place.write("page.html", "served");
        place.serve(8000);
        assert_eq!(place.prints("curl -sS http://localhost:8000/page.html"), "served");
    }
}

#[test]
fn redis_over_tcp_and_by_its_socket() {
    for place in Place::both() {
        let task = place.start("redis-server --port 6379 --unixsocket /tmp/redis.sock --save ''");
        assert_eq!(place.prints_soon("redis-cli -e set name value"), "OK\n");
        assert_eq!(place.prints("redis-cli -s /tmp/redis.sock get name"), "value\n");
        place.run("redis-cli shutdown nosave");
        assert_eq!(place.end_of(&task)["exit_code"], 0);
    }
}

/// As root it refuses to run.
#[test]
fn postgres_over_tcp_and_by_its_socket() {
    let place = Place::ordinary();
    place.prints(&format!("{POSTGRES}; initdb --auth trust --no-sync --username me data"));
    let task =
        place.start(&format!("{POSTGRES}; exec postgres -D data -k /tmp -c listen_addresses=127.0.0.1"));
    let query = |host: &str, text: &str| format!("psql -h {host} -U me postgres -qAtc '{text}'");
    place.prints_soon(&query("127.0.0.1", "create table kept as select 42 as answer"));
    assert_eq!(place.prints(&query("/tmp", "select answer from kept")), "42\n");
    place.prints("kill -INT $(head -1 data/postmaster.pid)");
    assert_eq!(place.end_of(&task)["exit_code"], 0);
}

#[test]
fn a_server_is_ended_by_its_port() {
    for place in Place::both() {
        let task = place.serve(8000);
        place.prints("kill $(lsof -ti:8000)");
        let end = place.end_of(&task);
        assert_eq!((&end["status"], &end["signal"]), (&"signaled".into(), &"SIGTERM".into()), "{end}");
        assert_eq!(place.run("curl -sS 127.0.0.1:8000").code(), Some(7));
    }
}

#[test]
fn a_server_is_ended_by_its_command_line() {
    for place in Place::both() {
        let task = place.serve(8000);
        place.prints_with(&["--approve", "always"], "pkill -f 'http.server 8000'");
        assert_ne!(place.end_of(&task)["status"], "running");
        assert_eq!(place.run("pgrep -x python3").code(), Some(1));
    }
}

#[test]
fn a_server_is_ended_by_what_its_result_says() {
    for place in Place::both() {
        let started = place.run_with(&["--background", "--json"], "exec sleep 4331.2").json();
        let (pid, task) = (started["room_pid"].as_i64().unwrap(), started["task_id"].as_str().unwrap());
        place.prints(&format!("kill {pid}"));
        assert_eq!(place.end_of(task)["status"], "signaled");
    }
}

#[test]
fn ps_shows_what_another_command_started() {
    for place in Place::both() {
        place.start("exec sleep 4331.3");
        assert!(place.prints("ps aux").lines().any(|line| line.ends_with(" sleep 4331.3")));
    }
}

#[test]
fn ss_names_who_listens() {
    for place in Place::both() {
        place.serve(8000);
        let listed = place.prints("ss -Hltnp");
        assert!(listed.contains(":8000 ") && listed.contains("((\"python3\",pid="), "{listed}");
        assert_eq!(listed.lines().count(), 1, "and nothing else does: {listed}");
    }
}
