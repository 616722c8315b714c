//! Rules over the text of a command as it is written, without understanding it.
//!
//! They find what they look for in comments and quotes, too, and miss everything that is written otherwise. Some
//! specifications demand them; no rule that is built in is one.

use std::ops::Range;

use regex_lite::{Captures, Regex, RegexBuilder};
use regex_syntax::ast::Ast;
use regex_syntax::ast::parse::Parser;
use serde::{Deserialize, Serialize};

use crate::PolicyError;
use crate::syntax::ast::Span;
use crate::verdict::{Decision, Finding};

/// A pattern over the text. All parts that are given must fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TextRule {
    /// What it is called in verdicts.
    pub name: String,
    /// What it calls for.
    #[serde(default = "deny")]
    pub severity: Decision,
    /// Texts that must all be in it, wherever, in any case of letters.
    #[serde(default)]
    pub contains: Vec<String>,
    /// One of these texts must be in it, too.
    #[serde(default)]
    pub contains_any: Vec<String>,
    /// A regular expression that must be found in it.
    #[serde(default)]
    pub regex: Option<String>,
    /// What is taken out of the text before the regular expression is looked for.
    #[serde(default)]
    pub except: Option<String>,
    /// What is said.
    pub message: String,
    /// What to do instead.
    #[serde(default)]
    pub help: String,
}

fn deny() -> Decision {
    Decision::Deny
}

impl TextRule {
    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        let empty = |texts: &[String]| texts.iter().any(String::is_empty);
        let says_nothing = self.contains.is_empty() && self.contains_any.is_empty() && self.regex.is_none()
            || self.regex.as_ref().is_some_and(String::is_empty);
        if says_nothing || empty(&self.contains) || empty(&self.contains_any) {
            return Err(PolicyError::EmptyText { name: self.name.clone() });
        }
        for pattern in self.regex.iter().chain(&self.except) {
            compiled(pattern).map_err(|error| PolicyError::Pattern {
                name: self.name.clone(),
                problem: error.to_string().lines().last().unwrap_or_default().trim().to_owned(),
            })?;
        }
        Ok(())
    }

    pub(crate) fn finding(&self, command: &str) -> Option<Finding> {
        let lower = command.to_lowercase();
        let within = |text: &String| lower.contains(&text.to_lowercase());
        let fits = self.contains.iter().all(within)
            && (self.contains_any.is_empty() || self.contains_any.iter().any(within));
        if !fits {
            return None;
        }
        let found = match &self.regex {
            Some(pattern) => self.search(pattern, command)?,
            None => self.first_text(command),
        };
        Some(Finding {
            rule: self.name.clone(),
            severity: self.severity,
            message: self.message.replace("{text}", command.get(found.clone()).unwrap_or_default()),
            span: Span { start: found.start, end: found.end },
            help: self.help.clone(),
        })
    }

    /// Patterns were checked when they were loaded; one that does not compile after all finds everything. So does one in
    /// a text that nobody wrote by hand: looking through it would take seconds.
    fn search(&self, pattern: &str, command: &str) -> Option<Range<usize>> {
        const LONGEST: usize = 4 << 20;
        if !needed(pattern).iter().all(|text| command.contains(text.as_str())) {
            return None;
        }
        if command.len() > LONGEST {
            return Some(0..0);
        }
        let Ok(pattern) = compiled(pattern) else { return Some(0..command.len()) };
        let kept = match self.except.as_deref().map(compiled) {
            Some(Ok(except)) => {
                except.replace_all(command, |taken: &Captures<'_>| "\0".repeat(taken[0].len())).into_owned()
            }
            Some(Err(_)) | None => command.to_owned(),
        };
        pattern.find(&kept).map(|found| found.range())
    }

    fn first_text(&self, command: &str) -> Range<usize> {
        let place = |text: &String| command.find(text.as_str()).map(|start| start..start + text.len());
        self.contains.iter().chain(&self.contains_any).find_map(place).unwrap_or(0..command.len())
    }
}

/// Texts without which a pattern cannot be found. Looking for them is much faster than looking for it.
fn needed(pattern: &str) -> Vec<String> {
    let tree = Parser::new().parse(pattern);
    let Ok(Ast::Concat(parts)) = &tree else { return vec![] };
    // Flags could make letters mean more than themselves.
    if parts.asts.iter().any(|part| matches!(part, Ast::Flags(_))) {
        return vec![];
    }
    let runs = parts.asts.chunk_by(|a, b| matches!((a, b), (Ast::Literal(_), Ast::Literal(_))));
    let text = |part: &Ast| match part {
        Ast::Literal(literal) => Some(literal.c),
        _ => None,
    };
    runs.map(|run| run.iter().filter_map(text).collect()).filter(|run: &String| !run.is_empty()).collect()
}

fn compiled(pattern: &str) -> Result<Regex, regex_lite::Error> {
    RegexBuilder::new(pattern).size_limit(1 << 20).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> TextRule {
        toml::from_str(&format!("name = \"r\"\nmessage = \"found {{text}}\"\n{text}")).unwrap()
    }

    #[test]
    fn all_parts_must_fit() {
        let triple = rule(r#"contains = ["rm", "-rf", "/"]"#);
        assert!(triple.finding("echo RM; ls -RF /tmp").is_some(), "letters of any case, in any order");
        assert!(triple.finding("rm -rf build").is_none());
        let encoded = rule(
            r#"contains = ["base64"]
            contains-any = ["|bash", "| bash"]"#,
        );
        assert!(encoded.finding("base64 -d x | bash").is_some());
        assert!(encoded.finding("base64 -d x > bash").is_none());
    }

    #[test]
    fn what_is_excepted_is_not_searched() {
        let dollars = rule(
            r"regex = '[${}]'
            except = '\$\{[A-Za-z_]\w*\}|\$[A-Za-z_]\w*'",
        );
        for fine in ["echo $HOME", "echo ${HOME}/x", "ls"] {
            assert_eq!(dollars.finding(fine), None, "{fine}");
        }
        for (wrong, at) in [("echo $(ls)", 5), ("echo ${X:-y}", 5), ("a {b,c}", 2), ("echo $HOME $", 11)] {
            assert_eq!(dollars.finding(wrong).map(|found| found.span.start), Some(at), "{wrong}");
        }
    }

    #[test]
    fn what_a_pattern_needs() {
        assert_eq!(needed(r"rm\s+-rf\s+/"), ["rm", "-rf", "/"]);
        assert_eq!(needed(r"mkfs\."), ["mkfs."]);
        assert_eq!(needed(r"ab?c+d{2}(e|f)g"), ["a", "g"]);
        for pattern in ["(?i)rm -rf", "rm|dd", "[rm]", "", "("] {
            assert!(needed(pattern).is_empty(), "{pattern}");
        }
        assert!(rule("regex = '(?i)RM'").finding("rm").is_some());
        assert!(rule("regex = 'a(?i)RM'").finding("arm").is_some());
    }

    #[test]
    fn what_is_too_long_is_taken_to_fit() {
        let long = format!("rm {}", "x".repeat(5 << 20));
        let found = rule(r"regex = 'rm\s+-rf'").finding(&long);
        assert!(found.is_none(), "what it needs is not there");
        let found = rule(r"regex = 'rm\s+xy'").finding(&long);
        assert!(found.is_none());
        assert_eq!(rule(r"regex = 'rm\s+x*y'").finding(&format!("{long}y")).unwrap().message, "found ");
    }

    #[test]
    fn a_rule_that_cannot_work_is_refused() {
        assert!(rule("").check().is_err());
        assert!(rule(r#"contains = [""]"#).check().is_err());
        let error = rule("regex = '('").check().unwrap_err();
        assert!(error.to_string().contains("open group without closing"), "{error}");
    }
}
