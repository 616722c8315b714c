//! Where output comes from: another machine, an encoding, a program made for `eval`; or nowhere.

use crate::analysis::Found;
use crate::options::Options;
use crate::text::Text;

pub(super) fn is_silent(program: &str) -> bool {
    const SILENT: [&str; 21] = [
        "", ":", "true", "false", "test", "[", "mkdir", "touch", "cp", "mv", "rm", "rmdir", "ln", "chmod",
        "chown", "sleep", "export", "wait", "exit", "return", "kill",
    ];
    SILENT.contains(&program)
}

/// Programs whose output is meant for `eval`: they set up an environment.
pub(super) fn sets_up(found: &Found) -> bool {
    const WORDS: [&str; 16] = [
        "completion", "completions", "init", "hook", "env", "shellenv", "activate", "shell.bash",
        "shell.zsh", "export", "docker-env", "path", "-s", "-b", "-c", "config",
    ];
    match found.program.as_str() {
        "dircolors" | "lesspipe" | "lesspipe.sh" | "register-python-argcomplete" | "resize" | "keychain" => {
            true
        }
        "ssh-agent" | "gpg-agent" => true,
        "direnv" | "brew" | "pyenv" | "rbenv" | "nodenv" | "jenv" | "goenv" | "opam" | "starship" | "fnm"
        | "conda" | "mamba" | "micromamba" | "zoxide" | "mise" | "rtx" | "asdf" | "minikube"
        | "docker-machine" | "luarocks" | "npm" | "kubectl" | "helm" | "gh" | "thefuck" | "atuin"
        | "docker" | "rustup" | "poetry" | "uv" | "hugo" | "argocd" | "flux" | "kind" => {
            found.arguments.iter().filter_map(Text::value).any(|word| WORDS.contains(&word))
        }
        _ => false,
    }
}

/// Whether it prints something that was encoded or packed.
pub(super) fn decodes(found: &Found) -> bool {
    let options = Options::parse(&found.arguments, "", &[]);
    match found.program.as_str() {
        "base64" | "base32" | "basenc" | "gbase64" => options.has(&["d", "D", "decode"]),
        "xxd" => options.has(&["r", "revert"]),
        "openssl" => ["-d", "-decrypt"].iter().any(|flag| found.has(flag)),
        "gunzip" | "bunzip2" | "unxz" | "unzstd" | "uncompress" | "gzip" | "bzip2" | "xz" | "zstd"
        | "lz4" | "brotli" => {
            found.program.starts_with("un")
                || found.program.contains("unz")
                || options.has(&["d", "decompress"])
        }
        "zcat" | "bzcat" | "xzcat" | "zstdcat" | "gzcat" | "uudecode" | "funzip" => true,
        "python" | "python3" | "perl" | "ruby" | "node" | "php" | "jq" => {
            let words = [
                "base64", "b64decode", "fromhex", "unhexlify", "@base64d", "decode_base64", "rot13", "unpack",
            ];
            let encodes = found.has("-e") && found.has("base64");
            !encodes
                && found
                    .arguments
                    .iter()
                    .any(|argument| words.iter().any(|word| argument.rough().contains(word)))
        }
        "gpg" => options.has(&["d", "decrypt"]),
        "unzip" | "7z" => options.has(&["p", "so"]),
        "tar" | "bsdtar" => {
            options.has(&["O", "to-stdout"]) || found.argument(0).is_some_and(|first| first.contains('O'))
        }
        _ => false,
    }
}

/// Whether it prints something from another machine.
pub(super) fn downloads(found: &Found) -> bool {
    let options =
        Options::parse(&found.arguments, "oOHdXuAeFTbPUw", &["output", "header", "data", "user", "request"]);
    match found.program.as_str() {
        "curl" => {
            let into_file = options.given.iter().any(|(name, value)| match name.as_str() {
                "o" | "output" => value.as_ref().and_then(Text::value) != Some("-"),
                // Written as an option with a value above, which it is for wget only.
                "O" | "remote-name" => true,
                _ => false,
            });
            !into_file && !options.has(&["version", "help"])
        }
        "wget" => options.given.iter().any(|(name, value)| {
            matches!(name.as_str(), "O" | "output-document")
                && matches!(value.as_ref().and_then(Text::value), Some("-" | "/dev/stdout"))
        }),
        "nc" | "ncat" | "netcat" | "socat" | "telnet" | "lynx" | "w3m" | "http" | "https" | "xh"
        | "fetch" | "ssh" | "rsh" | "ftp" | "tftp" | "dig" | "nslookup" => true,
        "gh" | "glab" => matches!(found.argument(0), Some("api" | "gist" | "snippet")),
        "aws" | "gsutil" | "az" | "gcloud" | "mc" | "rclone" => found.has("-") || found.has("cat"),
        _ => false,
    }
}
