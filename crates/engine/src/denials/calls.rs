//! Refused system calls, recognised by the messages of programs.

use bashtion_sandbox::Mode;

use super::End;
use super::denial::{Denial, What};
use super::evidence::Evidence;
use super::message::{Message, Reason};
use super::remedy::Remedy;

/// Tracing, terminals, sockets, and programs of another architecture.
pub(super) fn refused(end: &End<'_>, evidence: &Evidence<'_>, known: usize) -> Vec<Denial> {
    let mut denials = vec![];
    let mut add = |what, why, remedy| denials.push(Denial { what, why, remedy });
    if end.ended_by("SIGSYS") {
        add(What::ForeignCall, "the sandbox knows the calls of this machine only", Remedy::SandboxOff);
    }
    let refusals: Vec<&str> = refusals(evidence).collect();
    let is_refused =
        |words: &[&str]| refusals.iter().any(|line| words.iter().any(|word| line.contains(word)));
    if is_refused(&["ptrace", "PTRACE"]) || evidence.says("LeakSanitizer has encountered a fatal error") {
        add(What::Tracing, "debuggers and leak checkers cannot be used", Remedy::SandboxOff);
    }
    if is_refused(&["pseudo-terminal", "ptmx"]) || evidence.says("out of pty devices") {
        add(What::OpeningTerminal, "there are none in the sandbox", Remedy::SandboxOff);
    }
    if known == 0 && has_no_sockets(end) && !refusals.is_empty() && names_socket(evidence) {
        add(
            What::OpeningSocket,
            "this mode has none on this machine while the network is off",
            Remedy::NetworkInWorkspaceMode,
        );
    }
    denials
}

/// The lines in which a call was refused.
fn refusals<'a>(evidence: &'a Evidence<'_>) -> impl Iterator<Item = &'a str> {
    evidence.lines.iter().copied().filter(|line| {
        Message::read(line).is_some_and(|message| {
            matches!(message.reason, Reason::Denied | Reason::NotPermitted)
                && evidence.is_believed(line, message.sign, None)
        })
    })
}

/// Without a listener there are no sockets but those of the internet.
fn has_no_sockets(end: &End<'_>) -> bool {
    let confinement = end.confinement;
    confinement.mode == Mode::ReadOnly || confinement.namespaces == bashtion_sandbox::Namespaces::Never
}

/// A traceback names the module some lines before the reason.
fn names_socket(evidence: &Evidence<'_>) -> bool {
    evidence.lines.iter().any(|line| line.contains("socket") || line.contains(".sock"))
}
