//! The rules. Each is a page: its file says what it is for, why, and what to do instead.

mod agents;
mod changes_accounts;
mod changes_guard;
mod changes_permissions;
mod changes_system;
mod deletes_data;
mod deletes_infrastructure;
mod destroys_disk;
mod ends_every_process;
mod ends_processes;
mod exemptions;
mod fills_disk;
mod fork_bomb;
mod git;
mod git_add_everything;
mod git_force_push;
mod git_history;
mod hijacks_programs;
mod opaque;
mod overwrites_data;
mod publishes;
mod reads_secrets;
mod removes_outside;
mod removes_repository;
mod removes_root;
mod removes_unknown;
mod removes_workspace;
mod reverse_shell;
mod runs_decoded;
mod runs_download;
mod sends_secrets;
mod settings;
mod uses_root;
mod writes_settings;
mod writes_startup;
mod writes_system;

use crate::analysis::{Analysis, Found, Machine};
use crate::syntax::ast::Span;
use crate::verdict::{Decision, Finding};
use crate::world::World;

pub(crate) use exemptions::Exemption;
pub(crate) use hijacks_programs::is_loaded_by_programs;

/// All of them, in the order in which they are listed.
pub(crate) const RULES: &[&dyn Rule] = &[
    &removes_root::RemovesRoot,
    &removes_workspace::RemovesWorkspace,
    &removes_repository::RemovesRepository,
    &removes_outside::RemovesOutside,
    &removes_unknown::RemovesUnknown,
    &destroys_disk::DestroysDisk,
    &fills_disk::FillsDisk,
    &overwrites_data::OverwritesData,
    &writes_system::WritesSystem,
    &writes_startup::WritesStartup,
    &writes_settings::WritesSettings,
    &changes_permissions::ChangesPermissions,
    &changes_accounts::ChangesAccounts,
    &changes_system::ChangesSystem,
    &uses_root::UsesRoot,
    &fork_bomb::ForkBomb,
    &ends_every_process::EndsEveryProcess,
    &ends_processes::EndsProcesses,
    &git_add_everything::GitAddEverything,
    &git_force_push::GitForcePush,
    &git_history::GitHistory,
    &runs_download::RunsDownload,
    &runs_decoded::RunsDecoded,
    &reverse_shell::ReverseShell,
    &reads_secrets::ReadsSecrets,
    &sends_secrets::SendsSecrets,
    &hijacks_programs::HijacksPrograms,
    &deletes_data::DeletesData,
    &deletes_infrastructure::DeletesInfrastructure,
    &publishes::Publishes,
    &changes_guard::ChangesGuard,
    &opaque::Opaque,
];

/// Something that a command should not do, or not without being asked about.
pub(crate) trait Rule: Sync {
    /// What it is called in verdicts and configuration.
    fn name(&self) -> &'static str;

    /// Its manual page.
    fn page(&self) -> &'static str;

    /// The strictest that it says.
    fn severity(&self) -> Decision;

    /// When it has nothing to say.
    fn exemptions(&self) -> &'static [Exemption];

    /// Looks at one command.
    fn check(&self, _found: &Found, _world: &World) -> Option<Problem> {
        None
    }

    /// Looks at the whole script.
    fn check_whole(&self, _analysis: &Analysis) -> Vec<(Span, Problem)> {
        vec![]
    }
}

/// What a rule has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) severity: Decision,
    pub(crate) message: String,
    pub(crate) help: String,
}

impl Problem {
    pub(crate) fn deny(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Decision::Deny, message: message.into(), help: help.into() }
    }

    pub(crate) fn ask(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Decision::Ask, message: message.into(), help: help.into() }
    }
}

/// Returns true if a command changes the machine itself, or acts as another user: no list of paths says what it needs.
pub(crate) fn needs_the_machine(found: &Found, world: &World) -> bool {
    const RULES_OF_MACHINE: [&str; 3] = ["uses-root", "changes-system", "changes-accounts"];
    // A shell forgets its own history wherever it runs.
    if found.setting.machine != Machine::Here || found.program == "history" {
        return false;
    }
    let mut rules = RULES.iter().filter(|rule| RULES_OF_MACHINE.contains(&rule.name()));
    rules.any(|rule| {
        rule.check(found, world).and_then(|problem| exemptions::left(problem, *rule, found, world)).is_some()
    })
}

const MOST_FINDINGS: usize = 40;

/// Everything that the rules say about a command.
pub(crate) fn findings(analysis: &Analysis, world: &World) -> Vec<Finding> {
    let mut findings: Vec<Finding> = vec![];
    let mut add = |rule: &dyn Rule, span: Span, problem: Problem| {
        let finding = Finding {
            rule: rule.name().to_owned(),
            severity: problem.severity,
            message: problem.message,
            span,
            help: problem.help,
        };
        // Beyond a screenful only what is stricter than all before tells anything.
        let stricter = findings.iter().all(|other| other.severity < finding.severity);
        if (findings.len() < MOST_FINDINGS && !findings.contains(&finding)) || stricter {
            findings.push(finding);
        }
    };
    for rule in RULES {
        for found in &analysis.commands {
            if let Some(problem) =
                rule.check(found, world).and_then(|problem| exemptions::left(problem, *rule, found, world))
            {
                add(*rule, found.span, problem);
            }
        }
        for (span, problem) in rule.check_whole(analysis) {
            add(*rule, span, problem);
        }
    }
    findings
}

/// Declares a rule: the doc comment is its page.
macro_rules! rule {
    ($(#[doc = $line:literal])* $type:ident, $name:literal, $severity:ident) => {
        $(#[doc = $line])*
        pub(crate) struct $type;

        impl $type {
            const NAME: &'static str = $name;
            const PAGE: &'static str = concat!($($line, "\n"),*);
            const SEVERITY: $crate::verdict::Decision = $crate::verdict::Decision::$severity;
        }
    };
}
pub(crate) use rule;

/// The parts of [`Rule`] that every rule has in the same way, and its exemptions.
macro_rules! about {
    ($($exemption:ident),*) => {
        fn exemptions(&self) -> &'static [$crate::rules::Exemption] {
            &[$($crate::rules::Exemption::$exemption),*]
        }

        fn name(&self) -> &'static str {
            Self::NAME
        }

        fn page(&self) -> &'static str {
            Self::PAGE
        }

        fn severity(&self) -> $crate::verdict::Decision {
            Self::SEVERITY
        }
    };
}
pub(crate) use about;
