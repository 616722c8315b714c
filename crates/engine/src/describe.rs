//! What a model should know about the sandbox before it writes a command.

use bashtion_sandbox::{Mode, Network};

use crate::SandboxSettings;

impl SandboxSettings {
    /// The constraints in words, for the description of a tool.
    ///
    /// ```
    /// use bashtion::SandboxSettings;
    /// let text = SandboxSettings::default().description();
    /// assert!(text.contains("/tmp") && text.contains("no network"));
    /// ```
    #[must_use]
    pub fn description(&self) -> String {
        let files = match self.mode {
            Mode::Off => return "Commands are not confined: they can do whatever the user can.".to_owned(),
            Mode::Workspace => {
                "Commands can read all files but secrets (such as ~/.ssh and cloud credentials), and can change only the project \
                 of the working directory, package caches, and /tmp, which is not the host's but that of the room that all commands of this project share: \
                 files there, processes and ports on loopback stay for the next command. \
                 Git works, but hooks and configuration of repositories that exist already (.git/hooks, .git/config) cannot be changed."
            }
            Mode::ReadOnly => {
                "Commands can read all files but secrets (such as ~/.ssh and cloud credentials), and can change nothing but $TMPDIR, \
                 which is private to each command and removed after it."
            }
        };
        let network = match (self.mode, self.network) {
            (Mode::Workspace, Network::On) => {
                "They can use the internet, and the loopback of this machine, not that of commands without network; unix sockets are open in the project and /tmp only, not those of this machine's daemons (docker, ssh-agent)."
            }
            (Mode::Workspace, Network::Off) => {
                "They have no network but the loopback of their room: a server started in the background can be reached by the next command on 127.0.0.1. Unix sockets are open in the project and /tmp only."
            }
            (Mode::Off | Mode::ReadOnly, _) => "They have no network and no sockets.",
        };
        let more: Vec<String> = self.writable.iter().map(|path| path.display().to_string()).collect();
        let more = if more.is_empty() {
            String::new()
        } else {
            format!(" They can also change {}.", more.join(", "))
        };
        format!(
            "{files}{more} {network} Containers do not work. What was stopped is listed in `denials` with what would allow it; \
             do not try to work around it."
        )
    }
}
