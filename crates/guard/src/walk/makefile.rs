//! The recipes of a makefile.

use crate::text::Text;

struct Rule<'a> {
    targets: Vec<&'a str>,
    needs: Vec<&'a str>,
    recipe: Vec<Text>,
}

/// The commands that are run for these targets, or for the first one, and for what they depend on.
pub(super) fn recipes(makefile: &str, wanted: &[Text]) -> Vec<Text> {
    const DEEPEST: usize = 8;
    let rules = rules(makefile);
    let mut targets: Vec<&str> =
        wanted.iter().filter_map(Text::value).filter(|word| !word.contains('=')).collect();
    if targets.is_empty() {
        let first = rules.iter().flat_map(|rule| &rule.targets).find(|name| !name.starts_with('.'));
        targets.extend(first);
    }
    let is_made = |rule: &&Rule<'_>, targets: &[&str]| rule.targets.iter().any(|name| targets.contains(name));
    for _ in 0..DEEPEST {
        let needs: Vec<&str> =
            rules.iter().filter(|rule| is_made(rule, &targets)).flat_map(|rule| rule.needs.clone()).collect();
        targets.extend(needs);
        targets.sort_unstable();
        targets.dedup();
    }
    rules.iter().filter(|rule| is_made(rule, &targets)).flat_map(|rule| rule.recipe.clone()).collect()
}

fn rules(makefile: &str) -> Vec<Rule<'_>> {
    let mut rules: Vec<Rule<'_>> = vec![];
    for line in makefile.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            let recipe = recipe.trim_start_matches(['@', '-', '+']).replace("$$", "$");
            if let Some(rule) = rules.last_mut() {
                rule.recipe.push(Text::known(with_variables(&recipe)));
            }
        } else if let Some((targets, needs)) =
            line.split_once(':').filter(|(_, needs)| !needs.starts_with('='))
        {
            // `all: ; command` has its recipe on the same line.
            let (needs, recipe) =
                needs.split_once(';').map_or((needs, None), |(needs, rest)| (needs, Some(rest)));
            let recipe = recipe
                .map(|recipe| recipe.trim_start().trim_start_matches(['@', '-', '+']).replace("$$", "$"));
            rules.push(Rule {
                targets: targets.split_whitespace().collect(),
                needs: needs.split_whitespace().collect(),
                recipe: recipe.into_iter().map(|recipe| Text::known(with_variables(&recipe))).collect(),
            });
        }
    }
    rules
}

/// `$(NAME)` of make is a variable; a command would have a blank in it.
fn with_variables(recipe: &str) -> String {
    let mut text = String::new();
    let mut rest = recipe;
    while let Some(at) = rest.find("$(") {
        let inner = &rest[at + 2..];
        let end = inner.find(')').unwrap_or(0);
        let is_name =
            end > 0 && inner[..end].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        text.push_str(&rest[..at]);
        if is_name {
            text += &format!("make_{}", &inner[..end]);
            rest = &inner[end + 1..];
        } else {
            text.push_str("$(");
            rest = inner;
        }
    }
    text + rest
}
