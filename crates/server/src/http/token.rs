//! The token that clients have to bring: a file that only the user can read.

use std::fmt;
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::ServeError;

/// A secret that clients and server share.
#[derive(Clone)]
pub struct Token(String);

/// Whether it had to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// Just now: nobody knows it yet.
    Made,
    /// It was there.
    Found,
}

impl Token {
    /// The one in a file, which is made if it is not there.
    ///
    /// ```
    /// use bashtion_server::{Provenance, Token};
    /// let dir = tempfile::tempdir().unwrap();
    /// let file = dir.path().join("token");
    /// let (made, new) = Token::in_file(&file)?;
    /// let (found, old) = Token::in_file(&file)?;
    /// assert_eq!((new, old), (Provenance::Made, Provenance::Found));
    /// assert_eq!(made.reveal(), found.reveal());
    /// # Ok::<(), bashtion_server::ServeError>(())
    /// ```
    pub fn in_file(path: &Path) -> Result<(Self, Provenance), ServeError> {
        let failed = |source| ServeError::Token { path: path.to_owned(), source };
        match make(path) {
            Ok(token) => Ok((token, Provenance::Made)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Ok((read(path).map_err(failed)?, Provenance::Found))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// What a client has to send.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// How long the comparison takes says nothing about how much is right.
    pub(super) fn is(&self, brought: &str) -> bool {
        Sha256::digest(self.0.as_bytes()) == Sha256::digest(brought.as_bytes())
    }
}

/// A secret is not for logs.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Whole or not at all: it gets its name when it is written, and only the first that is written gets it.
fn make(path: &Path) -> io::Result<Token> {
    if path.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let mut random = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut draft = NamedTempFile::new_in(directory)?;
    writeln!(draft, "{token}")?;
    draft.persist_noclobber(path)?;
    Ok(Token(token))
}

fn read(path: &Path) -> io::Result<Token> {
    const LONGEST: u64 = 4096;
    const SHORTEST: usize = 16;
    let problem = |text: &str| io::Error::new(ErrorKind::InvalidData, text.to_owned());
    // A named pipe in its place is nothing to wait for.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(problem("it is not a file"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(problem(
            "others can read it: make it private with chmod 600, or remove it for a new one",
        ));
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text)?;
    let token = text.trim();
    if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(problem("it is not one line of at least 16 letters and digits; remove it for a new one"));
    }
    Ok(Token(token.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Barrier;

    #[test]
    fn the_file_is_private_and_stays_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("private/token");
        let (token, _) = Token::in_file(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(path.parent().unwrap().metadata().unwrap().mode() & 0o777, 0o700);
        assert!(token.is(token.reveal()) && !token.is("") && !token.is(&token.reveal()[1..]));
        assert!(!format!("{token:?}").contains(token.reveal()));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let error = Token::in_file(&path).unwrap_err();
        assert!(std::error::Error::source(&error).unwrap().to_string().starts_with("others can read it"));
    }

    #[test]
    fn servers_that_start_together_have_one() {
        const AT_ONCE: usize = 8;
        for _ in 0..50 {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("token");
            let together = Barrier::new(AT_ONCE);
            let start = || {
                together.wait();
                Token::in_file(&path).unwrap()
            };
            let tokens: Vec<(Token, Provenance)> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(start)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let written = std::fs::read_to_string(&path).unwrap();
            assert!(tokens.iter().all(|(token, _)| token.reveal() == written.trim()));
            assert_eq!(tokens.iter().filter(|(_, provenance)| *provenance == Provenance::Made).count(), 1);
            assert_eq!(dir.path().read_dir().unwrap().count(), 1);
        }
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        for text in ["", "short\n", "two words are not one token\n"] {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
            Token::in_file(&path).expect_err(text);
        }
    }
}
