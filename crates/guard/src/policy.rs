//! From an analysis to a verdict: the rules, and what the user has changed about them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::Analysis;
use crate::custom::{CustomRule, ExampleError};
use crate::permissions::{PartDecision, Permissions, Suggestion};
use crate::rules::{self, RULES};
use crate::syntax::ast::Span;
use crate::verdict::{Decision, Finding, PERMISSION, Verdict};
use crate::world::World;

/// How strictly commands are judged.
///
/// ```
/// use bashtion_guard::{Decision, Policy, Settings, World, analyze};
/// let mut settings = Settings::default();
/// settings.severity.insert("git-history".to_owned(), Decision::Deny);
/// let policy = Policy::new(&settings)?;
/// let world = World::new("/w", "/home/dev");
/// assert_eq!(policy.judge(&analyze("git reset --hard", &world), &world).decision, Decision::Deny);
/// # Ok::<(), bashtion_guard::PolicyError>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Policy {
    severity: BTreeMap<String, Decision>,
    block: Vec<String>,
    allow: Vec<String>,
    custom: Vec<CustomRule>,
    #[serde(default)]
    permissions: Permissions,
    /// Judge nothing.
    off: bool,
}

/// The part of a configuration that is about judging.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Settings {
    /// What a rule calls for, instead of what it says itself.
    pub severity: BTreeMap<String, Decision>,
    /// Text that no command may contain, wherever it stands in it.
    pub block: Vec<String>,
    /// Simple commands, exactly as written, that run without being asked about. What is denied stays denied.
    pub allow: Vec<String>,
    /// Rules of the user's own.
    pub rules: Vec<CustomRule>,
}

/// What is wrong with the settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// No such rule.
    #[error("there is no rule {name:?}{}", nearest.as_ref().map(|name| format!("; did you mean {name:?}?")).unwrap_or_default())]
    UnknownRule {
        /// What was written.
        name: String,
        /// What may have been meant.
        nearest: Option<String>,
    },
    /// An empty text would block everything.
    #[error("an empty text in `block` would block every command")]
    EmptyBlock,
    /// Nothing to look for.
    #[error("the rule {name:?} says nothing about which commands it means; give it a `program`")]
    EmptyRule {
        /// Its name.
        name: String,
    },
    /// A name that cannot be used.
    #[error("the rule name {name:?} {problem}")]
    RuleName {
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An example that disagrees with its rule.
    #[error(transparent)]
    Example(#[from] ExampleError),
    /// A project's file tried to make judging milder.
    #[error("a project may only make judging stricter, but {what}")]
    Widens {
        /// How.
        what: String,
    },
}

impl Policy {
    /// Checks the settings, with the examples in them.
    pub fn new(settings: &Settings) -> Result<Self, PolicyError> {
        let mut policy = Self::default();
        policy.add(settings)?;
        Ok(policy)
    }

    /// A policy that allows everything, for callers who judge by themselves.
    ///
    /// ```
    /// use bashtion_guard::{Decision, Policy, World, analyze};
    /// let world = World::new("/w", "/home/dev");
    /// assert_eq!(Policy::off().judge(&analyze("git reset --hard", &world), &world).decision, Decision::Allow);
    /// ```
    #[must_use]
    pub fn off() -> Self {
        Self { off: true, ..Self::default() }
    }

    /// Adds the settings of a project, which may only make judging stricter.
    pub fn narrow(mut self, settings: &Settings) -> Result<Self, PolicyError> {
        let widens = |what: String| Err(PolicyError::Widens { what });
        if let Some(command) = settings.allow.first() {
            return widens(format!("it allows {command:?}"));
        }
        for (name, severity) in &settings.severity {
            let now = self.severity.get(name).copied();
            // Without an override the rule speaks for itself, at most as strictly as its page says.
            let now =
                now.or_else(|| RULES.iter().find(|rule| rule.name() == name).map(|rule| rule.severity()));
            if now.is_some_and(|now| *severity < now) {
                return widens(format!("it sets {name} to {severity}"));
            }
        }
        if let Some(rule) = settings.rules.iter().find(|rule| rule.severity == Decision::Allow) {
            return widens(format!("its rule {:?} allows something", rule.name));
        }
        self.add(settings)?;
        Ok(self)
    }

    /// With permissions, which say what may run at all. They count even where judging is off.
    ///
    /// ```
    /// use bashtion_guard::{Decision, PermissionSettings, Permissions, Policy, World, analyze};
    /// let settings = PermissionSettings { deny: vec!["rm *".to_owned()], ..PermissionSettings::default() };
    /// let policy = Policy::default().permissions(Permissions::new(&settings)?);
    /// let world = World::new("/w", "/home/dev");
    /// let verdict = policy.judge(&analyze("make && sudo rm x", &world), &world);
    /// assert_eq!(verdict.findings[0].message, "the permissions deny this: `rm *`");
    /// # Ok::<(), bashtion_guard::PermissionError>(())
    /// ```
    #[must_use]
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = permissions;
        self
    }

    fn add(&mut self, settings: &Settings) -> Result<(), PolicyError> {
        for rule in &settings.rules {
            self.check_name(&rule.name)?;
            rule.check_examples()?;
            self.custom.push(rule.clone());
        }
        for (name, severity) in &settings.severity {
            let own = self.custom.iter().any(|rule| rule.name == *name);
            if !own && !RULES.iter().any(|rule| rule.name() == name) {
                return Err(PolicyError::UnknownRule { name: name.clone(), nearest: nearest(name) });
            }
            self.severity.insert(name.clone(), *severity);
        }
        if settings.block.iter().any(|text| text.trim().is_empty()) {
            return Err(PolicyError::EmptyBlock);
        }
        self.block.extend(settings.block.iter().cloned());
        self.allow.extend(settings.allow.iter().cloned());
        Ok(())
    }

    fn check_name(&self, name: &str) -> Result<(), PolicyError> {
        let valid = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let taken =
            RULES.iter().any(|rule| rule.name() == name) || self.custom.iter().any(|rule| rule.name == name);
        let problem = match (valid, taken) {
            (false, _) => "must be made of letters, digits and dashes",
            (true, true) => "is taken",
            (true, false) => return Ok(()),
        };
        Err(PolicyError::RuleName { name: name.to_owned(), problem })
    }

    /// Decides: the strictest finding wins.
    #[must_use]
    pub fn judge(&self, analysis: &Analysis, world: &World) -> Verdict {
        let mut findings = if self.off { vec![] } else { self.findings(analysis, world) };
        if !self.permissions.are_empty() {
            let judged = self.permissions.judge(analysis, world);
            findings.retain(|finding| !judged.answers(finding));
            findings.extend(judged.findings());
        }
        Verdict::new(findings)
    }

    /// What the rules say that the settings have not answered.
    fn findings(&self, analysis: &Analysis, world: &World) -> Vec<Finding> {
        let mut findings = rules::findings(analysis, world);
        findings.extend(self.custom.iter().flat_map(|rule| rule.findings(analysis)));
        for finding in &mut findings {
            if let Some(severity) = self.severity.get(&finding.rule) {
                finding.severity = *severity;
            }
        }
        findings.retain(|finding| finding.severity != Decision::Allow && !self.waives(finding, analysis));
        findings.extend(self.block.iter().filter_map(|text| blocked(text, analysis)));
        findings
    }

    /// Each part of a command, with what the permissions say about it and which entry said so.
    ///
    /// ```
    /// use bashtion_guard::{DecidedBy, Decision, PermissionSettings, Permissions, Policy, World, analyze};
    /// let settings = PermissionSettings { ask: vec!["git push *".to_owned()], ..PermissionSettings::default() };
    /// let policy = Policy::default().permissions(Permissions::new(&settings)?);
    /// let world = World::new("/w", "/home/dev");
    /// let parts = policy.explain(&analyze("ls && git push", &world), &world);
    /// assert_eq!((parts[0].shown.as_str(), &parts[0].by), ("ls", &DecidedBy::Default));
    /// let entry = DecidedBy::Entry { list: Decision::Ask, entry: "git push *".to_owned() };
    /// assert_eq!((parts[1].shown.as_str(), &parts[1].by), ("git push", &entry));
    /// # Ok::<(), bashtion_guard::PermissionError>(())
    /// ```
    #[must_use]
    pub fn explain(&self, analysis: &Analysis, world: &World) -> Vec<PartDecision> {
        self.permissions.judge(analysis, world).explained()
    }

    /// What could be allowed for good, after somebody was asked. None if nobody was.
    ///
    /// ```
    /// use bashtion_guard::{Decision, PermissionSettings, Permissions, Policy, World, analyze};
    /// let settings = PermissionSettings { default: Decision::Ask, ..PermissionSettings::default() };
    /// let policy = Policy::default().permissions(Permissions::new(&settings)?);
    /// let world = World::new("/w", "/home/dev");
    /// let analysis = analyze("git fetch origin main", &world);
    /// let suggestion = policy.suggest(&analysis, &policy.judge(&analysis, &world)).unwrap();
    /// assert_eq!(suggestion.exact, "tool:bash:git fetch origin main");
    /// assert_eq!(suggestion.pattern.as_deref(), Some("git fetch *"));
    /// # Ok::<(), bashtion_guard::PermissionError>(())
    /// ```
    #[must_use]
    pub fn suggest(&self, analysis: &Analysis, verdict: &Verdict) -> Option<Suggestion> {
        Suggestion::of(&self.permissions, analysis, verdict)
    }

    /// Whether a question has been answered by the settings.
    fn waives(&self, finding: &Finding, analysis: &Analysis) -> bool {
        finding.severity == Decision::Ask
            && finding.rule != "opaque"
            && analysis
                .commands
                .iter()
                .filter(|found| found.span == finding.span)
                .all(|found| self.allow.iter().any(|allowed| *allowed == found.shown()))
    }

    /// The smallest addition to `allow` that would let a command run that is asked about. None if there is none.
    #[must_use]
    pub fn permission(analysis: &Analysis, verdict: &Verdict) -> Option<Vec<String>> {
        let answerable = |rule: &str| rule != "opaque" && rule != PERMISSION;
        let asked = |finding: &Finding| finding.severity == Decision::Ask && answerable(&finding.rule);
        if verdict.findings.is_empty() || !verdict.findings.iter().all(asked) {
            return None;
        }
        let spans: Vec<Span> = verdict.findings.iter().map(|finding| finding.span).collect();
        let mut commands: Vec<String> = vec![];
        for found in analysis.commands.iter().filter(|found| spans.contains(&found.span)) {
            let shown = found.shown();
            if !commands.contains(&shown) {
                commands.push(shown);
            }
        }
        Some(commands)
    }
}

fn blocked(text: &str, analysis: &Analysis) -> Option<Finding> {
    let start = analysis.command.find(text)?;
    Some(Finding {
        rule: "block".to_owned(),
        severity: Decision::Deny,
        message: format!("the command contains a blocked text: {text}"),
        span: Span { start, end: start + text.len() },
        help: "leave that text out; it is blocked by the configuration wherever it stands".to_owned(),
    })
}

/// The rule whose name is most like this one.
pub(crate) fn nearest(name: &str) -> Option<String> {
    let distance = |other: &str| {
        let (a, b): (Vec<char>, Vec<char>) = (name.chars().take(64).collect(), other.chars().collect());
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.iter().enumerate() {
            let mut diagonal = std::mem::replace(&mut row[0], i + 1);
            for (j, y) in b.iter().enumerate() {
                let next = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
                diagonal = std::mem::replace(&mut row[j + 1], next);
            }
        }
        row[b.len()]
    };
    let best = RULES.iter().map(|rule| rule.name()).min_by_key(|rule| distance(rule))?;
    (distance(best) <= 1 + name.len() / 3).then(|| best.to_owned())
}
