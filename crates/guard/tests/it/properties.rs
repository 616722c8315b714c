//! What must hold for every command.

use bashtion_guard::{Decision, Policy, ProgramPage, World, analyze, programs};

use crate::corpus::{Row, all, every_rule, judge};
use crate::scripts::{Dice, script};

/// Rows on one line that end neither in a comment nor in the middle of something.
fn joinable() -> Vec<Row> {
    let plain =
        |row: &Row| !row.command.contains(['\n', '#']) && !row.command.trim_end().ends_with(['&', '\\']);
    all().into_iter().filter(plain).collect()
}

#[test]
fn a_list_is_never_milder_than_its_parts() {
    let rows = joinable();
    let mut dice = Dice::new(7);
    for _ in 0..6_000 {
        let (first, second) = (&rows[dice.roll(rows.len())], &rows[dice.roll(rows.len())]);
        if first.world != second.world || sets_names(&first.command) {
            continue;
        }
        let together = format!("{}; {}", first.command, second.command);
        let parts = first.judged().decision.max(second.judged().decision);
        let whole = every_rule().judge(&analyze(&together, &first.world), &first.world);
        assert!(whole.decision >= parts, "{together}: {} is milder than {parts}", whole.decision);
    }
}

/// What the first part sets, the second part means: `D=build; rm -rf "$D"`.
fn sets_names(command: &str) -> bool {
    command.contains('=')
        || [
            "set ", "read ", "alias", "()", "shift", "unset", "declare", "function ", "printf -v", "mapfile",
            "exec",
        ]
        .iter()
        .any(|word| command.contains(word))
}

#[test]
fn a_wrapper_never_loosens() {
    for row in all() {
        let before = row.judged().decision;
        let quoted = row.command.replace('\'', r"'\''");
        let mut wrapped =
            vec![format!("bash -c '{quoted}'"), format!("sh -c '{quoted}'"), format!("eval '{quoted}'")];
        if is_simple(&row.command) {
            let wrappers = [
                "sudo", "env", "env X=1", "timeout 5", "nice -n 5", "nohup", "setsid", "stdbuf -oL",
                "sudo -u root env A=b timeout -k 1 5",
            ];
            wrapped.extend(wrappers.iter().map(|wrapper| format!("{wrapper} {}", row.command)));
        }
        for command in wrapped {
            let after = every_rule().judge(&analyze(&command, &row.world), &row.world);
            assert!(after.decision >= before, "{command}: {} is milder than {before}", after.decision);
        }
    }
}

/// Words that could turn a rule off if it listened to them.
const MORE_WORDS: [&str; 22] = [
    "help", "status", "list", "version", "--help", "--version", "--dry-run", "--list", "--verbose",
    "--quiet", "--test", "--simulate", "-h", "-n", "-s", "-l", "-v", "-q", "-V", "-t", "-p", "--",
];

#[test]
fn one_more_word_never_makes_a_verdict_milder() {
    let pages: Vec<ProgramPage> = programs().collect();
    let mut milder = vec![];
    for row in all().iter().filter(|row| is_simple(&row.command)) {
        let analysis = analyze(&row.command, &row.world);
        let before = every_rule().judge(&analysis, &row.world).decision;
        if before == Decision::Allow {
            continue;
        }
        let involved = analysis.commands.iter().flat_map(|found| found.via.iter().chain([&found.program]));
        let involved: Vec<&ProgramPage> = involved
            .filter_map(|name| pages.iter().find(|page| page.names.iter().any(|own| is_name(own, name))))
            .collect();
        for word in MORE_WORDS {
            if is_declared(word, &involved) {
                continue;
            }
            let command = format!("{} {word}", row.command);
            let after = every_rule().judge(&analyze(&command, &row.world), &row.world).decision;
            if after < before {
                milder.push(format!("{command}: {after} is milder than {before}"));
            }
        }
    }
    assert!(milder.is_empty(), "{}", milder.join("\n"));
}

fn is_name(own: &str, name: &str) -> bool {
    own == name || own.strip_suffix('*').is_some_and(|beginning| name.starts_with(beginning))
}

/// Whether a page says that the program listens to this word in the last place, or that something goes there.
fn is_declared(word: &str, involved: &[&ProgramPage]) -> bool {
    let last = format!("{word}$");
    let listens = |page: &&ProgramPage| {
        let harmless = |own: &&str| **own == last || word.starts_with('-') && **own == *word;
        // A place where something goes, or a name that narrows what is ended.
        let means = page.ends_in_place || page.names.contains(&"pkill");
        page.harmless.iter().any(harmless) || !word.starts_with('-') && means
    };
    involved.iter().any(listens)
}

#[test]
fn a_way_of_writing_never_loosens() {
    let mut looser = vec![];
    for row in all() {
        let before = row.judged().decision;
        let mut written = vec![format!("{}\r\n", row.command), format!("{}\n", row.command)];
        if is_simple(&row.command)
            && !row.command.contains(['"', '\'', '\\', '$', '*', '?', '~', '[', '{', '='])
        {
            let words: Vec<&str> = row.command.split_whitespace().collect();
            let each =
                |quote: &str| words.iter().map(|word| format!("{quote}{word}{quote}")).collect::<Vec<_>>();
            written.push(words.join(" \\\n "));
            written.push(words.join("\t"));
            written.push(each("'").join(" "));
            written.push(each("\"").join(" "));
            written.push(format!("\\{}", row.command));
            written.push(format!("{{ {}; }}", row.command));
            written.push(format!("({})", row.command));
            written.push(format!("! {}", row.command));
            written.push(format!("true && {} || false", row.command));
            written.push(format!("if {}; then :; fi", row.command));
        }
        for command in written {
            let after = every_rule().judge(&analyze(&command, &row.world), &row.world).decision;
            if after < before {
                looser.push(format!("{command:?}: {after} is milder than {before}"));
            }
        }
    }
    assert!(looser.is_empty(), "{}", looser.join("\n"));
}

#[test]
fn another_way_to_write_it_never_loosens() {
    // A name that is quoted already cannot be quoted again.
    let is_quoted =
        |row: &Row| row.command.split(' ').next().is_some_and(|name| name.contains(['\'', '"', '\\']));
    let is_plain = |row: &Row| is_simple(&row.command) && !is_quoted(row);
    for row in all().into_iter().filter(is_plain) {
        let before = row.judged().decision;
        let (first, rest) = row.command.split_once(' ').unwrap_or((&row.command, ""));
        let written = [
            format!("\\{first} {rest}"),
            format!("'{first}' {rest}"),
            format!("\"{first}\" {rest}"),
            format!("{first} \\\n  {rest}"),
            format!("\t{first}   {rest}  "),
            format!("true\r\n{first} {rest}\n"),
            format!("{{ {first} {rest}\n}}"),
            format!("({first} {rest})"),
            format!("! {first} {rest}"),
            format!("if true; then {first} {rest}\nfi"),
        ];
        for command in written {
            let after = every_rule().judge(&analyze(&command, &row.world), &row.world).decision;
            assert!(after >= before, "{command:?}: {after} is milder than {before}");
        }
    }
}

/// One program with its arguments.
fn is_simple(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    let builtin = [
        "cd", "eval", "source", ".", ":", "!", "trap", "alias", "export", "coproc", "time", "exec",
        "command", "builtin", "set", "read", "history", "kill", "if", "for", "while", "until", "case",
        "select", "[", "test", "hash", "declare", "local", "function", "shopt", "printf", "type", "compgen",
        "enable", "pushd", "unset", "mapfile", "wait", "echo", "let", "umask", "ulimit", "true",
    ];
    !builtin.contains(&first)
        && first.starts_with(|c: char| c.is_ascii_lowercase())
        && !first.contains(['=', '(', '{', '$', '`'])
        && !command.contains([';', '&', '|', '\n', '(', '`', '<', '>', '#'])
}

#[test]
fn random_scripts_are_judged_alike_each_time() {
    let world = World::new("/workspace", "/home/dev");
    for seed in 0..300 {
        let text = script(&mut Dice::new(seed + 50_000));
        assert_eq!(judge(&text, &world), judge(&text, &world));
    }
}

#[test]
fn any_bytes_are_judged_without_panic() {
    let world = World::new("/workspace", "/home/dev");
    let rows = all();
    let mut dice = Dice::new(11);
    let pieces = [
        "\"", "'", "`", "$(", "${", "((", "))", ")", "}", "{", "<<E\n", "\n", "\\", ";;", "|", "&", "<(",
        "$'", "é", "\u{202e}", "\0", "[[", "]]", "esac", "done", " ", "#", "~", "*", "=", ">", "@",
    ];
    for _ in 0..12_000 {
        let mut text = rows[dice.roll(rows.len())].command.clone();
        for _ in 0..=dice.roll(6) {
            let at = boundary(&text, dice.roll(text.len() + 1));
            if dice.roll(3) == 0 {
                let end = boundary(&text, at + dice.roll(9)).max(at);
                text.replace_range(at..end, "");
            } else {
                text.insert_str(at, dice.pick(&pieces));
            }
        }
        let verdict = judge(&text, &world);
        for finding in &verdict.findings {
            assert!(
                finding.span.start <= finding.span.end && finding.span.end <= text.len(),
                "{text:?} {finding:?}"
            );
        }
    }
}

fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Bounded work whatever the size: the budgets count steps, so this is the same on every machine.
#[test]
fn hostile_sizes_are_refused_not_followed() {
    let world = World::new("/workspace", "/home/dev");
    let doubling: String = "x=aaaaaaaa;".to_owned() + &"x=$x$x;".repeat(60) + "$x";
    let functions: String = "f0(){ c; };".to_owned()
        + &(1..60).map(|n| format!("f{n}(){{ f{0}; f{0}; f{0}; }};", n - 1)).collect::<String>()
        + "f59";
    let variables: String = (0..5_000).map(|n| format!("v{n}=1 && a | b;")).collect();
    let deep = |open: &str, close: &str| open.repeat(10_000) + "true" + &close.repeat(10_000);
    let opaque = [
        deep("( ", ")"),
        deep("$(", ")"),
        deep("{ ", "; }"),
        deep("if true; then ", "; fi"),
        deep("\"$(", ")\""),
        deep("$((", "))"),
        deep("${x:-", "}"),
        deep("<(", ")"),
        deep("eval ", ""),
        deep("sudo ", ""),
        deep("echo $(cat <<E\n", "\nE\n)"),
        deep("case x in x) ", ";; esac"),
        deep("f() ", ""),
        "a; ".repeat(350_000),
        "a ".repeat(500_000),
        "a | ".repeat(250_000) + "b",
        "{1..9}".repeat(200_000),
        "$x".repeat(500_000),
        "rm -rf / ;".repeat(100_000),
        "((".repeat(500_000),
        "<<E ".repeat(250_000),
        variables,
        functions,
        doubling,
        "a=(x);".to_owned() + &"a+=(\"${a[@]}\");".repeat(40) + "\"${a[@]}\"",
        "set -- a b;".to_owned() + &"set -- \"$@\" \"$@\";".repeat(40) + "$1",
        "echo a b > s;".to_owned() + &"cat s s > t; mv t s;".repeat(40) + ". ./s; $UNKNOWN",
        "echo 'cat s s > t; mv t s; . ./s' > s; . ./s; $UNKNOWN".to_owned(),
        "x=ab;".to_owned() + &"printf -v x '%s%s' \"$x\" \"$x\";".repeat(40) + "$x$UNKNOWN",
    ];
    // These are long and deep too, but mean nothing to bash: arithmetic, a subscript, one long word.
    let harmless =
        [deep("((", "))"), deep("a[", "]=1"), deep("`", "`"), "\\".repeat(1 << 20), "'".repeat(1 << 20)];
    for text in harmless {
        judge(&text, &world);
    }
    let worker = std::thread::Builder::new().stack_size(2 << 20);
    let judged = worker.spawn(move || {
        opaque.iter().map(|text| (text[..20].to_owned(), judge(text, &world).decision)).collect::<Vec<_>>()
    });
    for (text, decision) in judged.unwrap().join().unwrap() {
        assert_ne!(decision, Decision::Allow, "{text}");
    }
}

#[test]
fn a_large_file_written_by_a_heredoc_is_just_text() {
    let world = World::new("/workspace", "/home/dev");
    let text = format!("cat > notes.txt <<'EOF'\n{}EOF\n", "rm -rf / # never\n".repeat(60_000));
    let verdict = Policy::default().judge(&analyze(&text, &world), &world);
    assert_eq!(verdict.findings, []);
}
