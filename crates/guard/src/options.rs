//! The arguments of a program, told apart into options and operands.

use crate::text::Text;

#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Short ones as single letters, long ones without dashes, each with its value if it has one.
    pub(crate) given: Vec<(String, Option<Text>)>,
    pub(crate) operands: Vec<Text>,
}

impl Options {
    /// `short` and `long` are those that take a value.
    pub(crate) fn parse(arguments: &[Text], short: &str, long: &[&str]) -> Self {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.rough();
            if text == "--" {
                options.operands.extend(rest.by_ref().cloned());
            } else if let Some(name) = text.strip_prefix("--") {
                options.long(name, argument, &mut rest, long);
            } else if let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
                options.short(cluster, argument, &mut rest, short);
            } else {
                options.operands.push(argument.clone());
            }
        }
        options
    }

    fn long(&mut self, text: &str, whole: &Text, rest: &mut std::slice::Iter<'_, Text>, with_value: &[&str]) {
        let (name, value) = match text.split_once('=') {
            Some((name, _)) => (name, whole.strip_prefix(&format!("--{name}="))),
            None if with_value.contains(&text) => (text, rest.next().cloned()),
            None => (text, None),
        };
        self.given.push((name.to_owned(), value));
    }

    fn short(
        &mut self,
        cluster: &str,
        whole: &Text,
        rest: &mut std::slice::Iter<'_, Text>,
        with_value: &str,
    ) {
        for (at, flag) in cluster.char_indices() {
            if with_value.contains(flag) {
                let taken = 1 + at + flag.len_utf8();
                let attached = whole.strip_prefix(&format!("-{}", &cluster[..taken - 1]));
                let value = attached.filter(|value| !value.is_empty()).or_else(|| rest.next().cloned());
                self.given.push((flag.to_string(), value));
                return;
            }
            self.given.push((flag.to_string(), None));
        }
    }

    /// Whether one of these was given. Long names may be shortened, as GNU programs allow.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        let same = |given: &str, name: &str| {
            given == name || given.len() >= 2 && name.len() > 1 && name.starts_with(given)
        };
        self.given.iter().any(|(given, _)| names.iter().any(|name| same(given, name)))
    }

    /// The last value given for one of these.
    pub(crate) fn value(&self, names: &[&str]) -> Option<&Text> {
        self.given.iter().rev().find(|(given, _)| names.contains(&given.as_str()))?.1.as_ref()
    }

    pub(crate) fn values(&self, names: &[&str]) -> impl Iterator<Item = &Text> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.given
            .iter()
            .filter(move |(given, _)| names.contains(given))
            .filter_map(|(_, value)| value.as_ref())
    }
}
