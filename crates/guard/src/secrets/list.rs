//! Places of secrets. Data: add a line.
//!
//! Paths are below the home directory; a directory stands for all that is in it. `*` stands for any part of one name. Name a
//! whole directory where nothing in it is needed to run other programs: each directory that has to be listed to leave one
//! file out is looked at before every command.

use super::{MovedBy, SecretKind};

/// Everything that is secret in a home directory.
pub(super) const IN_HOME: &[(SecretKind, &[&str])] = &[
    (SecretKind::Stored, KEYS),
    (SecretKind::Stored, REMOTE_ACCESS),
    (SecretKind::Stored, CLOUDS),
    (SecretKind::Stored, CLUSTERS),
    (SecretKind::Stored, SERVICES),
    (SecretKind::Stored, REGISTRIES),
    (SecretKind::Stored, DATABASES),
    (SecretKind::Stored, AGENTS),
    (SecretKind::Stored, EDITORS),
    (SecretKind::Stored, BROWSERS),
    (SecretKind::Stored, MESSAGES),
    (SecretKind::Stored, DESKTOP),
    (SecretKind::Stored, WALLETS),
    (SecretKind::Typed, HISTORIES),
    (SecretKind::Settings, SETTINGS),
];

/// Keys, passwords and whatever manages them.
const KEYS: &[&str] = &[
    ".ssh", ".gnupg", ".pki", ".netrc", "_netrc", ".authinfo", ".authinfo.gpg", ".git-credentials",
    ".gitcookies", ".git-credential-cache", ".config/git/credentials", ".cache/git/credential",
    ".password-store", ".local/share/password-store", ".config/gopass", ".local/share/gopass",
    ".local/share/keyrings", ".gnome2/keyrings", ".local/share/kwalletd", ".kde/share/apps/kwallet",
    ".kde4/share/apps/kwallet", ".local/share/python_keyring", ".config/python_keyring", ".vault",
    ".vault-token", ".vault_pass", ".vault_pass.txt", ".vault-password", ".ansible_vault_pass", ".op",
    ".config/op", ".config/1Password", ".1password", ".config/Bitwarden", ".config/Bitwarden CLI",
    ".config/rbw", ".local/share/rbw", ".cache/rbw", ".config/keepassxc", ".cache/keepassxc",
    ".config/KeePass", ".config/keepassx", ".keepass", ".keepassx", ".lastpass", ".lpass", ".config/lpass",
    ".local/share/lpass", ".config/Enpass", ".config/Dashlane", ".config/NordPass", ".config/Proton Pass",
    ".config/Proton", ".config/sops", ".config/age", ".age", ".config/chezmoi/key.txt", ".config/Yubico",
    ".yubico", ".config/yubikey-agent", ".google_authenticator", ".config/otpclient",
    ".config/Authy Desktop", ".step", ".secrets", ".secret", ".credentials", ".tokens", ".env", ".env.local",
    ".envrc",
];

/// Other machines, networks and disks.
const REMOTE_ACCESS: &[&str] = &[
    ".putty", ".config/putty", ".filezilla", ".config/filezilla", ".config/remmina", ".local/share/remmina",
    ".vnc", ".config/tigervnc", ".config/freerdp", ".config/rustdesk", ".anydesk", ".config/wireguard",
    ".wireguard", ".config/openvpn", ".openvpn", ".openvpn3", ".config/openconnect", ".config/protonvpn",
    ".config/Mullvad VPN", ".config/tailscale", ".local/share/tailscale", ".cert", ".smbcredentials", ".smb",
    ".davfs2", ".lftp", ".local/share/lftp", ".ncftp", ".passwd-s3fs", ".tsh", ".config/boundary", ".x2go",
    ".config/gcsfuse", ".config/rclone", ".rclone.conf", ".config/restic", ".config/rustic", ".config/borg",
    ".config/vorta", ".config/syncthing", ".local/state/syncthing", ".config/Nextcloud", ".dropbox",
    ".config/insync", ".local/share/data/Mega Limited", ".msf4",
];

/// Providers of machines and storage.
const CLOUDS: &[&str] = &[
    ".aws", ".azure", ".config/gcloud", ".gsutil", ".bigqueryrc", ".boto", ".s3cfg", ".s3ql", ".mc", ".mcli",
    ".b2_account_info", ".config/b2", ".config/doctl", ".config/hcloud", ".config/scw", ".config/exoscale",
    ".config/linode-cli", ".linode-cli", ".vultr-cli.yaml", ".civo.json", ".config/upctl.yaml", ".ovh.conf",
    ".config/openstack", ".openstack", ".oci", ".aliyun", ".tccli", ".bluemix", ".ibmcloud", ".hcloud",
    ".config/yandex-cloud", ".saml2aws", ".okta", ".okta_aws_login_config", ".aws-sso", ".granted",
    ".awsvault", ".config/heroku", ".fly", ".config/fly", ".railway", ".config/railway", ".render",
    ".config/render", ".now", ".vercel", ".config/vercel", ".local/share/com.vercel.cli", ".netlify",
    ".config/netlify", ".wrangler", ".config/.wrangler", ".config/wrangler", ".supabase", ".config/supabase",
    ".cloudflared", ".ngrok2", ".ngrok", ".config/ngrok", ".config/configstore/firebase-*.json",
    ".config/configstore/snyk.json", ".config/firebase", ".databrickscfg", ".snowflake", ".snowsql",
    ".config/snowflake", ".terraformrc", ".tofurc", ".terraform.d/credentials.tfrc.json",
    ".pulumi/credentials.json", ".modal.toml", ".runpod", ".lambda_cloud", ".vast_api_key", ".config/vastai",
];

/// Containers and whatever starts and sets up machines.
const CLUSTERS: &[&str] = &[
    ".kube", ".config/argocd", ".argocd", ".config/helm/registry", ".config/helm/repositories.yaml",
    ".config/k3d", ".rancher", ".config/Lens", ".config/OpenLens", ".minikube/certs", ".minikube/profiles",
    ".minikube/machines", ".minikube/ca.key", ".minikube/proxy-client-ca.key", ".crc/machines",
    ".docker/config.json", ".docker/contexts", ".dockercfg", ".config/containers/auth.json",
    ".local/share/containers/*/secrets", ".regctl", ".vagrant.d/data", ".chef", ".puppetlabs",
    ".nomad-token", ".consul-token", ".config/juju", ".local/share/juju",
];

/// Accounts at other services.
const SERVICES: &[&str] = &[
    ".config/stripe", ".sentryclirc", ".dogrc", ".newrelic", ".circleci", ".travis", ".config/bk.yaml",
    ".buildkite", ".config/.jira", ".jira.d", ".config/jira", ".config/linear", ".config/todoist",
    ".twilio-cli", ".config/shopify", ".config/shopify-cli-kit-nodejs", ".config/sendgrid",
    ".config/planetscale", ".config/turso", ".config/neonctl", ".convex", ".expo/state.json", ".fastlane",
    ".appstoreconnect", ".android/adbkey", ".config/wandb", ".comet.config", ".mlflow/credentials",
    ".kaggle", ".config/kaggle", ".huggingface", ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens", ".config/replicate", ".config/doppler", ".doppler", ".infisical",
    ".config/akeyless", ".config/sendmail", ".msmtprc", ".config/msmtp", ".mbsyncrc", ".config/isyncrc",
    ".offlineimaprc", ".config/offlineimap", ".fetchmailrc", ".getmail", ".config/getmail",
    ".config/himalaya", ".config/aerc", ".mutt", ".muttrc", ".config/mutt", ".config/neomutt",
    ".config/vdirsyncer", ".config/rclone-browser", ".config/obs-studio", ".config/spotify",
    ".config/Postman", "Postman", ".config/Insomnia", ".config/bruno", ".twurlrc",
];

/// Forges, version control and packages.
const REGISTRIES: &[&str] = &[
    ".config/gh", ".config/hub", ".config/glab-cli", ".config/tea", ".python-gitlab.cfg", ".subversion/auth",
    ".config/breezy/auth*.conf", ".bazaar/authentication.conf", ".p4tickets", ".cvspass", ".arcrc",
    ".config/GitHub Desktop", ".gitkraken", ".config/GitKraken", ".config/smartgit", ".npmrc", ".yarnrc.yml",
    ".pypirc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials",
    ".local/share/gem/credentials", ".m2/settings.xml", ".m2/settings-security.xml",
    ".gradle/gradle.properties", ".composer/auth.json", ".config/composer/auth.json",
    ".nuget/NuGet/NuGet.Config", ".microsoft/usersecrets", ".config/pypoetry/auth.toml",
    ".local/share/uv/credentials", ".ivy2/.credentials", ".ivy2/credentials", ".sbt/.credentials",
    ".sbt/credentials", ".config/coursier/credentials.*", ".lein/credentials.clj",
    ".lein/credentials.clj.gpg", ".hex/hex.config", ".stack/upload", ".pub-cache/credentials.json",
    ".config/dart/pub-credentials.json", ".luarocks/upload_config.lua", ".julia/servers", ".continuum",
    ".anaconda/keyring", ".jfrog", ".pause", ".conan/.conan.db", ".conan2/credentials.json",
    ".config/cachix", ".config/attic",
];

const DATABASES: &[&str] = &[
    ".pgpass", ".pg_service.conf", ".my.cnf", ".mylogin.cnf", ".config/pgcli", ".config/mycli", ".dbeaver",
    ".local/share/DBeaverData", ".config/beekeeper-studio", ".config/tableplus", ".dbvis",
    ".mysql/workbench", ".pgadmin", ".config/pgadmin", ".mongodb", ".config/MongoDB Compass", ".3T",
    ".redisinsight-app", ".cassandra", ".influxdbv2", ".clickhouse-client", ".dbt/profiles.yml", ".odbc.ini",
    ".usqlpass", ".duckdb/stored_secrets",
];

/// Other agents: their tokens, and what was said to them.
const AGENTS: &[&str] = &[
    ".claude.json", ".claude.json.*", ".claude/.claude.json", ".claude/.credentials.json",
    ".claude/projects", ".claude/history.jsonl", ".claude/transcripts", ".claude/file-history",
    ".claude/paste-cache", ".claude/image-cache", ".claude/backups", ".claude/todos", ".claude/ide",
    ".claude/statsig", ".claude/telemetry", ".claude/debug", ".claude/usage-data", ".config/Claude",
    ".codex/auth.json", ".codex/.credentials.json", ".codex/history.jsonl", ".codex/sessions",
    ".codex/archived_sessions", ".codex/log", ".codex/logs_*.sqlite", ".codex/state_*.sqlite",
    ".gemini/oauth_creds.json", ".gemini/google_accounts.json", ".gemini/mcp-oauth-tokens*.json",
    ".gemini/tmp", ".gemini/history", ".gemini/.env", ".qwen/oauth_creds.json", ".qwen/tmp",
    ".config/github-copilot", ".copilot/config.json", ".copilot/session-state",
    ".copilot/history-session-state", ".copilot/command-history-state.json", ".copilot/logs",
    ".local/share/opencode/auth.json", ".local/share/opencode/mcp-auth.json",
    ".local/share/opencode/opencode.db*", ".local/share/opencode/storage", ".local/share/opencode/snapshot",
    ".local/share/opencode/log", ".local/state/opencode", ".continue", ".config/goose", ".local/share/goose",
    ".local/state/goose", ".aider", ".aider.conf.yml", ".aider.chat.history.md", ".aider.input.history",
    ".config/cursor", ".cursor/chats", ".cursor/projects", ".cursor/mcp.json", ".codeium", ".tabnine",
    ".config/TabNine", ".config/sourcegraph", ".local/share/amp", ".factory/auth.json",
    ".factory/auth.encrypted", ".factory/sessions", ".factory/history.json", ".local/share/kiro-cli",
    ".local/share/amazon-q", ".config/crush", ".local/share/crush", ".kimi", ".grok", ".plandex-home",
    ".plandex-home-v2", ".openhands", ".cline", ".augment", ".letta", ".pi/agent/auth.json",
    ".pi/agent/sessions", ".mcp-auth", ".fastmcp", ".openai", ".config/openai", ".anthropic",
    ".config/anthropic", ".config/io.datasette.llm", ".config/shell_gpt", ".config/aichat", ".config/mods",
    ".config/fabric", ".config/gptme", ".local/share/gptme", ".ollama/id_ed25519", ".ollama/history",
    ".config/warp-terminal", ".local/state/warp-terminal", ".warp",
];

/// What was said to agents, and what they noted down. It is kept from commands too, but holds no logins.
pub(super) const CONVERSATIONS: &[&str] = &[
    ".claude/projects", ".claude/history.jsonl", ".claude/transcripts", ".claude/file-history",
    ".claude/todos", ".claude/debug", ".codex/history.jsonl", ".codex/sessions", ".codex/archived_sessions",
    ".codex/log", ".gemini/tmp", ".gemini/history", ".qwen/tmp", ".copilot/session-state",
    ".copilot/history-session-state", ".copilot/logs", ".local/share/opencode/storage",
    ".local/share/opencode/log", ".cursor/chats", ".cursor/projects", ".factory/sessions",
    ".pi/agent/sessions",
];

/// Sessions and storage of editors. Their extensions are programs, and stay.
const EDITORS: &[&str] = &[
    ".config/Code", ".config/Code - *", ".config/VSCodium", ".config/VSCodium - *", ".config/Cursor",
    ".config/Windsurf", ".config/Windsurf - *", ".config/Trae", ".config/Kiro", ".config/Antigravity",
    ".config/Positron", ".config/Void", ".vscode/cli", ".vscode-cli", ".vscode-server/data",
    ".vscode-server-insiders/data", ".vscodium-server/data", ".cursor-server/data", ".windsurf-server/data",
    ".config/code-server", ".local/share/code-server/User", ".config/JetBrains", ".config/Google",
    ".config/sublime-text/Local", ".config/sublime-text-3/Local", ".local/share/zed/db",
    ".local/share/zed/threads", ".local/share/zed/conversations", ".config/zed/conversations",
    ".config/zed/development_credentials", ".eclipse/org.eclipse.*.security", ".local/share/rstudio",
    ".local/share/jupyter/runtime", ".ipython/profile_*/security",
];

/// Browsers, and all that two kinds of packages keep, browsers among them: snap and flatpak do not run in a sandbox.
const BROWSERS: &[&str] = &[
    "snap", ".var/app", ".mozilla", ".config/mozilla", ".cache/mozilla", ".librewolf", ".config/librewolf",
    ".waterfox", ".zen", ".config/zen", ".floorp", ".tor-browser", ".local/share/torbrowser",
    ".config/google-chrome", ".config/google-chrome-*", ".config/chromium", ".config/chromium-*",
    ".config/ungoogled-chromium", ".config/BraveSoftware", ".config/microsoft-edge",
    ".config/microsoft-edge-*", ".config/opera", ".config/opera-*", ".config/vivaldi", ".config/vivaldi-*",
    ".config/yandex-browser", ".config/yandex-browser-*", ".config/thorium", ".config/iridium",
    ".config/falkon", ".config/net.imput.helium", ".local/share/epiphany", ".local/share/qutebrowser",
    ".w3m", ".elinks", "Library/Keychains", "Library/Cookies", "Library/Safari", "Library/Messages",
    "Library/Mail", "Library/Group Containers", "Library/Containers", "Library/Application Support",
];

/// Mail, chats and notes.
const MESSAGES: &[&str] = &[
    ".thunderbird", ".config/evolution", ".local/share/evolution", ".config/geary", ".local/share/geary",
    ".local/share/akonadi", ".local/share/local-mail", ".config/Mailspring", ".claws-mail", ".sylpheed-2.0",
    "Maildir", ".maildir", ".config/protonmail", ".config/Proton Mail", ".config/tutanota-desktop",
    ".config/Signal", ".config/Signal Beta", ".local/share/signal-cli", ".config/Slack", ".config/discord",
    ".config/discordcanary", ".config/discordptb", ".config/vesktop", ".config/WebCord", ".config/Microsoft",
    ".config/teams-for-linux", ".local/share/TelegramDesktop", ".local/share/telegram-desktop",
    ".config/Element", ".config/Element-Nightly", ".config/skypeforlinux", ".zoom", ".config/zoom.conf",
    ".config/zoomus.conf", ".config/Mattermost", ".config/Rocket.Chat", ".config/Wire", ".config/keybase",
    ".local/share/keybase", ".config/Keybase", ".config/Session", ".config/BeeperTexts", ".config/Beeper",
    ".config/Ferdium", ".config/Franz", ".config/Caprine", ".config/whatsapp-for-linux",
    ".local/share/nheko", ".config/nheko", ".local/share/fractal", ".local/share/iamb", ".config/gomuks",
    ".local/share/gajim", ".config/gajim", ".local/share/dino", ".purple", ".irssi", ".weechat",
    ".config/weechat", ".local/share/weechat", ".config/hexchat", ".config/Notion", ".config/Standard Notes",
    ".config/joplin", ".config/joplin-desktop",
];

/// Sessions of the desktop, and what passed through its clipboard.
const DESKTOP: &[&str] = &[
    ".Xauthority", ".ICEauthority", ".config/pulse/cookie", ".pulse-cookie", ".esd_auth", ".config/goa-1.0",
    ".config/libaccounts-glib", ".config/kdeconnect", ".local/share/klipper", ".cache/cliphist",
    ".cache/clipboard-indicator*", ".local/share/clipman.json", ".local/share/copyq", ".local/share/gpaste",
    ".local/share/gnome-remote-desktop",
];

const WALLETS: &[&str] = &[
    ".bitcoin", ".litecoin", ".dogecoin", ".dashcore", ".zcash", ".bitmonero", ".electrum", ".electron-cash",
    ".ethereum", ".foundry/keystores", ".brownie/accounts", ".config/solana", ".sui", ".aptos",
    ".near-credentials", ".lnd", ".lightning", ".config/Exodus", ".config/Ledger Live", ".config/@trezor",
    ".config/atomic", ".walletwasabi", ".armory", ".starkli-wallets", ".local/share/polkadot", ".sparrow",
    ".avalanche-cli/key", ".config/keplr",
];

/// Lines that somebody typed, passwords among them.
const HISTORIES: &[&str] = &[
    ".bash_history", ".bash_sessions", ".zsh_history", ".zsh_sessions", ".zhistory", ".histfile", ".history",
    ".sh_history", ".ksh_history", ".ash_history", ".local/share/fish/fish_history",
    ".config/nushell/history.txt", ".config/nushell/history.sqlite3", ".local/state/elvish",
    ".local/share/powershell/PSReadLine", ".local/share/atuin", ".local/share/mcfly", ".psql_history",
    ".mysql_history", ".mariadb_history", ".sqlite_history", ".rediscli_history", ".dbshell", ".mongosh",
    ".influx_history", ".duckdb_history", ".clickhouse-client-history", ".node_repl_history",
    ".python_history", ".ipython/profile_*/history.sqlite", ".irb_history", ".irb-history", ".pry_history",
    ".local/share/pry", ".php_history", ".config/psysh/psysh_history", ".scala_history",
    ".scala_history_jline3", ".ghc/ghci_history", ".cache/erlang-history", ".iex_history", ".lua_history",
    ".julia/logs/repl_history.jl", ".Rhistory", ".octave_hist", ".maxima_history", ".gdb_history",
    ".lldb_history", ".utop-history", ".lesshst", ".local/state/lesshst", ".viminfo",
    ".local/state/nvim/shada", ".local/share/nvim/shada", ".local/share/recently-used.xbel",
];

/// Settings that programs need, and that may hold a secret. A sandbox shows what else is in them.
const SETTINGS: &[&str] = &[
    ".config/pnpm/rc", ".bunfig.toml", ".config/pip/pip.conf", ".pip/pip.conf", ".config/uv/uv.toml",
    ".config/pypoetry/config.toml", ".condarc", ".bundle/config", ".config/NuGet/NuGet.Config", ".Renviron",
];

/// Secrets of the system. Most of it only root could read anyway.
pub(super) const OF_SYSTEM: &[&str] = &[
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
    "/etc/ssl/private", "/etc/krb5.keytab", "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key", "/etc/rancher", "/etc/kubernetes", "/etc/wireguard",
    "/etc/NetworkManager/system-connections", "/run/secrets", "/var/lib/kubelet",
];

/// Names of files that are secrets wherever they lie.
pub(super) const BY_NAME: &[&str] = &[
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "shadow", ".envrc",
    "credentials.json", "*.pem", "*.p12", "*.pfx", "*.ppk", "*.kdbx",
];

/// Endings of `.env` files that hold examples.
pub(super) const EXAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults", "schema"];

/// Variables that name something in place of a path in the home directory.
pub(super) const VARIABLES: &[MovedBy] = &[
    moved("XDG_CONFIG_HOME", ".config"),
    moved("XDG_DATA_HOME", ".local/share"),
    moved("XDG_STATE_HOME", ".local/state"),
    moved("XDG_CACHE_HOME", ".cache"),
    moved("GNUPGHOME", ".gnupg"),
    moved("NETRC", ".netrc"),
    moved("PASSWORD_STORE_DIR", ".password-store"),
    moved("SOPS_AGE_KEY_FILE", ".config/sops"),
    moved("VAULT_TOKEN_FILE", ".vault-token"),
    moved("ANSIBLE_VAULT_PASSWORD_FILE", ".vault_pass"),
    moved("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"),
    moved("AWS_CONFIG_FILE", ".aws/config"),
    moved("AWS_WEB_IDENTITY_TOKEN_FILE", ".aws/token"),
    moved("AZURE_CONFIG_DIR", ".azure"),
    moved("AZURE_FEDERATED_TOKEN_FILE", ".azure/token"),
    moved("CLOUDSDK_CONFIG", ".config/gcloud"),
    moved("GOOGLE_APPLICATION_CREDENTIALS", ".config/gcloud/application_default_credentials.json"),
    moved("OCI_CLI_CONFIG_FILE", ".oci/config"),
    moved("RCLONE_CONFIG", ".config/rclone/rclone.conf"),
    moved("BOTO_CONFIG", ".boto"),
    moved("DATABRICKS_CONFIG_FILE", ".databrickscfg"),
    moved("TF_CLI_CONFIG_FILE", ".terraformrc"),
    moved("PULUMI_HOME", ".pulumi"),
    MovedBy { name: "KUBECONFIG", from: ".kube/config", is_list: true },
    moved("DOCKER_CONFIG", ".docker"),
    moved("REGISTRY_AUTH_FILE", ".config/containers/auth.json"),
    moved("HELM_CONFIG_HOME", ".config/helm"),
    moved("HELM_REGISTRY_CONFIG", ".config/helm/registry"),
    moved("MINIKUBE_HOME", ".minikube"),
    moved("GH_CONFIG_DIR", ".config/gh"),
    moved("GLAB_CONFIG_DIR", ".config/glab-cli"),
    moved("HF_TOKEN_PATH", ".cache/huggingface/token"),
    moved("HF_HOME", ".cache/huggingface"),
    moved("KAGGLE_CONFIG_DIR", ".kaggle"),
    moved("CARGO_HOME", ".cargo"),
    moved("NPM_CONFIG_USERCONFIG", ".npmrc"),
    moved("npm_config_userconfig", ".npmrc"),
    moved("PIP_CONFIG_FILE", ".config/pip/pip.conf"),
    moved("POETRY_CONFIG_DIR", ".config/pypoetry"),
    moved("COMPOSER_HOME", ".composer"),
    moved("GRADLE_USER_HOME", ".gradle"),
    moved("HEX_HOME", ".hex"),
    moved("CONDARC", ".condarc"),
    moved("PGPASSFILE", ".pgpass"),
    moved("PGSERVICEFILE", ".pg_service.conf"),
    moved("MYSQL_TEST_LOGIN_FILE", ".mylogin.cnf"),
    moved("DBT_PROFILES_DIR", ".dbt"),
    moved("CLAUDE_CONFIG_DIR", ".claude"),
    moved("CODEX_HOME", ".codex"),
    moved("CLOUDFLARED_HOME", ".cloudflared"),
    moved("JUPYTER_RUNTIME_DIR", ".local/share/jupyter/runtime"),
    moved("XAUTHORITY", ".Xauthority"),
    moved("ICEAUTHORITY", ".ICEauthority"),
    moved("HISTFILE", ".bash_history"),
    moved("PSQL_HISTORY", ".psql_history"),
    moved("MYSQL_HISTFILE", ".mysql_history"),
    moved("SQLITE_HISTORY", ".sqlite_history"),
    moved("REDISCLI_HISTFILE", ".rediscli_history"),
    moved("NODE_REPL_HISTORY", ".node_repl_history"),
    moved("PYTHON_HISTORY", ".python_history"),
    moved("LESSHISTFILE", ".lesshst"),
];

const fn moved(name: &'static str, from: &'static str) -> MovedBy {
    MovedBy { name, from, is_list: false }
}
