//! For a person: a real terminal, made by `script`.

use bashtion_testkit::World;

use crate::world;

/// What the terminal gets to see.
fn on_terminal(world: &World, options: &str, command: &str, env: &[(&str, &str)]) -> String {
    let line = format!("\"$BASHTION\" run {options} \"$COMMAND\"");
    let mut run = world
        .program("script")
        .args(&["-qec", &line, "/dev/null"])
        .env("COMMAND", command)
        .env("TERM", "xterm");
    for (name, value) in env {
        run = run.env(name, value);
    }
    run.finish().stdout().replace("\r\n", "\n")
}

/// With the time, which differs, as N.
fn without_times(text: &str) -> String {
    let words = text.split_inclusive([' ', '(', ')', '\n', '\u{1b}']);
    words
        .map(|word| {
            let number = word.trim_end_matches([' ', ')', '\n', '\u{1b}']);
            match number.strip_suffix('s').map(str::parse::<f64>) {
                Some(Ok(_)) if number.contains('.') => word.replace(number, "Ns"),
                _ => word.to_owned(),
            }
        })
        .collect()
}

#[test]
fn a_closing_line() {
    let world = world();
    let plain = [("NO_COLOR", "1")];
    let closing = |options, command| without_times(&on_terminal(&world, options, command, &plain));
    assert_eq!(closing("", "echo hi"), "hi\n✓ Ns\n");
    assert_eq!(closing("", "printf 'no newline'; exit 3"), "no newline\nexit 3 (Ns)\n");
    assert_eq!(closing("", "kill -9 $$"), "ended by SIGKILL (Ns)\n");
    assert_eq!(
        on_terminal(&world, "--timeout 200ms", "echo a; sleep 9", &plain),
        "a\ntimed out after 200ms\n"
    );
    let leftovers = on_terminal(&world, "--sandbox off", "sleep 4328.1 & echo $!", &plain);
    let pid = leftovers.lines().next().unwrap();
    assert!(leftovers.contains(&format!("\n  ended: {pid} sleep 4328.1\n")), "{leftovers}");
}

#[test]
fn coloured_unless_unwanted() {
    let world = world();
    assert!(on_terminal(&world, "", "true", &[]).contains("\u{1b}[32m✓"));
    for env in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let seen = on_terminal(&world, "", "sleep 0.8; exit 1", &[env]);
        assert!(!seen.contains("\u{1b}[3"), "{env:?}: {seen:?}");
    }
}

#[test]
fn a_spinner_with_the_time_while_nothing_is_printed() {
    let seen = on_terminal(&world(), "", "sleep 1.3; echo done", &[("NO_COLOR", "1")]);
    assert!(seen.contains("\r⠋ 1s\u{1b}[K") || seen.contains(" 1s\u{1b}[K"), "{seen:?}");
    assert!(seen.contains("\r\u{1b}[Kdone\n"), "it goes before output comes: {seen:?}");
}

#[test]
fn both_streams_in_the_order_written() {
    let seen =
        on_terminal(&world(), "", "for i in 1 2 3; do echo o$i; echo e$i >&2; done", &[("NO_COLOR", "1")]);
    assert!(seen.starts_with("o1\ne1\no2\ne2\no3\ne3\n"), "{seen:?}");
}

#[test]
fn output_cannot_drive_the_terminal() {
    let seen =
        on_terminal(&world(), "", "printf '\\e]0;title\\a\\e[2Jx\\e[31mred\\e[0m\\n'", &[("NO_COLOR", "1")]);
    assert!(seen.starts_with("␛]0;title␇␛[2Jx\u{1b}[31mred\u{1b}[0m\n"), "{seen:?}");
}

#[test]
fn nor_when_only_one_stream_is_a_terminal_or_the_output_is_cut() {
    let command = "printf '\\e]0;title\\a\\e[2Jx\\xc2\\x9b31m\\n'";
    let seen = on_terminal(&world(), "2>/dev/null", command, &[]);
    assert_eq!(seen, "␛]0;title␇␛[2Jx<U+009B>31m\n");
    let seen = on_terminal(&world(), "--max-output 1000", command, &[]);
    assert_eq!(seen, "x<U+009B>31m\n");
}

#[test]
fn the_command_itself_has_no_terminal() {
    let seen = on_terminal(
        &world(),
        "",
        "tty; (: < /dev/tty) 2>&1 | grep -c 'No such device'; test -t 1 || echo not one",
        &[("NO_COLOR", "1")],
    );
    assert!(seen.starts_with("not a tty\n1\nnot one\n"), "{seen:?}");
}

#[test]
fn json_stays_json() {
    let seen = on_terminal(&world(), "--json", "echo hi", &[]);
    assert!(seen.starts_with("{\"status\":") && seen.ends_with("}\n"), "{seen:?}");
}
