//! Permissions: a table of settings and commands, and what must hold for all of them.

use bashtion_guard::{
    DecidedBy, Decision, PermissionLayer, PermissionSettings, Permissions, Policy, Verdict, World, analyze,
};

use std::collections::BTreeSet;

use crate::corpus;
use crate::scripts::{Dice, script};

const TABLE: &str = include_str!("../corpus/permissions.txt");

fn world() -> World {
    World::new("/home/dev/project", "/home/dev")
}

fn policy(settings: &PermissionSettings) -> Policy {
    Policy::default().permissions(Permissions::new(settings).expect("the entries are valid"))
}

fn judged(policy: &Policy, command: &str) -> Verdict {
    policy.judge(&analyze(command, &world()), &world())
}

fn decision(word: &str) -> Decision {
    match word {
        "allow" => Decision::Allow,
        "ask" => Decision::Ask,
        "deny" => Decision::Deny,
        other => panic!("no such decision: {other}"),
    }
}

fn allowing(entries: &[&str]) -> PermissionSettings {
    let allow = entries.iter().map(|entry| (*entry).to_owned()).collect();
    PermissionSettings { default: Decision::Ask, allow, ..PermissionSettings::default() }
}

#[test]
fn the_table_is_judged_as_it_says() {
    let mut settings = PermissionSettings::default();
    let mut wrong = vec![];
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        if let Some(default) = line.strip_prefix("== default ") {
            settings = PermissionSettings { default: decision(default), ..PermissionSettings::default() };
        } else if let Some((list, entry)) = line.strip_prefix('+').and_then(|line| line.split_once(' ')) {
            match decision(list) {
                Decision::Allow => settings.allow.push(entry.to_owned()),
                Decision::Ask => settings.ask.push(entry.to_owned()),
                Decision::Deny => settings.deny.push(entry.to_owned()),
            }
        } else {
            let (expected, command) = line.split_at(7);
            let command = command.replace('⏎', "\n");
            let verdict = judged(&policy(&settings), &command);
            if verdict.decision != decision(expected.trim()) {
                wrong.push(format!("{} -> {}  {command:?}", expected.trim(), verdict.decision));
            }
        }
    }
    assert!(wrong.is_empty(), "{} lines:\n{}", wrong.len(), wrong.join("\n"));
}

/// Commands whose label is `allow`, from the other corpora: what they hold is realistic.
fn realistic() -> Vec<String> {
    corpus::all().into_iter().map(|row| row.command).collect()
}

#[test]
fn an_allow_list_allows_nothing_that_it_does_not_name() {
    let policy = policy(&allowing(&["git status", "git log *", "ls *", "cat *", "> build/*"]));
    for command in realistic() {
        let judged = |text: &str| judged(&policy, text).decision;
        for text in [
            format!("{command}\nunnamed x"),
            format!("unnamed x; {command}"),
            format!("git status && unnamed x || {command}"),
        ] {
            assert_ne!(judged(&text), Decision::Allow, "{text:?}");
        }
    }
    for around in [
        "{}; ls", "ls | {}", "ls $({})", "ls `{}`", "({})", "if {}; then ls; fi", "{} &", "ls <({})", "! {}",
        "while {}; do ls; done", "f() { {}; }", "bash -c '{}'", "timeout 5 {}", "git log \"$({})\"",
        "eval '{}'", "cat <<E\n$({})\nE", "for i in $({}); do ls; done", "case $({}) in x) ls;; esac",
        "x=$({}) ls", "[[ $({}) ]]",
    ] {
        let text = |inner: &str| around.replace("{}", inner);
        assert_eq!(
            judged(&policy, &text("git status")).decision == Decision::Allow,
            around != "x=$({}) ls",
            "{around}"
        );
        assert_eq!(judged(&policy, &text("unnamed x")).decision, Decision::Ask, "{around}");
        assert_eq!(judged(&policy, &text("git status > x")).decision, Decision::Ask, "{around}");
    }
}

#[test]
fn random_scripts_need_an_entry_for_each_command_and_no_more() {
    let mut allowed = 0;
    for seed in 0..150 {
        let text = script(&mut Dice::new(seed + 1));
        let analysis = analyze(&text, &world());
        let names: BTreeSet<&str> = analysis.commands.iter().map(|found| found.program.as_str()).collect();
        let names: Vec<&str> = names.into_iter().filter(|name| name.starts_with('c')).collect();
        let with = |left_out: &str| {
            let entries = names.iter().filter(|name| **name != left_out).map(|name| format!("{name} *"));
            let allow = entries.chain(["> *".to_owned(), "wait".to_owned()]).collect();
            policy(&PermissionSettings { allow, ..allowing(&[]) }).judge(&analysis, &world()).decision
        };
        allowed += usize::from(with("none") == Decision::Allow);
        for name in names.iter().take(4) {
            assert_ne!(with(name), Decision::Allow, "{name} in\n{text}");
        }
    }
    // Most of them have something that needs an entry of its own: a trap, a shell that reads its input, a variable.
    assert!(allowed > 5, "only {allowed} of 150 scripts were allowed with an entry for each command");
}

#[test]
fn without_permissions_nothing_changes() {
    let everything = policy(&PermissionSettings::default());
    for row in corpus::all() {
        let analysis = analyze(&row.command, &row.world);
        assert_eq!(everything.judge(&analysis, &row.world), Policy::default().judge(&analysis, &row.world));
    }
}

#[test]
fn permissions_never_make_a_verdict_milder_than_a_denial() {
    let policy = policy(&allowing(&["tool:bash:.*"]));
    let denied = |row: &corpus::Row| corpus::judge(&row.command, &row.world).decision == Decision::Deny;
    for row in corpus::all().into_iter().filter(denied) {
        let exact = Policy::default()
            .permissions(Permissions::new(&allowing(&[&Permissions::exact(&row.command)])).unwrap());
        for policy in [&policy, &exact] {
            let verdict = policy.judge(&analyze(&row.command, &row.world), &row.world);
            assert_eq!(verdict.decision, Decision::Deny, "{:?}", row.command);
            assert_ne!(verdict.findings[0].rule, "permission");
        }
    }
}

#[test]
fn an_exact_entry_allows_whatever_is_not_denied() {
    for row in corpus::all().into_iter().filter(|row| row.judged().decision == Decision::Ask) {
        let policy = policy(&allowing(&[&Permissions::exact(&row.command)]));
        let analysis = analyze(&row.command, &row.world);
        assert_eq!(policy.judge(&analysis, &row.world).findings, [], "{:?}", row.command);
        let other = format!("{}\nunnamed", row.command);
        let verdict = policy.judge(&analyze(&other, &row.world), &row.world);
        assert_ne!(verdict.decision, Decision::Allow, "{other:?}");
    }
}

#[test]
fn entries_that_would_allow_anything_are_refused() {
    for entry in [
        "", " ", "*", "g*", "./*", "bash *", "bash", "sh -c *", "bash -x *", "bash -o pipefail *", "bash:*",
        "python *", "python3 -c *", "python -m *", "python -W ignore *", "node -e *", "perl *", "ruby *",
        "env *", "env FOO=1 *", "FOO=1 *", "FOO=* ls", "sudo *", "sudo -u x *", "sudo", "sudo -i", "sudo -s",
        "sudo bash *", "sudo git *", "xargs *", "xargs sh -c *", "find *", "awk *", "git *", "git -c *",
        "git -c x=y *", "git -C x *", "git config *", "ssh *", "ssh host *", "ssh host", "ssh host bash",
        "docker *", "docker run *", "docker exec web *", "docker compose *", "npx *", "npm *", "npm exec *",
        "npm run *", "make *", "eval *", "exec *", "source *", ". *", "vim *", "timeout 5 *", "timeout *",
        "nice *", "time *", "nohup *", "uv run *", "poetry run *", "poetry run python *", "cargo *",
        "cargo run *", "alias *", "export *", "sed *", "busybox *", "/usr/bin/python3 *", "git log | head",
        "git log; ls", "git log > x", "echo 'x", "echo x\\", "> /*", "> /h*/x", ">", "> a b", "tool:bash:(",
        "tool:bash:a{999999}", "tool:Bash:.*", "tool:zsh:ls", "tool:bsh:.*", "tool:bash", "tool:bash:(^ls)",
        "tool:edit:.*", "> ~/*", "chroot /x *", "watch *", "parallel *", "trap *", "python3.11 *",
        "lua5.4 *", "julia *", "R *", "Rscript *", "octave *", "groovy *", "scala *", "ocaml *", "erl *",
        "elixir *", "iex *", "ghci *", "runghc *", "sbcl *", "ts-node *", "tsx *", "gnuplot *", "dc *",
        "m4 *", "socat *", "pipx *", "pipx run *", "rustup *", "rustup run stable *", "nvm *",
        "nvm exec 18 *", "volta *", "stack *", "stack exec *", "opam *", "mamba *", "conda *", "conda run *",
        "conda run -n base *", "rpm *", "tcpdump *", "gh *", "gh alias *", "ip *", "ip netns *",
        "ip netns exec x *", "mapfile *", "readarray *", "compgen *", "history *", "fc *", "let *",
        "local *", "set *", "cmake *", "ctest *", "sqlite3 *", "sqlite3 x.db *", "psql db *", "openssl *",
        "find . -exec *", "rsync -e *", "fd x -x *", "tar -I *", "git clone -u *", "cmake -E *",
        "gcc -wrapper *", "git bisect run *", "git submodule foreach *",
    ] {
        assert!(Permissions::new(&allowing(&[entry])).is_err(), "{entry:?} was accepted");
    }
    for entry in [
        "git log *", "git status", "python -m pytest *", "python script.py *", "npm run test:*",
        "cargo test *", "ls *", "sudo systemctl status nginx", "sudo systemctl status *", "bash script.sh *",
        "bash -c 'git status'", "make test", "make test *", "docker ps *", "ssh host uptime",
        "timeout 5 make", "npx eslint *", "FOO=1 make", "> build/*", "> *", ">> /var/log/x/*",
        "tool:bash:make( .*)?", "tool:.*", "tool:(bash|edit):.*", "tool:[a-z]+:ls", "tool:bash:^ls$",
        "echo 'a; b'", "git commit -m *", "find . -name *", "sudo -l", "python --version", "node --version",
        "bash ci.sh", "FOO=bar", "uv run pytest *", "xargs grep x", "python3.11 script.py *",
        "pipx run black *", "gh pr view *", "rustup show *", "cmake --build *", "ip addr *",
        "sqlite3 x.db 'select 1'", "sed 's/a/b/' *", "gcc *", "git submodule status *",
        "conda run -n base pytest *",
    ] {
        if let Err(error) = Permissions::new(&allowing(&[entry])) {
            panic!("{error}");
        }
    }
    let broad = ["*", "sudo *", "bash *", "> /*", "git *", "tool:.*"].map(str::to_owned).to_vec();
    let settings = PermissionSettings { deny: broad.clone(), ask: broad, ..PermissionSettings::default() };
    assert!(Permissions::new(&settings).is_ok());
}

#[test]
fn what_is_wrong_is_said_with_what_to_write_instead() {
    let error = |entry: &str| Permissions::new(&allowing(&[entry])).unwrap_err().to_string();
    insta::assert_snapshot!(error("bash *"), @r#"the permission "bash *" in `allow` cannot be used: `bash` runs any code; name the script or module, as in `bash script *`"#);
    insta::assert_snapshot!(error("sed *"), @r#"the permission "sed *" in `allow` cannot be used: `sed` can run any code; name what it may do, as in `sed 'SCRIPT' *`"#);
    insta::assert_snapshot!(error("sudo git *"), @r#"the permission "sudo git *" in `allow` cannot be used: `sudo` runs another command, and in that `git` can run any code; name what it may do, as in `git WORD *`"#);
    insta::assert_snapshot!(error("git log | head"), @r#"the permission "git log | head" in `allow` cannot be used: an entry names one command, but it has '|'; write an entry for each command, and quote what is text"#);
    insta::assert_snapshot!(error("tool:bash:("), @r#"the permission "tool:bash:(" in `allow` cannot be used: unclosed group"#);
    insta::assert_snapshot!(error("tool:Bash:ls"), @r#"the permission "tool:Bash:ls" in `allow` cannot be used: it can never match: the tool is called `bash` here, so begin with `tool:bash:`, as in `tool:bash:make( .*)?`"#);
    insta::assert_snapshot!(error(""), @r#"the permission "" in `allow` cannot be used: it is empty"#);
}

#[test]
fn a_project_may_only_make_them_stricter() {
    let user = Permissions::new(&allowing(&["make"])).unwrap();
    let layer = |default, allow: &[&str], deny: &[&str]| PermissionLayer {
        default,
        allow: allow.iter().map(|entry| (*entry).to_owned()).collect(),
        ask: vec![],
        deny: deny.iter().map(|entry| (*entry).to_owned()).collect(),
    };
    assert!(user.narrow(&layer(None, &["ls"], &[])).is_err());
    let error = user.narrow(&layer(Some(Decision::Allow), &[], &[])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a project may only make permissions stricter, but it sets the default to allow, which is ask already"
    );
    let narrowed = user.narrow(&layer(Some(Decision::Deny), &[], &["make"])).unwrap();
    let policy = Policy::default().permissions(narrowed);
    assert_eq!(judged(&policy, "make").decision, Decision::Deny);
    assert_eq!(judged(&policy, "ls").decision, Decision::Deny);
}

#[test]
fn a_policy_goes_to_another_process_and_back() {
    let settings = PermissionSettings { deny: vec!["rm *".to_owned()], ..allowing(&["git log *"]) };
    let there = serde_json::to_string(&policy(&settings)).unwrap();
    let back: Policy = serde_json::from_str(&there).unwrap();
    assert_eq!(judged(&back, "git log -1").decision, Decision::Allow);
    assert_eq!(judged(&back, "make").decision, Decision::Ask);
    assert_eq!(judged(&back, "rm x").decision, Decision::Deny);
}

#[test]
fn findings_say_which_entry_decided() {
    let settings = PermissionSettings {
        ask: vec!["git push *".to_owned()],
        deny: vec!["rm *".to_owned()],
        ..allowing(&["ls *"])
    };
    let said = |command: &str| {
        let verdict = judged(&policy(&settings), command);
        let lines =
            verdict.findings.iter().map(|one| format!("{}: {} ({})", one.severity, one.message, one.help));
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(said("rm x"), @r#"deny: the permissions deny this: `rm *` (leave it out, or ask the user to do it)"#);
    insta::assert_snapshot!(said("ls && git push origin"), @r#"ask: the permissions ask about this: `git push *` (ask the user to allow it)"#);
    insta::assert_snapshot!(said("make all > log"), @r#"
    ask: no permission allows `> log` (ask the user to allow it)
    ask: no permission allows `make all` (ask the user to allow it)
    "#);
    insta::assert_snapshot!(said("$x y"), @r#"
    ask: this cannot be judged: the command's name is not known: the value of $x is not known (write the command itself, with constants, in valid bash)
    ask: the permissions deny `rm *`, and this may be that: `${x} y` (write it with constants, or ask the user to allow it)
    "#);
    let explained = policy(&settings).explain(&analyze("ls; timeout 5 make 'a b' > log", &world()), &world());
    let lines = explained.iter().map(|part| format!("{} {} {:?}", part.shown, part.decision, part.by));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    ls allow Entry { list: Allow, entry: "ls *" }
    > log ask Default
    timeout 5 make 'a b' allow Harmless
    make 'a b' ask Default
    "#);
    let by = &explained[0].by;
    assert_eq!(*by, DecidedBy::Entry { list: Decision::Allow, entry: "ls *".to_owned() });
}

#[test]
fn suggestions_fit_what_was_asked() {
    let policy = policy(&allowing(&["ls *"]));
    let suggested = |command: &str| {
        let analysis = analyze(command, &world());
        policy.suggest(&analysis, &judged(&policy, command)).map(|suggestion| suggestion.pattern)
    };
    for (command, pattern) in [
        ("git fetch origin main", Some("git fetch *")),
        ("npm run build", Some("npm run build *")),
        ("gh pr view 5", Some("gh pr view *")),
        ("timeout 5 cargo test -p x", Some("cargo test *")),
        ("cat x", Some("cat *")),
        ("ls; cat x", Some("cat *")),
        ("cat x; head y", None),
        ("cat x > y", None),
        ("python x", None),
        ("bash -c 'cat x'", Some("cat *")),
        ("sudo cat x", None),
        ("FOO=1 cat x", None),
        ("git reset --hard", None),
        ("git -C x fetch", None),
    ] {
        assert_eq!(suggested(command), Some(pattern.map(str::to_owned)), "{command}");
    }
    for command in ["ls", "$x", "make && eval \"$x\"", "git fetch; $(cat x)", "bash -c \"$x\""] {
        assert_eq!(suggested(command), None, "{command}");
    }
    assert_eq!(suggested("rm -rf /"), None);
    // What is suggested does what it says.
    for command in ["git fetch origin main", "git reset --hard", "cat x > y", "a\nb"] {
        let analysis = analyze(command, &world());
        let suggestion = policy.suggest(&analysis, &judged(&policy, command)).unwrap();
        for entry in [Some(suggestion.exact), suggestion.pattern].into_iter().flatten() {
            let with = Policy::default().permissions(Permissions::new(&allowing(&[&entry])).unwrap());
            assert_eq!(judged(&with, command).decision, Decision::Allow, "{entry}");
        }
    }
}

#[test]
fn long_text_takes_no_long_time() {
    let policy = policy(&allowing(&["ls *a*a*a*b", "git log *", "tool:bash:(a|b)*x"]));
    let long = format!("ls {}", "a".repeat(200_000));
    assert_eq!(judged(&policy, &long).decision, Decision::Ask);
    let many = "ls a; git log x; timeout 5 make\n".repeat(4_000);
    assert_eq!(judged(&policy, &many).decision, Decision::Ask);
    let exact = Permissions::exact(&many);
    assert_eq!(judged(&self::policy(&allowing(&[&exact])), &many).decision, Decision::Allow);
}
