//! The command's environment: built whole, never inherited.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use crate::request::BaseEnv;
use crate::{Request, ToolContext};

/// The caller's variables that a command may see. Tokens and keys are nowhere near this list.
const ALLOWED: [&str; 8] = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "SHELL", "TMPDIR"];

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
    env.extend(request.env.iter().cloned());
    env.into_iter().collect()
}
