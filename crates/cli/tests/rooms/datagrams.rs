//! Unix sockets for datagrams: open between the commands of a room, closed to everything outside of it.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;

use crate::place::Place;

/// Receives one datagram at a path, says so, and answers whoever has a name.
const SERVER: &str = "import socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind(sys.argv[1])
print('bound', flush=True)
for _ in range(int(sys.argv[2])):
    data, client = server.recvfrom(300000)
    print(len(data), data[:80].decode(), client or '', flush=True)
    if client:
        server.sendto(b'answer to ' + data[:40], client)
";

fn served(place: &Place, path: &str, count: usize, client: &str) -> (String, String) {
    place.write("server.py", SERVER);
    place.write("client.py", client);
    let task = place.start(&format!("python3 server.py {path} {count}"));
    place.prints_soon(&format!("test -S {path}"));
    let said = place.prints(&format!("python3 client.py {path}"));
    let ended = place.end_of(&task);
    let heard = ended["stdout"].as_str().unwrap().trim_start_matches("bound\n").to_owned();
    (said, heard)
}

#[test]
fn one_command_sends_to_another() {
    let client = "import socket, sys
client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
print(client.sendto(b'hello', sys.argv[1]))
print(client.sendto(b'hello again', sys.argv[1]))
print(client.sendto(b'x' * 100000, sys.argv[1]))
";
    for place in Place::both() {
        for directory in ["/tmp", "/var/tmp", "/dev/shm", "."] {
            let (said, heard) = served(&place, &format!("{directory}/server.socket"), 3, client);
            assert_eq!(said, "5\n11\n100000\n", "{directory}");
            let long = "x".repeat(80);
            assert_eq!(heard, format!("5 hello \n11 hello again \n100000 {long} \n"), "{directory}");
        }
    }
}

#[test]
fn a_server_answers_whoever_has_a_name() {
    let client = "import socket, sys, os
for name in ['/tmp/client.socket', 'relative.socket']:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    client.bind(name)
    client.sendto(b'from ' + name.encode(), sys.argv[1])
    print(client.recvfrom(100))
    client.connect(sys.argv[1])
    client.send(b'connected')
    print(client.recv(100))
    client.close()
    os.unlink(name)
";
    for place in Place::both() {
        let (said, heard) = served(&place, "server.socket", 4, client);
        assert_eq!(
            said,
            "(b'answer to from /tmp/client.socket', 'server.socket')\nb'answer to connected'\n\
             (b'answer to from relative.socket', 'server.socket')\nb'answer to connected'\n"
        );
        let names = ["/tmp/client.socket", "relative.socket"];
        let expected =
            names.map(|name| format!("{} from {name} {name}\n9 connected {name}\n", name.len() + 5)).concat();
        assert_eq!(heard, expected);
    }
}

#[test]
fn a_connected_socket_sends_without_an_address() {
    let client = "import socket, sys, os
client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
client.connect(sys.argv[1])
client.send(b'sent')
os.write(client.fileno(), b'written')
client.sendmsg([b'in ', b'parts'])
client.sendto(b'addressed', sys.argv[1])
";
    for place in Place::both() {
        let (_, heard) = served(&place, "/tmp/server.socket", 4, client);
        let mut heard: Vec<&str> = heard.lines().collect();
        // What has an address does not wait for what has none.
        heard.sort_unstable();
        assert_eq!(heard, ["4 sent ", "7 written ", "8 in parts ", "9 addressed "]);
    }
}

#[test]
fn programs_log_to_a_server_of_the_room() {
    for place in Place::both() {
        place.write("server.py", SERVER);
        let task = place.start("python3 server.py /tmp/log 1");
        place.prints_soon("test -S /tmp/log");
        place.prints("logger -u /tmp/log --socket-errors=on -t me a message");
        let heard = place.end_of(&task)["stdout"].as_str().unwrap().to_owned();
        assert!(heard.trim_end().ends_with(" me: a message"), "{heard}");
    }
}

#[test]
fn servers_of_the_standard_library_work() {
    let script = "import socket, socketserver, threading
class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        data, server = self.request
        server.sendto(data.upper(), self.client_address)
server = socketserver.ThreadingUnixDatagramServer('/tmp/echo', Echo)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
client.setblocking(True)
client.bind('/tmp/asks')
for word in [b'one', b'two', b'three']:
    client.sendto(word, '/tmp/echo')
    print(client.recv(100))
server.shutdown()
try:
    client.sendto(b'x', '/tmp/nobody')
except OSError as error:
    print(error.strerror)
";
    for place in Place::both() {
        place.write("echo.py", script);
        assert_eq!(
            place.prints("python3 echo.py; rm /tmp/echo /tmp/asks"),
            "b'ONE'\nb'TWO'\nb'THREE'\nNo such file or directory\n"
        );
    }
}

/// Everything that sends, to a socket of the host, and while another thread exchanges the address.
const ATTACK: &str = "import ctypes, os, socket, sys, threading, time
inside, outside = sys.argv[1].encode(), sys.argv[2].encode()
libc = ctypes.CDLL(None, use_errno=True)
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(inside)
threading.Thread(target=lambda: [receiver.recv(10) for _ in iter(int, 1)], daemon=True).start()
class Address(ctypes.Structure):
    _fields_ = [('family', ctypes.c_ushort), ('path', ctypes.c_char * 108)]
class Part(ctypes.Structure):
    _fields_ = [('base', ctypes.c_char_p), ('length', ctypes.c_size_t)]
class Message(ctypes.Structure):
    _fields_ = [('name', ctypes.c_void_p), ('name_length', ctypes.c_uint), ('parts', ctypes.c_void_p), ('count', ctypes.c_size_t),
                ('control', ctypes.c_void_p), ('control_length', ctypes.c_size_t), ('flags', ctypes.c_int), ('sent', ctypes.c_uint)]
address = Address(socket.AF_UNIX, outside)
part = Part(b'out!', 4)
message = Message(ctypes.addressof(address), ctypes.sizeof(address), ctypes.addressof(part), 1, None, 0, 0, 0)
def send_all(descriptor):
    size = ctypes.sizeof(address)
    libc.sendto(descriptor, b'out!', 4, 0x40, ctypes.byref(address), size)
    libc.sendmsg(descriptor, ctypes.byref(message), 0x40)
    libc.sendmmsg(descriptor, ctypes.byref(message), 1, 0x40)
    libc.connect(descriptor, ctypes.byref(address), size)
    libc.send(descriptor, b'out!', 4, 0x40)
    libc.write(descriptor, b'out!', 4)
def sockets():
    plain = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    connected.connect(inside)
    twice = os.dup(connected.fileno())
    stream = socket.socketpair()[0]
    return [plain.detach(), connected.detach(), twice, stream.detach(), receiver.fileno()]
for descriptor in sockets():
    send_all(descriptor)
done = False
def exchange():
    while not done:
        address.path = outside
        address.path = inside
def replace():
    while not done:
        for target in targets:
            for source in (targets, spare):
                os.dup2(source[0], target)
targets, spare = sockets(), sockets()
threads = [threading.Thread(target=work, daemon=True) for work in (exchange, replace)]
[thread.start() for thread in threads]
end = time.monotonic() + 3
count = 0
while time.monotonic() < end:
    send_all(targets[count % len(targets)])
    count += 1
done = True
print('tried' if count > 20 else count)
os._exit(0)
";

#[test]
fn nothing_arrives_outside() {
    for place in Place::both() {
        // As those of real daemons: seen inside, unlike what is in the host's /tmp.
        let outside = tempfile::tempdir_in("/run").unwrap();
        std::fs::set_permissions(outside.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let path = format!("{}/daemon.socket", outside.path().display());
        let daemon = UnixDatagram::bind(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
        daemon.set_nonblocking(true).unwrap();
        UnixDatagram::unbound().unwrap().send_to(b"from the host", &path).unwrap();
        assert_eq!(daemon.recv(&mut [0; 16]).unwrap(), 13);
        assert!(place.prints(&format!("ls -l {path}")).starts_with('s'), "it is seen inside");
        place.write("attack.py", ATTACK);
        for network in ["off", "on"] {
            let command = format!("python3 attack.py $PWD/inside-{network} {path}");
            let tried = place.run_with(&["--network", network], &command);
            assert_eq!(tried.stdout(), "tried\n", "{network} {tried:?}");
            let arrived = daemon.recv(&mut [0; 16]).map_err(|error| error.kind());
            assert_eq!(arrived, Err(ErrorKind::WouldBlock), "{network}");
        }
        let refused = place.run(&format!("logger -u {path} --socket-errors=on x"));
        assert_ne!(refused.code(), Some(0), "{refused:?}");
        assert_eq!(daemon.recv(&mut [0; 16]).map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
    }
}
