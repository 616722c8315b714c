//! What bash evaluates although it looks like data: arithmetic, subscripts, and names of variables that have one.
//!
//! `x='a[$(cmd)]'; [[ x -eq 1 ]]` runs `cmd`: a name in an arithmetic expression stands for its value, which is an expression again,
//! and a subscript in that is expanded.

use std::collections::BTreeSet;

use crate::scope::{Scope, Value};
use crate::text::Text;

use super::Walker;

impl Walker<'_> {
    /// An arithmetic expression.
    pub(crate) fn evaluate_number(&mut self, text: &Text, scope: &mut Scope) {
        self.second_evaluation(text, scope);
        self.evaluate_names(&text.rough(), scope, &mut BTreeSet::new());
    }

    /// The name of a variable: what stands in brackets is an expression.
    pub(crate) fn evaluate_subscript(&mut self, text: &Text, scope: &mut Scope) {
        let rough = text.rough();
        if let Some((_, subscript)) = rough.split_once('[') {
            self.second_evaluation(text, scope);
            self.evaluate_names(subscript, scope, &mut BTreeSet::new());
        }
    }

    /// The values of the names in an expression, and of the names in those.
    pub(crate) fn evaluate_names(&mut self, text: &str, scope: &mut Scope, seen: &mut BTreeSet<String>) {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let names = text.split(|c: char| !is_letter(c)).filter(|name| !name.is_empty());
        for name in names.filter(|name| !name.starts_with(|c: char| c.is_ascii_digit())) {
            let values = scope.get(name).map(<[Value]>::to_vec).unwrap_or_default();
            if values.is_empty() || !seen.insert(name.to_owned()) || !self.step() {
                continue;
            }
            self.note_expansion(name, scope);
            let held = values.into_iter().flat_map(|value| match value {
                Value::Scalar(text) => vec![text],
                Value::Array(all) => all,
            });
            for value in held {
                self.second_evaluation(&value, scope);
                self.evaluate_names(&value.rough(), scope, seen);
            }
        }
    }

    /// A value that holds a substitution in brackets is meant to be evaluated, wherever that may be.
    pub(crate) fn look_at_value(&mut self, value: &Text, scope: &mut Scope) {
        let rough = value.rough();
        let subscript = rough.split_once('[').map(|(_, rest)| rest);
        if subscript.is_some_and(|rest| rest.contains("$(") || rest.contains('`') || rest.contains("${")) {
            self.second_evaluation(value, scope);
        }
    }
}
