//! Goes through a syntax tree as the shell would, without doing anything, and writes down every command it meets.

mod assigning;
mod builtins;
mod calls;
mod code;
mod compound;
mod constants;
mod containers;
mod evaluation;
mod filters;
mod finders;
mod given;
mod interpreters;
mod languages;
mod launchers;
mod links;
mod makefile;
mod output;
mod record;
mod redirects;
mod secrets;
mod shells;
mod simple;
mod sources;
mod suspects;
mod tokens;
mod visit;
mod wrappers;

pub(crate) use shells::SHELLS;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::LONGEST_TEXT;
use crate::analysis::{Analysis, Found, Opaque, Setting, Shape, Stream};
use crate::scope::{File, Scope, Value};
use crate::syntax::ast::{Direction, Item, List, Span, Then};
use crate::syntax::{self, Origin, Second};
use crate::text::{Piece, Text, Why};
use crate::trace::Step;
use crate::world::World;

/// Commands, words and values looked at before it is too much.
const MOST_STEPS: usize = 20_000;

/// Scripts within scripts, functions within functions.
const DEEPEST: usize = 12;

pub(crate) struct Walker<'a> {
    pub(crate) world: &'a World,
    steps: usize,
    depth: usize,
    commands: Vec<Found>,
    opaque: Vec<Opaque>,
    shapes: Vec<Shape>,
    /// Where the command that is being looked at stands.
    pub(crate) span: Span,
    /// How the things found in words would be run.
    setting: Setting,
    streams: usize,
    /// What runs when the script ends.
    traps: Vec<(Text, Setting, Span)>,
    /// Everything that would run, be set or be written.
    steps_taken: Vec<Step>,
    cwds_of_steps: Arc<Vec<Text>>,
    /// The step that is being followed.
    parent: Option<usize>,
    /// Where functions are defined under no condition, and those that have been.
    certain: BTreeSet<Span>,
    functions: BTreeSet<String>,
    /// How many functions are being followed.
    inside_functions: usize,
    /// Variables whose value is a guess: what sets them may not have run.
    doubtful: BTreeSet<String>,
    /// Variables whose value has been used.
    expanded: BTreeSet<String>,
}

/// The stages of the last pipeline, if it is one and nothing hides its exit code.
fn stages_at_the_end(list: &List) -> Vec<Span> {
    match list.items.last() {
        Some(Item { pipeline, then: Then::Next }) if pipeline.stages.len() > 1 && !pipeline.negated => {
            pipeline.stages.iter().map(|stage| stage.span).collect()
        }
        Some(_) | None => vec![],
    }
}

/// Analyzes the text of a command.
pub(crate) fn analyze(command: &str, world: &World) -> Analysis {
    let whole = Span { start: 0, end: command.len() };
    let mut walker = Walker {
        world,
        steps: 0,
        depth: 0,
        commands: vec![],
        opaque: vec![],
        shapes: vec![],
        span: whole,
        setting: Setting::default(),
        streams: 0,
        traps: vec![],
        steps_taken: vec![],
        cwds_of_steps: Arc::default(),
        parent: None,
        certain: BTreeSet::new(),
        functions: BTreeSet::new(),
        inside_functions: 0,
        // It changes with every command.
        doubtful: BTreeSet::from(["_".to_owned()]),
        expanded: BTreeSet::new(),
    };
    let last_pipeline = walker.text(command, world);
    // Last, because it holds whatever was forgiven on the way.
    if walker.steps >= MOST_STEPS {
        walker.opaque.push(Opaque { reason: "it does too much to be followed".to_owned(), span: whole });
    }
    walker.opaque.dedup();
    Analysis {
        last_pipeline,
        command: command.to_owned(),
        commands: walker.commands,
        opaque: walker.opaque,
        shapes: walker.shapes,
        steps: walker.steps_taken,
    }
}

impl Walker<'_> {
    /// Follows the whole text, and returns the stages of its last pipeline.
    fn text(&mut self, command: &str, world: &World) -> Vec<Span> {
        if command.len() > LONGEST_TEXT {
            let most = format!("at most {LONGEST_TEXT} can be judged; write it to a file and run the file");
            self.give_up(format!("it has {} bytes, and {most}", command.len()));
            return vec![];
        }
        match syntax::parse(command, Origin::Command) {
            Ok(list) => {
                self.certain = record::certain_definitions(&list);
                let mut starts = vec![];
                visit::starts(&list, &mut starts);
                starts.sort_unstable();
                if let Some(span) = second_opinion(command, &starts) {
                    let reason = "two parsers disagree on whether a command begins here".to_owned();
                    self.opaque.push(Opaque { reason, span });
                }
                let mut scope = Scope::new(world);
                self.list(&list, &mut scope, &Setting::default());
                self.run_traps(&mut scope);
                stages_at_the_end(&list)
            }
            Err(unreadable) => {
                let at = boundary(command, unreadable.at);
                let span = Span { start: at, end: command.len() };
                self.shapes.extend(compound::bomb_in(command).then_some(Shape::ForkBomb(self.span)));
                let reason = format!("this is not bash that can be read: {unreadable}");
                self.opaque.push(Opaque { reason, span });
                vec![]
            }
        }
    }

    /// Returns true if what is followed stands in the text itself, not in a script that it runs.
    pub(crate) fn is_outermost(&self) -> bool {
        self.depth == 0
    }

    /// Counts a step; false when there were too many.
    pub(crate) fn step(&mut self) -> bool {
        self.steps += 1;
        self.steps < MOST_STEPS
    }

    pub(crate) fn give_up(&mut self, reason: impl Into<String>) {
        let opaque = Opaque { reason: reason.into(), span: self.span };
        if !self.opaque.contains(&opaque) {
            self.opaque.push(opaque);
        }
    }

    /// The text of a script that is a value: an argument of `bash -c` or `eval`, a file that was written before.
    pub(crate) fn script(&mut self, code: &Text, scope: &mut Scope, setting: &Setting) -> Stream {
        if self.depth >= DEEPEST {
            self.give_up("scripts are nested too deeply in scripts");
            return Stream::Nothing;
        }
        let text = self.with_holes(code, scope);
        match syntax::parse(&text, Origin::Value(self.span)) {
            Ok(list) => {
                self.depth += 1;
                let outer = std::mem::take(&mut self.traps);
                let stream = self.list(&list, scope, setting);
                self.run_traps(scope);
                self.traps = outer;
                self.depth -= 1;
                stream
            }
            Err(unreadable) => {
                if compound::bomb_in(&text) {
                    self.shapes.push(Shape::ForkBomb(self.span));
                }
                self.give_up(format!("a script in it cannot be read: {unreadable}"));
                Stream::Nothing
            }
        }
    }

    /// With the values that variables have at the end: a trap is often set before what it cleans up has a name.
    fn run_traps(&mut self, scope: &mut Scope) {
        for (action, setting, span) in std::mem::take(&mut self.traps) {
            let outer = std::mem::replace(&mut self.span, span);
            self.script(&action, scope, &setting);
            self.span = outer;
        }
    }

    /// Unknown parts become variables that hold them.
    fn with_holes(&mut self, code: &Text, scope: &mut Scope) -> String {
        let mut text = String::new();
        for piece in code.pieces() {
            match piece {
                Piece::Known(known) | Piece::Pattern(known) => text.push_str(known),
                Piece::Unknown(Why::Variable(name)) => text.push_str(&format!("${{{name}}}")),
                Piece::Unknown(_) => {
                    self.streams += 1;
                    let name = format!("__unknown_{}", self.streams);
                    text.push_str(&format!("${{{name}}}"));
                    scope.set(&name, vec![Value::Scalar(one(piece))]);
                }
            }
        }
        text
    }

    /// A string that bash expands once more, as it does with prompts and subscripts.
    pub(crate) fn second_evaluation(&mut self, text: &Text, scope: &mut Scope) {
        self.record_evaluation(text, scope);
        let rough = text.rough();
        if !rough.contains("$(") && !rough.contains('`') && !rough.contains("${") {
            return;
        }
        // As the inside of double quotes is the nearest to what bash does.
        let quoted = format!(": \"{}\"", rough.replace('\\', "\\\\").replace('"', "\\\""));
        let setting = self.setting.clone();
        self.script(&Text::known(quoted), &mut scope.clone(), &setting);
    }

    /// The output of `$( … )`.
    pub(crate) fn substitute(&mut self, list: &List, scope: &Scope) -> Text {
        if !self.step() {
            return Text::unknown(Why::Many);
        }
        let setting = self.setting.clone();
        let steps = self.steps_taken.len();
        let stream = match visit::file_read(list) {
            Some(file) => {
                let name = self.values(file, &mut scope.clone()).pop().unwrap_or_default();
                self.notice_read(&name, scope);
                self.content(&name, scope)
            }
            None => self.list(list, &mut scope.clone(), &setting),
        };
        let text = output::as_text(stream);
        self.record_prediction(&text, steps, scope);
        text
    }

    /// The name of the file that `<( … )` makes, whose content is remembered.
    ///
    /// One that is written to, `>( … )`, reads what the command itself reads: that is what `tee` passes on.
    pub(crate) fn process(&mut self, direction: Direction, list: &List, scope: &mut Scope) -> String {
        self.streams += 1;
        let name = format!("/dev/fd/{}", 60 + self.streams);
        let mut setting = self.setting.clone();
        if direction == Direction::Read {
            setting.input = Stream::Nothing;
        } else if setting.input == Stream::Nothing {
            setting.input = Stream::Unknown("another command".to_owned());
        }
        let stream = self.list(list, &mut scope.clone(), &setting);
        scope.write_file(&name, as_file(stream));
        name
    }
}

/// Words on one line leave no room for two opinions.
fn second_opinion(command: &str, starts: &[usize]) -> Option<Span> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" ./_-=:,@%+".contains(&byte);
    if command.bytes().all(is_plain) {
        return None;
    }
    // The other parser looks for the ends of all of them at every line.
    if command.matches("<<").count() > MOST_DOCUMENTS {
        return Some(Span { start: 0, end: command.len() });
    }
    Second::new().objection(command, starts)
}

/// Here-documents in one text.
const MOST_DOCUMENTS: usize = 500;

/// The last boundary of a character that is not after this.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn one(piece: &Piece) -> Text {
    let mut text = Text::default();
    text.push(piece.clone());
    text
}

/// What a file holds after this was written into it.
pub(crate) fn as_file(stream: Stream) -> Option<File> {
    match stream {
        Stream::Known(text) => Some(File::Text(text)),
        Stream::Downloaded => Some(File::Downloaded),
        Stream::Decoded => Some(File::Decoded),
        Stream::Program(name) => Some(File::Program(name)),
        stream @ (Stream::Setup | Stream::Secret | Stream::Unknown(_)) => Some(File::Printed(stream)),
        Stream::Nothing | Stream::Names(_) => None,
    }
}
