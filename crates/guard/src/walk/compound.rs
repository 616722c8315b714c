//! Lists, pipelines and compound commands.

use crate::analysis::{Found, Setting, Shape, Stream};
use crate::effects;
use crate::scope::{Arguments, MOST_ALTERNATIVES, Scope, Value, union};
use crate::syntax::ast::{Arm, Command, Item, Kind, List, Pipeline, Then, Word};
use crate::text::{Text, Why};
use crate::trace::Act;
use std::rc::Rc;

use super::visit::{visit, visit_in_command, visit_lists};
use super::{Walker, output};

impl Walker<'_> {
    /// The commands of a list, and what they print together.
    pub(crate) fn list(&mut self, list: &List, scope: &mut Scope, setting: &Setting) -> Stream {
        let mut printed = Stream::Nothing;
        let mut index = 0;
        while let Some(item) = list.items.get(index) {
            let before = scope.cwds.clone();
            let stream = self.item(item, scope, setting);
            printed = output::followed_by(printed, stream);
            let mut link = item.then;
            let mut skips: Vec<Scope> = vec![];
            // The rest of `a && b || c`.
            while matches!(link, Then::And | Then::Or) {
                let before = &list.items[index];
                index += 1;
                let Some(next) = list.items.get(index) else { break };
                let skipped = scope.clone();
                let stream = self.item(next, scope, setting);
                printed = output::followed_by(printed, stream);
                match link {
                    Then::And if is_test(before) => scope.merge(skipped),
                    Then::Or if ends_here(&next.pipeline) => {
                        self.doubt(scope, &skipped);
                        *scope = skipped;
                    }
                    Then::Or => scope.merge(skipped),
                    Then::And => skips.push(skipped),
                    Then::Next | Then::Background => {}
                }
                link = next.then;
            }
            // What follows runs too where the first part of `a && b` failed.
            for skipped in skips {
                self.doubt(scope, &skipped);
            }
            index += 1;
            // Without `&&` what follows runs too where a directory could not be entered.
            let is_anywhere = |path: &Text| matches!(path.why(), Some(Why::Many));
            let moved =
                scope.cwds != before && !scope.has_made(&scope.cwds) && !scope.cwds.iter().any(is_anywhere);
            if index < list.items.len() && !scope.ends_on_failure && moved {
                scope.cwds = union(std::mem::take(&mut scope.cwds), before);
                scope.cwds.truncate(MOST_ALTERNATIVES);
            }
        }
        printed
    }

    fn item(&mut self, item: &Item, scope: &mut Scope, setting: &Setting) -> Stream {
        if item.then == Then::Background {
            return self.pipeline(&item.pipeline, &mut scope.clone(), setting);
        }
        self.pipeline(&item.pipeline, scope, setting)
    }

    fn pipeline(&mut self, pipeline: &Pipeline, scope: &mut Scope, setting: &Setting) -> Stream {
        if let [only] = pipeline.stages.as_slice() {
            return self.command(only, scope, setting);
        }
        let mut stream = setting.input.clone();
        let mut last = scope.clone();
        for stage in &pipeline.stages {
            let mut inner = scope.clone();
            inner.share_files(&last);
            let setting = Setting { input: stream, ..setting.clone() };
            stream = self.command(stage, &mut inner, &setting);
            last = inner;
        }
        scope.share_files(&last);
        stream
    }

    fn command(&mut self, command: &Command, scope: &mut Scope, setting: &Setting) -> Stream {
        if !self.step() {
            return Stream::Nothing;
        }
        let outer = std::mem::replace(&mut self.span, command.span);
        let saved = std::mem::replace(&mut self.setting, setting.clone());
        let stream = match &command.kind {
            Kind::Simple(simple) => self.simple(simple, &command.redirects, scope, setting),
            kind => {
                let redirected = self.redirects(&command.redirects, scope, setting);
                self.redirection_alone(&redirected, scope, setting);
                let inner = Setting { input: redirected.input.clone(), ..setting.clone() };
                let connected = scope.connected;
                scope.connected |= redirected.connected;
                let descriptors = scope.descriptors.clone();
                scope.descriptors.extend(redirected.descriptors.clone());
                let stream = self.compound(kind, scope, &inner);
                scope.descriptors = descriptors;
                // A coprocess stays.
                scope.connected = connected || scope.connected && matches!(kind, Kind::Coprocess { .. });
                redirected.deliver(stream, scope)
            }
        };
        self.span = outer;
        self.setting = saved;
        stream
    }

    fn compound(&mut self, kind: &Kind, scope: &mut Scope, setting: &Setting) -> Stream {
        match kind {
            Kind::Simple(_) => Stream::Nothing,
            Kind::Group(list) => self.list(list, scope, setting),
            Kind::Subshell(list) => self.list(list, &mut scope.clone(), setting),
            Kind::Coprocess { name, body: command } => {
                if let Some(name) = name {
                    self.record_assignment(name, Text::unknown(Why::Number), scope);
                }
                let before = self.commands.len();
                let stream = self.command(command, &mut scope.clone(), setting);
                // What is joined to it talks to whoever it talks to.
                let talks = |found: &Found| !effects::hosts(found).is_empty() || found.connected;
                scope.connected |= self.commands[before..].iter().any(talks);
                stream
            }
            Kind::If { branches, otherwise } => {
                self.conditional(branches, otherwise.as_ref(), scope, setting)
            }
            Kind::Loop { condition, body } => self.while_loop(condition, body, scope, setting),
            Kind::For { name, words, body } => {
                let values: Vec<Text> = match words {
                    Some(words) => words.iter().flat_map(|word| self.fields(word, scope)).collect(),
                    None => match &scope.arguments {
                        Arguments::Known(arguments) => arguments.clone(),
                        Arguments::Unknown => vec![Text::unknown(Why::Argument("@".to_owned()))],
                    },
                };
                self.record_assignment(name, Text::unknown(Why::Many), scope);
                values.iter().for_each(|value| self.look_at_value(value, scope));
                scope.set(
                    name,
                    values.into_iter().map(Value::Scalar).fold(vec![], |all, one| union(all, vec![one])),
                );
                self.repeated(body, scope, setting)
            }
            Kind::ArithmeticFor { header, body } => {
                self.arithmetic(&header.parts, scope);
                self.repeated(body, scope, setting)
            }
            Kind::Case { subject, arms } => {
                self.look_into(subject, scope);
                self.case(arms, scope, setting)
            }
            Kind::Function { name, body } => {
                let partners = scope
                    .functions
                    .iter()
                    .filter(|(_, other)| calls(other, name))
                    .map(|(partner, _)| partner.as_str());
                if [name.as_str()].into_iter().chain(partners).any(|name| multiplies(name, body)) {
                    self.shapes.push(Shape::ForkBomb(self.span));
                }
                // Looked at even if it is never called: it may be, by something that is not seen here.
                let mut inner = scope.clone();
                inner.arguments = Arguments::Unknown;
                inner.undefine(name);
                self.inside_functions += 1;
                self.opaque_allowed(|walker| walker.command(body, &mut inner, setting));
                self.inside_functions -= 1;
                if name == "command_not_found_handle" {
                    self.record(Act::Unclear("a function runs in place of programs that are missing"), scope);
                }
                scope.define(name, Rc::new((**body).clone()));
                if self.certain.contains(&self.span) {
                    self.functions.insert(name.clone());
                }
                Stream::Nothing
            }
            Kind::Arithmetic(word) => {
                self.arithmetic(&word.parts, scope);
                let text = self.values(word, scope).pop().unwrap_or_default();
                // Other shells know no arithmetic here: to them these are commands.
                let other =
                    setting.via.iter().any(|via| matches!(via.as_str(), "sh" | "dash" | "ash" | "busybox"));
                let rough = text.rough();
                let ends_early = rough.trim_end_matches([')', ' ']).ends_with(['/', '~', '*', '-', '.']);
                // `((n--))` is no command in any shell.
                let counts = rough.trim().strip_suffix("--").is_some_and(|name| {
                    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                });
                if other || ends_early && !counts {
                    self.script(&text, &mut scope.clone(), setting);
                }
                Stream::Nothing
            }
            Kind::Test(words) => {
                // Numbers are compared by evaluating both sides, and a variable is looked up by evaluating its subscript.
                let compares = ["-v", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
                let evaluates =
                    words.iter().any(|word| word.bare().is_some_and(|bare| compares.contains(&bare)));
                let mut looks_up = false;
                for word in words {
                    for value in self.values(word, scope) {
                        if std::mem::take(&mut looks_up) {
                            self.evaluate_subscript(&value, scope);
                        } else if evaluates {
                            self.evaluate_number(&value, scope);
                        }
                    }
                    looks_up = word.bare() == Some("-v");
                }
                Stream::Nothing
            }
        }
    }

    fn while_loop(&mut self, condition: &List, body: &List, scope: &mut Scope, setting: &Setting) -> Stream {
        let outer = std::mem::take(&mut self.expanded);
        let stream = self.list(condition, scope, setting);
        let before = scope.clone();
        let used = std::mem::take(&mut self.expanded);
        let stream = output::followed_by(stream, self.repeated(body, scope, setting));
        let used_in_body = std::mem::replace(&mut self.expanded, used);
        // The condition is met again after the body.
        self.record_change(&before, scope);
        self.expanded.extend(used_in_body);
        self.expanded.extend(outer);
        stream
    }

    fn case(&mut self, arms: &[Arm], scope: &mut Scope, setting: &Setting) -> Stream {
        let before = scope.clone();
        let mut printed = Stream::Nothing;
        let mut goes_on: Option<Scope> = None;
        for arm in arms {
            for pattern in &arm.patterns {
                self.look_into(pattern, scope);
            }
            let mut inner = before.clone();
            if let Some(last) = goes_on.take() {
                inner.merge(last);
            }
            printed = output::followed_by(printed, self.list(&arm.body, &mut inner, setting));
            goes_on = arm.goes_on.then(|| inner.clone());
            if ends(&arm.body) {
                self.doubt(&inner, &before);
            } else {
                scope.merge(inner);
            }
        }
        printed
    }

    fn conditional(
        &mut self,
        branches: &[(List, List)],
        otherwise: Option<&List>,
        scope: &mut Scope,
        setting: &Setting,
    ) -> Stream {
        let mut printed = Stream::Nothing;
        let mut ways: Vec<Scope> = vec![];
        for (condition, body) in branches {
            printed = output::followed_by(printed, self.list(condition, scope, setting));
            let mut inner = scope.clone();
            printed = output::followed_by(printed, self.list(body, &mut inner, setting));
            if ends(body) {
                self.doubt(&inner, scope);
            } else {
                ways.push(inner);
            }
        }
        if let Some(body) = otherwise {
            let mut inner = scope.clone();
            printed = output::followed_by(printed, self.list(body, &mut inner, setting));
            if ends(body) {
                self.doubt(&inner, scope);
            } else {
                ways.push(inner);
            }
            if !ways.is_empty() {
                *scope = ways.remove(0);
            }
        }
        for way in ways {
            scope.merge(way);
        }
        printed
    }

    /// The body of a loop: once, and once more with what the first time may have changed.
    fn repeated(&mut self, body: &List, scope: &mut Scope, setting: &Setting) -> Stream {
        let mut inner = scope.clone();
        let stream = self.list(body, &mut inner, setting);
        let changed = assigns(body);
        scope.merge(inner);
        if changed {
            let outer = std::mem::take(&mut self.expanded);
            let mut again = scope.clone();
            let before = scope.clone();
            self.list(body, &mut again, setting);
            scope.merge(again);
            self.record_change(&before, scope);
            self.expanded.extend(outer);
        }
        stream
    }

    /// Runs something whose unknown arguments are no reason to ask: a function that nobody has called.
    fn opaque_allowed(&mut self, inner: impl FnOnce(&mut Self) -> Stream) {
        let (opaque, commands) = (self.opaque.clone(), self.commands.len());
        inner(self);
        self.opaque = opaque;
        for command in &mut self.commands[commands..] {
            command.forget_arguments();
        }
    }
}

/// A command that may well fail, so that what comes after `&&` may not happen.
fn is_test(item: &Item) -> bool {
    let Some(command) = item.pipeline.stages.last() else { return false };
    match &command.kind {
        Kind::Test(_) | Kind::Arithmetic(_) => true,
        Kind::Simple(simple) => simple.words.first().and_then(Word::bare).is_some_and(|name| {
            matches!(name, "[" | "test" | "false" | "grep" | "command" | "which" | "type")
        }),
        _ => item.pipeline.negated,
    }
}

fn ends(list: &List) -> bool {
    list.items.last().is_some_and(|item| ends_here(&item.pipeline))
}

/// Nothing after it runs.
fn ends_here(pipeline: &Pipeline) -> bool {
    let [command] = pipeline.stages.as_slice() else { return false };
    match &command.kind {
        Kind::Group(list) => ends(list),
        Kind::Simple(simple) => {
            let name = simple.words.first().and_then(Word::bare);
            matches!(name, Some("exit" | "return" | "break" | "continue"))
                || name == Some("exec") && simple.words.len() > 1
        }
        _ => false,
    }
}

/// Whether a list changes variables or the working directory, at any depth.
fn assigns(list: &List) -> bool {
    let mut changes = false;
    visit(list, &mut |command| {
        if let Kind::Simple(simple) = &command.kind {
            let name = simple.words.first().and_then(Word::bare);
            changes |= simple.words.is_empty()
                || matches!(name, Some("cd" | "pushd" | "popd" | "set" | "shift" | "read"));
            changes |= !simple.assignments.is_empty();
        }
    });
    changes
}

/// Whether a command calls this name anywhere in it.
fn calls(command: &Command, name: &str) -> bool {
    let mut found = false;
    visit_in_command(command, &mut |list| {
        for stage in list.items.iter().flat_map(|item| &item.pipeline.stages) {
            found |= matches!(&stage.kind, Kind::Simple(simple) if simple.words.first().and_then(Word::bare) == Some(name));
        }
    });
    found
}

/// A function that starts itself more than once, or in the background: each call makes more of them.
fn multiplies(name: &str, body: &Command) -> bool {
    let calls = |command: &Command| matches!(&command.kind, Kind::Simple(simple) if simple.words.first().and_then(Word::bare) == Some(name));
    let list = List {
        items: vec![Item {
            pipeline: Pipeline { negated: false, stages: vec![body.clone()] },
            then: Then::Next,
        }],
    };
    let mut found = false;
    visit_lists(&list, &mut |list| {
        for item in &list.items {
            let own = item.pipeline.stages.iter().filter(|stage| calls(stage)).count();
            found |= own > 1 || own == 1 && item.then == Then::Background;
        }
    });
    found
}

/// The classic one where the text is not even a script, as other shells take it.
pub(super) fn bomb_in(text: &str) -> bool {
    let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let Some((before, after)) = squeezed.split_once("(){") else { return false };
    let name = before.rsplit([';', '&', '|', '(', '{']).next().unwrap_or_default();
    !name.is_empty() && after.contains(&format!("{name}|{name}"))
}
