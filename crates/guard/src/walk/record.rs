//! Writes down the steps of a script for those who decide what is allowed.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::scope::Scope;
use crate::syntax::ast::{Kind, List, Operator, Span, Then};
use crate::text::{Piece, Text, Why};
use crate::trace::{Act, Function, Invocation, Mode, Step};

use super::Walker;
use super::simple::Call;

impl Walker<'_> {
    /// Adds a step; what is met until the parent changes again belongs to it.
    pub(crate) fn record(&mut self, act: Act, scope: &Scope) -> usize {
        // Most steps are taken in the same directory.
        if *self.cwds_of_steps != scope.cwds {
            self.cwds_of_steps = Arc::new(scope.cwds.clone());
        }
        let cwds = Arc::clone(&self.cwds_of_steps);
        self.steps_taken.push(Step { parent: self.parent, span: self.span, cwds, act });
        self.steps_taken.len() - 1
    }

    pub(super) fn record_call(&mut self, call: &Call, scope: &Scope) -> usize {
        let name = call.arguments.first();
        let known = name.and_then(Text::value);
        let function = match known.filter(|name| scope.functions.contains_key(*name)) {
            None => Function::No,
            // Functions do not follow into other processes, and `command` passes them by.
            Some(name) if call.setting.via.is_empty() && self.functions.contains(name) => Function::Certainly,
            Some(_) => Function::Perhaps,
        };
        let environment = call.environment.clone();
        let words = call.arguments.clone();
        self.record(Act::Call(Invocation { words, environment, program: None, function }), scope)
    }

    /// What the name of the call that is being followed comes to.
    pub(super) fn record_program(&mut self, program: &str) {
        if let Some(Act::Call(call)) = self.parent.map(|parent| &mut self.steps_taken[parent].act) {
            call.program = Some(program.to_owned());
        }
    }

    pub(crate) fn record_assignment(&mut self, name: &str, value: Text, scope: &Scope) {
        self.record(Act::Assign { name: name.to_owned(), value }, scope);
    }

    /// A redirection that opens something.
    pub(super) fn record_redirect(&mut self, operator: Operator, target: &Text, scope: &Scope) {
        let connects = ["/dev/tcp/", "/dev/udp/"].iter().any(|device| target.prefix().starts_with(device));
        let mode = match operator {
            _ if connects => Mode::Connect,
            Operator::Write | Operator::WriteBoth | Operator::ReadWrite => Mode::Replace,
            Operator::Append | Operator::AppendBoth => Mode::Append,
            // `1>&name` with a name that is no number opens a file too.
            Operator::Duplicate if !is_descriptor(target) => Mode::Replace,
            Operator::Duplicate | Operator::Read | Operator::HereDocument | Operator::HereString => return,
        };
        self.record(Act::Write { target: target.clone(), mode }, scope);
    }

    /// The value of a variable is used.
    pub(crate) fn note_expansion(&mut self, name: &str, scope: &Scope) {
        if self.doubtful.contains(name) {
            self.record(Act::Unclear("the value of a variable depends on what happens before"), scope);
        }
        if !self.expanded.contains(name) {
            self.expanded.insert(name.to_owned());
        }
    }

    /// Variables that one way of going on has set and another has not: rules look at one of them only.
    pub(super) fn doubt(&mut self, one: &Scope, other: &Scope) {
        self.doubtful.extend(one.differing(other));
    }

    /// A part that is followed no further, but would see values that have not been followed yet.
    pub(super) fn record_change(&mut self, before: &Scope, after: &Scope) {
        let changed = after.differing(before);
        let moves = before.cwds != after.cwds;
        if moves || changed.iter().any(|name| self.expanded.contains(name)) {
            self.record(Act::Unclear("a loop changes what its own commands are"), after);
        }
    }

    /// What a program would print has been worked out. Rules may guess that; whoever allows something may not.
    pub(super) fn record_prediction(&mut self, text: &Text, since: usize, scope: &Scope) {
        const PLAIN: [&str; 5] = ["echo", "cat", "pwd", "basename", "dirname"];
        // Names of files are written with an ellipsis: those are not worked out.
        let known =
            text.pieces().iter().any(|piece| matches!(piece, Piece::Known(text) if !text.contains('…')));
        let plain = |step: &Step| match &step.act {
            Act::Call(call) => call.program.as_deref().is_some_and(|program| PLAIN.contains(&program)),
            Act::Assign { .. } | Act::Write { .. } => true,
            Act::Unclear(_) => false,
        };
        if known && !self.steps_taken[since..].iter().all(plain) {
            self.record(Act::Unclear("its words are what another program prints"), scope);
        }
    }

    /// Data that bash would evaluate: it may hold a command substitution.
    pub(crate) fn record_evaluation(&mut self, text: &Text, scope: &Scope) {
        // What the environment holds is the caller's own.
        let unknown = |piece: &Piece| match piece {
            Piece::Unknown(Why::Number | Why::Variable(_) | Why::Required(_) | Why::Argument(_)) => false,
            Piece::Unknown(
                Why::Output(_) | Why::Download | Why::Decoded | Why::Setup | Why::Input | Why::Many,
            ) => true,
            Piece::Known(_) | Piece::Pattern(_) => false,
        };
        if text.pieces().iter().any(unknown) {
            self.record(Act::Unclear("the shell evaluates a value that is not known"), scope);
        }
    }
}

fn is_descriptor(target: &Text) -> bool {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match target.value() {
        Some(text) => text.strip_suffix('-').map_or_else(|| number(text), number),
        None => target.why() == Some(&Why::Number),
    }
}

/// Where a script defines functions in any case: directly, one after the other, under no condition.
pub(super) fn certain_definitions(list: &List) -> BTreeSet<Span> {
    let mut spans = BTreeSet::new();
    let mut before = Then::Next;
    for item in &list.items {
        let alone = matches!(before, Then::Next | Then::Background) && item.then != Then::Background;
        if let [stage] = item.pipeline.stages.as_slice()
            && matches!(stage.kind, Kind::Function { .. })
            && alone
        {
            spans.insert(stage.span);
        }
        before = item.then;
    }
    spans
}
