//! The cost of work with many files in a workspace, as ratios to the same work outside of the sandbox in the same run.
//!
//! Run it with `cargo bench --bench files`; `-- --in DIRECTORY` says where the workspace lies. The host makes names and opens files
//! for writing in the place of a command; reading and removing goes on without it.
#![expect(clippy::print_stdout, reason = "printing is what a benchmark is for")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROUNDS: usize = 5;

/// What is timed, and what makes it possible before. Each begins with a tree of 20,000 files in `tree.tar`.
const WORK: [(&str, &str, &str); 6] = [
    ("unpacking 20,000 files", "", "tar xf tree.tar"),
    ("removing 20,000 files", "tar xf tree.tar", "rm -rf tree"),
    ("searching 20,000 files", "tar xf tree.tar", "grep -rq nowhere tree || true"),
    (
        "10,000 renames",
        "mkdir tree; touch tree/a",
        "python3 -c 'import os\nfor _ in range(5000): os.rename(\"tree/a\", \"tree/b\"); os.rename(\"tree/b\", \"tree/a\")'",
    ),
    (
        "5,000 files written anew",
        "mkdir tree",
        "python3 -c 'for _ in range(5000): open(\"tree/a\", \"w\").write(\"x\")'",
    ),
    (
        "building with 200 files of C",
        "mkdir tree; for i in $(seq 200); do echo \"int f$i(void) { return $i; }\" > tree/$i.c; done",
        "cd tree; for i in $(seq 200); do cc -c $i.c; done; ar r all.a *.o 2> /dev/null",
    ),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let named = arguments.iter().position(|argument| argument == "--in").and_then(|at| arguments.get(at + 1));
    let place = named.map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
    let workspace = tempfile::tempdir_in(&place).expect("a workspace");
    let state = tempfile::tempdir().expect("a state directory");
    make_tree(workspace.path());
    for (name, before, work) in WORK {
        let (mut outside, mut inside) = (vec![], vec![]);
        for _ in 0..ROUNDS {
            outside.push(timed(workspace.path(), state.path(), "off", before, work));
            inside.push(timed(workspace.path(), state.path(), "workspace", before, work));
        }
        let (outside, inside) = (median(outside), median(inside));
        println!("{name:30} {:6.2} × the same outside ({:.0} ms)", inside / outside, outside / 1000.0);
    }
    bashtion(state.path(), workspace.path())
        .args(["rooms", "end", "--all"])
        .output()
        .expect("it ends its rooms");
}

fn bashtion(state: &Path, workspace: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bashtion"));
    command.env("BASHTION_STATE_DIR", state).current_dir(workspace);
    command
}

/// Microseconds, as the command itself has measured them.
fn timed(workspace: &Path, state: &Path, mode: &str, before: &str, work: &str) -> f64 {
    let mut script = format!("rm -rf tree\n{before}\nsync -f .\nbegin=$EPOCHREALTIME\n( {work} )\n");
    script.push_str("end=$EPOCHREALTIME\nrm -rf tree\necho $(( ${end/./} - ${begin/./} ))\n");
    fs::write(workspace.join("work.sh"), &script).expect("the workspace is ours");
    let output = bashtion(state, workspace)
        .args(["run", "--sandbox", mode, "--timeout", "5m", "bash work.sh"])
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().unwrap_or_else(|_| panic!("{text} {}", String::from_utf8_lossy(&output.stderr)))
}

fn make_tree(workspace: &Path) {
    let mut script = String::new();
    let _ = write!(script, "mkdir tree; cd tree; for d in $(seq 100); do mkdir $d; ");
    let _ = write!(
        script,
        "for f in $(seq 200); do echo $d $f > $d/$f; done; done; cd ..; tar cf tree.tar tree; rm -rf tree"
    );
    let made = Command::new("bash").args(["-c", &script]).current_dir(workspace).status();
    assert!(made.expect("bash is installed").success());
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
