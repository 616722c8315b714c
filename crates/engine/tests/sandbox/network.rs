//! Nothing leaves when the network is off, and the host's daemons stay closed when it is on.

use bashtion::{Network, Outcome, SandboxSettings};

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
    t16_a_socket_by_a_link: "ln -s {outside}/socket s && {probe} unix_path s", connected, [Workspace, Plain, ReadOnly];
    t16_a_socket_by_another_name: "ln {outside}/socket s && {probe} unix_path s", connected, [Workspace, Plain, ReadOnly];
    t16_a_socket_by_a_descriptor: "exec 9< {outside} && {probe} unix_path /proc/self/fd/9/socket", connected, [Workspace, Plain, ReadOnly];
    t16_a_socket_that_is_another_when_it_is_used: "{probe} unix_changing {outside}/socket", connected, [Workspace, Plain, ReadOnly];
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
            let on = SandboxSettings { network: Network::On, ..settings(hold) };
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
            let on = SandboxSettings { network: Network::On, ..settings(hold) };
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

/// Everything that a test needs about unix sockets: by all threads, blocking and not, and one whose server is busy.
const TALKS: &str = "cat > talks.py <<'END'
import os, signal, socket, threading, time
def alarmed(*_): raise TimeoutError
from multiprocessing import Manager
def served(path, kind=socket.SOCK_STREAM):
    server = socket.socket(socket.AF_UNIX, kind); server.bind(path); server.listen(1); return server
def talk(path, kind=socket.SOCK_STREAM, flags=0):
    client = socket.socket(socket.AF_UNIX, kind | flags); client.connect(path); client.send(b'hello')
if __name__ == '__main__':
    for path in ['here.sock', os.path.abspath('absolute.sock'), os.environ['TMPDIR'] + '/temporary.sock']:
        for kind in [socket.SOCK_STREAM, socket.SOCK_SEQPACKET]:
            server = served(path, kind); talk(path, kind); print(server.accept()[0].recv(5)); os.remove(path)
    server = served('busy.sock')
    clients = [threading.Thread(target=talk, args=('busy.sock',)) for _ in range(80)]
    [client.start() for client in clients]; time.sleep(0.3)
    print(sum(server.accept()[0].recv(5) == b'hello' for _ in clients))
    full = served('full.sock'); clients = [threading.Thread(target=talk, args=('full.sock',), daemon=True) for _ in range(4)]
    [client.start() for client in clients]; time.sleep(0.2)
    signal.signal(signal.SIGALRM, alarmed); signal.setitimer(signal.ITIMER_REAL, 0.1)
    try: talk('full.sock')
    except TimeoutError: print('alarm')
    try: talk('missing.sock')
    except FileNotFoundError: print('missing')
    try: talk('talks.py')
    except ConnectionRefusedError: print('no socket')
    with Manager() as manager: print(manager.dict(a=1))
END
python3 talks.py";

#[test]
fn sockets_in_the_workspace_and_in_the_temporary_directory_work() {
    let scene = Scene::new();
    let outcome = scene.run(Hold::Workspace, TALKS);
    let expected = format!("{}80\nalarm\nmissing\nno socket\n{{'a': 1}}\n", "b'hello'\n".repeat(6));
    assert_eq!(outcome.output.stdout(), expected, "{}", outcome.output.stderr());
    let named = SandboxSettings { sockets: vec!["/nowhere".into()], ..settings(Hold::Plain) };
    let outcome = Scene::new().run_with(named, TALKS);
    assert_eq!(outcome.output.stdout(), expected, "{}", outcome.output.stderr());
}

#[test]
fn a_named_socket_is_open_and_no_other() {
    for hold in [Hold::Workspace, Hold::Plain] {
        for network in [Network::On, Network::Off] {
            let scene = Scene::new();
            std::os::unix::fs::symlink(scene.path("outside/socket"), scene.path("home/link")).unwrap();
            let named = |sockets: &[&str]| SandboxSettings {
                network,
                sockets: sockets.iter().map(|name| scene.path(name)).collect(),
                ..settings(hold)
            };
            let outcome = scene.run_with(named(&["outside/file"]), "{probe} unix_path {outside}/socket");
            assert!(!scene.was_connected(), "{hold:?} {}", outcome.output.stdout());
            for names in [["home/link"], ["outside/socket"], ["outside"]] {
                let outcome = scene.run_with(named(&names), "{probe} unix_path {outside}/socket");
                assert!(scene.was_connected(), "{hold:?} {names:?} {}", outcome.output.stdout());
                assert_eq!(outcome.denials, Vec::<String>::new());
            }
        }
    }
}

#[test]
fn a_refused_socket_is_told_with_what_would_open_it() {
    let scene = Scene::new();
    let outcome = scene.run(Hold::Workspace, "cd ../outside && {probe} unix_path socket");
    let path = scene.path("outside/socket");
    let expected = format!(
        "connecting to the socket {0}: it is outside the workspace; allow it with sockets = [\"{0}\"] under [sandbox] in the user's configuration",
        path.display()
    );
    assert_eq!(outcome.denials, [expected]);
}

/// The connection waits in our process, and must not keep anybody.
#[test]
fn a_command_that_waits_for_a_server_ends_on_time() {
    let stuck = "cat > stuck.py <<'END'
import socket
server = socket.socket(socket.AF_UNIX); server.bind('stuck.sock'); server.listen(0)
clients = [socket.socket(socket.AF_UNIX) for _ in range(4)]
print('waiting', flush=True)
[client.connect('stuck.sock') for client in clients]
END
timeout --signal=KILL 1 python3 stuck.py; echo $?";
    let outcome = Scene::new().run(Hold::Workspace, stuck);
    assert_eq!(outcome.output.stdout(), "waiting\n137\n", "{}", outcome.output.stderr());
}
