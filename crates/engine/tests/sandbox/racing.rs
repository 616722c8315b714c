//! Changing a path while the host looks at it, or holding on to what it has just made.

use std::fs;
use std::process::Command;

use crate::{Hold, Scene};

/// A process that writes two texts in turn to memory which it shares, and calls of the kernel that read it.
const RACE: &str = r#"
import ctypes, mmap, os, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
memory = mmap.mmap(-1, 4096)
path = ctypes.c_char_p(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
def race(one, other, call, seconds=1.5):
    memory[:256] = one.ljust(256, b"\0")
    ours = os.getpid()
    child = os.fork()
    if not child:
        at = next(i for i in range(len(one)) if one[i] != other[i])
        one, other, end = one[at:], other[at:], at + len(one) - at
        while os.getppid() == ours:
            memory[at:end] = other
            memory[at:end] = one
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for _ in range(50):
            call()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"#;

fn python(scene: &Scene, hold: Hold, code: &str) {
    fs::write(scene.path("work/race.py"), format!("{RACE}\n{code}")).unwrap();
    let outcome = scene.run(hold, "python3 race.py");
    assert!(outcome.success(), "{}", outcome.output.stderr());
}

/// Fails unless the name is there after the race without the sandbox, and not inside.
fn never_appears(name: &str, code: &str) {
    for hold in [Hold::Off, Hold::Workspace, Hold::Plain] {
        let scene = Scene::new();
        fs::create_dir(scene.path("work/sub")).unwrap();
        python(&scene, hold, code);
        let appeared = fs::symlink_metadata(scene.path("work").join(name)).is_ok();
        assert_eq!(appeared, hold == Hold::Off, "{name} {hold:?}");
        // What is harmless was done meanwhile.
        assert!(scene.path("work/sub/WARM").exists() || scene.path("work/sub/was-there").exists());
    }
}

#[test]
fn t21_a_file_under_another_name() {
    let flags = "os.O_CREAT | os.O_WRONLY";
    let call = format!("lambda: os.close(libc.open(path, {flags}, 0o644))");
    // A name that is refused has no descriptor.
    let call = call.replace("os.close(", "libc.close(");
    never_appears("sub/HEAD", &format!("race(b'sub/WARM', b'sub/HEAD', {call})"));
}

#[test]
fn t21_a_new_file_under_another_name() {
    let code = "
def call():
    libc.unlink(b'sub/WARM')
    libc.close(libc.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
open('sub/was-there', 'w')
race(b'sub/WARM', b'sub/HEAD', call)
";
    never_appears("sub/HEAD", code);
}

#[test]
fn t21_a_directory_under_another_name() {
    let code = "
def call():
    libc.rmdir(b'sub/WARM')
    libc.mkdir(path, 0o755)
open('sub/was-there', 'w')
race(b'sub/WARM', b'sub/HEAD', call)
";
    never_appears("sub/HEAD", code);
}

#[test]
fn t21_a_file_moved_to_another_name() {
    let code = "
def call():
    libc.close(libc.open(b'sub/from', os.O_CREAT | os.O_WRONLY, 0o644))
    libc.rename(b'sub/from', path)
open('sub/was-there', 'w')
race(b'sub/WARM', b'sub/HEAD', call)
";
    never_appears("sub/HEAD", code);
}

#[test]
fn t21_a_link_under_another_name() {
    let code = "
def call():
    libc.unlink(b'sub/WARM')
    libc.symlink(b'elsewhere', path)
    libc.link(b'sub/was-there', path)
open('sub/was-there', 'w')
race(b'sub/WARM', b'sub/HEAD', call)
";
    never_appears("sub/HEAD", code);
}

#[test]
fn t22_settings_under_another_name() {
    let code = "race(b'sub/../.nothing', b'sub/../.mcp.json', lambda: libc.close(libc.open(path, os.O_CREAT | os.O_WRONLY, 0o644)))";
    let code = format!("open('sub/was-there', 'w')\n{}", code.replace(".nothing'", ".mcp.jsox'"));
    never_appears(".mcp.json", &code);
}

/// A directory on the way is exchanged for a link, again and again.
#[test]
fn t21_another_directory_on_the_way() {
    let code = "
os.makedirs('sub/a'), os.makedirs('.hidden')
open('sub/was-there', 'w')
ours = os.getpid()
child = os.fork()
if not child:
    os.chdir('sub')
    os.symlink('..', 'b')
    while os.getppid() == ours:
        libc.renameat2(-100, b'a', -100, b'b', 2)
until = time.monotonic() + 2
while time.monotonic() < until:
    libc.close(libc.open(b'sub/a/.bashtion.toml', os.O_CREAT | os.O_WRONLY, 0o644))
os.kill(child, signal.SIGKILL)
";
    never_appears(".bashtion.toml", code);
}

/// Whoever has a directory open before it is closed has it open as it was.
#[test]
fn t21_a_descriptor_of_a_repository_that_is_being_made() {
    let code = r"
evil = b'[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = touch OUTSIDE/ran\n'
for number in range(200):
    where = f'work{number}'
    os.mkdir(where)
    inside, outside = os.pipe()
    child = os.fork()
    if not child:
        os.close(outside)
        while True:
            fd = libc.open(f'{where}/.git'.encode(), os.O_RDONLY | os.O_DIRECTORY)
            if fd >= 0: break
        os.read(inside, 1)
        for name, text in [('config', evil), ('HEAD', b'ref: refs/heads/main\n')]:
            file = libc.openat(fd, name.encode(), os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
            if file >= 0: os.write(file, text)
        for name in [b'objects', b'refs']:
            libc.mkdirat(fd, name, 0o755)
        os._exit(0)
    os.close(inside)
    os.mkdir(f'{where}/.git')
    os.close(outside)
    os.waitpid(child, 0)
";
    for hold in [Hold::Off, Hold::Workspace, Hold::Plain] {
        let scene = Scene::new();
        python(&scene, hold, &code.replace("OUTSIDE", scene.path("outside").to_str().unwrap()));
        for folder in fs::read_dir(scene.path("work")).unwrap().map(Result::unwrap).map(|entry| entry.path())
        {
            if folder.is_dir() {
                let mut git = Command::new("git");
                git.arg("status").current_dir(folder).env("HOME", scene.path("home"));
                let _ = git.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
            }
        }
        assert_eq!(scene.path("outside/ran").exists(), hold == Hold::Off, "{hold:?}");
    }
}
