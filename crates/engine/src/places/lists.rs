//! Where secrets and caches usually are. Data: add a line.

/// In the home directory: keys, tokens, histories, browser profiles. Confined commands cannot read them.
pub(super) const SECRETS: &[&str] = &[
    // Keys and passwords.
    ".ssh", ".gnupg", ".netrc", ".git-credentials", ".config/git/credentials", ".password-store",
    ".local/share/keyrings", ".vault-token", ".pgpass", ".my.cnf", ".config/sops", ".config/op",
    // Clouds.
    ".aws", ".azure", ".config/gcloud", ".config/doctl", ".config/hcloud", ".config/rclone", ".config/heroku",
    ".oci", ".aliyun", ".boto", ".s3cfg", ".fly", ".databrickscfg", ".snowflake", ".terraformrc",
    ".terraform.d/credentials.tfrc.json", ".kube", ".docker/config.json", ".config/containers/auth.json",
    // Forges and package registries.
    ".config/gh", ".config/hub", ".config/glab-cli", ".npmrc", ".yarnrc.yml", ".pypirc", ".cargo/credentials",
    ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".m2/settings-security.xml",
    ".gradle/gradle.properties", ".composer/auth.json", ".config/composer/auth.json",
    ".nuget/NuGet/NuGet.Config", ".kaggle", ".huggingface", ".cache/huggingface/token",
    // Other agents.
    ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json",
    // Browsers, mail and messages.
    ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
    ".config/microsoft-edge", ".config/opera", ".config/vivaldi", ".config/Signal", ".config/Slack",
    ".config/discord", // Wallets.
    ".bitcoin", ".electrum", ".ethereum", ".config/solana",
    // What was typed, secrets included.
    ".bash_history", ".zsh_history", ".psql_history", ".mysql_history", ".node_repl_history",
    ".python_history",
];

/// Of the system. Most of it only root could read anyway.
pub(super) const SYSTEM_SECRETS: &[&str] = &[
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
    "/etc/ssl/private", "/etc/krb5.keytab", "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key", "/etc/rancher", "/etc/kubernetes", "/run/secrets", "/var/lib/kubelet",
];

/// In the home directory: what builds download and compile into. Writable where it exists.
pub(super) const CACHES: &[&str] = &[
    ".cargo/registry", ".cargo/git", ".cargo/.package-cache", ".cargo/.package-cache-mutate",
    ".cargo/.global-cache", ".npm", ".cache/pip", ".cache/uv", ".cache/pypoetry", ".cache/pre-commit",
    ".cache/go-build", ".cache/yarn", ".cache/pnpm", ".cache/node-gyp", ".cache/node", ".cache/deno",
    ".cache/typescript", ".cache/ccache", ".cache/sccache", ".ccache", ".local/share/pnpm/store",
    ".yarn/berry/cache", ".bun/install/cache", "go/pkg/mod", ".gradle/caches", ".gradle/wrapper",
    ".m2/repository", ".nuget/packages", ".local/share/gem",
];

/// Directories that tools make in a directory of their own, if they have one.
pub(super) const MADE_IN: &[(&str, &[&str])] = &[(".cargo", &["registry", "git"])];

/// Directories that hold more than a cache.
pub(super) const TOOL_HOMES: &[&str] = &[".cargo", ".gradle", ".cache"];

/// Caches that may be missing in the home directory, the variable that moves each, and where to; `{}` is the temporary
/// directory.
pub(super) const VARIABLES: &[(&str, &str, &str)] = &[
    (".cache", "XDG_CACHE_HOME", "{}/.cache"),
    (".cargo", "CARGO_HOME", "{}/.cargo"),
    (".npm", "npm_config_cache", "{}/.cache/npm"),
    (".cache/pip", "PIP_CACHE_DIR", "{}/.cache/pip"),
    (".cache/uv", "UV_CACHE_DIR", "{}/.cache/uv"),
    (".cache/pypoetry", "POETRY_CACHE_DIR", "{}/.cache/pypoetry"),
    (".cache/pre-commit", "PRE_COMMIT_HOME", "{}/.cache/pre-commit"),
    (".cache/go-build", "GOCACHE", "{}/.cache/go-build"),
    ("go/pkg/mod", "GOMODCACHE", "{}/.cache/go-mod"),
    (".cache/yarn", "YARN_CACHE_FOLDER", "{}/.cache/yarn"),
    (".cache/ccache", "CCACHE_DIR", "{}/.cache/ccache"),
    (".cache/deno", "DENO_DIR", "{}/.cache/deno"),
    (".bun/install/cache", "BUN_INSTALL_CACHE_DIR", "{}/.cache/bun"),
    (".m2/repository", "MAVEN_OPTS", "-Dmaven.repo.local={}/.cache/maven"),
    (".gradle", "GRADLE_USER_HOME", "{}/.gradle"),
    (".nuget/packages", "NUGET_PACKAGES", "{}/.cache/nuget"),
    (".local/share/gem", "GEM_HOME", "{}/.local/share/gem"),
    (".local/share/gem", "GEM_SPEC_CACHE", "{}/.cache/gem"),
    // A browser does not start without a place for its profile.
    (".config/chromium", "CHROME_CONFIG_HOME", "{}/.config"),
];
