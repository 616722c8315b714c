//! The caller's variables that a command sees if no profile says otherwise. Data: add a name.
//!
//! A name belongs here if programs need it to work as in the user's own shell. It does not if its value usually
//! holds a secret, and what makes a shell or a loader run other code (`BASH_ENV`, `LD_PRELOAD`).

/// Who and where the user is.
const USER: &[&str] = &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ"];

/// Languages: locale(7).
const LANGUAGE: &[&str] = &[
    "LANG", "LANGUAGE", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION",
    "LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE",
    "LC_TIME",
];

/// Ways to the network. Passwords in them are taken out: see [`super::proxy`].
const PROXIES: &[&str] = &[
    "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "FTP_PROXY", "ftp_proxy", "ALL_PROXY",
    "all_proxy", "NO_PROXY", "no_proxy",
];

/// Whom to trust there: files with certificates of authorities, not keys.
const CERTIFICATES: &[&str] = &[
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT",
    "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE", "DENO_CERT",
];

/// Places of languages, their tools and their versions.
const TOOLCHAINS: &[&str] = &[
    "JAVA_HOME", "JDK_HOME", "M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "SDKMAN_DIR",
    "ANDROID_HOME", "ANDROID_SDK_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_ROOT",
    "PYENV_VERSION", "NVM_DIR", "NVM_BIN", "VOLTA_HOME", "FNM_DIR", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR",
    "GOROOT", "GOPATH", "GOBIN", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOTOOLCHAIN", "CARGO_HOME",
    "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RBENV_ROOT", "RBENV_VERSION", "GEM_HOME", "GEM_PATH", "ASDF_DIR",
    "ASDF_DATA_DIR", "MISE_DATA_DIR", "DOTNET_ROOT", "CUDA_HOME",
];

/// All of them, in this order.
pub(super) fn usual() -> Vec<String> {
    let groups = [USER, LANGUAGE, PROXIES, CERTIFICATES, TOOLCHAINS];
    groups.concat().into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn each_stands_there_once_and_none_is_for_secrets() {
        let names = super::usual();
        let different: BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len());
        for name in &names {
            let upper = name.to_uppercase();
            let is_suspect =
                ["TOKEN", "SECRET", "PASS", "KEY", "CRED", "AUTH"].iter().any(|word| upper.contains(word));
            assert!(!is_suspect && !super::super::BASHS_OWN.contains(&name.as_str()), "{name}");
        }
    }
}
