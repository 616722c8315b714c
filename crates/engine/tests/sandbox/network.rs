//! Nothing leaves when the network is off, and the host's daemons stay closed when it is on.

use bashtion::{Network, Outcome};

use crate::scene::{accepted, settings};
use crate::{Hold, Scene};

fn connected(scene: &mut Scene, _: &Outcome) -> bool {
    scene.was_connected()
}

escapes! {
    t15_tcp: "{probe} tcp {tcp}", connected, [Workspace, Plain, ReadOnly];
    t15_tcp_without_connecting: "{probe} tcp_fastopen {tcp}", connected, [Workspace, Plain, ReadOnly];
    t15_tcp_by_another_protocol: "{probe} mptcp {tcp}", connected, [Workspace, Plain, ReadOnly];
    t15_tcp_by_the_shell: "echo hello > /dev/tcp/127.0.0.1/{tcp}", connected, [Workspace, Plain, ReadOnly];
    t15_udp: "{probe} udp {udp}", connected, [Workspace, Plain, ReadOnly];
    t16_a_socket_by_path: "{probe} unix_path {outside}/socket", connected, [Workspace, Plain, ReadOnly];
    t16_a_socket_by_relative_path: "cd ../outside && {probe} unix_path socket", connected, [Workspace, Plain, ReadOnly];
    t16_an_abstract_socket: "{probe} unix_abstract {abstract}", connected, [Workspace, Plain, ReadOnly];
    t16_a_pair_pointed_elsewhere: "{probe} unix_pair {outside}/datagrams", connected, [Workspace, Plain, ReadOnly];
    t17_raw_packets: "{probe} raw", accepted, [Workspace, Plain, ReadOnly];
    t17_packets_of_the_link: "{probe} packet", accepted, [Workspace, Plain, ReadOnly];
    t17_events_of_the_kernel: "{probe} uevent", accepted, [Workspace, Plain, ReadOnly];
    t17_the_virtual_machine_s_host: "{probe} vsock", accepted, [Workspace, Plain, ReadOnly];
}

#[test]
fn t16_sockets_of_daemons_stay_closed_when_the_network_is_on() {
    for hold in [Hold::Workspace, Hold::Plain] {
        for probe in
            ["unix_path {outside}/socket", "unix_abstract {abstract}", "unix_pair {outside}/datagrams"]
        {
            let scene = Scene::new();
            let on = bashtion::SandboxSettings { network: Network::On, ..settings(hold) };
            scene.run_with(on, &format!("{{probe}} {probe}"));
            assert!(!scene.was_connected(), "{hold:?} {probe}");
        }
    }
}

#[test]
fn internet_protocols_work_when_the_network_is_on() {
    for hold in [Hold::Workspace, Hold::Plain] {
        for probe in ["tcp {tcp}", "udp {udp}"] {
            let scene = Scene::new();
            let on = bashtion::SandboxSettings { network: Network::On, ..settings(hold) };
            let outcome = scene.run_with(on, &format!("{{probe}} {probe}"));
            assert!(scene.was_connected(), "{hold:?} {probe} {}", outcome.output.stdout());
        }
    }
}

#[test]
fn a_command_can_talk_to_itself() {
    let pair = "{probe} pair";
    for hold in [Hold::Workspace, Hold::Plain, Hold::ReadOnly] {
        let outcome = Scene::new().run(hold, &format!("{pair} && echo through a pipe | cat"));
        assert_eq!(outcome.output.stdout(), "ok\nthrough a pipe\n", "{hold:?}");
    }
    let server = "python3 -m http.server --bind 127.0.0.1 8123 > /dev/null 2>&1 & for i in $(seq 50); do \
                  exec 3<> /dev/tcp/127.0.0.1/8123 && break; sleep 0.1; done 2> /dev/null; \
                  printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && head -1 <&3; kill %1";
    let outcome = Scene::new().run(Hold::Workspace, server);
    assert!(
        outcome.output.stdout().contains("200 OK"),
        "{} {}",
        outcome.output.stdout(),
        outcome.output.stderr()
    );
}
