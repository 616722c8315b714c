//! Machines that allow no namespaces, as most containers: no rooms, but a shared `$TMPDIR`.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use bashtion_testkit::{Finished, in_a_thread_without_namespaces};

use crate::place::Place;
use crate::rooms::rooms;

const NOT_SHARED: &str =
    "commands of this workspace share no /tmp, loopback or processes, only $TMPDIR, because";

/// In a place by itself and in one whose configuration says so: the same but for the reason.
fn each(body: fn(&Place, reason: &str)) {
    in_a_thread_without_namespaces(|| {
        Place::both().iter().for_each(|place| body(place, "this machine allows no namespaces"));
    });
    for place in Place::both() {
        let place = place.configured("[sandbox]\nnamespaces = false\n");
        body(&place, "the configuration allows no namespaces");
    }
}

#[test]
fn commands_work_and_share_a_temporary_directory() {
    each(|place, reason| {
        let first = place.run_with(&["--json"], "echo made > $TMPDIR/file; mktemp; pwd").json();
        assert_eq!(first["exit_code"], 0, "{first}");
        let told = first["sandbox"]["reason"].as_str().unwrap();
        assert_eq!(told.matches(&format!("{NOT_SHARED} {reason}")).count(), 1, "{told}");
        assert!(first["sandbox"]["room"].is_null(), "{first}");
        assert_eq!(first["sandbox"]["filesystem"], "partial", "{first}");

        assert_eq!(place.prints("cat $TMPDIR/file; echo more >> $TMPDIR/file"), "made\n");
        assert_eq!(place.prints("ls -d $TMPDIR/tmp.* | wc -l"), "1\n", "what mktemp made");
        let task = place.start("cat $TMPDIR/file");
        assert_eq!(place.end_of(&task)["stdout"], "made\nmore\n");
        let directory = place.prints("echo $TMPDIR");
        assert!(
            directory.contains("/state/private/rooms/work-") && directory.ends_with("/tmp\n"),
            "{directory}"
        );
        assert_eq!(rooms(place).len(), 0);
    });
}

#[test]
fn others_do_not_share_it() {
    each(|place, _| {
        place.prints("echo made > $TMPDIR/file");
        let is_missing = |finished: &Finished| {
            assert!(finished.stderr().contains("No such file"), "{finished:?}");
        };
        let read = "cat $TMPDIR/file";
        let other = place.another_directory("other");
        is_missing(&place.run_with(&["--cwd", &other], read));
        is_missing(&place.run_with(&["--room", "other"], read));
        is_missing(&place.run_with(&["--sandbox", "read-only"], read));
        is_missing(&place.run_with(&["--room", "none"], read));
        place.prints_with(&["--room", "none"], "echo other > $TMPDIR/file");
        place.prints_with(&["--sandbox", "read-only"], "echo other > $TMPDIR/file");
        assert_eq!(place.prints(read), "made\n");
        // The rest of the hidden part of the state directory stays hidden.
        place.prints_with(&["--session", "s"], "true");
        let looked = place.run("cat $TMPDIR/../lock $TMPDIR/../../../sessions/*");
        assert_eq!((looked.code(), looked.stdout()), (Some(1), String::new()), "{looked:?}");
        place.write("write.sh", "echo x > $TMPDIR/$1");
        for path in ["../lock", "../var-tmp/new", "../new", "../../new"] {
            assert_eq!(place.run(&format!("bash write.sh {path}")).code(), Some(1), "{path}");
        }
        let folders = fs::read_dir(place.rooms_folder()).unwrap().flatten();
        let names = folders.map(|entry| entry.file_name().into_string().unwrap());
        assert_eq!(names.filter(|name| name.starts_with("alone-")).count(), 0);
    });
}

#[test]
fn a_session_stays_in_it() {
    each(|place, _| {
        let session = ["--session", "s"];
        place.prints_with(&session, "mkdir -p $TMPDIR/below; cd $TMPDIR/below; echo x > file");
        assert_eq!(place.prints_with(&session, "cat file"), "x\n");
    });
}

/// The rules of `[room]` for `/tmp` hold for it.
#[test]
fn what_is_too_old_is_removed_when_nobody_uses_it() {
    const HOUR: Duration = Duration::from_secs(60 * 60);
    in_a_thread_without_namespaces(|| {
        let place = Place::new().configured("[room]\nkeep-tmp = \"1d\"\n");
        place.prints("touch $TMPDIR/old $TMPDIR/new");
        let old = place.room_file("/old");
        // Whoever looks at it uses it, and so does whoever tidies.
        let make_old = || {
            let long_ago = SystemTime::now() - 48 * HOUR;
            let times = fs::FileTimes::new().set_accessed(long_ago).set_modified(long_ago);
            File::options().write(true).open(&old).unwrap().set_times(times).unwrap();
            let stamp = File::options().write(true).open(place.room_file("/in-use")).unwrap();
            stamp.set_modified(SystemTime::now() - 2 * HOUR).unwrap();
        };
        let task = place.start("sleep 4451");
        make_old();
        assert_eq!(place.prints("ls $TMPDIR"), "new\nold\n", "a task may use it");
        assert_eq!(place.bashtion().args(&["kill", &task]).finish().code(), Some(0));
        make_old();
        assert_eq!(place.prints("ls $TMPDIR"), "new\n");
    });
}

/// A machine that has allowed them meanwhile has rooms again, with the same files.
#[test]
fn the_room_has_the_same_files() {
    let place = Place::new();
    in_a_thread_without_namespaces(|| place.prints("echo made > $TMPDIR/file"));
    fs::remove_file(place.rooms_folder().join(".refused")).unwrap();
    assert_eq!(place.prints("cat /tmp/file"), "made\n");
}
