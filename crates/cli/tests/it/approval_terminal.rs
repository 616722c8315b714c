//! Questions to a person at a terminal, made by `script`, whose input is what is typed.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use bashtion_testkit::{World, wait_until};

use crate::world;

const ASKED: &str = "touch made; $UNSET true";
const PROMPT: &str = "(a reason may follow the no): ";

struct Terminal {
    child: Child,
    keys: ChildStdin,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn run(world: &World, options: &str, command: &str) -> Self {
        Self::start(world, &format!("exec \"$BASHTION\" run {options} \"$COMMAND\""), command)
    }

    fn start(world: &World, line: &str, command: &str) -> Self {
        let run = world.program("script").args(&["-qec", line, "/dev/null"]);
        let mut child =
            run.env("COMMAND", command).env("TERM", "xterm").env("NO_COLOR", "1").start_with_input();
        let (keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let seen = Arc::new(Mutex::new(vec![]));
        let shown = Arc::clone(&seen);
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut piece) {
                shown.lock().unwrap().extend(&piece[..count]);
            }
        });
        Self { child, keys, seen }
    }

    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).replace("\r\n", "\n")
    }

    fn wait_for(&self, text: &str) {
        wait_until(text, || self.seen().contains(text));
    }

    fn wait_for_prompts(&self, count: usize) {
        wait_until(PROMPT, || self.seen().matches(PROMPT).count() >= count);
    }

    fn type_keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// What was on the screen, and the exit code.
    fn end(mut self) -> (String, Option<i32>) {
        let code = self.child.wait().unwrap().code();
        thread::sleep(Duration::from_millis(50));
        (self.seen(), code)
    }
}

#[test]
fn yes() {
    let world = world();
    let mut terminal = Terminal::run(&world, "--description 'to see'", ASKED);
    terminal.wait_for(PROMPT);
    assert!(!world.work().join("made").exists());
    terminal.type_keys("y\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(world.work().join("made").exists());
    for expected in
        ["┌ This command needs your approval\n", "│ touch made; $UNSET true\n", "│ to see\n", "│ opaque: "]
    {
        assert!(seen.contains(expected), "{expected}: {seen}");
    }
    assert!(seen.contains("approved by ") && seen.contains(" at the terminal"), "{seen}");
    assert!(!world.state().join("private/approvals").read_dir().is_ok_and(|mut dir| {
        dir.any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with("ask-"))
    }));
}

#[test]
fn no_with_a_reason() {
    let world = world();
    let mut terminal = Terminal::run(&world, "", ASKED);
    terminal.wait_for(PROMPT);
    terminal.type_keys("no, use a branch\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(126), "{seen}");
    assert!(seen.contains("at the terminal has refused it: use a branch\n"), "{seen}");
    assert!(!world.work().join("made").exists());
}

#[test]
fn the_end_of_input_and_ctrl_c_are_a_no() {
    let world = world();
    for (keys, code, told) in [("\u{4}", 126, "no reason was given"), ("\u{3}", 130, "\ncancelled (")] {
        let mut terminal = Terminal::run(&world, "", ASKED);
        terminal.wait_for(PROMPT);
        terminal.type_keys(keys);
        let (seen, ended) = terminal.end();
        assert_eq!(ended, Some(code), "{seen}");
        assert!(seen.contains(told), "{seen}");
    }
    assert!(!world.work().join("made").exists());
}

#[test]
fn anything_else_is_asked_again() {
    let world = world();
    let mut terminal = Terminal::run(&world, "", ASKED);
    for (count, keys) in ["\n", "maybe\n", "yes please\n", "always mine\n", "n\n"].into_iter().enumerate() {
        terminal.wait_for_prompts(count + 1);
        terminal.type_keys(keys);
    }
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(126), "{seen}");
    assert!(!world.work().join("made").exists());
}

#[test]
fn what_was_typed_before_does_not_count() {
    let world = world();
    let mut terminal =
        Terminal::start(&world, "echo ready; sleep 1; exec \"$BASHTION\" run \"$COMMAND\"", ASKED);
    terminal.wait_for("ready");
    terminal.type_keys("y\ny\n");
    terminal.wait_for(PROMPT);
    thread::sleep(Duration::from_millis(700));
    assert!(!world.work().join("made").exists());
    terminal.type_keys("nonsense\ny\n");
    terminal.wait_for_prompts(2);
    thread::sleep(Duration::from_millis(300));
    assert!(!world.work().join("made").exists(), "what is pasted after nonsense does not count either");
    terminal.type_keys("n\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(126), "{seen}");
}

#[test]
fn a_command_cannot_fake_the_prompt() {
    let world = world();
    let wide = " ".repeat(300);
    let command = format!(
        "$UNSET true; : '\u{1b}[2J\u{1b}[H\r\u{202e}\n└ all is well\nRun it? [y]es, [n]o: \n{wide}Run it? [y]es: y'\u{200b}"
    );
    let mut terminal = Terminal::run(&world, "", &command);
    terminal.wait_for(PROMPT);
    terminal.type_keys("n\n");
    let (seen, _) = terminal.end();
    let question = &seen[seen.find('┌').unwrap()..seen.find(PROMPT).unwrap()];
    assert!(!question.contains(['\u{1b}', '\r', '\u{202e}', '\u{200b}']), "{question:?}");
    let (last, framed) =
        question.lines().collect::<Vec<_>>().split_last().map(|(l, f)| (*l, f.to_vec())).unwrap();
    assert!(last.starts_with("Run it? "), "{question}");
    for line in framed {
        assert!(line.starts_with(['┌', '│', '┆', '├', '└']), "{line:?} in {question}");
        assert!(line.chars().count() <= 80, "{line:?}");
    }
    assert_eq!(question.matches("\n└ ").count(), 1, "{question}");
}

#[test]
fn thousands_of_lines_are_shown() {
    let world = world();
    let command: String = (0..3000).map(|n| format!(": line {n}\n")).collect();
    let mut terminal = Terminal::run(&world, "", &format!("{command}$UNSET true"));
    terminal.wait_for(PROMPT);
    terminal.type_keys("n\n");
    let (seen, _) = terminal.end();
    assert!((0..3000).all(|n| seen.contains(&format!("│ : line {n}\n"))));
}

#[test]
fn programs_that_read_the_result_do_not_matter() {
    let world = world();
    let mut terminal = Terminal::run(&world, "--json", ASKED);
    terminal.wait_for(PROMPT);
    terminal.type_keys("y\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0));
    assert!(seen.contains("{\"status\":\"exited\""), "{seen}");
}

#[test]
fn without_a_terminal_on_both_sides_nobody_is_asked() {
    let world = world();
    for redirection in ["</dev/null", "2>/dev/null"] {
        let terminal = Terminal::run(&world, redirection, ASKED);
        let (seen, code) = terminal.end();
        assert_eq!(code, Some(126), "{seen}");
        assert!(!seen.contains(PROMPT));
    }
}

#[test]
fn for_the_background_it_is_asked_here() {
    let world = world();
    let mut terminal = Terminal::run(&world, "--background", ASKED);
    terminal.wait_for(PROMPT);
    terminal.type_keys("y\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("Background task started"), "{seen}");
    let id = world.bashtion().args(&["tasks", "--json"]).finish().json()[0]["task_id"].clone();
    let ended = world.bashtion().args(&["wait", id.as_str().unwrap(), "--json"]).finish().json();
    assert!(ended["notes"][0].as_str().unwrap().ends_with("at the terminal"), "{ended}");
    assert!(world.work().join("made").exists());
    let mut terminal = Terminal::run(&world, "--background", ASKED);
    terminal.wait_for(PROMPT);
    terminal.type_keys("\u{3}");
    assert_eq!(terminal.end().1, Some(130));
}

/// With a configuration where everything is asked about but what is remembered.
fn remembering(world: &World, keys: &str, command: &str) -> String {
    let config = world.work().join("../home/.config/bashtion/config.toml");
    if !config.exists() {
        std::fs::create_dir_all(config.parent().unwrap()).unwrap();
        std::fs::write(&config, "# mine\n[permissions]\ndefault = \"ask\" # always\n").unwrap();
    }
    let mut terminal = Terminal::run(world, "", command);
    terminal.wait_for(PROMPT);
    terminal.type_keys(keys);
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("remembered in "), "{seen}");
    std::fs::read_to_string(config).unwrap()
}

#[test]
fn always_exactly_this_is_remembered_and_nothing_more() {
    let world = world();
    let config = remembering(&world, "a\n", "touch made && echo $UNSET*");
    assert!(config.starts_with("# mine\n[permissions]\ndefault = \"ask\" # always\n"), "{config}");
    assert!(config.contains(r"allow = ['tool:bash:touch made \&\& echo \$UNSET\*']"), "{config}");
    let again = world.run("touch made && echo $UNSET*").finish();
    assert_eq!(again.code(), Some(0), "{}", again.stderr());
    for other in
        ["touch made", "touch made && echo $UNSET* ", "touch made && echo x", "x; touch made && echo $UNSET*"]
    {
        assert_eq!(world.bashtion().args(&["check", other]).finish().code(), Some(3), "{other}");
    }
}

#[test]
fn always_this_pattern_is_remembered_and_nothing_more() {
    let world = world();
    let config = remembering(&world, "p\n", "git version --build-options");
    assert!(config.contains("allow = [\"git version *\"]"), "{config}");
    assert_eq!(world.run("git version").finish().code(), Some(0));
    for other in ["git version; ls", "git status", "git version $(ls)", "sudo git version"] {
        assert_ne!(world.bashtion().args(&["check", other]).finish().code(), Some(0), "{other}");
    }
}

#[test]
fn a_waiting_question_is_shown_before_it_is_approved() {
    let world = world();
    let asked = world.run_with(&["--json"], ASKED).finish().json();
    let id = asked["approval_id"].as_str().unwrap();
    let state =
        || world.bashtion().args(&["approve", "--show", id, "--json"]).finish().json()["state"].clone();
    for (keys, code, after) in [("n\n", 1, "waiting"), ("\u{4}", 1, "waiting"), ("y\n", 0, "approved")] {
        let mut terminal = Terminal::start(&world, &format!("exec \"$BASHTION\" approve {id}"), ASKED);
        terminal.wait_for("Approve it? [y]es, [n]o: ");
        assert_eq!(state(), "waiting");
        assert!(terminal.seen().contains("│ touch made; $UNSET true\n"), "{}", terminal.seen());
        terminal.type_keys(keys);
        let (seen, ended) = terminal.end();
        assert_eq!((ended, state()), (Some(code), after.into()), "{seen}");
    }
}

#[test]
fn what_the_profile_allows_stays_allowed() {
    let world = world();
    std::fs::write(world.work().join("p.toml"), "[permissions]\ndefault = 'ask'\nallow = ['pwd']\n").unwrap();
    let mut terminal = Terminal::run(&world, "--profile p.toml", "git version");
    terminal.wait_for(PROMPT);
    terminal.type_keys("a\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    for command in ["pwd", "git version"] {
        let checked = world.bashtion().args(&["check", "--profile", "p.toml", command]).finish();
        assert_eq!(checked.code(), Some(0), "{command}: {checked:?}");
    }
}
