//! The ways in which a step can be written: as typed, resolved, with and without a directory or variables.

use super::harmless::{DECLARE, is_harmless_variable};
use super::pattern::{Pattern, Reading, Symbol, symbols};
use crate::paths::{Place, locate, normalise};
use crate::programs::{GLOBAL_VALUES, is_listed};
use crate::text::{Piece, Text, Why};
use crate::trace::{Act, Invocation, Mode, Step};
use crate::world::World;

/// One way to write a step.
#[derive(Debug, Clone)]
pub(super) struct Form {
    pub(super) symbols: Vec<Symbol>,
    /// As it would be typed, for people and for regular expressions.
    pub(super) shown: String,
    /// Whether the name of the program has been made an absolute path.
    rooted: bool,
}

/// Directories of the system, where a program is what its name says.
const SYSTEM: [&str; 7] = [
    "/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/usr/local/sbin/", "/opt/homebrew/bin/",
];

/// All ways to write a step, for entries that stop it. The first is the one to show.
pub(super) fn all(step: &Step, world: &World) -> Vec<Form> {
    let Act::Call(call) = &step.act else { return allowable_or_shown(step, world) };
    let words = words_of(call);
    let mut forms = vec![of(&with_variables(call, |_| true), false), of(&words, false)];
    let Some((_, arguments)) = words.split_first() else { return forms };
    let named = |name: &str| [&[Text::known(name)], arguments].concat();
    let typed = call.words[0].value();
    let base = typed.and_then(|name| name.rsplit('/').next()).filter(|base| Some(*base) != typed);
    forms.extend(base.map(|base| of(&named(base), false)));
    if let Some(program) = call.program.as_deref().filter(|program| Some(*program) != typed) {
        forms.push(of(&named(program), false));
    }
    // `git -C dir push` is a push.
    if call.program.as_deref() == Some("git") {
        let skipped = leading_options(arguments);
        if skipped > 0 {
            forms.push(of(&[&[Text::known("git")], &arguments[skipped..]].concat(), false));
        }
    }
    forms
}

fn allowable_or_shown(step: &Step, world: &World) -> Vec<Form> {
    let forms = allowable(step, world);
    if !forms.is_empty() {
        return forms;
    }
    let shown = match &step.act {
        Act::Write { target, mode: Mode::Append } => format!(">> {target}"),
        Act::Write { target, .. } => format!("> {target}"),
        Act::Unclear(reason) => format!("({reason})"),
        Act::Assign { name, value } => format!("{name}={}", quoted(value)),
        Act::Call(call) => of(&call.words, false).shown,
    };
    vec![Form { symbols: vec![Symbol::Unknown], shown, rooted: false }]
}

/// Options of git before its subcommand that change nothing but how it prints and waits.
const MILD: [&str; 3] = ["--no-pager", "-P", "--no-optional-locks"];

/// The same step without options that change nothing. None if it has none.
pub(super) fn milder(step: &Step) -> Option<Step> {
    let Act::Call(call) = &step.act else { return None };
    let (name, arguments) = call.words.split_first()?;
    let mild = |word: &&Text| word.value().is_some_and(|word| MILD.contains(&word));
    let count = arguments.iter().take_while(mild).count();
    if call.program.as_deref() != Some("git") || count == 0 {
        return None;
    }
    let words = std::iter::once(name).chain(&arguments[count..]).cloned().collect();
    Some(Step { act: Act::Call(Invocation { words, ..call.clone() }), ..step.clone() })
}

/// The ways in which a step may go, each of which must be allowed. None if that cannot be told.
pub(super) fn allowable(step: &Step, world: &World) -> Vec<Form> {
    match &step.act {
        Act::Call(call) => {
            let Some(name) = call.words.first().and_then(Text::value).filter(|name| !name.is_empty()) else {
                return vec![];
            };
            let words = with_variables(call, |name| !is_harmless_variable(name));
            let at = words.len() - words_of(call).len();
            let system =
                SYSTEM.iter().find_map(|place| name.strip_prefix(place)).filter(|base| !base.contains('/'));
            if let Some(base) = system {
                return vec![of(&replaced(&words, at, base), false)];
            }
            if !name.contains('/') {
                return vec![of(&words, false)];
            }
            let paths = locate(&call.words[0], &step.cwds, world);
            if paths.iter().any(|path| path.why.is_some()) {
                return vec![];
            }
            paths.iter().map(|path| of(&replaced(&words, at, &path.name), true)).collect()
        }
        Act::Assign { name, value } => {
            let mut word = Text::known(format!("{name}="));
            word.append(value);
            vec![of(&[word], false)]
        }
        Act::Write { target, mode } => {
            let fixed = |piece: &Piece| !matches!(piece, Piece::Unknown(why) if *why != Why::Number);
            if !target.pieces().iter().all(fixed) || *mode == Mode::Connect {
                return vec![];
            }
            let sign = if *mode == Mode::Append { ">>" } else { ">" };
            let form = |path: &crate::paths::Path| {
                let name = Text::known(relative(&path.name, world));
                let symbols = path.name.chars().map(Symbol::Char).collect();
                Form { symbols, shown: format!("{sign} {}", quoted(&name)), rooted: false }
            };
            let paths = locate(target, &step.cwds, world);
            if paths.iter().any(|path| path.why.is_some()) {
                return vec![];
            }
            paths.iter().map(form).collect()
        }
        Act::Unclear(_) => vec![],
    }
}

/// A pattern whose program is in a directory means the one in the workspace, not one of that name elsewhere.
pub(super) fn rooted(pattern: &Pattern, form: &Form, world: &World) -> Vec<Pattern> {
    if !form.rooted {
        return vec![pattern.clone()];
    }
    let words = pattern.words();
    let at = words.iter().take_while(|word| word.contains('=') && !word.starts_with('/')).count();
    let Some(program) = words.get(at).filter(|program| program.contains('/') && at < pattern.constants())
    else {
        return vec![];
    };
    if program.starts_with('/') {
        return vec![pattern.with_word(at, &normalise(program))];
    }
    if let Some(rest) = program.strip_prefix("~/") {
        return vec![pattern.with_word(at, &normalise(&format!("{}/{rest}", world.home())))];
    }
    let roots = world.workspaces().iter();
    roots.map(|root| pattern.with_word(at, &normalise(&format!("{root}/{program}")))).collect()
}

/// Whether a pattern for a path fits the one that is written, in the workspace if it is relative.
pub(super) fn fits_path(path: &Pattern, form: &Form, world: &World, reading: Reading) -> bool {
    let words = path.words();
    let Some(word) = words.first() else { return false };
    let target: String = form.symbols.iter().copied().map(shown_symbol).collect();
    // Programs run what is in a repository's own directory.
    if reading == Reading::Proven && inside_repository(&target) && !word.contains(".git") && !path.is_exact()
    {
        return false;
    }
    if word.starts_with(['/', '~']) {
        return path.fits(&form.symbols, world.home(), reading);
    }
    world.workspaces().iter().any(|root| {
        let inner = target.strip_prefix(root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
        let Some(inner) = inner else { return reading == Reading::Possible && target == " " };
        let symbols: Vec<Symbol> = inner.chars().map(Symbol::Char).collect();
        path.fits(&symbols, world.home(), reading)
    })
}

fn inside_repository(path: &str) -> bool {
    path.split('/').any(|part| part == ".git")
}

fn shown_symbol(symbol: Symbol) -> char {
    match symbol {
        Symbol::Char(c) => c,
        Symbol::Break | Symbol::Any | Symbol::Home | Symbol::Unknown | Symbol::Glob => ' ',
    }
}

/// Whether a redirection leads to nothing that is kept.
pub(super) fn is_nowhere(target: &Text, cwds: &[Text], world: &World) -> bool {
    let nowhere = |path: &str| {
        matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
            || path.strip_prefix("/dev/fd/").is_some_and(|fd| fd.bytes().all(|byte| byte.is_ascii_digit()))
    };
    target.value().is_some()
        && locate(target, cwds, world).iter().all(|path| path.place == Place::Harmless && nowhere(&path.name))
}

/// Whether a step is certainly taken in the root of a workspace.
pub(super) fn is_in_root(step: &Step, world: &World) -> bool {
    let root = |path: &str| world.workspaces().iter().any(|root| normalise(root) == normalise(path));
    step.cwds.iter().all(|cwd| cwd.value().is_some_and(root))
}

/// The words of a call; what a declaration sets is among them.
fn words_of(call: &Invocation) -> Vec<Text> {
    let declares = call.words.first().and_then(Text::value).is_some_and(|name| DECLARE.contains(&name));
    let set = call.environment.iter().filter(|_| declares).map(assignment);
    call.words.iter().cloned().chain(set).collect()
}

/// The words of a call after the variables that are set for it.
fn with_variables(call: &Invocation, counts: impl Fn(&str) -> bool) -> Vec<Text> {
    let declares = call.words.first().and_then(Text::value).is_some_and(|name| DECLARE.contains(&name));
    let set = call.environment.iter().filter(|(name, _)| !declares && counts(name)).map(assignment);
    set.chain(words_of(call)).collect()
}

fn assignment((name, value): &(String, Text)) -> Text {
    let mut word = Text::known(format!("{name}="));
    word.append(value);
    word
}

fn replaced(words: &[Text], at: usize, name: &str) -> Vec<Text> {
    let mut words = words.to_vec();
    words[at] = Text::known(name);
    words
}

fn of(words: &[Text], rooted: bool) -> Form {
    let shown = words.iter().map(quoted).collect::<Vec<_>>().join(" ");
    Form { symbols: symbols(words), shown, rooted }
}

/// A word as it would be typed: text that the shell would read as something else is quoted.
fn quoted(word: &Text) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,~^…".contains(c);
    let Some(text) = word.value() else { return word.to_string() };
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A path in the workspace from its root, any other as it is.
fn relative(path: &str, world: &World) -> String {
    let inner =
        world.workspaces().iter().find_map(|root| path.strip_prefix(root.as_str())?.strip_prefix('/'));
    inner.unwrap_or(path).to_owned()
}

/// How many of the words are options before the first that is none.
fn leading_options(arguments: &[Text]) -> usize {
    let mut at = 0;
    while let Some(word) = arguments.get(at).map(Text::rough).filter(|word| word.starts_with('-')) {
        at += if is_listed(GLOBAL_VALUES, &word) { 2 } else { 1 };
    }
    at.min(arguments.len())
}

/// Enough of a text to recognise it.
pub(super) fn shortened(text: &str) -> String {
    const LONGEST: usize = 200;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}
