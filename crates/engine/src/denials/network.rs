//! Connections that were refused.
//!
//! With a listener every connection of the command is known. Without one the filter refuses sockets altogether, and only
//! the messages of programs tell.

use std::fs;
use std::net::SocketAddr;

use bashtion_sandbox::{Exit, Mode, Network};

use super::End;
use super::denial::{Denial, What, plain};
use super::evidence::Evidence;
use super::remedy::Remedy;

/// Messages of programs that have no network.
const SIGNS: [&str; 14] = [
    "Could not resolve host", "could not resolve host", "Could not resolve proxy",
    "Temporary failure in name resolution", "Name or service not known", "nodename nor servname",
    "Network is unreachable", "network is unreachable", "EAI_AGAIN", "ENETUNREACH", "ENOTFOUND",
    "failed to lookup address", "Failed to resolve", "unable to resolve host address",
];

/// Programs that may fail without a word, and their exit codes for a network that is not there.
const SILENT: [(&str, &[i32]); 2] = [("curl", &[5, 6, 7]), ("wget", &[4])];

/// Connections to other machines, then those to sockets of this one.
pub(super) fn refused(end: &End<'_>, evidence: &Evidence<'_>) -> Vec<Denial> {
    let addresses = end.refused_sockets.iter().filter_map(|name| name.parse::<SocketAddr>().ok());
    let (own, other): (Vec<_>, Vec<_>) = addresses.partition(|address| is_own(*address));
    let mut denials = vec![];
    if end.confinement.network == Network::Off {
        denials.extend(other_machines(end, evidence, &own, &other));
        denials.extend(servers_here(end, &own));
    }
    denials.extend(end.refused_sockets.iter().filter_map(|socket| unix_socket(socket)));
    denials
}

fn other_machines(
    end: &End<'_>,
    evidence: &Evidence<'_>,
    own: &[SocketAddr],
    other: &[SocketAddr],
) -> Option<Denial> {
    let lines: Vec<&str> = SIGNS.iter().flat_map(|sign| evidence.lines_with(sign)).collect();
    let is_name_server = |address: &SocketAddr| address.port() == NAME_SERVICE;
    let was_refused = !other.is_empty() || own.iter().any(is_name_server);
    // A program may do without: only what somebody misses is told.
    let is_known = was_refused && (end.failed() || !lines.is_empty());
    if !is_known && lines.is_empty() && !failed_silently(end) {
        return None;
    }
    let is_name = |host: &&str| !is_local(host) && host.contains('.') && plain(host).is_some();
    let mut whom: Vec<String> =
        end.wishes.hosts.iter().map(String::as_str).filter(is_name).map(str::to_owned).collect();
    if whom.is_empty() {
        whom.extend(lines.iter().filter_map(|line| host_in(line)).filter(is_name).map(str::to_owned));
    }
    if whom.is_empty() {
        whom.extend(other.iter().filter(|address| !is_name_server(address)).map(ToString::to_string));
    }
    whom.sort();
    whom.dedup();
    whom.truncate(3);
    Some(Denial { what: What::Connecting(whom), why: "the network is off", remedy: network(end) })
}

const NAME_SERVICE: u16 = 53;

/// The name that a message says could not be found.
fn host_in(line: &str) -> Option<&str> {
    const BEFORE: [&str; 6] =
        ["esolve host: ", "esolve host '", "esolve host address ‘", "EAI_AGAIN ", "ENOTFOUND ", "lookup "];
    let rest = BEFORE.iter().find_map(|before| line.split_once(before)).map(|(_, rest)| rest)?;
    rest.split(|c: char| !(c.is_ascii_alphanumeric() || ".-".contains(c))).next()
}

fn failed_silently(end: &End<'_>) -> bool {
    let codes = end.stages.iter().copied().chain(match end.exit {
        Some(Exit::Code(code)) => Some(code),
        Some(Exit::Signal(_)) | None => None,
    });
    let of_network = |(program, known): &(&str, &[i32])| {
        end.wishes.programs.iter().any(|name| name == program)
            && codes.clone().any(|code| known.contains(&code))
    };
    !end.wishes.hosts.is_empty() && end.output.stderr().is_empty() && SILENT.iter().any(of_network)
}

/// Servers of the host at loopback addresses, which are the command's own while the network is off.
fn servers_here(end: &End<'_>, own: &[SocketAddr]) -> Vec<Denial> {
    let missed = own.iter().filter(|address| end.failed() && address.port() != NAME_SERVICE);
    let answered = missed.filter(|address| host_listens(address.port()));
    let whom: Vec<String> = answered.map(ToString::to_string).collect();
    let why = "the network is off, and with it the servers of this machine";
    Some(whom)
        .filter(|whom| !whom.is_empty())
        .map(|whom| Denial { what: What::Connecting(whom), why, remedy: network(end) })
        .into_iter()
        .collect()
}

/// Returns true if a server of this machine waits at this port. See proc_pid_net(5) for the table.
fn host_listens(port: u16) -> bool {
    const LISTENING: &str = "0A";
    let waits = |line: &str| {
        let mut fields = line.split_whitespace();
        let local = fields.nth(1).and_then(|address| address.rsplit_once(':'));
        let state = fields.nth(1);
        local.is_some_and(|(_, text)| u16::from_str_radix(text, 16) == Ok(port)) && state == Some(LISTENING)
    };
    ["/proc/self/net/tcp", "/proc/self/net/tcp6"]
        .iter()
        .any(|table| fs::read_to_string(table).is_ok_and(|text| text.lines().any(waits)))
}

fn network(end: &End<'_>) -> Remedy {
    match end.confinement.mode {
        Mode::ReadOnly => Remedy::NetworkInWorkspaceMode,
        Mode::Workspace | Mode::Off => Remedy::Network,
    }
}

/// The one thing that the sandbox itself refuses, so it is known and not guessed.
fn unix_socket(socket: &str) -> Option<Denial> {
    /// Tried by the C library for every name it looks up; it does without.
    const NOBODY_MISSES: [&str; 2] = ["/run/nscd/", "/run/systemd/userdb/"];
    if socket.parse::<SocketAddr>().is_ok() || NOBODY_MISSES.iter().any(|place| socket.starts_with(place)) {
        return None;
    }
    let what = What::ConnectingToSocket(socket.to_owned());
    Some(if socket.starts_with('@') {
        let why = "those without a path are the host's here";
        Denial { what, why, remedy: Remedy::Instead("use one in the workspace") }
    } else {
        // The command may have made up the name, and it must not pass for advice.
        let remedy = plain(socket).map_or(Remedy::Nothing, |path| Remedy::Socket(path.to_owned()));
        Denial { what, why: "it is outside the workspace", remedy }
    })
}

fn is_own(address: SocketAddr) -> bool {
    let ip = address.ip().to_canonical();
    ip.is_loopback() || ip.is_unspecified()
}

fn is_local(host: &str) -> bool {
    host == "localhost" || host.starts_with("127.") || host == "::1" || host == "[::1]"
}
