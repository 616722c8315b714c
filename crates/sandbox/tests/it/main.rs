//! Real processes, real kernel.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fallbacks;
mod refusals;
mod spawning;
mod trees;

use std::ffi::OsString;
use std::fs::File;
use std::io::{PipeReader, Read};
use std::path::Path;

use bashtion_sandbox::{Child, Output, Sandbox, SpawnError, Spec, World, open_directory};

/// Starts `bash -c command` in `/` with both streams in one pipe.
fn start(command: &str) -> (Child, PipeReader) {
    let (read, output, spec) = spec(command);
    (Sandbox::new().launch(&spec.prepare().unwrap(), &output).unwrap(), read)
}

fn spec(command: &str) -> (PipeReader, Output, Spec) {
    let (read, write) = std::io::pipe().unwrap();
    let spec = Spec {
        program: "/bin/bash".into(),
        args: ["bash", "-c", command].map(OsString::from).to_vec(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: open_directory(Path::new("/")).unwrap().0,
        cwd_path: "/".into(),
        world: World::Host,
    };
    let output = Output { stdout: write.try_clone().unwrap().into(), stderr: write.into() };
    (read, output, spec)
}

/// What `command` prints until the last writer has gone.
fn output_of(command: &str) -> String {
    let (mut child, mut read) = start(command);
    let mut text = String::new();
    read.read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    text
}

fn launch_error(spec: Spec, output: &Output) -> SpawnError {
    spec.prepare().and_then(|prepared| Sandbox::new().launch(&prepared, output)).unwrap_err()
}

/// A descriptor that a careless host leaves open for its children.
fn leaky_file() -> File {
    let file = File::open("/etc/passwd").unwrap();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    file
}
