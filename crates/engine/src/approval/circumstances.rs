//! Under what circumstances a command would run: whoever agrees to it agrees to them, too.

use bashtion_sandbox::{Mode, Network};

use super::Place;
use crate::admit::Job;
use crate::engine::Settings;
use crate::environment::Base;
use crate::{Leftovers, SandboxSettings};

/// In words, each on a line; how it is confined first.
pub(crate) fn circumstances(
    job: &Job,
    settings: &Settings,
    session: Option<&str>,
    place: Place,
) -> Vec<String> {
    let sandbox = job.sandbox.as_ref().unwrap_or(&settings.sandbox);
    let mut told = vec![if job.grant.outside { OUTSIDE.to_owned() } else { confined(sandbox) }];
    told.extend(job.grant.in_words());
    for (what, paths) in [
        ("it can also change", &sandbox.writable),
        ("it can also read", &sandbox.readable),
        ("it can connect to", &sandbox.sockets),
    ] {
        told.extend(paths.iter().map(|path| format!("{what} {}", path.display())));
    }
    if settings.env.base == Base::Inherit {
        told.push("it gets the whole environment of its caller".to_owned());
    }
    for (name, value) in &job.given {
        told.push(format!("{}={}", name.to_string_lossy(), value.to_string_lossy()));
    }
    if let Some(name) = session {
        told.push(format!("it goes on with the session {name}"));
    }
    match (place, job.timeout) {
        (Place::Background, None) => told.push("in the background, for as long as it takes".to_owned()),
        (Place::Background, Some(time)) => told.push(format!("in the background, for at most {time:?}")),
        (Place::Foreground, None) => told.push("for as long as it takes".to_owned()),
        (Place::Foreground, Some(_)) => {}
    }
    if job.leftovers == Leftovers::Keep {
        told.push("processes that it leaves behind run on".to_owned());
    }
    told
}

const OUTSIDE: &str = "not confined, for this run only: it can do whatever you can";

fn confined(sandbox: &SandboxSettings) -> String {
    let network = match sandbox.network {
        Network::On => "with the network",
        Network::Off => "without the network",
    };
    match sandbox.mode {
        Mode::Off => "not confined: it can do whatever you can".to_owned(),
        Mode::Workspace => format!("confined to its project, {network}"),
        Mode::ReadOnly => "confined: it can change nothing, and has no network".to_owned(),
    }
}
