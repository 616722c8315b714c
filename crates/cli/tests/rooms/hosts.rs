//! Hosts that are not as one would wish: a `/tmp` that cannot be written, somebody else's filter; and what `doctor` says.

use bashtion_testkit::{Finished, in_a_thread_without_namespaces};
use serde_json::Value;

use crate::place::Place;

/// Runs a script of bash where the host's `/tmp` is read-only, but for the place of the test.
fn with_closed_tmp(place: &Place, and: &str, script: &str) -> Finished {
    let root = place.work().parent().unwrap().display().to_string();
    let script = format!(
        "set -e
        mount --bind {root} /mnt; mount -t tmpfs none /tmp; mkdir -p {root}; mount --bind /mnt {root}
        mount -o remount,ro /tmp; {and}
        cd {root}/work; set +e
        {script}"
    );
    place.through("unshare", &["-m", "bash", "-c", &script]).finish()
}

/// Nothing can be made in the usual places, so it is made in the state directory.
const CLOSE_VAR_TMP: &str = "mount -t tmpfs -o ro none /var/tmp";

#[test]
fn a_host_whose_tmp_cannot_be_written() {
    for and in ["", CLOSE_VAR_TMP] {
        let place = Place::new();
        let script = "for options in '' '--sandbox read-only' '--room none' '--sandbox off' '--session s'; do
            \"$BASHTION\" run $options 'echo x | cat; [ -z \"$TMPDIR\" ] || mktemp > /dev/null'
            TMPDIR=/nowhere \"$BASHTION\" run $options 'echo x | cat'
            TMPDIR=/tmp \"$BASHTION\" run $options 'echo x | cat'
        done
        \"$BASHTION\" run 'echo made > /tmp/file'; \"$BASHTION\" run 'cat /tmp/file'
        \"$BASHTION\" rooms end --all > /dev/null";
        let finished = with_closed_tmp(&place, and, script);
        let expected = "x\n".repeat(15) + "made\n";
        assert_eq!(
            (finished.stdout().as_str(), finished.stderr().as_str()),
            (expected.as_str(), ""),
            "{and}"
        );
    }
}

#[test]
fn a_host_whose_tmp_cannot_be_written_without_namespaces() {
    let place = Place::new().configured("[sandbox]\nnamespaces = false\n");
    let script = "for options in '' '--sandbox read-only' '--room none' '--sandbox off'; do
        \"$BASHTION\" run $options 'echo x | cat; [ -z \"$TMPDIR\" ] || mktemp > /dev/null'
    done
    \"$BASHTION\" doctor --json";
    let finished = with_closed_tmp(&place, CLOSE_VAR_TMP, script);
    let text = finished.stdout();
    let json = text.strip_prefix(&"x\n".repeat(4)).unwrap_or_else(|| panic!("{finished:?}"));
    let json: Value = serde_json::from_str(json).unwrap();
    assert_eq!(
        (&json["modes"][0]["possible"], &json["rooms"]["possible"]),
        (&true.into(), &true.into()),
        "{json}"
    );
}

/// A parent that answers for system calls, of which there can be one: it holds the listener of a filter that asks nothing.
const LISTENER: &str = "
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
ALLOW = struct.pack('HBBI', 0x06, 0, 0, 0x7fff0000)
code = ctypes.create_string_buffer(ALLOW, len(ALLOW))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', 1, ctypes.addressof(code)))
libc.prctl(38, 1, 0, 0, 0)
seccomp = {'x86_64': 317, 'aarch64': 277}[os.uname().machine]
fd = libc.syscall(seccomp, 1, 1 << 3, program)
if fd < 0:
    sys.exit('no listener: ' + os.strerror(ctypes.get_errno()))
sys.exit(os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:]))
";

const UNHEARD: &str = "another program answers for the system calls of this one";

#[test]
fn somebody_else_answers_for_system_calls() {
    for place in
        [Place::new(), Place::new().configured("[sandbox]\nsockets = [\"/run\"]\nnamespaces = false\n")]
    {
        let under = |args: &[&str]| {
            let program = env!("CARGO_BIN_EXE_bashtion");
            place.through("python3", &["-c", LISTENER, program]).args(args).finish()
        };
        let command = "echo x > $TMPDIR/file; cat $TMPDIR/file | cat; python3 -c 'import socket; socket.socket(socket.AF_UNIX)'";
        for options in [&["run", "--json"][..], &["run", "--json", "--leftovers", "keep"]] {
            let json = under(&[options, &["--", command]].concat()).json();
            assert_eq!((&json["exit_code"], &json["stdout"]), (&1.into(), &"x\n".into()), "{json}");
            assert!(json["stderr"].as_str().unwrap().contains("Permission denied"), "{json}");
            let expected = options.len() == 2 || json["sandbox"]["room"].is_string();
            assert_eq!(json["sandbox"]["reason"].to_string().contains(UNHEARD), expected, "{json}");
            // The next one has the listener that this parent has let go of.
            drop(place.bashtion().args(&["rooms", "end", "--all"]).finish());
        }
        let doctor = under(&["doctor", "--json"]).json();
        assert!(doctor["modes"][0]["reason"].as_str().unwrap().contains(UNHEARD), "{doctor}");
        assert_eq!(doctor["rooms"]["possible"], true, "{doctor}");
    }
}

#[test]
fn the_doctor_says_what_rooms_share() {
    for place in Place::both() {
        let rooms = || place.bashtion().args(&["doctor", "--json"]).finish().json()["rooms"].clone();
        let found = rooms();
        assert_eq!((&found["possible"], &found["kept"]), (&true.into(), &0.into()), "{found}");
        assert_eq!(found["shared"].as_array().unwrap().len(), 5, "{found}");
        place.prints("true");
        assert_eq!(rooms()["kept"], 1);
        let text = place.bashtion().arg("doctor").finish().stdout();
        let expected = "rooms        yes\n             - commands of a workspace share $TMPDIR, /tmp, /dev/shm, loopback, processes\n             - kept now: 1\n";
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn the_doctor_says_why_there_are_no_rooms() {
    in_a_thread_without_namespaces(|| {
        for place in Place::both() {
            let json = place.bashtion().args(&["doctor", "--json"]).finish().json();
            let found = &json["rooms"];
            assert_eq!(
                (&found["possible"], &found["shared"]),
                (&false.into(), &["$TMPDIR"][..].into()),
                "{json}"
            );
            let reason = found["reason"].as_str().unwrap();
            assert!(
                reason.contains("this machine does not allow it") && reason.contains("namespaces"),
                "{reason}"
            );
            let text = place.bashtion().arg("doctor").finish().stdout();
            assert!(text.contains("- they do not share /tmp, /dev/shm, loopback, processes\n"), "{text}");
        }
    });
}
