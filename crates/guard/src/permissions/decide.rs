//! From the steps of a command to what the entries say about each.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Permissions;
use super::entry::{Appends, Entry, Means};
use super::forms::{self, Form};
use super::harmless::{is_own_variable, needs_nothing, runs_its_words, variables_set, wrapped};
use super::hidden::{Said, hides};
use super::pattern::Reading;
use crate::analysis::Analysis;
use crate::syntax::ast::Span;
use crate::text::Text;
use crate::trace::{Act, Function, Invocation, Mode, Step};
use crate::verdict::Decision;
use crate::world::World;

/// A part of a command, and what was decided about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartDecision {
    /// The part as it would be typed: `git push origin`, `> build/log`.
    pub shown: String,
    /// Where it stands.
    pub span: Span,
    /// The decision.
    pub decision: Decision,
    /// What decided.
    pub by: DecidedBy,
}

/// What decided about a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DecidedBy {
    /// An entry.
    Entry {
        /// The list that it is in: `allow`, `ask` or `deny`.
        list: Decision,
        /// The entry as written.
        entry: String,
    },
    /// An entry of `deny` that fits if something that is not known has a certain value: that is for somebody to say.
    PossibleDeny {
        /// The entry as written.
        entry: String,
    },
    /// It does nothing by itself, or does what its parts do.
    Harmless,
    /// No entry fits.
    Default,
}

/// What the permissions say about a command.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) parts: Vec<Part>,
    /// An entry allows exactly the whole text.
    pub(crate) whole: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) decided: PartDecision,
    /// Whether what allows it is about this command only.
    pub(crate) exact: bool,
}

/// What allows a step, for the steps that follow from it.
#[derive(Debug, Clone, Copy)]
enum Allowed<'a> {
    By(&'a Entry),
    /// It needs no permission of its own.
    Harmless,
    No,
}

impl Permissions {
    pub(crate) fn judge(&self, analysis: &Analysis, world: &World) -> Judged {
        let mut children = vec![vec![]; analysis.steps.len()];
        for (index, step) in analysis.steps.iter().enumerate() {
            if let Some(parent) = step.parent {
                children[parent].push(index);
            }
        }
        let deciding = Deciding { permissions: self, analysis, world, children };
        let whole = self.allow.iter().find(|entry| entry.is_literally(&analysis.command));
        Judged { parts: deciding.parts(), whole: whole.map(|entry| entry.text.clone()) }
    }
}

struct Deciding<'a> {
    permissions: &'a Permissions,
    analysis: &'a Analysis,
    world: &'a World,
    /// The steps that follow from each.
    children: Vec<Vec<usize>>,
}

impl<'a> Deciding<'a> {
    fn parts(&self) -> Vec<Part> {
        let whole = self.permissions.deny.iter().find(|entry| entry.matches_action(&self.analysis.command));
        let mut parts = vec![];
        if let Some(entry) = whole {
            let span = Span { start: 0, end: self.analysis.command.len() };
            let by = DecidedBy::Entry { list: Decision::Deny, entry: entry.text.clone() };
            let shown = forms::shortened(&self.analysis.command);
            let decided = PartDecision { shown, span, decision: Decision::Deny, by };
            parts.push(Part { decided, exact: false });
        }
        let mut allowed: Vec<Allowed<'a>> = vec![];
        let mut seen = BTreeSet::new();
        for (index, step) in self.analysis.steps.iter().enumerate() {
            let allows = self.allows(index, step, &allowed);
            allowed.push(allows);
            if let Some(part) = self.part(step, allows) {
                // A loop takes its steps more than once.
                if seen.insert((part.decided.span, part.decided.shown.clone(), part.decided.decision)) {
                    parts.push(part);
                }
            }
        }
        for opaque in &self.analysis.opaque {
            let everything =
                self.permissions.allow.iter().find(|entry| matches!(entry.means, Means::Everything));
            let (decision, by) = match everything {
                Some(entry) => {
                    (Decision::Allow, DecidedBy::Entry { list: Decision::Allow, entry: entry.text.clone() })
                }
                None => self.undecided(),
            };
            let shown = format!("({})", opaque.reason);
            let decided = PartDecision { shown, span: opaque.span, decision, by };
            parts.push(Part { decided, exact: false });
        }
        parts
    }

    /// What is decided about a step. None if there is nothing to say.
    fn part(&self, step: &Step, allows: Allowed<'a>) -> Option<Part> {
        let forms = forms::all(step, self.world);
        let shown = forms::shortened(&forms.first()?.shown);
        if let Act::Assign { .. } = step.act
            && matches!(allows, Allowed::Harmless)
        {
            return None;
        }
        let fits = |entry: &&Entry, reading| forms.iter().any(|form| self.fits(entry, form, step, reading));
        let deny = &self.permissions.deny;
        let listed = |list, entry: &Entry| DecidedBy::Entry { list, entry: entry.text.clone() };
        let mut exact = false;
        let (decision, by) = if let Some(entry) = deny.iter().find(|entry| fits(entry, Reading::Certain)) {
            (Decision::Deny, listed(Decision::Deny, entry))
        } else if let Some(entry) = deny.iter().find(|entry| fits(entry, Reading::Possible)) {
            (Decision::Ask, DecidedBy::PossibleDeny { entry: entry.text.clone() })
        } else {
            match allows {
                Allowed::By(entry) => {
                    exact = entry.is_exact();
                    (Decision::Allow, listed(Decision::Allow, entry))
                }
                Allowed::Harmless => {
                    exact = true;
                    (Decision::Allow, DecidedBy::Harmless)
                }
                Allowed::No => {
                    let asks = self.permissions.ask.iter().find(|entry| fits(entry, Reading::Certain));
                    match asks {
                        Some(entry) => (Decision::Ask, listed(Decision::Ask, entry)),
                        None => self.undecided(),
                    }
                }
            }
        };
        let decided = PartDecision { shown, span: step.span, decision, by };
        Some(Part { decided, exact })
    }

    /// A regular expression of `ask` may be about the whole text; otherwise the default decides.
    fn undecided(&self) -> (Decision, DecidedBy) {
        let whole = self.permissions.ask.iter().find(|entry| entry.matches_action(&self.analysis.command));
        match whole {
            Some(entry) => {
                (Decision::Ask, DecidedBy::Entry { list: Decision::Ask, entry: entry.text.clone() })
            }
            None => (self.permissions.settings.default, DecidedBy::Default),
        }
    }

    fn allows(&self, index: usize, step: &Step, before: &[Allowed<'a>]) -> Allowed<'a> {
        let parent = step.parent.map_or(Allowed::No, |parent| before[parent]);
        // What an entry names is allowed with what its words lead to.
        if let Allowed::By(entry) = parent
            && (entry.is_exact() && self.is_named(step)
                || self.is_the_rest(index, step) && covers_options(entry, step))
        {
            return parent;
        }
        let milder = || self.allowing(&forms::milder(step)?);
        let by_entry = || match self.allowing(step).or_else(milder) {
            Some(entry) => Allowed::By(entry),
            None => Allowed::No,
        };
        match &step.act {
            Act::Call(call) if needs_nothing(call, &step.cwds, self.world) => Allowed::Harmless,
            Act::Call(call) => match by_entry() {
                Allowed::No if self.is_transparent(index, call) => Allowed::Harmless,
                allowed => allowed,
            },
            Act::Assign { name, .. } if is_own_variable(name) => Allowed::Harmless,
            Act::Assign { .. } => by_entry(),
            Act::Write { target, .. } if forms::is_nowhere(target, &step.cwds, self.world) => {
                Allowed::Harmless
            }
            Act::Write { .. } | Act::Unclear(_) => by_entry(),
        }
    }

    /// The entry that allows a step in each of the ways in which it may go.
    fn allowing(&self, step: &Step) -> Option<&'a Entry> {
        let ways = forms::allowable(step, self.world);
        let of = |form: &Form| {
            self.permissions
                .allow
                .iter()
                .find(|entry| self.fits(entry, form, step, Reading::Proven) && covers_options(entry, step))
        };
        let everything =
            || self.permissions.allow.iter().find(|entry| matches!(entry.means, Means::Everything));
        let found: Option<Vec<&Entry>> = ways.iter().map(of).collect();
        match found {
            // The mildest of them is what counts for exactness.
            Some(entries) if !entries.is_empty() => {
                entries.iter().find(|entry| !entry.is_exact()).or(entries.first()).copied()
            }
            Some(_) | None => everything(),
        }
    }

    fn fits(&self, entry: &Entry, form: &Form, step: &Step, reading: Reading) -> bool {
        match (&entry.means, &step.act) {
            (Means::Command(pattern), Act::Call(_) | Act::Assign { .. }) => {
                let patterns = forms::rooted(pattern, form, self.world);
                let home = self.world.home();
                let in_root = reading == Reading::Proven && forms::is_in_root(step, self.world);
                patterns.iter().any(|pattern| match reading {
                    Reading::Proven => pattern.allows(&form.symbols, home, in_root),
                    Reading::Certain | Reading::Possible => pattern.fits(&form.symbols, home, reading),
                })
            }
            (Means::Write { path, appends }, Act::Write { mode, .. }) => {
                let way = match mode {
                    Mode::Replace => *appends == Appends::Too,
                    Mode::Append => true,
                    Mode::Connect => false,
                };
                way && forms::fits_path(path, form, self.world, reading)
            }
            (Means::Literal(_) | Means::Everything | Means::Regex(_), _) => entry.matches_action(&form.shown),
            (Means::Command(_), Act::Write { .. } | Act::Unclear(_))
            | (Means::Write { .. }, Act::Call(_) | Act::Assign { .. } | Act::Unclear(_)) => false,
        }
    }

    /// Whether the words of a step stand in the words of its parent: not in what that reads, or in a file.
    fn is_named(&self, step: &Step) -> bool {
        let Some(Act::Call(parent)) = step.parent.map(|parent| &self.analysis.steps[parent].act) else {
            return false;
        };
        let given = || parent.words.iter().chain(parent.environment.iter().map(|(_, value)| value));
        let within = |word: &str| given().any(|own| own.rough().contains(word));
        let text = |word: &Text| word.value().is_some_and(within);
        match &step.act {
            Act::Call(call) => call.words.iter().all(text),
            Act::Write { target, .. } => text(target),
            Act::Assign { name, value } => within(name) && text(value),
            Act::Unclear(_) => false,
        }
    }

    /// Whether a step is the only one that its parent leads to, and is the end of the parent's own words.
    fn is_the_rest(&self, index: usize, step: &Step) -> bool {
        let Some(Act::Call(parent)) = step.parent.map(|parent| &self.analysis.steps[parent].act) else {
            return false;
        };
        let Act::Call(call) = &step.act else { return false };
        parent.words.ends_with(&call.words)
            && step.parent.is_some_and(|parent| self.children[parent] == [index])
    }

    /// Whether an entry covers `.` in a step by a wildcard, and so the names below it too.
    fn covers_all_below(&self, step: usize) -> bool {
        self.allowing(&self.analysis.steps[step]).is_some_and(|entry| match &entry.means {
            Means::Command(pattern) => !pattern.is_exact() && !pattern.words().iter().any(|word| word == "."),
            Means::Write { .. } | Means::Literal(_) | Means::Everything | Means::Regex(_) => false,
        })
    }

    /// Whether a call does nothing but what the steps do that follow from it, so that those decide.
    fn is_transparent(&self, index: usize, call: &Invocation) -> bool {
        let children = &self.children[index];
        let harmless =
            || call.environment.iter().all(|(name, _)| super::harmless::is_harmless_variable(name));
        if call.function == Function::Certainly {
            let unset = self.analysis.steps.iter().any(|step| match &step.act {
                Act::Call(call) => call.program.as_deref() == Some("unset"),
                Act::Assign { .. } | Act::Write { .. } | Act::Unclear(_) => false,
            });
            return harmless() && !unset;
        }
        if call.function == Function::Perhaps {
            return false;
        }
        if let Some(at) = wrapped(&call.words) {
            // Variables that are set for a wrapper are set for what it runs, and looked at there.
            let rest = &call.words[at..];
            let runs_rest = |child: usize| match &self.analysis.steps[child].act {
                // How input falls into words is for xargs to say: they must not be constants.
                Act::Call(inner) if call.program.as_deref() == Some("xargs") => {
                    let told = |word: &Text| match word.value() {
                        // What `find .` prints, if it is a wildcard that covers it.
                        Some(".") => !self.covers_all_below(child),
                        Some(word) => !word.contains('…'),
                        None => false,
                    };
                    inner.words.starts_with(rest) && !inner.words[rest.len()..].iter().any(told)
                }
                Act::Call(inner) => inner.words == rest,
                Act::Assign { .. } | Act::Write { .. } | Act::Unclear(_) => false,
            };
            return children.iter().copied().any(runs_rest);
        }
        runs_its_words(call) && harmless() && !children.is_empty()
    }
}

/// A wildcard does not cover an option that makes a program run or write something else.
fn covers_options(entry: &Entry, step: &Step) -> bool {
    let (Means::Command(pattern), Act::Call(call)) = (&entry.means, &step.act) else { return true };
    if pattern.is_exact() {
        return true;
    }
    if variables_set(call).iter().any(|name| !is_own_variable(name)) {
        return false;
    }
    let Some(program) = &call.program else { return false };
    let named = pattern.words();
    // Variables and wrappers may stand before the program.
    let name = call.words.first().and_then(Text::value);
    let start = named.iter().position(|own| Some(own.as_str()) == name);
    let set = start.unwrap_or_else(|| named.iter().take_while(|word| word.contains('=')).count());
    let mut words = vec![];
    for (at, word) in call.words.iter().enumerate().skip(1) {
        let named = named.get(set + at).is_some_and(|own| Some(own.as_str()) == word.value());
        words.push(Said { word: word.prefix(), named });
    }
    !hides(program, &words)
}
