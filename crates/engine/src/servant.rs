//! This program again, under an argument that nobody types: it watches a task, or keeps a room.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use serde::Serialize;

/// Starts it, tells it what to do, and waits for its answer: empty if it was killed before it said something.
///
/// The process that is started leaves another behind and ends at once.
pub(crate) fn start(program: &Path, argument: &str, message: &[u8]) -> io::Result<Vec<u8>> {
    let mut first = Command::new(program)
        .arg(argument)
        // It has no use for the caller's secrets, and they would be there for as long as it lives.
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let told = first.stdin.take().map_or(Ok(()), |mut input| input.write_all(message));
    let mut answer = vec![];
    let heard = first.stdout.take().map_or(Ok(0), |mut output| output.read_to_end(&mut answer));
    first.wait()?;
    if !answer.is_empty() {
        told.and(heard.map(drop))?;
    }
    Ok(answer)
}

/// The caller waits for one answer; from then on there is nobody to speak to.
pub(crate) fn answer(answer: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(answer)?;
    // First: once it is said that all is well, nothing may fail any more.
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    io::stdout().lock().write_all(&text)?;
    io::stdout().lock().flush()?;
    rustix::stdio::dup2_stdin(null.as_fd())?;
    rustix::stdio::dup2_stdout(null.as_fd())?;
    Ok(())
}

/// Something was said that is no answer.
pub(crate) fn nonsense(whose: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("it did not answer as a {whose} of this version does"))
}
