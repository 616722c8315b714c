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
    ".m2/repository", ".nuget/packages",
];

/// The caches of some tools, by the name of the program.
pub(super) const MADE_BY: &[(&str, &[&str])] = &[
    ("cargo", &[".cargo/registry", ".cargo/git"]),
    ("npm", &[".npm"]),
    ("pip", &[".cache/pip"]),
    ("pip3", &[".cache/pip"]),
    ("uv", &[".cache/uv"]),
    ("go", &[".cache/go-build", "go/pkg/mod"]),
    ("yarn", &[".cache/yarn"]),
    ("pnpm", &[".cache/pnpm", ".local/share/pnpm/store"]),
    ("ccache", &[".cache/ccache"]),
];
