use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found, Target};
use crate::paths::Place;
use crate::programs::Concern;
use crate::world::World;

rule! {
    /// Writes to the system's own files: everything under `/etc`, programs, libraries, the kernel's switches.
    ///
    /// ## Why
    /// A wrong line there locks users out, keeps the machine from starting, or opens it to others.
    ///
    /// ## Example
    /// `echo "127.0.0.1 x" >> /etc/hosts`, `cp tool /usr/bin/`, `tar -C / -xf root.tgz`, `echo b > /proc/sysrq-trigger`
    ///
    /// ## Instead
    /// Put files into the workspace and say what an administrator should do with them.
    WritesSystem, "writes-system", Deny
}

impl Rule for WritesSystem {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let written = found.effects.iter().filter_map(|effect| match effect {
            Effect::Write { target } => Some(target),
            _ => None,
        });
        // One file after the other, or all that a directory holds.
        // These put what was found into one place.
        let gathers = matches!(found.program.as_str(), "ln" | "cp" | "mv" | "install" | "rsync");
        let sweeping = !gathers
            && found.via.iter().any(|via| matches!(via.as_str(), "find" | "fd" | "xargs"))
            || found.is_about(Concern::Sweeps);
        let problems: Vec<Problem> = written.filter_map(|target| judged(target, sweeping)).collect();
        problems.into_iter().max_by_key(|problem| problem.severity)
    }
}

/// Places of the system where files come and go in daily work.
const LIVELY: [&str; 9] = [
    "/usr/local/", "/var/", "/run/", "/root/", "/dev/", "/opt/", "/Library/", "/Applications/", "/proc/self/",
];

fn judged(target: &Target, sweeping: bool) -> Option<Problem> {
    let help = "write into the workspace, and say what an administrator should do with it";
    match target.place {
        Place::Root => Some(Problem::deny("files would be put into the root directory".to_owned(), help)),
        Place::System => {
            let path = format!("{}/", target.path);
            let lively = LIVELY.iter().any(|directory| path.starts_with(directory));
            let message = format!("a system file would be written: {}", target.path);
            Some(if lively && !sweeping { Problem::ask(message, help) } else { Problem::deny(message, help) })
        }
        Place::Outside if target.path.matches('/').count() == 1 => {
            let message = format!("files directly below the root would be written: {}", target.path);
            Some(Problem::ask(message, help))
        }
        _ => None,
    }
}
