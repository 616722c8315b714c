//! Looks at every command in a tree without following what it does.

use crate::syntax::ast::{Assigned, Change, Command, Item, Kind, List, Operator, Part, Pipeline, Word};

/// The file of `$(< file)`.
pub(super) fn file_read(list: &List) -> Option<&Word> {
    let [Item { pipeline: Pipeline { stages, .. }, .. }] = list.items.as_slice() else { return None };
    let [Command { kind: Kind::Simple(simple), redirects, .. }] = stages.as_slice() else { return None };
    let [redirect] = redirects.as_slice() else { return None };
    let bare = simple.words.is_empty() && simple.assignments.is_empty();
    (bare && redirect.operator == Operator::Read).then_some(&redirect.target)
}

/// Where each simple command begins.
pub(super) fn starts(list: &List, starts: &mut Vec<usize>) {
    visit(list, &mut |command| {
        starts.push(command.span.start);
        if let Kind::Simple(simple) = &command.kind {
            starts.extend(simple.words.iter().take(1).map(|word| word.span.start));
            starts.extend(simple.assignments.iter().map(|assignment| assignment.span.start));
        }
    });
}

pub(super) fn visit(list: &List, seen: &mut dyn FnMut(&Command)) {
    visit_lists(list, &mut |list| {
        for command in list.items.iter().flat_map(|item| &item.pipeline.stages) {
            seen(command);
            if let Kind::Function { body, .. } | Kind::Coprocess { body, .. } = &command.kind {
                seen(body);
            }
        }
    });
}

/// Every list in a list, in words too.
pub(super) fn visit_lists(list: &List, seen: &mut dyn FnMut(&List)) {
    seen(list);
    for command in list.items.iter().flat_map(|item| &item.pipeline.stages) {
        visit_in_command(command, seen);
    }
}

pub(super) fn visit_in_command(command: &Command, seen: &mut dyn FnMut(&List)) {
    for redirect in &command.redirects {
        visit_in_parts(&redirect.target.parts, seen);
    }
    match &command.kind {
        Kind::Simple(simple) => {
            for assignment in &simple.assignments {
                if let Some(subscript) = &assignment.subscript {
                    visit_in_parts(&subscript.parts, seen);
                }
                match &assignment.value {
                    Assigned::Word(word) => visit_in_parts(&word.parts, seen),
                    Assigned::Array(words) => words.iter().for_each(|word| visit_in_parts(&word.parts, seen)),
                }
            }
            simple.words.iter().for_each(|word| visit_in_parts(&word.parts, seen));
        }
        Kind::Subshell(list) | Kind::Group(list) => visit_lists(list, seen),
        Kind::If { branches, otherwise } => {
            for (condition, body) in branches {
                visit_lists(condition, seen);
                visit_lists(body, seen);
            }
            otherwise.iter().for_each(|body| visit_lists(body, seen));
        }
        Kind::Loop { condition, body } => {
            visit_lists(condition, seen);
            visit_lists(body, seen);
        }
        Kind::For { words, body, .. } => {
            words.iter().flatten().for_each(|word| visit_in_parts(&word.parts, seen));
            visit_lists(body, seen);
        }
        Kind::ArithmeticFor { header, body } => {
            visit_in_parts(&header.parts, seen);
            visit_lists(body, seen);
        }
        Kind::Case { subject, arms } => {
            visit_in_parts(&subject.parts, seen);
            for arm in arms {
                arm.patterns.iter().for_each(|word| visit_in_parts(&word.parts, seen));
                visit_lists(&arm.body, seen);
            }
        }
        Kind::Function { body, .. } | Kind::Coprocess { body, .. } => visit_in_command(body, seen),
        Kind::Arithmetic(word) => visit_in_parts(&word.parts, seen),
        Kind::Test(words) => words.iter().for_each(|word| visit_in_parts(&word.parts, seen)),
    }
}

fn visit_in_parts(parts: &[Part], seen: &mut dyn FnMut(&List)) {
    for part in parts {
        match part {
            Part::Bare(_) | Part::Quoted(_) => {}
            Part::Double(inner) | Part::Arithmetic(inner) => visit_in_parts(inner, seen),
            Part::Command(list) | Part::Process(_, list) => visit_lists(list, seen),
            Part::Document(body) => body.get().iter().for_each(|parts| visit_in_parts(parts, seen)),
            Part::Parameter(parameter) => {
                parameter.subscript.iter().for_each(|word| visit_in_parts(&word.parts, seen));
                match &parameter.change {
                    Change::Default(word)
                    | Change::Assign(word)
                    | Change::Alternative(word)
                    | Change::Require(word) => {
                        visit_in_parts(&word.parts, seen);
                    }
                    Change::Edit { words, .. } => {
                        words.iter().for_each(|word| visit_in_parts(&word.parts, seen));
                    }
                    Change::None | Change::Length | Change::Indirect | Change::Transform(_) => {}
                }
            }
        }
    }
}
