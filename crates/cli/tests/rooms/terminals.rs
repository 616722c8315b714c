//! Programs that make a terminal.

use crate::place::Place;

#[test]
fn script_gives_a_program_a_terminal() {
    for place in Place::both() {
        let out = place.prints("script -qec 'tty; test -t 1' /dev/null");
        assert!(out.starts_with("/dev/pts/"), "{out}");
    }
}

#[test]
fn expect_talks_to_a_program() {
    for place in Place::both() {
        place.write("ask.sh", "read -p 'name? ' name; test -t 0; echo \"terminal $?, hello $name\"");
        place.write(
            "talk",
            "set timeout 10; spawn bash ask.sh; expect \"name? \" {send \"you\\r\"} timeout {exit 1}; \
             expect \"terminal 0, hello you\" {exit 0} timeout {exit 1}",
        );
        place.prints("expect talk");
    }
}

#[test]
fn python_makes_a_terminal() {
    for place in Place::both() {
        let out = place.prints("python3 -c 'import pty; pty.spawn([\"tty\"])'");
        assert!(out.starts_with("/dev/pts/"), "{out}");
    }
}

#[test]
fn tmux_goes_on_for_the_next_command() {
    for place in Place::both() {
        let options = ["--leftovers", "keep", "--env", "SHELL=/bin/bash"];
        place.prints_with(&options, "tmux -f /dev/null new-session -d -s kept 'bash --norc'");
        place.prints("tmux send-keys -t kept 'echo $((6 * 7)) > /tmp/answer' Enter");
        assert_eq!(place.prints_soon("cat /tmp/answer"), "42\n");
        assert!(place.prints("tmux capture-pane -p -t kept").contains("echo $((6 * 7))"));
        place.prints("tmux kill-server");
    }
}
