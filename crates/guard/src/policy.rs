//! From an analysis to a verdict: the rules, and what the user has changed about them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, Found};
use crate::custom::{CustomRule, ExampleError};
use crate::permissions::{
    PartDecision, PermissionError, PermissionLayer, PermissionSettings, Permissions, Suggestion,
};
use crate::rules::{self, Exemption, RULES, Rule};
use crate::syntax::ast::Span;
use crate::texts::TextRule;
use crate::verdict::{BLOCK, Decision, Finding, PERMISSION, Verdict};
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
    block_message: Option<String>,
    texts: Vec<TextRule>,
    questions: Option<Decision>,
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
    /// What is said about such a text; `{text}` is the text.
    pub block_message: Option<String>,
    /// Simple commands, exactly as written, that run without being asked about. What is denied stays denied. An entry does not
    /// reach through sudo, su, ssh or a container unless it begins with it: `sudo systemctl restart app`.
    pub allow: Vec<String>,
    /// Rules of the user's own.
    pub rules: Vec<CustomRule>,
    /// Rules over the text as it is written.
    pub texts: Vec<TextRule>,
    /// What becomes of everything that would be asked about: for callers who have nobody to ask.
    pub questions: Option<Decision>,
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
    /// Nothing to look for in the text.
    #[error(
        "the rule {name:?} looks for no text; give it `contains`, `contains-any` or a `regex`, none of them empty"
    )]
    EmptyText {
        /// Its name.
        name: String,
    },
    /// A pattern that is none.
    #[error("the rule {name:?} has an invalid pattern: {problem}")]
    Pattern {
        /// The rule.
        name: String,
        /// What is wrong with it.
        problem: String,
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
            let by_itself =
                |rule: &&dyn Rule| if is_unasked(*rule) { Decision::Allow } else { rule.severity() };
            let now = now.or_else(|| RULES.iter().find(|rule| rule.name() == name).map(by_itself));
            if now.is_some_and(|now| *severity < now) {
                return widens(format!("it sets {name} to {severity}"));
            }
        }
        if let Some(rule) = settings.rules.iter().find(|rule| rule.severity == Decision::Allow) {
            return widens(format!("its rule {:?} allows something", rule.name));
        }
        if let Some(rule) = settings.texts.iter().find(|rule| rule.severity == Decision::Allow) {
            return widens(format!("its rule {:?} allows something", rule.name));
        }
        if let Some(milder) = settings.questions.filter(|to| *to < self.questions.unwrap_or(Decision::Ask)) {
            return widens(format!("it sets questions to {milder}"));
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
        for rule in &settings.texts {
            self.check_name(&rule.name)?;
            rule.check()?;
            self.texts.push(rule.clone());
        }
        for (name, severity) in &settings.severity {
            let own = self.custom.iter().any(|rule| rule.name == *name);
            if !own && !RULES.iter().any(|rule| rule.name() == name) {
                return Err(PolicyError::UnknownRule {
                    name: name.clone(),
                    nearest: crate::nearest_rule(name),
                });
            }
            self.severity.insert(name.clone(), *severity);
        }
        if settings.block.iter().any(|text| text.trim().is_empty()) {
            return Err(PolicyError::EmptyBlock);
        }
        self.block.extend(settings.block.iter().cloned());
        self.allow.extend(settings.allow.iter().cloned());
        self.block_message = settings.block_message.clone().or_else(|| self.block_message.take());
        self.questions = settings.questions.or(self.questions);
        Ok(())
    }

    fn check_name(&self, name: &str) -> Result<(), PolicyError> {
        let valid = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let taken = RULES.iter().any(|rule| rule.name() == name)
            || self.custom.iter().any(|rule| rule.name == name)
            || self.texts.iter().any(|rule| rule.name == name);
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
        // What the user has written down speaks first, in the user's words.
        let mut findings: Vec<Finding> =
            self.texts.iter().filter_map(|rule| rule.finding(&analysis.command)).collect();
        findings.extend(rules::findings(analysis, world));
        findings.extend(self.custom.iter().flat_map(|rule| rule.findings(analysis)));
        for finding in &mut findings {
            if let Some(severity) = self.severity.get(&finding.rule) {
                finding.severity = *severity;
            } else if RULES.iter().any(|rule| rule.name() == finding.rule && is_unasked(*rule)) {
                finding.severity = Decision::Allow;
            }
        }
        if let Some(answer) = self.questions {
            findings
                .iter_mut()
                .filter(|finding| finding.severity == Decision::Ask)
                .for_each(|finding| finding.severity = answer);
        }
        findings.retain(|finding| finding.severity != Decision::Allow && !self.waives(finding, analysis));
        let blocked = self.block.iter().filter_map(|text| self.blocked(text, analysis));
        blocked.chain(findings).collect()
    }

    /// What there is to say about a variable that a command is given beside its text: the same as about one in it.
    ///
    /// ```
    /// use bashtion_guard::{Policy, World};
    /// let world = World::new("/w", "/home/dev");
    /// assert_eq!(Policy::default().judge_variable("BASH_ENV", "x.sh", &world)[0].rule, "hijacks-programs");
    /// assert!(Policy::default().judge_variable("EDITION", "7", &world).is_empty());
    /// ```
    #[must_use]
    pub fn judge_variable(&self, name: &str, value: &str, world: &World) -> Vec<Finding> {
        if self.off {
            return vec![];
        }
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let mut findings = if is_name {
            let quoted = value.replace('\'', "'\\''");
            let analysis = crate::analyze(&format!("{name}='{quoted}' true"), world);
            rules::findings(&analysis, world)
        } else {
            // Bash takes functions from such: `BASH_FUNC_ls%%=() { …`.
            vec![Finding {
                rule: "hijacks-programs".to_owned(),
                severity: Decision::Ask,
                message: format!(
                    "the variable {name:?} is no ordinary one: a shell may take it for a function"
                ),
                span: Span { start: 0, end: 0 },
                help: "give it a name of letters, digits and underscores".to_owned(),
            }]
        };
        for finding in &mut findings {
            finding.severity = self.severity.get(&finding.rule).copied().unwrap_or(finding.severity);
            if finding.severity == Decision::Ask {
                finding.severity = self.questions.unwrap_or(Decision::Ask);
            }
            finding.span = Span { start: 0, end: 0 };
            finding.message = format!("the variable {name} that it is given: {}", finding.message);
        }
        findings.retain(|finding| finding.severity != Decision::Allow);
        findings
    }

    fn blocked(&self, text: &str, analysis: &Analysis) -> Option<Finding> {
        let start = analysis.command.find(text)?;
        let message = self.block_message.as_deref().unwrap_or("the command contains a blocked text: {text}");
        Some(Finding {
            rule: BLOCK.to_owned(),
            severity: Decision::Deny,
            message: message.replace("{text}", text),
            span: Span { start, end: start + text.len() },
            help: "leave that text out; it is blocked by the configuration wherever it stands".to_owned(),
        })
    }

    /// What is permitted, as it was written.
    #[must_use]
    pub fn permission_settings(&self) -> &PermissionSettings {
        self.permissions.settings()
    }

    /// Adds the permissions of a project, which may only take some away.
    pub fn narrow_permissions(mut self, layer: &PermissionLayer) -> Result<Self, PermissionError> {
        self.permissions = self.permissions.narrow(layer)?;
        Ok(self)
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
                .all(|found| self.allow.contains(&entry(found)))
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
            let entry = entry(found);
            if !commands.contains(&entry) {
                commands.push(entry);
            }
        }
        Some(commands)
    }
}

/// What an entry of `allow` has to be for a command: as it would be typed, after whatever makes it another user's or another
/// machine's. Wrappers that change neither (`env`, `timeout`) do not matter.
fn entry(found: &Found) -> String {
    let crossed = found.via.iter().filter(|via| !STAYING.contains(&via.as_str()));
    let is_elsewhere = found.setting.elevated || !found.is_here();
    let crossed = crossed.filter(|_| is_elsewhere).cloned();
    crossed.chain([found.shown()]).collect::<Vec<_>>().join(" ")
}

/// Wrappers after which a command is the same user's on the same machine.
const STAYING: [&str; 22] = [
    "env", "timeout", "nice", "ionice", "nohup", "setsid", "stdbuf", "time", "command", "builtin", "exec",
    "bash", "sh", "zsh", "dash", "eval", "source", "xargs", "find", "trap", "alias", "unbuffer",
];

/// Returns true if a rule speaks only where a configuration has asked for it.
fn is_unasked(rule: &dyn Rule) -> bool {
    rule.exemptions().contains(&Exemption::Unasked)
}
