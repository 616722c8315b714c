//! A regular expression over actions, read for what it can mean before it is used.

use std::cell::Cell;
use std::collections::BTreeSet;

use regex_lite::{Regex, RegexBuilder};
use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{
    AssertionKind, Ast, ClassPerl, ClassSet, ClassSetItem, Group, RepetitionKind, RepetitionRange, Span,
};

use super::entry::{ACTION, Means};

/// A compiled regular expression may not be larger than this.
const LARGEST: usize = 1 << 20;

/// What an entry that begins with `tool:` means.
pub(super) fn parse(text: &str) -> Result<Means, String> {
    let text = &without_anchors(text);
    let tree = Parser::new().parse(text).map_err(|error| one_line(&error.to_string()))?;
    let reading = Reading::new(text);
    if !reading.reach(&tree, &BTreeSet::from([0])).contains(&ACTION.len()) {
        return Err(format!(
            "it can never match: the tool is called `bash` here, so begin with `{ACTION}`, as in `{ACTION}make( .*)?`"
        ));
    }
    if let Some(literal) = literal(&tree) {
        return Ok(Means::Literal(literal));
    }
    // With flags a point may stand for less.
    if reading.flags.is_empty() && matches_everything(&tree) {
        return Ok(Means::Everything);
    }
    // By itself first, so that no parenthesis in it can leave the group.
    compile(text)?;
    compile(&format!(r"\A(?:{text})\z")).map(Means::Regex)
}

/// The expression for exactly this text.
pub(super) fn exact(command: &str) -> String {
    format!("{ACTION}{}", regex_lite::escape(command))
}

fn compile(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text)
        .dot_matches_new_line(true)
        .size_limit(LARGEST)
        .build()
        .map_err(|error| one_line(&error.to_string()))
}

/// The whole text of a command must match in any case, so `tool:bash:^make$` is `tool:bash:make`.
fn without_anchors(text: &str) -> String {
    let text = match text.strip_prefix(ACTION).and_then(|rest| rest.strip_prefix('^')) {
        Some(rest) => format!("{ACTION}{rest}"),
        None => text.to_owned(),
    };
    let escaped = |rest: &str| rest.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
    match text.strip_suffix('$') {
        Some(rest) if !escaped(rest) => rest.to_owned(),
        Some(_) | None => text,
    }
}

/// What is known of an expression while its tree is walked.
struct Reading<'a> {
    text: &'a str,
    /// Every letter that is set as a flag somewhere: `(?i)`, `(?s-m:…)`.
    flags: String,
    /// How many parts may still be looked at: repetitions of repetitions multiply.
    left: Cell<usize>,
}

const MOST_PARTS: usize = 10_000;

impl<'a> Reading<'a> {
    fn new(text: &'a str) -> Self {
        let openings = text.split("(?").skip(1).filter(|rest| !rest.starts_with(['P', '<']));
        let flags = openings.filter_map(|rest| rest.split([':', ')']).next()).collect();
        Self { text, flags, left: Cell::new(MOST_PARTS) }
    }

    /// How much of `tool:bash:` can have been read after a part, if it was one of these lengths before it.
    fn reach(&self, part: &Ast, from: &BTreeSet<usize>) -> BTreeSet<usize> {
        let Some(left) = self.left.get().checked_sub(1) else { return BTreeSet::from([ACTION.len()]) };
        self.left.set(left);
        match part {
            Ast::Empty(_) | Ast::Flags(_) => from.clone(),
            Ast::Assertion(assertion) => match assertion.kind {
                AssertionKind::StartText => from & &BTreeSet::from([0]),
                AssertionKind::StartLine if !self.flags.contains('m') => from & &BTreeSet::from([0]),
                _ => from.clone(),
            },
            Ast::Literal(literal) => Self::after_one(from, |next| self.is_same(next, literal.c)),
            Ast::Dot(_) => Self::after_one(from, |_| true),
            Ast::ClassUnicode(class) => self.after_class(from, class.span),
            Ast::ClassPerl(class) => self.after_class(from, class.span),
            Ast::ClassBracketed(class) => self.after_class(from, class.span),
            Ast::Group(group) => self.reach(&group.ast, from),
            Ast::Concat(parts) => parts.asts.iter().fold(from.clone(), |from, part| self.reach(part, &from)),
            Ast::Alternation(parts) => parts.asts.iter().flat_map(|part| self.reach(part, from)).collect(),
            Ast::Repetition(repetition) => {
                let mut all = match least(&repetition.op.kind) {
                    0 => from.clone(),
                    _ => self.reach(&repetition.ast, from),
                };
                loop {
                    let more = &self.reach(&repetition.ast, &all) | &all;
                    if more == all {
                        return all;
                    }
                    all = more;
                }
            }
        }
    }

    /// One character further, where it fits. What comes after the whole fits always.
    fn after_one(from: &BTreeSet<usize>, fits: impl Fn(char) -> bool) -> BTreeSet<usize> {
        let after = |at: &usize| match ACTION.as_bytes().get(*at) {
            Some(next) => fits(char::from(*next)).then_some(at + 1),
            None => Some(*at),
        };
        from.iter().filter_map(after).collect()
    }

    /// A class that the matcher does not know is reported when the whole is compiled.
    fn after_class(&self, from: &BTreeSet<usize>, span: Span) -> BTreeSet<usize> {
        if from.iter().all(|at| *at == ACTION.len()) {
            return from.clone();
        }
        let class = compile(&self.text[span.start.offset..span.end.offset]).ok();
        let has =
            |next: char| class.as_ref().is_none_or(|class| class.is_match(next.encode_utf8(&mut [0; 4])));
        Self::after_one(from, |next| self.is_caseless() || has(next))
    }

    fn is_caseless(&self) -> bool {
        self.flags.contains('i')
    }

    fn is_same(&self, next: char, written: char) -> bool {
        if self.is_caseless() { next.eq_ignore_ascii_case(&written) } else { next == written }
    }
}

fn least(repetition: &RepetitionKind) -> u32 {
    match repetition {
        RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore => 0,
        RepetitionKind::OneOrMore => 1,
        RepetitionKind::Range(
            RepetitionRange::Exactly(least)
            | RepetitionRange::AtLeast(least)
            | RepetitionRange::Bounded(least, _),
        ) => *least,
    }
}

fn literal(part: &Ast) -> Option<String> {
    match part {
        Ast::Literal(literal) => Some(literal.c.to_string()),
        Ast::Concat(parts) => parts.asts.iter().map(literal).collect(),
        Ast::Group(group) if changes_nothing(group) => literal(&group.ast),
        // `[.]`, as some write `\.`.
        Ast::ClassBracketed(class) if !class.negated => match &class.kind {
            ClassSet::Item(ClassSetItem::Literal(literal)) => Some(literal.c.to_string()),
            ClassSet::Item(_) | ClassSet::BinaryOp(_) => None,
        },
        _ => None,
    }
}

/// Whether a group sets no flags for what is in it.
fn changes_nothing(group: &Group) -> bool {
    group.flags().is_none_or(|flags| flags.items.is_empty())
}

/// A part of `tool:bash:` and then anything at all: `tool:.*`, `tool:bash:(.|\n)*`.
fn matches_everything(tree: &Ast) -> bool {
    let Ast::Concat(parts) = tree else { return false };
    let Some((last, first)) = parts.asts.split_last() else { return false };
    let prefix: Option<String> = first.iter().map(literal).collect();
    prefix.is_some_and(|prefix| ACTION.starts_with(&prefix)) && is_anything(last)
}

fn is_anything(part: &Ast) -> bool {
    match part {
        Ast::Group(group) => changes_nothing(group) && is_anything(&group.ast),
        Ast::Repetition(repetition) => {
            let endless = match &repetition.op.kind {
                RepetitionKind::ZeroOrMore | RepetitionKind::OneOrMore => true,
                RepetitionKind::Range(RepetitionRange::AtLeast(least)) => *least <= 1,
                RepetitionKind::ZeroOrOne | RepetitionKind::Range(_) => false,
            };
            endless && is_any_character(&repetition.ast)
        }
        _ => false,
    }
}

/// `.`, `(.|\n)` or a class and its opposite, as in `[\s\S]`.
fn is_any_character(part: &Ast) -> bool {
    match part {
        Ast::Dot(_) => true,
        Ast::Group(group) => changes_nothing(group) && is_any_character(&group.ast),
        Ast::Alternation(parts) => parts.asts.iter().any(is_any_character),
        Ast::ClassBracketed(class) => match &class.kind {
            ClassSet::Item(ClassSetItem::Union(union)) if !class.negated => {
                let perl = |item: &ClassSetItem| match item {
                    ClassSetItem::Perl(ClassPerl { kind, negated, .. }) => Some((kind.clone(), *negated)),
                    _ => None,
                };
                let classes: Vec<_> = union.items.iter().filter_map(perl).collect();
                classes.iter().any(|(kind, negated)| classes.contains(&(kind.clone(), !negated)))
            }
            ClassSet::Item(_) | ClassSet::BinaryOp(_) => false,
        },
        _ => false,
    }
}

/// The last line of what the parser of expressions says, which is the reason.
fn one_line(message: &str) -> String {
    message.lines().next_back().unwrap_or(message).trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_everything_or_one_thing_is_known() {
        for everything in [
            "tool:.*", "tool:bash:.*", "tool:bash:.+", "tool:bash:(.*)", r"tool:bash:(.|\n)*",
            "tool:bash:.{0,}", r"tool:bash:[\s\S]*", "tool:bash:^.*$", "tool:.{1,}", "tool:bash:(?:.)*?",
        ] {
            assert!(matches!(parse(everything), Ok(Means::Everything)), "{everything}");
        }
        for (written, meant) in [
            ("tool:bash:ls", "tool:bash:ls"),
            (r"tool:bash:ls \*\.rs", "tool:bash:ls *.rs"),
            (r"tool:bash:(?:make) a\$", "tool:bash:make a$"),
            ("tool:bash:ls [*][.]rs", "tool:bash:ls *.rs"),
        ] {
            assert!(matches!(parse(written), Ok(Means::Literal(literal)) if literal == meant), "{written}");
        }
    }

    #[test]
    fn the_whole_action_must_match_and_newlines_are_characters() {
        let matches = |pattern: &str, command: &str| match parse(pattern) {
            Ok(Means::Regex(regex)) => regex.is_match(&format!("{ACTION}{command}")),
            other => panic!("{pattern}: {other:?}"),
        };
        assert!(matches("tool:bash:make( .*)?", "make a\nb"));
        assert!(!matches("tool:bash:make( .*)?", "xmake") && !matches("tool:bash:make( .*)?", "make\nrm x"));
        assert!(!matches("tool:bash:a|tool:bash:b", "bc"));
        assert!(matches("(?i)TOOL:BASH:Make.*", "mAKE x") && !matches("tool:bash:[^a-c]+", "b"));
        assert!(!matches("tool:bash:(?-s:.)*", "a\nb") && !matches("tool:(?-s:.*)", "a\nb"));
        assert!(!matches("tool:bash:((?-s)a|.)*", "a\nb") && matches("tool:bash:(?m)a\\n^b", "a\nb"));
        assert!(!matches("tool:(?-s)bash:.*", "a\nb") && matches("tool:bash:(?x) l s .*", "ls -l"));
        assert!(matches("tool:[a-z]+:ls", "ls") && matches(r"tool:\w+:ls|x", "ls"));
        assert!(!matches(r"tool:bash:rm\s+x", "rm\u{a0}x"), "a blank is what bash takes for one");
    }

    #[test]
    fn what_cannot_work_is_told() {
        for (wrong, why) in [
            ("tool:bash:(", "unclosed group"),
            ("tool:[^a-z]+:ls", "it can never match"),
            ("tool:bash:(^ls)", "it can never match"),
            (r"tool:bash:\p{Greek}+", "Unicode"),
            ("tool:bash:(a{1000}){1000}", "size limit"),
            (&format!("tool:[b]{}ash:x.", "+".repeat(200)), "nest"),
        ] {
            let error = parse(wrong).map(|_| ()).unwrap_err();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }
}
