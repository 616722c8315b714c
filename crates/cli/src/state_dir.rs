//! Where files that outlive a call are kept.

use std::path::PathBuf;

/// `$BASHTION_STATE_DIR`, relative to here if it is, else `bashtion` in the user's state directory, else one of the user's in `/tmp`.
pub(crate) fn state_dir() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let named = std::env::var_os("BASHTION_STATE_DIR").filter(|name| !name.is_empty());
    named
        .and_then(|name| std::path::absolute(name).ok())
        .or_else(|| absolute("XDG_STATE_HOME").map(|dir| dir.join("bashtion")))
        .or_else(|| absolute("HOME").map(|dir| dir.join(".local/state/bashtion")))
        .or_else(|| Some(PathBuf::from(format!("/tmp/bashtion-{}", rustix::process::geteuid().as_raw()))))
}
