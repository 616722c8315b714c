//! The filters of a room: what its commands inherit, and what each has of its own.

use super::bpf::{Rule, compile, compile_addition};
use super::child::install;
use super::filter::{Needs, rules};
use super::names::NAMES;
use crate::Network;

/// The filters of a room's commands.
#[derive(Debug)]
pub(in super::super) struct Filters {
    common: Vec<libc::sock_filter>,
    refusing: Vec<libc::sock_filter>,
    asking: Vec<libc::sock_filter>,
    asking_more: Vec<libc::sock_filter>,
}

impl Filters {
    /// For commands on this network.
    pub(in super::super) fn new(network: Network) -> Self {
        let needs = Needs::of_room(network);
        let asking = Needs { asks: true, datagrams: true, names: true, ..needs };
        let own = |needs| rules(needs).into_iter().filter(|rule| !is_common(rule)).collect();
        let common = compile(rules(needs).into_iter().filter(is_common).collect());
        let more = Needs { removals: true, ..asking };
        let [refusing, asking, asking_more] = [needs, asking, more].map(|needs| compile_addition(own(needs)));
        Self { common, refusing, asking, asking_more }
    }

    /// Installs in this process what all commands inherit from it: a filter costs a tenth of starting a shell.
    pub(in super::super) fn install_common(&self) -> bool {
        install(&self.common, 0).is_some()
    }

    /// For commands that have no unix sockets.
    pub(in super::super) fn refusing(&self) -> &[libc::sock_filter] {
        &self.refusing
    }

    /// For those that ask about each connection and each new name; and about files that are removed, where there are
    /// repositories that can be removed as a whole.
    pub(in super::super) fn asking(&self, has_nested: bool) -> &[libc::sock_filter] {
        if has_nested { &self.asking_more } else { &self.asking }
    }
}

/// The calls that are refused to each command by a filter of its own, because whoever starts it makes them.
const NOT_COMMON: [libc::c_long; 6] = [
    // Births into a control group have no other call.
    libc::SYS_clone3,
    // The tag of a command is such a limit.
    libc::SYS_prlimit64,
    // Sockets for datagrams, and those that the keeper leads ports through, are made here.
    libc::SYS_socket,
    libc::SYS_socketpair,
    // Asked about, by each command's own listener.
    libc::SYS_connect,
    libc::SYS_sendto,
];

/// Returns true for what whoever starts a room's commands does not need either.
fn is_common(rule: &Rule) -> bool {
    !NOT_COMMON.contains(&rule.call)
        && NAMES.iter().all(|name| name.call != rule.call)
        && rule.call != libc::SYS_unlinkat
}

#[cfg(test)]
mod tests {
    use super::super::bpf::simulation::answer;
    use super::super::filter::filter;
    use super::*;

    #[test]
    fn the_filters_of_a_room_refuse_together_what_one_would() {
        for network in [Network::On, Network::Off] {
            let filters = Filters::new(network);
            let whole = filter(Needs { asks: true, datagrams: true, names: true, ..Needs::of_room(network) });
            for call in 0..480 {
                for argument in [0, 1, 2, 3, 10, 16, 0x5412, 0x1000_0000, u32::MAX] {
                    let arguments = [argument, argument, 0, 0, 0, 0];
                    let parts = [&filters.common, &filters.asking].map(|part| answer(part, call, arguments));
                    let allowed = |answer: &u32| *answer == libc::SECCOMP_RET_ALLOW;
                    let strictest = parts.into_iter().find(|answer| !allowed(answer));
                    let together = strictest.unwrap_or(libc::SECCOMP_RET_ALLOW);
                    assert_eq!(together, answer(&whole, call, arguments), "call {call} {arguments:?}");
                }
            }
        }
    }
}
