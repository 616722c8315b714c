//! Asking the person at the terminal.

use std::io;

use bashtion::{Approval, Grant, Question, Suggestion, Verdict};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio;
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

use super::frame::Frame;
use super::outlet::Target;

/// What somebody at the terminal says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Yes,
    No { reason: String },
    AlwaysExactly,
    AlwaysPattern,
}

/// Whether there is somebody who can read a question and answer it.
pub(crate) fn can_ask() -> bool {
    use io::IsTerminal;
    io::stdin().is_terminal() && Target::Stderr.is_terminal()
}

/// Shows the question and waits for the answer. Blocks.
///
/// Only what is typed after the question was shown counts. The end of input is a no.
pub(crate) fn ask(question: &Question, suggestion: Option<&Suggestion>) -> io::Result<Choice> {
    const ATTEMPTS: usize = 5;
    Target::Stderr.write(asked(question, suggestion).as_bytes())?;
    for _ in 0..ATTEMPTS {
        tcflush(stdio::stdin(), QueueSelector::IFlush)?;
        Target::Stderr.write(prompt(suggestion).as_bytes())?;
        let Some(line) = read_line()? else {
            Target::Stderr.write(b"\n")?;
            return Ok(Choice::No { reason: String::new() });
        };
        if let Some(choice) = understood(&line, suggestion) {
            return Ok(choice);
        }
        Target::Stderr.write("please answer with one of these letters; Ctrl-C gives up\n".as_bytes())?;
    }
    Ok(Choice::No { reason: String::new() })
}

fn asked(question: &Question, suggestion: Option<&Suggestion>) -> String {
    let width = tcgetwinsize(stdio::stderr()).map_or(0, |size| usize::from(size.ws_col));
    let about = About {
        command: &question.command,
        cwd: &question.cwd.to_string_lossy(),
        description: question.description.as_deref(),
        verdict: &question.verdict,
        effects: &question.effects,
        circumstances: &question.circumstances,
        grant: &question.grant,
    };
    let mut frame = about.framed("This command needs your approval", if width == 0 { 80 } else { width });
    if let Some(Suggestion { exact, pattern }) = suggestion {
        frame.heading("what can be allowed from now on: exactly this, or what looks like the pattern");
        frame.quote(exact);
        if let Some(pattern) = pattern {
            frame.quote(pattern);
        }
    }
    frame.close("Everything behind a bar is the command's text, or about it.")
}

fn prompt(suggestion: Option<&Suggestion>) -> String {
    let more = match suggestion {
        None => "",
        Some(Suggestion { pattern: None, .. }) => ", [a]lways exactly this",
        Some(Suggestion { pattern: Some(_), .. }) => ", [a]lways exactly this, always this [p]attern",
    };
    format!("Run it? [y]es, [n]o{more} (a reason may follow the no): ")
}

/// None if it is no clear answer.
fn understood(line: &str, suggestion: Option<&Suggestion>) -> Option<Choice> {
    let line = line.trim();
    if line.chars().any(char::is_control) {
        return None;
    }
    let (word, rest) = line.split_once([' ', ',', ':']).unwrap_or((line, ""));
    let rest = rest.trim();
    let pattern = suggestion.and_then(|suggestion| suggestion.pattern.as_ref());
    match word.to_lowercase().as_str() {
        "y" | "yes" if rest.is_empty() => Some(Choice::Yes),
        "n" | "no" => Some(Choice::No { reason: rest.to_owned() }),
        "a" | "always" if rest.is_empty() && suggestion.is_some() => Some(Choice::AlwaysExactly),
        "p" | "pattern" if rest.is_empty() && pattern.is_some() => Some(Choice::AlwaysPattern),
        _ => None,
    }
}

/// Straight from the terminal: what was read ahead from it belongs to something else. None at its end.
fn read_line() -> io::Result<Option<String>> {
    const LONGEST: usize = 64 << 10;
    let mut line = vec![];
    let mut piece = [0; 4096];
    loop {
        match rustix::io::read(stdio::stdin(), &mut piece) {
            Ok(0) => return Ok(None),
            Ok(count) => line.extend(&piece[..count]),
            Err(Errno::INTR) => continue,
            Err(Errno::AGAIN) => {
                let fd = stdio::stdin();
                poll(&mut [PollFd::new(&fd, PollFlags::IN)], None)?;
            }
            Err(error) => return Err(error.into()),
        }
        if line.contains(&b'\n') || line.len() > LONGEST {
            return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
        }
    }
}

/// Asks about what stands above. Blocks. Whatever is not a clear yes is a no.
pub(crate) fn confirm(prompt: &str) -> io::Result<bool> {
    tcflush(stdio::stdin(), QueueSelector::IFlush)?;
    Target::Stderr.write(prompt.as_bytes())?;
    let line = read_line()?.unwrap_or_default();
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// What a question is about.
struct About<'a> {
    command: &'a str,
    cwd: &'a str,
    description: Option<&'a str>,
    verdict: &'a Verdict,
    effects: &'a [String],
    circumstances: &'a [String],
    grant: &'a Grant,
}

impl About<'_> {
    fn framed(&self, title: &str, width: usize) -> Frame {
        const MOST_EFFECTS: usize = 20;
        let mut frame = Frame::new(title, width);
        frame.quote(self.command);
        if !self.command.is_ascii() {
            frame.heading("it contains characters that may look like others");
        }
        frame.heading("in");
        frame.quote(self.cwd);
        frame.heading("how it would run");
        for circumstance in self.circumstances {
            frame.quote(circumstance);
        }
        if !self.grant.is_empty() {
            frame.heading("what it gets if you agree, beside what every command has");
        }
        for words in self.grant.in_words() {
            frame.quote(&words);
        }
        if let Some(description) = self.description {
            frame.heading("for, in the words of whoever wants to run it");
            frame.quote(description);
        }
        frame.heading("why you are asked");
        for finding in &self.verdict.findings {
            frame.quote(&format!("{}: {}", finding.rule, finding.message));
        }
        if !self.effects.is_empty() {
            frame.heading("what it would do, as far as it can be told");
        }
        for effect in self.effects.iter().take(MOST_EFFECTS) {
            frame.quote(effect);
        }
        if self.effects.len() > MOST_EFFECTS {
            frame.heading(&format!("and {} more", self.effects.len() - MOST_EFFECTS));
        }
        frame
    }
}

/// A question that waits, in full.
pub(crate) fn approval_in_full(approval: &Approval, closing: &str) -> String {
    let about = About {
        command: &approval.command,
        cwd: &approval.cwd.to_string_lossy(),
        description: approval.description.as_deref(),
        verdict: &approval.verdict,
        effects: &approval.effects,
        circumstances: &approval.circumstances,
        grant: &approval.grant,
    };
    let width = tcgetwinsize(stdio::stdout()).map_or(usize::MAX, |size| usize::from(size.ws_col));
    about.framed(approval.id.as_str(), if width == 0 { 80 } else { width }).close(closing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let no = |reason: &str| Some(Choice::No { reason: reason.to_owned() });
        let suggestion = Suggestion { exact: "a".to_owned(), pattern: Some("a *".to_owned()) };
        let some = Some(&suggestion);
        for (line, suggestion, expected) in [
            ("y\n", None, Some(Choice::Yes)),
            (" YES \n", None, Some(Choice::Yes)),
            ("n\n", None, no("")),
            ("no, use a branch\n", None, no("use a branch")),
            ("n: because\n", None, no("because")),
            ("\n", None, None),
            ("yy\n", None, None),
            ("y please\n", None, None),
            ("y\u{1b}[A\n", None, None),
            ("a\n", None, None),
            ("p\n", None, None),
            ("a\n", some, Some(Choice::AlwaysExactly)),
            ("p\n", some, Some(Choice::AlwaysPattern)),
        ] {
            assert_eq!(understood(line, suggestion), expected, "{line:?}");
        }
    }
}
