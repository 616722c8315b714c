//! Commands in containers: which of their files are ours.

use crate::analysis::Machine;
use crate::text::Text;

/// A command that runs in a container.
pub(super) struct Inside {
    pub(super) machine: Machine,
    pub(super) command: Vec<Text>,
    /// Directories of ours, and where they are there.
    pub(super) mounts: Vec<(Text, String)>,
    pub(super) cwd: String,
}

/// None if nothing is run in one.
pub(super) fn inside(program: &str, arguments: &[Text]) -> Option<Inside> {
    let mut rest = arguments;
    // Options of the client itself.
    while let Some(option) = rest.first().and_then(Text::value).filter(|word| word.starts_with('-')) {
        let takes_value =
            ["--context", "-H", "--host", "-c", "-l", "--log-level", "--config", "-n", "--namespace"]
                .contains(&option);
        rest = rest.get(1 + usize::from(takes_value)..)?;
    }
    if rest.first().and_then(Text::value) == Some("compose")
        || rest.first().and_then(Text::value) == Some("container")
    {
        rest = &rest[1..];
    }
    let at = rest.iter().position(|argument| matches!(argument.value(), Some("run" | "exec" | "debug")))?;
    // Another verb before it means that it is a name.
    if rest[..at].iter().any(|argument| !argument.prefix().starts_with('-')) {
        return None;
    }
    let verb = rest[at].value()?;
    let rest = &rest[at + 1..];
    if matches!(program, "kubectl" | "oc") {
        let at = rest.iter().position(|argument| argument.value() == Some("--"))?;
        let command = rest.get(at + 1..).filter(|command| !command.is_empty())?;
        let machine = if verb == "debug" { Machine::Remote } else { Machine::RunningContainer };
        return Some(made(machine, command, vec![], "/"));
    }
    let (options, operands) = options(rest);
    let entry = options.iter().find(|(name, _)| name == "entrypoint").and_then(|(_, value)| value.clone());
    let command: Vec<Text> = entry.into_iter().chain(operands.get(1..)?.iter().cloned()).collect();
    let command = Some(command.as_slice()).filter(|command| !command.is_empty())?;
    let machine = if verb == "exec" { Machine::RunningContainer } else { Machine::Container };
    let mounts = options.iter().filter_map(|(name, value)| mount(name, value.as_ref()?)).collect();
    let cwd = options.iter().find(|(name, _)| matches!(name.as_str(), "w" | "workdir"));
    let cwd = cwd.and_then(|(_, value)| value.as_ref()?.value()).unwrap_or("/").to_owned();
    Some(made(machine, command, mounts, &cwd))
}

fn made(machine: Machine, command: &[Text], mounts: Vec<(Text, String)>, cwd: &str) -> Inside {
    Inside { machine, command: command.to_vec(), mounts, cwd: cwd.to_owned() }
}

type Options = Vec<(String, Option<Text>)>;

/// Options up to the image, and the image with what follows.
fn options(arguments: &[Text]) -> (Options, &[Text]) {
    const ALONE: [&str; 12] = [
        "rm", "privileged", "init", "read-only", "detach", "interactive", "tty", "publish-all",
        "no-healthcheck", "oom-kill-disable", "no-deps", "quiet",
    ];
    let mut options = vec![];
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        let text = argument.rough();
        if text.is_empty() && argument.why().is_some() {
            // Options that are not known.
            at += 1;
        } else if let Some(long) = text.strip_prefix("--") {
            at += 1;
            let name = long.split('=').next().unwrap_or_default().to_owned();
            if let Some(value) = argument.strip_prefix(&format!("--{name}=")) {
                options.push((name, Some(value)));
            } else if ALONE.contains(&name.as_str()) {
                options.push((name, None));
            } else {
                options.push((name, arguments.get(at).cloned()));
                at += 1;
            }
        } else if let Some(flags) = text.strip_prefix('-') {
            at += 1;
            if flags.bytes().all(|flag| b"itdPqT".contains(&flag)) {
                continue;
            }
            let name = flags.chars().next().unwrap_or_default();
            let attached = argument.strip_prefix(&format!("-{name}")).filter(|rest| !rest.is_empty());
            at += usize::from(attached.is_none());
            options.push((name.to_string(), attached.or_else(|| arguments.get(at - 1).cloned())));
        } else {
            break;
        }
    }
    (options, arguments.get(at..).unwrap_or_default())
}

fn mount(name: &str, value: &Text) -> Option<(Text, String)> {
    match name {
        "v" | "volume" => {
            let text = value.rough();
            let there = text.split(':').nth(1)?.to_owned();
            if text.split(':').nth(2).is_some_and(|mode| mode.split(',').any(|word| word == "ro")) {
                return None;
            }
            let mut host = Text::default();
            for piece in value.pieces() {
                match piece {
                    crate::text::Piece::Known(text) => match text.split_once(':') {
                        Some((before, _)) => {
                            host.push_str(before);
                            break;
                        }
                        None => host.push_str(text),
                    },
                    other => host.push(other.clone()),
                }
            }
            Some((host, there))
        }
        "mount" => {
            let text = value.value()?;
            let field = |names: &[&str]| {
                text.split(',').find_map(|field| field.split_once('=').filter(|(key, _)| names.contains(key)))
            };
            let (_, host) = field(&["source", "src"])?;
            let (_, there) = field(&["target", "dst", "destination"])?;
            Some((Text::known(host), there.to_owned()))
        }
        _ => None,
    }
}
