//! Reading a settings file, and replacing it whole.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// More than anybody writes.
const LARGEST: u64 = 4 << 20;

/// A file that could not be read or replaced.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} {path}")]
pub struct FileError {
    what: &'static str,
    path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// What is in the file; nothing if there is none.
pub fn read(path: &Path) -> Result<String, FileError> {
    let failed = |source| FileError { what: "read", path: path.to_owned(), source };
    let file = match File::options().read(true).custom_flags(NONBLOCK).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        let why = format!("it is not a file of at most {LARGEST} bytes");
        return Err(failed(io::Error::new(io::ErrorKind::InvalidData, why)));
    }
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

/// A pipe is not waited for.
const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// Replaces the file where it really is, keeps its mode and owner, and leaves what was there beside it, if anything was.
/// A file that becomes empty is removed. The copy, if one was made.
pub fn replace(path: &Path, text: &str) -> Result<Option<PathBuf>, FileError> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let failed = |source| FileError { what: "write", path: real.clone(), source };
    let folder = real.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let before = match fs::metadata(&real) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    // One that is there holds what was there before us.
    let names = (1..).map(|n| if n == 1 { String::new() } else { format!("-{n}") });
    let copies = names.take(MOST_COPIES).map(|n| beside(&real, &format!(".bashtion-backup{n}")));
    let free = copies.clone().find(|copy| !copy.exists());
    let copy = free.or_else(|| copies.last()).unwrap_or_else(|| beside(&real, ".bashtion-backup"));
    if let Some(metadata) = &before {
        let old = fs::read(&real).map_err(failed)?;
        written(&copy, &old, Some(metadata)).map_err(failed)?;
    }
    if text.is_empty() {
        fs::remove_file(&real).map_err(failed)?;
    } else {
        written(&real, text.as_bytes(), before.as_ref()).map_err(failed)?;
    }
    Ok(before.map(|_| copy))
}

/// The last is written over.
const MOST_COPIES: usize = 20;

/// All of it or nothing, with the mode and the owner of what it is to be like.
fn written(path: &Path, bytes: &[u8], like: Option<&fs::Metadata>) -> io::Result<()> {
    let mut draft = NamedTempFile::new_in(path.parent().unwrap_or(Path::new("/")))?;
    draft.write_all(bytes)?;
    let file = draft.as_file();
    if let Some(like) = like {
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
            std::os::unix::fs::fchown(file, Some(like.uid()), Some(like.gid()))?;
        }
        file.set_permissions(Permissions::from_mode(like.mode() & 0o777))?;
    }
    file.sync_all()?;
    draft.persist(path)?;
    Ok(())
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_hook_s_file_is_replaced_where_it_is_and_keeps_its_mode() {
        let temp = tempfile::tempdir().unwrap();
        let (link, real) = (temp.path().join("settings.json"), temp.path().join("dotfiles.json"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        let copy = replace(&link, "new").unwrap().unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!((read(&link).unwrap().as_str(), read(&copy).unwrap().as_str()), ("new", "old"));
        assert_eq!(real.metadata().unwrap().mode() & 0o777, 0o640);
        assert_eq!(copy.metadata().unwrap().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_hook_s_new_file_is_private_and_goes_when_it_is_empty() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("deep/hooks.json");
        assert_eq!(read(&path).unwrap(), "");
        assert_eq!(replace(&path, "new").unwrap(), None);
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        replace(&path, "").unwrap();
        assert!(!path.exists());
    }
}
