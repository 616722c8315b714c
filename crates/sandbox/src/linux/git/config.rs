//! Git's configuration as a command would leave it: only keys that run nothing and lead nowhere may differ.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::astray::From;
use super::keys::{HARMLESS, HARMLESS_SECTIONS, Values};

/// One line of a configuration: its key in lower case but for the subsection, and the value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    section: String,
    subsection: Option<Vec<u8>>,
    name: String,
    value: Vec<u8>,
}

/// The reason why a configuration is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Git may read it in another way than we do.
    Unreadable { line: usize },
    /// This key is not for a command to set, change or remove.
    Key(String),
}

/// Compares a configuration with the one that it is to replace, which is empty for a new repository.
///
/// The questions are whether a path, as the value of `core.worktree`, is the place of this submodule's files; and whether an address
/// leads to a repository that a command can have written.
pub(super) fn check(
    new: &[u8],
    old: &[u8],
    is_worktree: impl Fn(&[u8]) -> bool,
    leads_astray: impl Fn(&[u8]) -> bool,
) -> Result<(), Refusal> {
    let (new, old) = (parse(new)?, parse(old)?);
    let is_new = old.is_empty();
    let others = |entries: &[Entry]| -> Vec<Entry> {
        entries.iter().filter(|entry| entry.values().is_none()).cloned().collect()
    };
    let (others_now, others_before) = (others(&new), others(&old));
    if others_now != others_before {
        let differs = |entry: &&Entry| !others_before.contains(entry);
        let culprit = others_now.iter().find(differs);
        let gone = others_before.iter().find(|entry| !others_now.contains(entry));
        let key = culprit.or(gone).or(others_now.first()).map(Entry::key);
        return Err(Refusal::Key(key.unwrap_or_default()));
    }
    for entry in new.iter().filter(|entry| !old.contains(entry)) {
        let has_one = || old.iter().any(|known| known.key() == entry.key());
        let is_harmless = match entry.values() {
            None => true,
            Some(Values::Text) => true,
            Some(Values::Plain) => is_plain(&entry.value) && !leads_astray(&entry.value),
            Some(Values::Of(words)) => {
                words.iter().any(|word| entry.value.eq_ignore_ascii_case(word.as_bytes()))
            }
            Some(Values::NewUrl) => is_url(&entry.value) && !has_one() && !leads_astray(&entry.value),
            Some(Values::Worktree) => is_worktree(&entry.value) && !has_one(),
            Some(Values::AtBirth) => is_new && is_plain(&entry.value),
        };
        if !is_harmless {
            return Err(Refusal::Key(entry.key()));
        }
    }
    let form = |entry: &&Entry| match entry.values() {
        Some(Values::AtBirth) => true,
        Some(Values::Worktree) => !is_worktree(&entry.value),
        _ => false,
    };
    match old.iter().filter(form).find(|entry| !new.contains(entry)) {
        Some(gone) => Err(Refusal::Key(gone.key())),
        None => Ok(()),
    }
}

/// Finds the paths that a configuration tells git to run programs from, or to read more configuration from. None in one that
/// git may read in another way than we do: no command has changed it.
pub(super) fn paths_that_are_followed(text: &[u8]) -> Vec<(From, PathBuf)> {
    let path = |entry: &Entry| {
        let from = match (entry.section.as_str(), entry.name.as_str()) {
            ("core", "hookspath" | "fsmonitor" | "attributesfile" | "sshcommand" | "editor" | "pager") => {
                From::Files
            }
            ("include" | "includeif", "path") => From::Repository,
            _ => return None,
        };
        let value = entry.value.split(u8::is_ascii_whitespace).next().filter(|word| !word.is_empty())?;
        let is_elsewhere = value.starts_with(b"~") || !value.contains(&b'/') && !value.starts_with(b".");
        (!is_elsewhere || entry.name == "hookspath" || from == From::Repository)
            .then(|| (from, PathBuf::from(OsStr::from_bytes(value))))
    };
    parse(text).unwrap_or_default().iter().filter_map(path).collect()
}

impl Entry {
    fn key(&self) -> String {
        let subsection = self.subsection.as_ref().map(|name| format!(".{}", String::from_utf8_lossy(name)));
        format!("{}{}.{}", self.section, subsection.unwrap_or_default(), self.name)
    }

    /// Which values are harmless under this key. None: it is not a command's affair.
    fn values(&self) -> Option<Values> {
        if self.subsection.is_none() && HARMLESS_SECTIONS.contains(&self.section.as_str())
            || self.section == "color" && self.subsection.is_some()
        {
            return Some(Values::Plain);
        }
        let pattern = match self.subsection {
            Some(_) => format!("{}.*.{}", self.section, self.name),
            None => format!("{}.{}", self.section, self.name),
        };
        HARMLESS.iter().find(|(known, _)| *known == pattern).map(|(_, values)| *values)
    }
}

fn is_plain(value: &[u8]) -> bool {
    let known = |byte: &u8| byte.is_ascii_alphanumeric() || b" _./:,+@=%^~*-#".contains(byte);
    value.iter().all(known) && value.first() != Some(&b'-') && !contains(value, b"::")
}

/// A place that git fetches from by itself, without a helper that the address names.
fn is_url(value: &[u8]) -> bool {
    let printable = value.iter().all(|byte| (b' '..0x7f).contains(byte) || *byte >= 0x80);
    let scheme = value.windows(3).position(|part| part == b"://").map(|end| &value[..end]);
    let is_known = scheme.is_none_or(|scheme| {
        [&b"https"[..], b"http", b"ssh", b"git", b"file", b"git+ssh", b"ssh+git"].contains(&scheme)
    });
    printable
        && is_known
        && !value.is_empty()
        && value[0] != b'-'
        && !contains(value, b"::")
        && !contains(value, b"://-")
}

fn contains(value: &[u8], part: &[u8]) -> bool {
    value.windows(part.len()).any(|window| window == part)
}

/// Reads what git itself writes, and what people usually do. What could be read in two ways is not read at all.
fn parse(text: &[u8]) -> Result<Vec<Entry>, Refusal> {
    let mut reader = Reader { text, at: 0, line: 1 };
    let (mut entries, mut section) = (vec![], None);
    loop {
        reader.skip(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        match reader.peek() {
            None => return Ok(entries),
            Some(b'#' | b';') => reader.skip(|byte| byte != b'\n'),
            Some(b'[') => {
                section = Some(reader.section()?);
                reader.end_of_line()?;
            }
            Some(byte) if byte.is_ascii_alphabetic() => {
                let (section, subsection): (String, Option<Vec<u8>>) =
                    section.clone().ok_or_else(|| reader.refuse())?;
                let name = reader.word(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
                reader.skip(|byte| matches!(byte, b' ' | b'\t'));
                let value = match reader.peek() {
                    Some(b'=') => {
                        reader.at += 1;
                        reader.value()?
                    }
                    // Alone on its line it is true.
                    _ => {
                        reader.end_of_line()?;
                        b"true".to_vec()
                    }
                };
                entries.push(Entry { section, subsection, name, value });
            }
            Some(_) => return Err(reader.refuse()),
        }
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl Reader<'_> {
    fn refuse(&self) -> Refusal {
        Refusal::Unreadable { line: self.line }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        self.line += usize::from(byte == b'\n');
        Some(byte)
    }

    fn skip(&mut self, skipped: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.next();
        }
    }

    /// In lower case.
    fn word(&mut self, belongs: impl Fn(u8) -> bool) -> String {
        let from = self.at;
        self.skip(belongs);
        String::from_utf8_lossy(&self.text[from..self.at]).to_ascii_lowercase()
    }

    /// `[name]` or `[name "subsection"]`
    fn section(&mut self) -> Result<(String, Option<Vec<u8>>), Refusal> {
        self.at += 1;
        let name = self.word(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let mut subsection = None;
        if matches!(self.peek(), Some(b' ' | b'\t')) {
            self.skip(|byte| matches!(byte, b' ' | b'\t'));
            let mut text = vec![];
            if self.next() != Some(b'"') {
                return Err(self.refuse());
            }
            loop {
                match self.next() {
                    Some(b'"') => break,
                    Some(b'\\') => match self.next() {
                        Some(b'\n') | None => return Err(self.refuse()),
                        Some(byte) => text.push(byte),
                    },
                    Some(b'\n' | 0) | None => return Err(self.refuse()),
                    Some(byte) => text.push(byte),
                }
            }
            subsection = Some(text);
        }
        // `[name.subsection]` is an old form, which git does not write any more.
        match self.next() {
            Some(b']') if !name.is_empty() => Ok((name, subsection)),
            _ => Err(self.refuse()),
        }
    }

    /// Nothing but a comment.
    fn end_of_line(&mut self) -> Result<(), Refusal> {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        match self.peek() {
            Some(b'#' | b';') => self.skip(|byte| byte != b'\n'),
            None | Some(b'\n') => {}
            Some(_) => return Err(self.refuse()),
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Vec<u8>, Refusal> {
        let (mut value, mut is_quoted, mut end) = (vec![], false, 0);
        self.skip(|byte| matches!(byte, b' ' | b'\t'));
        loop {
            match self.next() {
                None | Some(b'\n') if is_quoted => return Err(self.refuse()),
                None | Some(b'\n') => break,
                Some(b'\r') if self.peek() == Some(b'\n') && !is_quoted => {}
                Some(0 | b'\r' | 0x0b | 0x0c) => return Err(self.refuse()),
                Some(b'"') => {
                    is_quoted = !is_quoted;
                    end = value.len();
                }
                Some(b'#' | b';') if !is_quoted => {
                    self.skip(|byte| byte != b'\n');
                }
                Some(b'\\') => {
                    match self.next() {
                        Some(b'\n') => continue,
                        Some(b'n') => value.push(b'\n'),
                        Some(b't') => value.push(b'\t'),
                        Some(b'b') => value.push(8),
                        Some(byte @ (b'"' | b'\\')) => value.push(byte),
                        _ => return Err(self.refuse()),
                    }
                    end = value.len();
                }
                Some(byte) => {
                    value.push(byte);
                    if is_quoted || !matches!(byte, b' ' | b'\t') {
                        end = value.len();
                    }
                }
            }
        }
        value.truncate(end);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
        [remote \"origin\"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
        [alias]\n\tst = status\n";

    fn after(added: &str) -> Result<(), Refusal> {
        let text = format!("{OLD}{added}");
        check(
            text.as_bytes(),
            OLD.as_bytes(),
            |path| path == b"../../../sub",
            |url| url.starts_with(b"/room"),
        )
    }

    #[test]
    fn harmless_keys_may_be_set_changed_and_removed() {
        for added in [
            "",
            "[user]\n\tname = A \"B; C\" # said\n\temail=a@b\n",
            "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
            "[remote \"up\"]\n\turl = git@example.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/up/*\n",
            "[submodule \"lib/x\"]\n\tactive = true\n\turl = ../x\n",
            "[color \"diff\"]\n\tmeta = yellow bold\n[advice]\n\tdetachedHead = false\n",
            "[pull]\n\trebase\n",
            "[core]\n\tworktree = ../../../sub\n",
        ] {
            assert_eq!(after(added), Ok(()), "{added}");
        }
        let without = OLD.replace("\tfilemode = true\n", "");
        assert_eq!(check(without.as_bytes(), OLD.as_bytes(), |_| false, |_| false), Ok(()));
    }

    #[test]
    fn others_may_not() {
        for (added, key) in [
            ("[core]\n\tfsmonitor = touch x\n", "core.fsmonitor"),
            ("[CORE]\n\tFsMonitor=true\n", "core.fsmonitor"),
            ("[core]\n\thooksPath = h\n", "core.hookspath"),
            ("[core]\n\tbare = true\n", "core.bare"),
            ("[core]\n\tworktree = /\n", "core.worktree"),
            ("[include]\n\tpath = x\n", "include.path"),
            ("[includeIf \"gitdir:/\"]\n\tpath = x\n", "includeif.gitdir:/.path"),
            ("[alias]\n\tst = !evil\n", "alias.st"),
            ("[diff \"x\"]\n\ttextconv = evil\n", "diff.x.textconv"),
            ("[remote \"origin\"]\n\turl = https://evil\n", "remote.origin.url"),
            ("[remote \"origin\"]\n\tpushurl = https://evil\n", "remote.origin.pushurl"),
            ("[remote \"x\"]\n\turl = ext::sh -c evil\n", "remote.x.url"),
            ("[remote \"x\"]\n\turl = --upload-pack=evil\n", "remote.x.url"),
            ("[remote \"x\"]\n\turl = /room/tmp/evil\n", "remote.x.url"),
            ("[remote \"x\"]\n\turl = ssh://-oProxyCommand=evil/x\n", "remote.x.url"),
            ("[branch \"a\"]\n\tremote = /room/evil\n", "branch.a.remote"),
            ("[remote \"x\"]\n\tuploadpack = evil\n", "remote.x.uploadpack"),
            ("[submodule \"x\"]\n\tupdate = !evil\n", "submodule.x.update"),
            ("[gc]\n\trecentObjectsHook = evil\n", "gc.recentobjectshook"),
            ("[branch \"a\"]\n\tremote = ext::sh\n", "branch.a.remote"),
            ("[extensions]\n\tobjectFormat = sha256\n", "extensions.objectformat"),
        ] {
            assert_eq!(after(added), Err(Refusal::Key(key.to_owned())), "{added}");
        }
        let without = OLD.replace("[alias]\n\tst = status\n", "");
        assert_eq!(
            check(without.as_bytes(), OLD.as_bytes(), |_| false, |_| false),
            Err(Refusal::Key("alias.st".into()))
        );
    }

    #[test]
    fn what_git_may_read_otherwise_is_not_read() {
        for added in [
            "[core] fsmonitor = x\n", "[core.x]\n\ta = b\n", "[core]\n\tname = \"a\n",
            "[user]\n\tname = a\\x\n", "[user]\n\tname = a\rfsmonitor = b\n", "[user]\n\tname = a\0b\n",
            "[user\n", "= x\n", "[user \"a\n\"]\n",
        ] {
            assert!(matches!(after(added), Err(Refusal::Unreadable { .. })), "{added}");
        }
    }

    #[test]
    fn a_new_repository_may_have_a_form() {
        let new =
            "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = sha256\n";
        assert_eq!(check(new.as_bytes(), b"", |_| false, |_| false), Ok(()));
        assert!(check(b"[core]\n\tbare = true\n", b"", |_| false, |_| false).is_err());
    }

    #[test]
    fn every_pattern_is_in_lower_case_and_there_once() {
        for (index, (pattern, _)) in HARMLESS.iter().enumerate() {
            assert_eq!(*pattern, pattern.to_ascii_lowercase());
            assert!(HARMLESS[..index].iter().all(|(other, _)| other != pattern), "{pattern}");
        }
    }
}
