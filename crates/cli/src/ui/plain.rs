//! The command's output and nothing else.

use std::io::{self, Write};

use bashtion::{Event, Events, Outcome, Stream};

/// Each byte to where the command wrote it, as it comes.
pub(super) fn show(first: Event, mut events: Events) -> io::Result<()> {
    let mut next = Some(first);
    while let Some(event) = next {
        if let Event::Output { stream, bytes } = event {
            match stream {
                Stream::Stdout | Stream::Output => write(&mut io::stdout().lock(), &bytes)?,
                Stream::Stderr => write(&mut io::stderr().lock(), &bytes)?,
            }
        }
        next = events.blocking_recv();
    }
    Ok(())
}

/// The readable text, with the middle cut.
pub(super) fn print_cut(outcome: &Outcome) -> io::Result<()> {
    write(&mut io::stdout().lock(), outcome.output.stdout().as_bytes())?;
    write(&mut io::stderr().lock(), outcome.output.stderr().as_bytes())
}

fn write(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes)?;
    out.flush()
}
