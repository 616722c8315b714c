//! Variables, positional arguments and what `${…}` does with them.

use std::collections::BTreeSet;

use super::{Run, Splitting, Token, edits, split};
use crate::scope::{Arguments, Scope, Value};
use crate::syntax::ast::{Change, Parameter, Part, Word};
use crate::text::{Piece, Text, Why};
use crate::trace::Act;
use crate::walk::Walker;

impl Walker<'_> {
    pub(crate) fn parameter(
        &mut self,
        parameter: &Parameter,
        scope: &mut Scope,
        splitting: Splitting,
    ) -> Vec<Run> {
        if let Some(subscript) = &parameter.subscript {
            self.arithmetic(&subscript.parts, scope);
        }
        self.note_expansion(&parameter.name, scope);
        let lists = self.elements(parameter, scope);
        if matches!(parameter.change, Change::Indirect) {
            for name in lists.iter().flatten() {
                self.evaluate_subscript(name, scope);
            }
            for name in lists.iter().flatten().filter_map(Text::value) {
                self.note_expansion(name, scope);
            }
        }
        let changed: Vec<Vec<Text>> = match &parameter.change {
            Change::None => lists,
            Change::Length => vec![vec![Text::unknown(Why::Number)]],
            Change::Indirect => self.indirect(parameter, &lists, scope),
            Change::Default(word) => self.default(&lists, word, scope),
            Change::Assign(word) => {
                let lists = self.default(&lists, word, scope);
                let scalars =
                    lists.iter().filter_map(|list| list.first().cloned()).map(Value::Scalar).collect();
                scope.set(&parameter.name, scalars);
                lists
            }
            Change::Alternative(word) => {
                let mut values: Vec<_> =
                    self.values(word, scope).into_iter().map(|value| vec![value]).collect();
                if lists.iter().any(|list| may_be_empty(list)) {
                    values.push(vec![]);
                }
                values
            }
            Change::Require(word) => {
                self.look_into(word, scope);
                lists.into_iter().map(|list| list.into_iter().map(required).collect()).collect()
            }
            Change::Edit { operator: ":", words } if is_list(parameter) => {
                words.iter().for_each(|word| self.arithmetic(&word.parts, scope));
                let numbers: Vec<Option<usize>> = words
                    .iter()
                    .map(|word| {
                        self.fields(word, scope).first().and_then(|text| text.value()?.trim().parse().ok())
                    })
                    .collect();
                lists.into_iter().map(|list| slice(list, &numbers, &parameter.name)).collect()
            }
            Change::Edit { operator, words } => {
                if *operator == ":" {
                    words.iter().for_each(|word| self.arithmetic(&word.parts, scope));
                }
                let words: Vec<Text> = words
                    .iter()
                    .map(|word| self.fields(word, scope).into_iter().next().unwrap_or_default())
                    .collect();
                let edit = |text: &Text| edits::edit(text, operator, &words);
                lists.iter().map(|list| list.iter().map(edit).collect()).collect()
            }
            Change::Transform('P') => {
                // The value is expanded a second time, as a prompt is.
                self.record(Act::Unclear("a value is expanded once more"), scope);
                for text in lists.iter().flatten() {
                    self.second_evaluation(text, scope);
                }
                lists
            }
            Change::Transform('E') => {
                self.record(Act::Unclear("a value is transformed"), scope);
                let escaped = |text: &Text| {
                    text.value()
                        .map_or_else(|| text.clone(), |text| Text::known(crate::escapes::interpret(text)))
                };
                lists.iter().map(|list| list.iter().map(escaped).collect()).collect()
            }
            Change::Transform(_) => {
                self.record(Act::Unclear("a value is transformed"), scope);
                lists
            }
        };
        let every = parameter.name == "@"
            || parameter.subscript.as_ref().is_some_and(|word| word.bare_or_quoted("@"));
        changed.iter().map(|list| run_of(list, every, splitting, scope)).collect()
    }

    /// The possible values, each as the list of its elements.
    fn elements(&mut self, parameter: &Parameter, scope: &Scope) -> Vec<Vec<Text>> {
        let name = parameter.name.as_str();
        match name {
            "@" | "*" => match &scope.arguments {
                Arguments::Known(arguments) => return vec![arguments.clone()],
                Arguments::Unknown => return vec![vec![Text::unknown(Why::Argument(name.to_owned()))]],
            },
            _ if name.bytes().all(|byte| byte.is_ascii_digit()) => {
                let index: usize = name.parse().unwrap_or(usize::MAX);
                return vec![vec![match (&scope.arguments, index) {
                    (_, 0) => scope.get("0").and_then(scalar).unwrap_or_else(|| Text::known("bash")),
                    (Arguments::Known(arguments), _) => arguments.get(index - 1).cloned().unwrap_or_default(),
                    (Arguments::Unknown, _) => Text::unknown(Why::Argument(name.to_owned())),
                }]];
            }
            _ => {}
        }
        let index = parameter.subscript.as_ref().map(|word| word.rough());
        let Some(values) = scope.get(name) else {
            return self.variable(name, scope).into_iter().map(|text| vec![text]).collect();
        };
        let pick = |value: &Value| match (value, index.as_deref()) {
            (Value::Scalar(text), _) => vec![vec![text.clone()]],
            (Value::Array(all), Some("@" | "*")) => vec![all.clone()],
            (Value::Array(all), index) => match index.unwrap_or("0").trim().parse::<i64>() {
                Ok(index) => {
                    let from_end =
                        all.len().checked_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX));
                    let at = if index < 0 { from_end } else { usize::try_from(index).ok() };
                    vec![vec![at.and_then(|at| all.get(at)).cloned().unwrap_or_default()]]
                }
                // Any of them.
                Err(_) => all.iter().map(|text| vec![text.clone()]).collect(),
            },
        };
        values.iter().flat_map(pick).collect()
    }

    /// The possible values of a variable as one string.
    pub(crate) fn variable(&self, name: &str, scope: &Scope) -> Vec<Text> {
        if let Some(values) = scope.get(name) {
            let flat = |value: &Value| match value {
                Value::Scalar(text) => text.clone(),
                Value::Array(all) => all.first().cloned().unwrap_or_default(),
            };
            return values.iter().map(flat).collect();
        }
        let home = self.world.home();
        let known = |text: &str| vec![Text::known(text)];
        if let Some(value) = self.world.value_of(name).filter(|_| name != "PWD" && name != "OLDPWD") {
            return known(value);
        }
        match name {
            "HOME" => known(home),
            "PWD" => scope.cwds.clone(),
            "OLDPWD" => scope.previous.clone(),
            "TMPDIR" => known("/tmp"),
            "USER" | "LOGNAME" | "USERNAME" => known(self.world.user()),
            "SHELL" | "BASH" => known("/bin/bash"),
            "IFS" => known(" \t\n"),
            "PATH" => known("/usr/local/bin:/usr/bin:/bin"),
            "XDG_CACHE_HOME" => known(&format!("{home}/.cache")),
            "XDG_CONFIG_HOME" => known(&format!("{home}/.config")),
            "XDG_DATA_HOME" => known(&format!("{home}/.local/share")),
            "?" | "$" | "!" | "#" | "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "BASHPID"
            | "SHLVL" | "EPOCHSECONDS" | "COLUMNS" | "LINES" => vec![Text::unknown(Why::Number)],
            // In a text that bash is given, there is no file; the parts of its directory are those of this one.
            "BASH_SOURCE" if self.is_outermost() => known("bash"),
            "-" | "_" => vec![Text::unknown(Why::Required(name.to_owned()))],
            _ => vec![Text::unknown(Why::Variable(name.to_owned()))],
        }
    }

    fn default(&mut self, lists: &[Vec<Text>], word: &Word, scope: &mut Scope) -> Vec<Vec<Text>> {
        let values = self.values(word, scope);
        let is_plain = |text: &Text| text.value().is_some_and(|text| !text.is_empty());
        let has_default = !values.is_empty() && values.iter().all(is_plain);
        let mut all = vec![];
        for list in lists {
            // `${OUT:-out}`: what the environment says instead is the caller's own choice.
            let is_callers = matches!(list.as_slice(), [text] if matches!(text.pieces(), [Piece::Unknown(Why::Variable(_))]));
            if is_callers && has_default {
                self.record(Act::Unclear("a variable of the environment may say otherwise"), scope);
            } else if !list.iter().all(Text::is_empty) {
                all.push(list.clone());
            }
            if may_be_empty(list) {
                all.extend(values.iter().map(|value| vec![value.clone()]));
            }
        }
        all
    }

    fn indirect(&mut self, parameter: &Parameter, lists: &[Vec<Text>], scope: &Scope) -> Vec<Vec<Text>> {
        if parameter.subscript.is_some() {
            return vec![vec![Text::unknown(Why::Number)]];
        }
        let mut all = vec![];
        for name in lists.iter().flatten() {
            match name.value() {
                Some(name) if !name.is_empty() => {
                    all.extend(self.variable(name, scope).into_iter().map(|text| vec![text]));
                }
                _ => all.push(vec![Text::unknown(Why::Variable(parameter.name.clone()))]),
            }
        }
        all
    }

    /// Finds the commands in a word whose value does not matter.
    pub(crate) fn look_into(&mut self, word: &Word, scope: &mut Scope) {
        self.runs(&word.parts, scope, Splitting::No);
    }

    /// An arithmetic expression: what is substituted in it, and what the variables in it hold, is evaluated once more.
    pub(crate) fn arithmetic(&mut self, parts: &[Part], scope: &mut Scope) {
        let runs = self.runs(parts, scope, Splitting::No);
        let text: String = runs.iter().flatten().map(rough).collect();
        for token in runs.iter().flatten() {
            if let Token::Piece(piece) = token {
                let mut value = Text::default();
                value.push(piece.clone());
                self.record_evaluation(&value, scope);
            }
        }
        let assigns = text.contains('=') || text.contains("++") || text.contains("--");
        if text.contains("$(") || text.contains('`') {
            self.second_evaluation(&Text::known(text.clone()), scope);
        }
        for name in text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            if assigns && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                self.record_assignment(name, Text::unknown(Why::Number), scope);
            }
        }
        self.evaluate_names(&text, scope, &mut BTreeSet::new());
    }
}

fn scalar(values: &[Value]) -> Option<Text> {
    match values.first()? {
        Value::Scalar(text) => Some(text.clone()),
        Value::Array(_) => None,
    }
}

fn is_list(parameter: &Parameter) -> bool {
    matches!(parameter.name.as_str(), "@" | "*")
        || parameter.subscript.as_ref().is_some_and(|word| matches!(word.rough().as_str(), "@" | "*"))
}

/// `${@:2:3}`; all of it where the numbers are not known.
fn slice(list: Vec<Text>, numbers: &[Option<usize>], name: &str) -> Vec<Text> {
    let Some(Some(from)) = numbers.first().copied() else { return list };
    // Arguments are counted from one.
    let from = if matches!(name, "@" | "*") { from.saturating_sub(1) } else { from };
    let most = numbers.get(1).copied().flatten().unwrap_or(usize::MAX);
    list.into_iter().skip(from).take(most).collect()
}

fn rough(token: &Token) -> String {
    match token {
        Token::Piece(Piece::Known(text) | Piece::Pattern(text)) => text.clone(),
        Token::Piece(Piece::Unknown(_)) | Token::Break | Token::Quotes => String::new(),
    }
}

fn run_of(list: &[Text], every: bool, splitting: Splitting, scope: &Scope) -> Run {
    let mut run = vec![];
    for (index, text) in list.iter().enumerate() {
        if index > 0 {
            match (every, splitting) {
                (true, _) | (false, Splitting::Yes) => run.push(Token::Break),
                (false, Splitting::No) => run.push(Token::Piece(Piece::Known(" ".to_owned()))),
            }
        }
        run.extend(split(text, splitting, scope));
        if every && splitting == Splitting::No {
            run.push(Token::Quotes);
        }
    }
    run
}

fn may_be_empty(list: &[Text]) -> bool {
    list.iter().all(|text| {
        text.pieces().iter().all(|piece| {
            matches!(piece, Piece::Unknown(Why::Variable(_) | Why::Argument(_) | Why::Output(_)))
        })
    })
}

fn required(text: Text) -> Text {
    match text.pieces() {
        [Piece::Unknown(Why::Variable(name) | Why::Argument(name))] => {
            Text::unknown(Why::Required(name.clone()))
        }
        _ => text,
    }
}

impl Word {
    /// The text without regard to quotes and expansions.
    fn rough(&self) -> String {
        let rough = |part: &Part| match part {
            Part::Bare(text) | Part::Quoted(text) => text.clone(),
            _ => String::from("?"),
        };
        self.parts.iter().map(rough).collect()
    }

    fn bare_or_quoted(&self, text: &str) -> bool {
        self.rough() == text
    }
}
