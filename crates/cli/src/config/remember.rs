//! Adding to what the user allows, in their own configuration.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use tempfile::NamedTempFile;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

use super::{LARGEST, user_file};
use crate::error::CliError;

/// Adds an entry to `allow` under `[permissions]` in the user's configuration, and says where that is. Everything else in the
/// file stays as it is written. If there is no such list in it yet, it begins with what holds: a list replaces the one of the
/// profile beneath.
pub(crate) fn remember(entry: &str, holds: &[String]) -> Result<PathBuf, CliError> {
    let path = user_file()?.ok_or_else(|| {
        CliError::new("there is no place for a configuration")
            .help("set HOME, or name a file with BASHTION_CONFIG")
    })?;
    add(&path, entry, holds).map_err(|error| {
        CliError::new(format!("cannot remember it in {}", path.display()))
            .caused_by(&error)
            .help("add it by hand: `docs/configuration.md` shows how")
    })?;
    Ok(path)
}

fn add(path: &Path, entry: &str, holds: &[String]) -> io::Result<()> {
    let path = real(path)?;
    let folder = path.parent().ok_or_else(|| refused("it is not a file"))?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    check_owner(folder)?;
    // Whoever else adds something waits here, so that nothing is lost.
    let turn = File::open(folder)?;
    rustix::io::retry_on_intr(|| flock(&turn, FlockOperation::LockExclusive))?;
    let (text, mode) = read(&path)?;
    let mut document: DocumentMut =
        text.parse().map_err(|error| refused(&format!("it is not valid TOML: {error}")))?;
    if insert(&mut document, entry, holds)? == Change::Made {
        replace(folder, &path, &document.to_string(), mode)?;
    }
    Ok(())
}

/// Where a link of the user's own leads; one that somebody else has made is not followed.
fn real(path: &Path) -> io::Result<PathBuf> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => {
            check_owner(path)?;
            path.canonicalize()
        }
        Ok(_) => Ok(path.to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(error),
    }
}

fn check_owner(path: &Path) -> io::Result<()> {
    let metadata = path.symlink_metadata()?;
    let problem = match metadata {
        _ if metadata.uid() != rustix::process::geteuid().as_raw() => "belongs to another user",
        _ if !metadata.is_symlink() && metadata.mode() & 0o002 != 0 => "can be written to by others",
        _ => return Ok(()),
    };
    Err(refused(&format!("{} {problem}", path.display())))
}

/// A file that does not exist yet is empty and will be private.
fn read(path: &Path) -> io::Result<(String, u32)> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((String::new(), 0o600)),
        Err(error) => return Err(error),
    };
    check_owner(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return Err(refused(&format!("it is not a file of at most {LARGEST} bytes")));
    }
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text)?;
    Ok((text, metadata.mode() & 0o777))
}

#[derive(Debug, PartialEq, Eq)]
enum Change {
    Made,
    NotNeeded,
}

fn insert(document: &mut DocumentMut, entry: &str, holds: &[String]) -> io::Result<Change> {
    let permissions = document.entry("permissions").or_insert_with(|| Item::Table(Table::new()));
    let permissions: &mut dyn TableLike =
        permissions.as_table_like_mut().ok_or_else(|| refused("`permissions` in it is not a table"))?;
    let allow = permissions.entry("allow").or_insert_with(|| Item::Value(Array::from_iter(holds).into()));
    let allow = allow.as_array_mut().ok_or_else(|| refused("`allow` in it is not a list"))?;
    if allow.iter().any(|known| known.as_str() == Some(entry)) {
        return Ok(Change::NotNeeded);
    }
    // As the entry before it stands: on the same line, or on one of its own.
    let before = allow.iter().last().and_then(|last| last.decor().prefix()?.as_str());
    match before.map(str::to_owned) {
        Some(prefix) if prefix.contains('\n') => {
            let indent = prefix.rsplit('\n').next().unwrap_or_default();
            allow.push_formatted(Value::from(entry).decorated(format!("\n{indent}"), ""));
        }
        Some(_) | None => allow.push(entry),
    }
    Ok(Change::Made)
}

/// All of it or nothing.
fn replace(folder: &Path, path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut draft = NamedTempFile::new_in(folder)?;
    draft.write_all(text.as_bytes())?;
    draft.as_file().set_permissions(Permissions::from_mode(mode))?;
    draft.as_file().sync_all()?;
    draft.persist(path)?;
    Ok(())
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn a_new_file_is_private_and_an_entry_is_added_once() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("deep/bashtion/config.toml");
        for _ in 0..2 {
            add(&path, "git stash clear", &[]).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "[permissions]\nallow = [\"git stash clear\"]\n");
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn comments_and_formatting_stay() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("config.toml");
        let cases = [
            (
                "# mine\n[guard] # strict\nblock = [ 'x' ]\n\n[permissions]\nallow = [\n  \"a\", # first\n  \"b\",\n]\n",
                "# mine\n[guard] # strict\nblock = [ 'x' ]\n\n[permissions]\nallow = [\n  \"a\", # first\n  \"b\",\n  \"new\",\n]\n",
            ),
            ("[permissions]\nallow = ['a']\n", "[permissions]\nallow = ['a', \"new\"]\n"),
            ("permissions.allow = []", "permissions.allow = [\"new\"]\n"),
            ("[sandbox]\nmode = 'off'\n", "[sandbox]\nmode = 'off'\n\n[permissions]\nallow = [\"new\"]\n"),
        ];
        for (before, after) in cases {
            fs::write(&path, before).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
            add(&path, "new", &[]).unwrap();
            assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), (after, 0o640));
        }
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("config.toml");
        for text in
            ["[permissions\n", "permissions = 3\n", "[permissions]\nallow = 'all'\n", "a = 1\na = 2\n"]
        {
            fs::write(&path, text).unwrap();
            add(&path, "new", &[]).unwrap_err();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_of_one_s_own_is_followed_and_stays() {
        let temp = tempfile::tempdir().unwrap();
        let (link, file) = (temp.path().join("config.toml"), temp.path().join("dotfiles.toml"));
        fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        add(&link, "new", &[]).unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert!(fs::read_to_string(&file).unwrap().contains("new"));
    }

    #[test]
    fn a_link_or_folder_of_somebody_else_is_not() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let temp = tempfile::tempdir().unwrap();
        let (link, file) = (temp.path().join("config.toml"), temp.path().join("target.toml"));
        fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(12345), None).unwrap();
        let error = add(&link, "new", &[]).unwrap_err().to_string();
        assert!(error.ends_with("belongs to another user"), "{error}");
        fs::set_permissions(temp.path(), Permissions::from_mode(0o777)).unwrap();
        add(&file, "new", &[]).unwrap_err();
        assert_eq!(fs::read_to_string(&file).unwrap(), "");
    }

    #[test]
    fn nothing_is_lost_when_many_add_at_once() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("config.toml");
        std::thread::scope(|scope| {
            for n in 0..16 {
                let path = &path;
                scope.spawn(move || add(path, &format!("entry {n}"), &[]).unwrap());
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        assert!((0..16).all(|n| text.contains(&format!("\"entry {n}\""))), "{text}");
    }
}
