//! The command's environment: built whole, never inherited.

mod names;
mod proxy;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::request::BaseEnv;
use crate::{Request, ToolContext};

/// What would change what bash makes of a command is not inherited.
const BASHS_OWN: [&str; 6] = ["BASH_ENV", "BASHOPTS", "ENV", "PROMPT_COMMAND", "PS4", "SHELLOPTS"];

/// How the environment of a command is made.
///
/// ```
/// use bashtion::{Base, Engine, EnvSettings, Request, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let env = EnvSettings { base: Base::Inherit, withhold: vec!["*_TOKEN".into()], ..EnvSettings::default() };
/// let context = ToolContext::from_host("/tmp").env("EDITION", "7").env("API_TOKEN", "secret");
/// let request = Request::new("echo $EDITION $API_TOKEN");
/// let outcome = Engine::builder().env(env).build().run(request, &context).await?;
/// assert_eq!(outcome.output.stdout(), "7\n");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvSettings {
    /// What of the caller's environment it begins with.
    pub base: Base,
    /// The names that [`Base::AllowList`] lets through. Of the addresses of proxies, user names and passwords are taken out.
    pub allow: Vec<String>,
    /// Patterns of names that [`Base::Inherit`] does not let through; `*` stands for anything.
    pub withhold: Vec<String>,
    /// What `HOME` is.
    pub home: Home,
    /// Whether the variables are set that keep programs from asking, paging and colouring.
    pub non_interactive: bool,
    /// Variables for every command.
    pub set: BTreeMap<String, String>,
}

/// What of the caller's environment a command's begins with.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// All of it, with the secrets that may be in it, but for what would change the shell itself.
    Inherit,
    /// What is named.
    #[default]
    AllowList,
    /// Nothing.
    Empty,
}

/// What `HOME` is for a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Home {
    /// The caller's.
    #[default]
    Caller,
    /// The workspace.
    Workspace,
}

impl Default for EnvSettings {
    fn default() -> Self {
        Self {
            base: Base::default(),
            allow: names::usual(),
            withhold: vec![],
            home: Home::default(),
            non_interactive: true,
            set: BTreeMap::new(),
        }
    }
}

impl EnvSettings {
    /// Whether a command may see this variable of the caller's.
    pub(crate) fn lets_through(&self, name: &OsStr) -> bool {
        match self.base {
            Base::Empty => false,
            Base::AllowList => self.allow.iter().any(|allowed| name == allowed.as_str()),
            Base::Inherit => {
                let name = name.to_string_lossy();
                let changes_shell = BASHS_OWN.contains(&&*name) || name.starts_with("BASH_FUNC_");
                !changes_shell
                    && !self.withhold.iter().any(|pattern| bashtion_guard::matches_text(pattern, &name))
            }
        }
    }
}

impl EnvSettings {
    /// The variables of the caller's that a command sees.
    fn seen_of(&self, context: &ToolContext) -> Vec<(OsString, OsString)> {
        let shown = |name: &OsStr, value: &OsStr| (name.to_owned(), self.shown(name, value));
        match self.base {
            Base::Empty => vec![],
            // Looked up one by one: callers have more variables than are allowed.
            Base::AllowList => {
                let named = self.allow.iter().filter_map(|name| Some((name, context.var(name)?)));
                named.map(|(name, value)| shown(OsStr::new(name), value)).collect()
            }
            Base::Inherit => {
                let seen = context.vars().filter(|(name, _)| self.lets_through(name));
                seen.map(|(name, value)| shown(name, value)).collect()
            }
        }
    }

    /// The value of a variable of the caller's, as a command sees it.
    fn shown(&self, name: &OsStr, value: &OsStr) -> OsString {
        match self.base {
            Base::AllowList => proxy::without_password(name, value).into_owned(),
            // Whoever lets everything through lets secrets through.
            Base::Inherit | Base::Empty => value.to_owned(),
        }
    }
}

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
    // Pip tells why a connection failed only when it tries again. One more try comes at once; the five of its default
    // take eight seconds (https://pip.pypa.io/en/stable/cli/pip/#cmdoption-retries).
    ("PIP_RETRIES", "1"),
    ("npm_config_audit", "false"),
    ("npm_config_fetch_retries", "0"),
    ("npm_config_update_notifier", "false"),
];

/// Root without its powers cannot give files away, which an archiver tries if it is not told.
pub(crate) const ROOT_WITHOUT_POWERS: (&str, &str) = ("TAR_OPTIONS", "--no-same-owner");

/// Lowest layer first: the caller's variables that are let through, the non-interactive ones, the engine's, the request's
/// own.
pub(crate) fn build(
    settings: &EnvSettings,
    request: &Request,
    context: &ToolContext,
    workspace: &Path,
) -> Vec<(OsString, OsString)> {
    let mut env = BTreeMap::<OsString, OsString>::new();
    match request.base_env {
        BaseEnv::OfEngine => {
            if settings.base != Base::Empty {
                env.insert("TERM".into(), "dumb".into());
            }
            env.extend(settings.seen_of(context));
            if settings.non_interactive {
                env.extend(NON_INTERACTIVE.map(|(name, value)| (name.into(), value.into())));
            }
            if settings.home == Home::Workspace {
                env.insert("HOME".into(), workspace.into());
            }
            env.extend(settings.set.iter().map(|(name, value)| (name.into(), value.into())));
        }
        BaseEnv::Empty => {}
    }
    env.retain(|name, _| !request.unset.contains(name));
    env.extend(request.env.iter().cloned());
    env.into_iter().collect()
}
