//! The command's environment: built whole, never inherited.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use crate::request::BaseEnv;
use crate::{Request, ToolContext};

/// The caller's variables that a command may see. Tokens and keys are nowhere near this list.
pub(crate) const ALLOWED: [&str; 8] = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "SHELL", "TMPDIR"];

/// Nobody can answer a prompt, page through a listing or enjoy colours.
const NON_INTERACTIVE: [(&str, &str); 14] = [
    ("AI_AGENT", "bashtion"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("GCM_INTERACTIVE", "never"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MANPAGER", "cat"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("PIP_NO_INPUT", "1"),
    ("PYTHONUNBUFFERED", "1"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("SYSTEMD_PAGER", "cat"),
    ("npm_config_yes", "true"),
];

/// What keeps programs from waiting for a network that is not there.
pub(crate) const OFFLINE: [(&str, &str); 5] = [
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("PIP_RETRIES", "0"),
    ("npm_config_audit", "false"),
    ("npm_config_fetch_retries", "0"),
    ("npm_config_update_notifier", "false"),
];

/// Root without its powers cannot give files away, which an archiver tries if it is not told.
pub(crate) const ROOT_WITHOUT_POWERS: (&str, &str) = ("TAR_OPTIONS", "--no-same-owner");

/// Lowest layer first: the caller's allowed variables, the non-interactive ones, the request's own.
pub(crate) fn build(request: &Request, context: &ToolContext) -> Vec<(OsString, OsString)> {
    let mut env = BTreeMap::<OsString, OsString>::new();
    match request.base_env {
        BaseEnv::AllowList => {
            env.insert("TERM".into(), "dumb".into());
            let allowed = ALLOWED.iter().filter_map(|name| Some((name, context.var(name)?)));
            env.extend(allowed.map(|(name, value)| (name.into(), OsStr::to_owned(value))));
            env.extend(NON_INTERACTIVE.map(|(name, value)| (name.into(), value.into())));
        }
        BaseEnv::Empty => {}
    }
    env.retain(|name, _| !request.unset.contains(name));
    env.extend(request.env.iter().cloned());
    env.into_iter().collect()
}
