use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::text::Text;
use crate::world::World;

rule! {
    /// Keys, passwords and tokens of the user or the machine, shown or copied.
    ///
    /// ## Why
    /// What a command shows goes to the agent, to its maker's servers and into logs. A key that was shown has to be replaced.
    /// Programs that use a key (`ssh -i`, `git`, `aws`) do not show it.
    ///
    /// ## Example
    /// `cat ~/.aws/credentials`, `cp ~/.ssh/id_ed25519 key`, `grep token ~/.netrc`, `gpg --export-secret-keys`, `gh auth token`
    ///
    /// ## Instead
    /// Say which login is needed, and let the program that needs it read it by itself. Listing the files is allowed.
    ReadsSecrets, "reads-secrets", Ask
}

impl Rule for ReadsSecrets {
    about!(Container);

    fn check(&self, found: &Found, world: &World) -> Option<Problem> {
        let help = "let the program that needs it read it by itself, or ask the user for what you need";
        // A room shows these without the secrets in them.
        let is_shown_without = |path: &str| {
            world.is_in_room() && found.is_here() && PACKAGE_SETTINGS.iter().any(|name| path.ends_with(name))
        };
        let shown = found.secret.as_ref().filter(|secret| secret.is_read && secret.is_kept);
        let shown = shown.filter(|secret| !is_shown_without(&secret.path));
        let shown = shown.map(|secret| format!("a secret would be shown or copied: {}", secret.path));
        let told = || tells(found).then(|| format!("`{}` shows a secret that it keeps", found.program));
        shown.or_else(told).map(|message| Problem::ask(message, help))
    }
}

/// Settings of package managers, which may hold a secret among other things.
const PACKAGE_SETTINGS: &[&str] = &[
    "/.npmrc", "/.config/pnpm/rc", "/.yarnrc.yml", "/.bunfig.toml", "/.pypirc", "/.config/pip/pip.conf",
    "/.pip/pip.conf", "/.config/pypoetry/config.toml", "/.config/uv/uv.toml", "/.condarc", "/.bundle/config",
    "/.m2/settings.xml", "/.gradle/gradle.properties", "/.nuget/NuGet/NuGet.Config",
    "/.config/NuGet/NuGet.Config", "/.Renviron",
];

/// Words with which a program shows a secret that it keeps.
const TELLING: &[(&str, &[&str])] = &[
    ("gpg", &["--export-secret-keys"]),
    ("gpg", &["--export-secret-key"]),
    ("gpg", &["--export-secret-subkeys"]),
    ("gpg2", &["--export-secret-keys"]),
    ("security", &["find-generic-password", "-w"]),
    ("security", &["find-internet-password", "-w"]),
    ("security", &["find-generic-password", "-g"]),
    ("security", &["dump-keychain"]),
    ("secret-tool", &["lookup"]),
    ("secret-tool", &["search"]),
    ("kwallet-query", &["-r"]),
    ("pass", &["show"]),
    ("gopass", &["show"]),
    ("op", &["read"]),
    ("op", &["item", "get"]),
    ("bw", &["get", "password"]),
    ("keyring", &["get"]),
    ("gh", &["auth", "token"]),
    ("gh", &["auth", "status", "--show-token"]),
    ("glab", &["auth", "status", "--show-token"]),
    ("git", &["credential", "fill"]),
    ("git", &["credential-store", "get"]),
    ("aws", &["configure", "get", "aws_secret_access_key"]),
    ("aws", &["configure", "get", "aws_session_token"]),
    ("aws", &["configure", "export-credentials"]),
    ("aws", &["secretsmanager", "get-secret-value"]),
    ("gcloud", &["auth", "print-access-token"]),
    ("gcloud", &["auth", "print-identity-token"]),
    ("gcloud", &["secrets", "versions", "access"]),
    ("az", &["account", "get-access-token"]),
    ("az", &["keyvault", "secret", "show"]),
    ("vault", &["kv", "get"]),
    ("vault", &["read"]),
    ("vault", &["print", "token"]),
    ("heroku", &["auth:token"]),
    ("doppler", &["secrets", "get"]),
    ("npm", &["token", "list"]),
    ("kubectl", &["get", "secret", "-o"]),
    ("kubectl", &["get", "secrets", "-o"]),
    ("kubectl", &["config", "view", "--raw"]),
];

/// Whether these words stand among the arguments, in this order.
fn tells(found: &Found) -> bool {
    TELLING.iter().filter(|(program, _)| *program == found.program).any(|(_, words)| {
        let mut arguments = found.arguments.iter().map(Text::rough);
        // `-oyaml` too.
        words.iter().all(|word| {
            arguments.any(|own| {
                own == *word || *word == "-o" && (own.starts_with("-o") || own.starts_with("--output"))
            })
        })
    })
}
