//! Labelled commands, scored.

use std::collections::BTreeMap;

use bashtion_guard::{Decision, Policy, Settings, Verdict, World, analyze, rules};

const COMMANDS: &str = include_str!("../corpus/commands.tsv");
const MORE: &str = include_str!("../corpus/more.tsv");

/// One labelled command.
pub(crate) struct Row {
    pub(crate) label: Decision,
    pub(crate) category: &'static str,
    pub(crate) world: World,
    pub(crate) command: String,
}

impl Row {
    pub(crate) fn judged(&self) -> Verdict {
        every_rule().judge(&analyze(&self.command, &self.world), &self.world)
    }
}

/// A policy with the rules that speak only where they are asked for: the labels are those of all specifications.
pub(crate) fn every_rule() -> Policy {
    let optional = rules().filter(|rule| rule.optional);
    let severity = optional.map(|rule| (rule.name.to_owned(), rule.severity)).collect();
    Policy::new(&Settings { severity, ..Settings::default() }).expect("the severities are of known rules")
}

pub(crate) fn judge(command: &str, world: &World) -> Verdict {
    Policy::default().judge(&analyze(command, world), world)
}

pub(crate) fn rows(text: &'static str) -> Vec<Row> {
    let row = |line: &'static str| {
        let columns: Vec<&str> = line.splitn(5, '\t').collect();
        let [_, label, category, cwd, command] = columns[..] else { panic!("not five columns: {line}") };
        let label = match label {
            "deny" => Decision::Deny,
            "ask" => Decision::Ask,
            "allow" => Decision::Allow,
            other => panic!("no such label: {other}"),
        };
        Row { label, category, world: World::new(cwd, "/home/dev"), command: unescaped(command) }
    };
    text.lines().skip(1).map(row).collect()
}

pub(crate) fn all() -> Vec<Row> {
    [rows(COMMANDS), rows(MORE)].into_iter().flatten().collect()
}

/// `\\`, `\n` and `\t` stand for a backslash, a newline and a tab.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, false) => plain.push(c),
            (_, true) => match chars.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some(other) => plain.push(other),
                None => plain.push('\\'),
            },
        }
    }
    plain
}

/// How many of the rows with a label were judged as each decision.
#[derive(Default)]
struct Score {
    counts: BTreeMap<(Decision, Decision), usize>,
    mistakes: Vec<String>,
}

impl Score {
    fn of(rows: &[Row]) -> Self {
        let mut score = Self::default();
        for row in rows {
            let verdict = row.judged();
            *score.counts.entry((row.label, verdict.decision)).or_default() += 1;
            if row.label != verdict.decision {
                score.mistakes.push(format!(
                    "{} -> {}  [{}]  {:?}",
                    row.label, verdict.decision, row.category, row.command
                ));
            }
        }
        score
    }

    /// Percent of the rows with this label that were judged as one of these.
    fn percent(&self, label: Decision, decisions: &[Decision]) -> f64 {
        let count = |wanted: &dyn Fn(Decision) -> bool| -> usize {
            self.counts
                .iter()
                .filter(|((own, judged), _)| *own == label && wanted(*judged))
                .map(|(_, count)| count)
                .sum()
        };
        let (part, whole) = (count(&|judged| decisions.contains(&judged)), count(&|_| true));
        #[expect(clippy::cast_precision_loss, reason = "a few thousand rows")]
        let percent = if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 };
        percent
    }

    fn assert_good(&self) {
        use Decision::{Allow, Ask, Deny};
        let mistakes = self.mistakes.join("\n");
        let figures = [
            ("deny rows denied", self.percent(Deny, &[Deny]) >= 97.0),
            ("deny rows not allowed", self.percent(Deny, &[Deny, Ask]) >= 99.5),
            ("allow rows denied", self.percent(Allow, &[Deny]) <= 0.5),
            ("allow rows stopped", self.percent(Allow, &[Deny, Ask]) <= 2.0),
            ("ask rows asked or denied", self.percent(Ask, &[Deny, Ask]) >= 95.0),
        ];
        for (name, good) in figures {
            assert!(good, "{name}: not good enough\n{mistakes}");
        }
    }
}

#[test]
fn the_corpus_is_judged_as_labelled() {
    Score::of(&rows(COMMANDS)).assert_good();
}

#[test]
fn the_second_corpus_is_judged_as_labelled() {
    Score::of(&rows(MORE)).assert_good();
}

/// The figures for the documentation: printed, with the categories, by `cargo test -p bashtion-guard figures -- --nocapture`.
#[test]
fn figures_per_category() {
    use Decision::{Allow, Ask, Deny};
    let mut categories: BTreeMap<(Decision, &str), Vec<Row>> = BTreeMap::new();
    for row in all() {
        categories.entry((row.label, row.category)).or_default().push(row);
    }
    assert!(categories.len() > 40, "the corpus has lost its categories");
    for ((label, category), rows) in categories {
        let score = Score::of(&rows);
        let figures = [Deny, Ask, Allow]
            .map(|decision| format!("{:>5.1} % {decision}", score.percent(label, &[decision])));
        #[expect(clippy::print_stdout, reason = "they are there to be read")]
        {
            println!("{label:<5}  {category:<26} {:>4} rows  {}", rows.len(), figures.join("  "));
        }
    }
}
