//! Places of settings and caches. Data: add a line. Secrets are in the guard's list.

use super::settings::{Format, Keys, SettingsFile};

/// In the home directory: files that hold settings and secrets. A room shows them without the secrets. Those that the list of
/// secrets has as settings are hidden, or shown so, only if they hold one.
pub(super) const SETTINGS: &[SettingsFile] = &[
    settings(
        ".npmrc",
        Format::Npm,
        Keys::Only(NPM),
        &["npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "node-gyp"],
    ),
    settings(".config/pnpm/rc", Format::Npm, Keys::Only(NPM), &["pnpm", "pnpx"]),
    settings(".yarnrc.yml", Format::Yaml, Keys::Only(YARN), &["yarn"]),
    settings(".bunfig.toml", Format::Toml, Keys::AllButSecret, &["bun", "bunx"]),
    settings(
        ".pypirc",
        Format::Ini,
        Keys::Only(&["index-servers", "repository"]),
        &["twine", "flit", "hatch"],
    ),
    settings(".config/pip/pip.conf", Format::Ini, Keys::Only(PIP), &["pip", "pip3"]),
    settings(".pip/pip.conf", Format::Ini, Keys::Only(PIP), &["pip", "pip3"]),
    settings(".config/pypoetry/config.toml", Format::Toml, Keys::AllButSecret, &["poetry"]),
    settings(".config/uv/uv.toml", Format::Toml, Keys::AllButSecret, &["uv", "uvx"]),
    settings(".condarc", Format::Yaml, Keys::AllButSecret, &["conda", "mamba", "micromamba"]),
    settings(".bundle/config", Format::Yaml, Keys::Only(BUNDLE), &["bundle", "bundler"]),
    settings(".m2/settings.xml", Format::Xml, Keys::Only(MAVEN), &["mvn", "mvnw", "mvnd"]),
    settings(".gradle/gradle.properties", Format::Properties, Keys::Only(GRADLE), &["gradle", "gradlew"]),
    settings(".nuget/NuGet/NuGet.Config", Format::Xml, Keys::Only(NUGET), &["dotnet", "nuget"]),
    settings(".config/NuGet/NuGet.Config", Format::Xml, Keys::Only(NUGET), &["dotnet", "nuget"]),
    settings(".Renviron", Format::Properties, Keys::Only(R), &["R", "Rscript"]),
];

const fn settings(
    path: &'static str,
    format: Format,
    keys: Keys,
    programs: &'static [&'static str],
) -> SettingsFile {
    SettingsFile { path, format, keys, programs }
}

/// Settings of npm and pnpm that decide where packages come from and how they are installed.
const NPM: &[&str] = &[
    "registry", "@*:registry", "proxy", "https-proxy", "http-proxy", "noproxy", "no-proxy", "strict-ssl",
    "cafile", "save-exact", "save-prefix", "save-dev", "engine-strict", "fund", "audit", "loglevel",
    "legacy-peer-deps", "ignore-scripts", "progress", "package-lock", "update-notifier", "prefer-offline",
    "prefer-dedupe", "fetch-*", "maxsockets", "omit", "include", "optional", "production", "tag", "before",
    "min-release-age", "python", "disturl", "*_mirror", "*-mirror", "*_binary_site", "shamefully-hoist",
    "public-hoist-pattern", "hoist", "hoist-pattern", "auto-install-peers", "strict-peer-dependencies",
    "node-linker", "link-workspace-packages", "resolution-mode", "minimum-release-age",
];
/// Options of pip, under both spellings.
const PIP: &[&str] = &[
    "index-url", "index_url", "extra-index-url", "extra_index_url", "find-links", "find_links",
    "trusted-host", "trusted_host", "no-index", "no_index", "timeout", "default-timeout", "retries", "proxy",
    "cert", "client-cert", "cache-dir", "no-cache-dir", "disable-pip-version-check",
    "disable_pip_version_check", "prefer-binary", "only-binary", "no-binary", "require-virtualenv", "user",
    "break-system-packages", "pre", "constraint", "requirement", "no-build-isolation", "use-feature",
    "use-deprecated", "format", "progress-bar", "progress_bar", "quiet", "verbose", "log", "no-input",
    "no-color", "root-user-action", "upgrade-strategy", "keyring-provider", "no-warn-script-location",
    "no-compile", "require-hashes", "target", "prefix",
];
const YARN: &[&str] = &[
    "npmregistryserver", "npmpublishregistry", "npmscopes", "npmregistries", "nodelinker", "yarnpath",
    "enableglobalcache", "enabletelemetry", "enablestrictssl", "enablenetwork", "enablescripts", "httpproxy",
    "httpsproxy", "httpscafilepath", "cafilepath", "unsafehttpwhitelist", "networksettings",
    "compressionlevel", "nmmode", "nmhoistinglimits", "pnpmode", "checksumbehavior",
    "defaultsemverrangeprefix", "npmminimalagegate", "supportedarchitectures",
];
const BUNDLE: &[&str] = &[
    "bundle_mirror__*", "bundle_path", "bundle_jobs", "bundle_retry", "bundle_without", "bundle_with",
    "bundle_deployment", "bundle_frozen", "bundle_timeout", "bundle_ssl_ca_cert",
    "bundle_force_ruby_platform",
];
/// Elements; `<servers>` is not among them.
const MAVEN: &[&str] = &[
    "settings", "localrepository", "offline", "interactivemode", "plugingroups", "plugingroup", "proxies",
    "proxy", "active", "protocol", "host", "port", "nonproxyhosts", "mirrors", "mirror", "id", "name", "url",
    "mirrorof", "layout", "mirroroflayouts", "blocked", "profiles", "profile", "activation",
    "activebydefault", "jdk", "repositories", "repository", "pluginrepositories", "pluginrepository",
    "releases", "snapshots", "enabled", "updatepolicy", "checksumpolicy", "activeprofiles", "activeprofile",
];
const GRADLE: &[&str] =
    &["org.gradle.*", "systemprop.http.*", "systemprop.https.*", "android.*", "kotlin.*", "*url"];
/// Places of packages, and what R itself is told.
const R: &[&str] = &["r_*", "lang", "tz"];
/// Elements and attributes; neither `<packageSourceCredentials>` nor `<apikeys>` is among them.
const NUGET: &[&str] = &[
    "configuration", "packagesources", "add", "clear", "remove", "key", "value", "protocolversion",
    "allowinsecureconnections", "disabledpackagesources", "activepackagesource", "packagesourcemapping",
    "packagesource", "package", "pattern",
];

/// In the home directory: what builds download and compile into. Writable where it exists; `*` stands for any part of one
/// name.
///
/// Programs that their user starts outside of the sandbox are not for a command to change, so these are left out:
/// environments of pre-commit and Poetry, distributions of Gradle's wrapper (but its locks, without which it runs none),
/// packages of `npx` and `pnpm dlx`, package managers of Corepack, installed gems.
pub(super) const CACHES: &[&str] = &[
    ".cargo/registry", ".cargo/git", ".cargo/.package-cache", ".cargo/.package-cache-mutate",
    ".cargo/.global-cache", ".npm/_cacache", ".npm/_logs", ".npm/_update-notifier-last-checked",
    ".cache/pip", ".cache/uv", ".cache/pypoetry/cache", ".cache/pypoetry/artifacts", ".cache/go-build",
    ".cache/yarn", ".cache/pnpm/metadata*", ".cache/node-gyp", ".cache/deno", ".cache/typescript",
    ".cache/ccache", ".cache/sccache", ".ccache", ".local/share/pnpm/store", ".yarn/berry/cache",
    ".bun/install/cache", "go/pkg/mod", ".gradle/caches", ".gradle/wrapper/dists/*/*/*.lck",
    ".m2/repository", ".nuget/packages",
];

/// Directories that tools make in a directory of their own, if they have one.
pub(super) const MADE_IN: &[(&str, &[&str])] = &[
    (".cargo", &["registry", "git"]),
    (".npm", &["_cacache", "_logs"]),
    (".cache/pypoetry", &["cache", "artifacts"]),
];

/// Directories that hold more than a cache.
pub(super) const TOOL_HOMES: &[&str] = &[
    ".cargo", ".gradle", ".cache", ".npm", ".cache/pre-commit", ".cache/node/corepack", ".cache/pypoetry",
    ".cache/pypoetry/virtualenvs",
];

/// Caches that may be missing in the home directory, the variable that moves each, and where to; `{}` is the temporary
/// directory.
pub(super) const VARIABLES: &[(&str, &str, &str)] = &[
    (".cache", "XDG_CACHE_HOME", "{}/.cache"),
    (".cargo", "CARGO_HOME", "{}/.cargo"),
    (".npm", "npm_config_cache", "{}/.cache/npm"),
    (".cache/pip", "PIP_CACHE_DIR", "{}/.cache/pip"),
    (".cache/uv", "UV_CACHE_DIR", "{}/.cache/uv"),
    (".cache/pypoetry", "POETRY_CACHE_DIR", "{}/.cache/pypoetry"),
    (".cache/pypoetry/virtualenvs", "POETRY_VIRTUALENVS_PATH", "{}/.cache/pypoetry/virtualenvs"),
    (".cache/pre-commit", "PRE_COMMIT_HOME", "{}/.cache/pre-commit"),
    (".cache/node/corepack", "COREPACK_HOME", "{}/.cache/node/corepack"),
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
    (".local/share/jupyter/runtime", "JUPYTER_RUNTIME_DIR", "{}/.local/share/jupyter/runtime"),
    // A browser does not start without a place for its profile.
    (".config/chromium", "CHROME_CONFIG_HOME", "{}/.config"),
];
