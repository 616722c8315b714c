//! `find` and `fd`: which files, and what is done with each.

use crate::analysis::Stream;
use crate::options::Options;
use crate::scope::Scope;
use crate::text::{Piece, Text};

use super::Walker;
use super::launchers::filled;
use super::simple::Call;

impl Walker<'_> {
    pub(super) fn find(
        &mut self,
        program: &str,
        arguments: &[Text],
        call: &Call,
        scope: &mut Scope,
    ) -> Stream {
        let leading = |text: &str| matches!(text, "-H" | "-L" | "-P") || text.starts_with("-O");
        let start = arguments.iter().position(|argument| !leading(&argument.rough())).unwrap_or(0);
        let arguments = &arguments[start..];
        let begins = |argument: &Text| argument.prefix().starts_with(['-', '(', ')', '!']);
        let end = arguments.iter().position(begins).unwrap_or(arguments.len());
        let (mut roots, expression) = (arguments[..end].to_vec(), &arguments[end..]);
        if roots.is_empty() {
            roots.push(Text::known("."));
        }
        let choice = choice(expression);
        let targets: Vec<Text> = roots.iter().map(|root| chosen(root, &choice)).collect();
        let setting = call.setting.through(program);
        let mut ran = false;
        let mut at = 0;
        while let Some(word) = expression.get(at) {
            at += 1;
            match word.value() {
                Some("-delete") => {
                    ran = true;
                    let argv =
                        [vec![Text::known("rm"), Text::known("-rf"), Text::known("--")], targets.clone()]
                            .concat();
                    self.run(&Call { arguments: argv, setting: setting.clone(), ..call.clone() }, scope);
                }
                Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                    ran = true;
                    let ends = |argument: &Text| matches!(argument.value(), Some(";" | "+" | "\\;"));
                    let length = expression[at..].iter().position(ends).unwrap_or(expression.len() - at);
                    let command = &expression[at..at + length];
                    at += length;
                    let argv = command.iter().flat_map(|argument| filled(argument, "{}", &targets)).collect();
                    self.run(
                        &Call { arguments: argv, setting: setting.clone(), ..call.clone() },
                        &mut scope.clone(),
                    );
                }
                _ => {}
            }
        }
        let stream = self.emit(program, arguments.to_vec(), call, scope);
        if ran { stream } else { Stream::Names(targets) }
    }

    pub(super) fn fd(&mut self, arguments: &[Text], call: &Call, scope: &mut Scope) -> Stream {
        let runs =
            |argument: &Text| matches!(argument.value(), Some("-x" | "-X" | "--exec" | "--exec-batch"));
        let at = arguments.iter().position(runs);
        let before = &arguments[..at.unwrap_or(arguments.len())];
        let options = Options::parse(
            before,
            "etdEjcSo",
            &["extension", "type", "max-depth", "exclude", "changed-within", "size"],
        );
        let pattern =
            options.operands.first().is_some_and(|pattern| !matches!(pattern.value(), Some("." | "" | ".*")));
        let narrowed = options.has(&["e", "extension", "S", "size", "changed-within", "changed-before"]);
        let choice = if pattern || narrowed { Choice::Some } else { Choice::All };
        let mut roots: Vec<Text> = options.operands.iter().skip(1).cloned().collect();
        if roots.is_empty() {
            roots.push(Text::known("."));
        }
        let targets: Vec<Text> = roots.iter().map(|root| chosen(root, &choice)).collect();
        let Some(at) = at else {
            return Stream::Names(targets);
        };
        let command = &arguments[at + 1..];
        let mut argv: Vec<Text> =
            command.iter().flat_map(|argument| filled(argument, "{}", &targets)).collect();
        if !command.iter().any(|argument| argument.rough().contains("{}")) {
            argv.extend(targets);
        }
        self.run(&Call { arguments: argv, setting: call.setting.through("fd"), ..call.clone() }, scope)
    }
}

/// Which of the files below its roots `find` picks.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Choice {
    All,
    Named(String),
    Some,
}

fn choice(expression: &[Text]) -> Choice {
    const FILTERS: [&str; 22] = [
        "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-mmin", "-atime", "-amin", "-ctime",
        "-cmin", "-size", "-newer", "-empty", "-user", "-group", "-perm", "-inum", "-links", "-samefile",
        "-nouser", "-lname",
    ];
    let mut negated = false;
    let mut choice = Choice::All;
    // A test by another program, and links only, choose too.
    let asks = |pair: &[Text]| {
        matches!(
            (pair[0].value(), pair[1].value()),
            (Some("-exec" | "-execdir"), Some("test" | "[" | "grep" | "git" | "sh" | "bash"))
                | (Some("-type"), Some("l"))
        )
    };
    if expression.iter().any(|word| word.value() == Some("-delete")) && expression.windows(2).any(asks) {
        choice = Choice::Some;
    }
    // `-newer x -o -delete` deletes all the others.
    let or_acts = |pair: &[Text]| {
        matches!(pair[0].value(), Some("-o" | "-or"))
            && matches!(pair[1].value(), Some("-delete" | "-exec" | "-execdir"))
    };
    if expression.windows(2).any(or_acts) {
        return Choice::All;
    }
    for (at, word) in expression.iter().enumerate() {
        let Some(text) = word.value() else { continue };
        match text {
            "!" | "-not" => {
                negated = true;
                continue;
            }
            "-name" | "-iname" if !negated => {
                let pattern = expression.get(at + 1).map(Text::rough).unwrap_or_default();
                if !crate::patterns::matches_nearly_all(&pattern) {
                    choice = Choice::Named(pattern);
                }
            }
            _ if !negated
                && (FILTERS.contains(&text) || text.starts_with("-newer"))
                && choice == Choice::All =>
            {
                choice = Choice::Some;
            }
            _ => {}
        }
        negated = false;
    }
    choice
}

/// The files below a directory that are picked, as a path.
fn chosen(root: &Text, choice: &Choice) -> Text {
    let mut path = root.clone();
    match choice {
        Choice::All => {}
        Choice::Named(pattern) => {
            path.push_str("/");
            path.push(if pattern.contains(['*', '?', '[']) {
                Piece::Pattern(pattern.clone())
            } else {
                Piece::Known(pattern.clone())
            });
        }
        Choice::Some => path.push_str("/…"),
    }
    path
}
