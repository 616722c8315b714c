//! Variables that are set: for good, or for one command.

use crate::analysis::{Setting, Stream};
use crate::scope::{Scope, Value, union};
use crate::syntax::ast::{Assigned, Assignment};
use crate::text::Text;

use super::Walker;

impl Walker<'_> {
    pub(super) fn assign(&mut self, assignment: &Assignment, scope: &mut Scope) -> Vec<(String, Text)> {
        if let Some(subscript) = &assignment.subscript {
            self.arithmetic(&subscript.parts, scope);
            // Which element it is is not followed.
            self.doubtful.insert(assignment.name.clone());
        }
        let name = assignment.name.as_str();
        if let ("BASH_CMDS", Some(subscript), Assigned::Word(word)) =
            (name, &assignment.subscript, &assignment.value)
        {
            let path = self.values(word, scope).pop().unwrap_or_default().rough();
            let base = path.rsplit('/').next().unwrap_or_default().to_owned();
            let key = self.values(subscript, scope).pop().unwrap_or_default().rough();
            scope.hashed.insert(key, base);
        }
        if let ("BASH_ALIASES", Some(subscript), Assigned::Word(word)) =
            (name, &assignment.subscript, &assignment.value)
        {
            let code = self.values(word, scope).pop().unwrap_or_default().rough();
            let key = self.values(subscript, scope).pop().unwrap_or_default().rough();
            scope.aliases.insert(key, code);
        }
        let mut values: Vec<Value> = match &assignment.value {
            Assigned::Word(word) => self.values(word, scope).into_iter().map(Value::Scalar).collect(),
            Assigned::Array(words) => {
                vec![Value::Array(words.iter().flat_map(|word| self.fields(word, scope)).collect())]
            }
        };
        for value in &values {
            match value {
                Value::Scalar(text) => self.look_at_value(text, scope),
                // `name=([expression]=value)`
                Value::Array(all) => all.iter().for_each(|text| {
                    self.look_at_value(text, scope);
                    if text.prefix().starts_with('[') {
                        self.evaluate_subscript(text, scope);
                    }
                }),
            }
        }
        if let [Value::Array(all)] = values.as_slice()
            && all.iter().any(|text| text.prefix().starts_with('['))
        {
            values = sparse(all);
        }
        if assignment.append || assignment.subscript.is_some() {
            let before = scope.get(name).map(<[Value]>::to_vec).unwrap_or_default();
            let scalar = assignment.subscript.is_none();
            let all = appended(before, &values, scalar);
            // `$name` is the first element, and that may be this one.
            values = if scalar { all } else { union(all, values) };
        }
        let shown = values.iter().filter_map(|value| match value {
            Value::Scalar(text) => Some((name.to_owned(), text.clone())),
            Value::Array(_) => None,
        });
        let environment = shown.collect();
        scope.set(name, values);
        environment
    }

    /// Variables that hold commands: bash or some program runs them.
    pub(super) fn run_environment(
        &mut self,
        environment: &[(String, Text)],
        scope: &mut Scope,
        setting: &Setting,
    ) {
        for (name, value) in environment {
            match name.as_str() {
                "PROMPT_COMMAND"
                | "GIT_SSH_COMMAND"
                | "GIT_PAGER"
                | "PAGER"
                | "MANPAGER"
                | "EDITOR"
                | "VISUAL"
                | "GIT_EDITOR"
                | "GIT_SEQUENCE_EDITOR"
                | "GIT_EXTERNAL_DIFF"
                | "LESSOPEN"
                | "BROWSER"
                | "GIT_PROXY_COMMAND" => {
                    let setting = Setting { input: Stream::Nothing, ..setting.through(name) };
                    self.script(value, &mut scope.clone(), &setting);
                }
                "PS0" | "PS1" | "PS2" | "PS4" => self.second_evaluation(value, scope),
                "BASH_ENV" | "ENV" => {
                    if let Stream::Known(code) = self.content(value, scope) {
                        self.script(&code, &mut scope.clone(), &setting.through(name));
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn notice_environment(
        &mut self,
        environment: Vec<(String, Text)>,
        scope: &mut Scope,
        setting: &Setting,
    ) {
        self.run_environment(&environment, scope, setting);
        for (name, value) in environment {
            if name == "BASH_CMDS" {
                continue;
            }
            if crate::rules::is_loaded_by_programs(&name) {
                let mut found = self.new_found("", vec![], scope, setting);
                found.environment.push((name, value));
                self.commands.push(found);
            }
        }
    }
}

/// `([5]=a [9]=b)`: which element is which is not followed, so each of them may be any.
fn sparse(all: &[Text]) -> Vec<Value> {
    let value = |text: &Text| {
        let rough = text.rough();
        let end = rough.find("]=").filter(|_| rough.starts_with('['));
        end.and_then(|end| text.strip_prefix(&rough[..end + 2])).unwrap_or_else(|| text.clone())
    };
    let texts: Vec<Text> = all.iter().map(value).collect();
    let alone = texts.iter().cloned().map(Value::Scalar).collect();
    union(vec![Value::Array(texts)], alone)
}

fn appended(before: Vec<Value>, added: &[Value], scalar: bool) -> Vec<Value> {
    let before = if before.is_empty() { vec![Value::Scalar(Text::default())] } else { before };
    let mut all = vec![];
    for old in &before {
        for new in added {
            all.push(match (old.clone(), new.clone()) {
                (Value::Scalar(mut text), Value::Scalar(more)) if scalar => {
                    text.append(&more);
                    Value::Scalar(text)
                }
                (old, new) => Value::Array([elements(old), elements(new)].concat()),
            });
        }
    }
    all
}

fn elements(value: Value) -> Vec<Text> {
    match value {
        Value::Scalar(text) if text.is_empty() => vec![],
        Value::Scalar(text) => vec![text],
        Value::Array(all) => all,
    }
}
