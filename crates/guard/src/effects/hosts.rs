//! Other machines that a program talks to.

use crate::analysis::Found;
use crate::programs::{Talks, Usage, is_listed, page};
use crate::text::Text;

/// The machines that a command talks to.
pub(crate) fn hosts(found: &Found) -> Vec<String> {
    page(&found.program)
        .filter(|page| page.talks != Talks::Never)
        .map_or_else(Vec::new, |page| of(&Usage::of(found, page)))
}

/// The same for one that has been looked at already.
pub(super) fn of(usage: &Usage<'_>) -> Vec<String> {
    let arguments = &usage.found.arguments;
    match usage.page.talks {
        Talks::Never => vec![],
        Talks::Urls => {
            let mut hosts: Vec<String> = arguments.iter().filter_map(|url| host_of(&url.rough())).collect();
            if hosts.is_empty() && !usage.has("--version --help") {
                hosts.push("?".to_owned());
            }
            hosts
        }
        Talks::First => {
            usage.operands.first().map(|host| without_user(&host.to_string())).into_iter().collect()
        }
        Talks::Colon => arguments
            .iter()
            .filter_map(|argument| argument.rough().split_once(':').map(|(host, _)| host.to_owned()))
            .filter(|host| !host.starts_with('-') && !host.contains('/'))
            .map(|host| without_user(&host))
            .collect(),
        Talks::Cloud(words) => {
            let talks = words.split(' ').any(|word| usage.found.has(word));
            if talks { vec!["cloud".to_owned()] } else { vec![] }
        }
        Talks::Server(verbs) => {
            let verb = usage.operands.first().map(Text::rough).unwrap_or_default();
            if !is_listed(verbs, &verb) {
                return vec![];
            }
            let named = arguments.iter().find_map(|argument| host_of(&argument.rough()));
            vec![named.unwrap_or_else(|| "remote".to_owned())]
        }
    }
}

fn without_user(host: &str) -> String {
    host.rsplit('@').next().unwrap_or_default().to_owned()
}

fn host_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
    Some(host.split(':').next()?.to_owned())
}
