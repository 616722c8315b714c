//! Seals on files that a later decision trusts: a file that was forged or edited is found, and does not count.
//!
//! A seal is an HMAC-SHA-256 with a key of the state directory, `private/seal.key`. It covers the kind of the file, its
//! name and its text, so that no sealed file can stand in for another. It is the last member of the JSON object: releases
//! without seals pass over it, and this one knows files without it.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hmac::{Hmac, KeyInit, Mac};
use rustix::fs::{FlockOperation, OFlags, flock};
use sha2::Sha256;

use crate::output::StateDir;

/// The seals of one state directory. The key is read when the first seal is made or looked at.
#[derive(Debug)]
pub(crate) struct Seals {
    state: StateDir,
    key: OnceLock<Key>,
}

/// The kinds of files that are sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Approval,
    Session,
    Task,
}

/// The reason why a file does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// There is no seal.
    Missing,
    /// The seal belongs to another text, name or key.
    Wrong,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "it has no seal, so an older Bashtion or something else has written it",
            Self::Wrong => "its seal does not fit, so something other than Bashtion has changed or made it",
        })
    }
}

/// Whoever has it can forge, so it is where no command can look.
struct Key([u8; Key::LENGTH]);

impl Key {
    const LENGTH: usize = 32;
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

const FOLDER: &str = "private";
const BEFORE: &[u8] = b",\"seal\":\"";
const AFTER: &[u8] = b"\"}";
/// A seal in hexadecimal digits.
const DIGITS: usize = 64;

impl Seals {
    pub(crate) fn new(state: &StateDir) -> Self {
        Self { state: state.clone(), key: OnceLock::new() }
    }

    /// Adds a seal to the text of a JSON object that has members. Makes the key if there is none.
    pub(crate) fn seal(&self, kind: Kind, name: &str, mut text: Vec<u8>) -> io::Result<Vec<u8>> {
        let key = match self.key.get() {
            Some(key) => key,
            None => self.key.get_or_init({
                let key = self.make_key()?;
                || key
            }),
        };
        let seal = digits(&mac(key, kind, name, &text).finalize().into_bytes());
        text.pop();
        text.extend([BEFORE, seal.as_bytes(), AFTER].concat());
        Ok(text)
    }

    /// Looks at the seal of a text. The outer error means that the key cannot be read.
    pub(crate) fn check(&self, kind: Kind, name: &str, text: &[u8]) -> io::Result<Result<(), Flaw>> {
        let Some((unsealed, seal)) = split(text) else { return Ok(Err(Flaw::Missing)) };
        if self.key.get().is_none()
            && let Some(key) = read_key(&self.path())?
        {
            let _ = self.key.set(key);
        }
        let Some(key) = self.key.get() else { return Ok(Err(Flaw::Wrong)) };
        let fits = mac(key, kind, name, &unsealed).verify_slice(&seal).is_ok();
        Ok(if fits { Ok(()) } else { Err(Flaw::Wrong) })
    }

    fn path(&self) -> PathBuf {
        self.state.path().join(FOLDER).join("seal.key")
    }

    /// Under a lock: two that begin at once must agree on one key.
    fn make_key(&self) -> io::Result<Key> {
        let path = self.path();
        if let Some(key) = read_key(&path)? {
            return Ok(key);
        }
        let folder = self.state.folder(FOLDER)?;
        let lock = private(&folder.join("seal.lock"))?;
        rustix::io::retry_on_intr(|| flock(&lock, FlockOperation::LockExclusive))?;
        if let Some(key) = read_key(&path)? {
            return Ok(key);
        }
        let mut bytes = [0; Key::LENGTH];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let partial = folder.join("seal.key.new");
        let mut file = private(&partial)?;
        file.set_len(0)?;
        file.write_all(&bytes)?;
        // A key that is lost in a power cut would take everything with it that it has sealed.
        file.sync_all()?;
        fs::rename(partial, &path)?;
        Ok(Key(bytes))
    }
}

/// None if there is none.
fn read_key(path: &Path) -> io::Result<Option<Key>> {
    let mut bytes = [0; Key::LENGTH];
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let opened = File::options().read(true).custom_flags(flags).open(path);
    match opened.and_then(|mut file| file.read_exact(&mut bytes)) {
        Ok(()) => Ok(Some(Key(bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
    }
}

fn private(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    File::options().write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(path)
}

/// Each part goes in with its length, so that none can take from its neighbour.
fn mac(key: &Key, kind: Kind, name: &str, text: &[u8]) -> Hmac<Sha256> {
    let kind: &[u8] = match kind {
        Kind::Approval => b"approval",
        Kind::Session => b"session",
        Kind::Task => b"task",
    };
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).expect("any length can be a key");
    for part in [kind, name.as_bytes(), text] {
        mac.update(&(part.len() as u64).to_le_bytes());
        mac.update(part);
    }
    mac
}

/// The text as it was before it was sealed, and the seal.
fn split(text: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let at = text.len().checked_sub(BEFORE.len() + DIGITS + AFTER.len())?;
    let (unsealed, rest) = text.split_at(at);
    let seal = rest.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let seal: Option<Vec<u8>> = seal.chunks(2).map(byte).collect();
    Some(([unsealed, b"}"].concat(), seal?))
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = br#"{"version":1,"name":"a"}"#;

    fn place() -> (tempfile::TempDir, StateDir) {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::new(Some(temp.path().join("state")));
        (temp, state)
    }

    #[test]
    fn a_seal_fits_its_text_kind_and_name_only() {
        let (_temp, state) = place();
        let sealed = Seals::new(&state).seal(Kind::Approval, "a", TEXT.to_vec()).unwrap();
        let check = |kind, name, text: &[u8]| Seals::new(&state).check(kind, name, text).unwrap();
        assert_eq!(check(Kind::Approval, "a", &sealed), Ok(()));
        assert_eq!(check(Kind::Session, "a", &sealed), Err(Flaw::Wrong));
        assert_eq!(check(Kind::Approval, "b", &sealed), Err(Flaw::Wrong));
        for at in 0..sealed.len() {
            let mut edited = sealed.clone();
            edited[at] ^= 1;
            assert!(check(Kind::Approval, "a", &edited).is_err(), "{at}");
        }
        assert_eq!(check(Kind::Approval, "a", TEXT), Err(Flaw::Missing));
        assert_eq!(check(Kind::Approval, "a", b""), Err(Flaw::Missing));
        let json: serde_json::Value = serde_json::from_slice(&sealed).unwrap();
        assert_eq!(json["name"], "a");
    }

    #[test]
    fn all_agree_on_one_key_and_without_it_nothing_counts() {
        let (_temp, state) = place();
        let seals: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let seal = || Seals::new(&state).seal(Kind::Task, "x", TEXT.to_vec()).unwrap();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(seal)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(seals.iter().all(|sealed| *sealed == seals[0]));
        fs::remove_file(Seals::new(&state).path()).unwrap();
        assert_eq!(Seals::new(&state).check(Kind::Task, "x", &seals[0]).unwrap(), Err(Flaw::Wrong));
        assert!(!Seals::new(&state).path().exists(), "looking makes no key");
    }
}
