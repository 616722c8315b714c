//! The words of a program, read by its page.

use super::page::{Case, Deed, Page, Style, Which};
use crate::analysis::Found;
use crate::text::Text;

/// A use of a program.
#[derive(Debug)]
pub(crate) struct Usage<'a> {
    pub(crate) page: &'static Page,
    pub(crate) found: &'a Found,
    given: Vec<Given>,
    pub(crate) operands: Vec<Text>,
}

#[derive(Debug)]
struct Given {
    /// With its dashes.
    name: String,
    value: Option<Text>,
}

/// Returns true if a list of words separated by blanks has this one.
pub(crate) fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|own| own == word && !own.is_empty())
}

impl<'a> Usage<'a> {
    pub(crate) fn of(found: &'a Found, page: &'static Page) -> Self {
        let mut usage = Self { page, found, given: vec![], operands: vec![] };
        let mut rest = found.arguments.iter();
        let mut first = true;
        while let Some(argument) = rest.next() {
            let text = argument.rough();
            let dashless = std::mem::take(&mut first)
                && page.style == Style::FirstCluster
                && !text.starts_with('-')
                && !text.is_empty();
            if dashless {
                usage.cluster(&text, &Text::known(format!("-{text}")), &mut rest);
            } else if text == "--" {
                usage.given.push(Given { name: text, value: None });
                usage.operands.extend(rest.by_ref().cloned());
            } else if text.starts_with("--")
                || text.len() > 1 && text.starts_with('-') && page.style == Style::Words
            {
                usage.word(text, argument, &mut rest);
            } else if let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
                usage.cluster(cluster, argument, &mut rest);
            } else {
                usage.operands.push(argument.clone());
            }
        }
        usage
    }

    fn word(&mut self, text: String, whole: &Text, rest: &mut std::slice::Iter<'_, Text>) {
        let (name, value) = match text.split_once('=') {
            Some((name, _)) => (name.to_owned(), whole.strip_prefix(&format!("{name}="))),
            None if self.takes_value(&text) => (text, rest.next().cloned()),
            None => (text, None),
        };
        self.given.push(Given { name, value });
    }

    fn cluster(&mut self, cluster: &str, whole: &Text, rest: &mut std::slice::Iter<'_, Text>) {
        for (at, letter) in cluster.char_indices() {
            let name = format!("-{letter}");
            if !self.takes_value(&name) {
                self.given.push(Given { name, value: None });
                continue;
            }
            let attached = whole.strip_prefix(&format!("-{}", &cluster[..at + letter.len_utf8()]));
            let value = attached.filter(|value| !value.is_empty()).or_else(|| rest.next().cloned());
            self.given.push(Given { name, value });
            return;
        }
    }

    fn takes_value(&self, name: &str) -> bool {
        let within = || {
            let verb = self.operands.first().map(Text::rough)?;
            let more = self.page.within.iter().find(|(verbs, _)| is_listed(verbs, &verb));
            more.map(|(_, values)| *values)
        };
        is_listed(self.page.values, name) || within().is_some_and(|values| is_listed(values, name))
    }

    /// Everything that it does, with the number of words of the subcommand. Nothing, if it only shows something.
    pub(crate) fn deeds(&self) -> Vec<(&'static Deed, usize)> {
        if self.shows() {
            return vec![];
        }
        let fitting = self.page.cases.iter().filter(|case| self.fits(case));
        fitting
            .flat_map(|case| {
                let words = case.sub.split(' ').filter(|word| !word.is_empty()).count();
                case.deeds.iter().map(move |deed| (deed, words))
            })
            .collect()
    }

    /// Returns true if it only tells how it is used or what it would do.
    pub(crate) fn shows(&self) -> bool {
        let first = self.operands.first().map(Text::rough).unwrap_or_default();
        let helps = self.page.help.split(' ').any(|word| match word {
            "help" => first == "help",
            "help$" => self.found.arguments.last().and_then(Text::value) == Some("help"),
            option => self.declares(option),
        });
        helps
            || self.page.dry_run.split(' ').any(|option| self.declares(option))
            || self.page.reads.split(' ').any(|verb| !verb.is_empty() && is_word(verb, &first))
    }

    /// Returns true if an option is given that makes it harmless: written in full, and not taken back.
    fn declares(&self, token: &str) -> bool {
        let (name, value) = token.split_once('=').map_or((token, None), |(name, value)| (name, Some(value)));
        let given = self.given.iter().any(|given| {
            let own = given.value.as_ref().map(Text::rough);
            given.name == name
                && match value {
                    Some(value) => own.as_deref() == Some(value),
                    None => matches!(own.as_deref(), None | Some("true" | "yes" | "1")),
                }
        });
        let taken_back = || {
            let opposite = name.strip_prefix("--").map(|name| format!("--no-{name}"));
            opposite.is_some_and(|opposite| self.given.iter().any(|given| given.name == opposite))
        };
        !token.is_empty() && given && !taken_back()
    }

    fn fits(&self, case: &Case) -> bool {
        let mut subs = case.sub.split(' ').filter(|word| !word.is_empty()).enumerate();
        subs.all(|(at, word)| self.operands.get(at).is_some_and(|own| is_word(word, &shown(own))))
            && (case.with.is_empty() || self.has(case.with))
            && (case.and.is_empty() || self.has(case.and))
            && !case.without.split(' ').any(|token| {
                let valued = || self.takes_value(token) && self.value(token).is_some();
                if token.starts_with('-') { self.declares(token) || valued() } else { self.has(token) }
            })
    }

    /// Returns true if one of these options or operands is given. Long options may be shortened, as GNU programs allow.
    pub(crate) fn has(&self, tokens: &str) -> bool {
        tokens.split(' ').any(|token| match token {
            "" => false,
            "*" => self.operands.iter().any(|operand| operand.rough() == "*"),
            option if option.starts_with('-') => self.has_option(option),
            word => self.operands.iter().any(|operand| is_word(word, &operand.rough())),
        })
    }

    fn has_option(&self, token: &str) -> bool {
        let (name, value) = token.split_once('=').map_or((token, None), |(name, value)| (name, Some(value)));
        let same = |given: &str| match name.strip_suffix('*') {
            Some(beginning) => given.starts_with(beginning),
            None => given == name || given.len() > 3 && given.starts_with("--") && name.starts_with(given),
        };
        let valued = |given: &Given| {
            let value = value.map(str::to_lowercase);
            let own = || given.value.as_ref().map(|own| own.rough().to_lowercase());
            value.is_none_or(|value| own().is_some_and(|own| is_word(&value, &own)))
        };
        self.given.iter().any(|given| same(&given.name) && valued(given))
    }

    /// The last value of one of these options.
    pub(crate) fn value(&self, options: &str) -> Option<&Text> {
        let mut named = self.given.iter().rev().filter(|given| is_listed(options, &given.name));
        named.find_map(|given| given.value.as_ref())
    }

    pub(crate) fn values(&self, options: &'static str) -> impl Iterator<Item = &Text> {
        let named = move |given: &&Given| is_listed(options, &given.name);
        self.given.iter().filter(named).filter_map(|given| given.value.as_ref())
    }

    /// The words that a deed is about, after so many words of the subcommand.
    pub(crate) fn select(&self, which: &Which, skipped: usize) -> Vec<Text> {
        let operands = self.operands.get(skipped..).unwrap_or_default();
        match which {
            Which::All => operands.to_vec(),
            Which::First => operands.first().cloned().into_iter().collect(),
            Which::Last => operands.last().cloned().into_iter().collect(),
            Which::LastHere => {
                operands.last().filter(|path| !is_elsewhere(path)).cloned().into_iter().collect()
            }
            Which::AllButLast => operands.split_last().map(|(_, rest)| rest.to_vec()).unwrap_or_default(),
            Which::From(at) => operands.get(*at..).unwrap_or_default().to_vec(),
            Which::Only(at) => operands.get(*at).cloned().into_iter().collect(),
            Which::Value(options) => self.values(options).cloned().collect(),
            Which::After(beginnings) => {
                let after =
                    |word: &Text| beginnings.iter().find_map(|beginning| word.strip_prefix(beginning));
                self.found.arguments.iter().filter_map(after).collect()
            }
            Which::Fixed(path) => vec![Text::known(*path)],
            Which::Variable(beginning) => {
                let environment = self.found.environment.iter();
                let named =
                    environment.filter(|(name, _)| name.starts_with(beginning)).map(|(_, value)| value);
                named.filter(|value| value.prefix().starts_with('/')).cloned().collect()
            }
            Which::By(select) => select(self),
        }
    }
}

/// Returns true if a path is on another machine: `host:path`, `s3://bucket`.
pub(super) fn is_elsewhere(path: &Text) -> bool {
    let text = path.rough();
    text.split_once(':').is_some_and(|(host, _)| !host.contains('/'))
}

/// A word that is not known may be any, but is there.
fn shown(word: &Text) -> String {
    let rough = word.rough();
    if rough.is_empty() && word.why().is_some() { "…".to_owned() } else { rough }
}

/// Returns true if a word is the one that a page means.
fn is_word(pattern: &str, word: &str) -> bool {
    if let Some(others) = pattern.strip_prefix('!') {
        return !word.is_empty() && !is_word(others, word);
    }
    pattern.split('|').any(|pattern| match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(""), _) => !word.is_empty(),
        (Some(_), Some(_)) => word.contains(pattern.trim_matches('*')),
        (Some(beginning), _) => word.len() > beginning.len() && word.starts_with(beginning),
        (None, Some(end)) => word.ends_with(end),
        (None, None) => word == pattern,
    })
}
