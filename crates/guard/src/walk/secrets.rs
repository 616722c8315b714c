//! Secrets that commands are about: named as arguments, read by a redirection, or copied before.

use crate::analysis::{Effect, Found, SecretUse, Stream, Target};
use crate::paths::{Place, locate};
use crate::scope::{File, Scope};
use crate::secrets::is_secret_by_name;
use crate::text::Text;
use crate::world::World;

use super::Walker;
use super::code::with_places;
use super::languages::Language;
use super::links::Last;
use super::simple::Call;
use super::tokens::{Token, tokens};

/// Programs that show or copy what is in a file.
const READERS: &[&str] = &[
    "cat", "tac", "nl", "less", "more", "most", "bat", "batcat", "view", "head", "tail", "grep", "egrep",
    "fgrep", "zgrep", "rg", "ag", "ack", "awk", "gawk", "mawk", "sed", "gsed", "cut", "tr", "sort", "uniq",
    "strings", "xxd", "od", "hexdump", "hd", "base64", "base32", "basenc", "openssl", "jq", "yq", "tee",
    "cp", "install", "rsync", "scp", "dd", "tar", "bsdtar", "zip", "7z", "7za", "gzip", "xz", "bzip2",
    "zstd", "cpio", "pax", "diff", "sdiff", "column", "paste", "join", "split", "fold", "fmt", "pr", "rev",
    "expand", "xclip", "xsel", "pbcopy", "wl-copy", "iconv", "uuencode", "gpg", "age", "plutil", "qrencode",
    "comm", "mapfile", "readarray", "read", "sqlite3", "ed", "perl", "ruby",
];

/// Programs that take a directory with all that is in it.
const GATHERERS: &[&str] = &["tar", "bsdtar", "zip", "7z", "7za", "rsync", "scp", "rclone", "cp"];

/// Options whose value is a key or a certificate to be used, not sent.
const USING: &[&str] = &[
    "--cacert", "--capath", "--cert", "-E", "--key", "--netrc-file", "--identity", "-CAfile", "-CApath",
    "-cert", "-key", "--kubeconfig", "--ca-certificate", "--certificate", "--private-key", "--env-file",
    "--identity-file", "--tlscacert", "--tlscert", "--tlskey", "--ca-file", "--cert-file", "--key-file",
    "--pubkey", "--proxy-cacert", "--config", "--password-file", "--vault-password-file",
];

impl Walker<'_> {
    /// Finds the secret that a command is about, and remembers where it puts a copy.
    pub(super) fn notice_secrets(&self, found: &mut Found, call: &Call, scope: &mut Scope) {
        let read = call.redirected.read.iter().find_map(|file| self.secret_at(file, scope));
        let read = read.map(|secret| SecretUse { is_read: true, ..secret });
        let is_reader = READERS.contains(&found.program.as_str()) && !edits_in_place(found);
        let named = || {
            // Without anything remembered, only some words can be one.
            let plain = scope.links().is_empty() && !scope.has_files();
            let may_be = |word: &&Text| !plain || may_be_secret(&word.rough());
            let mut named = used_left_out(found).into_iter().filter(may_be).flat_map(paths_in);
            named.find_map(|path| {
                self.secret_at(&path, scope).or_else(|| self.whole_home(&path, found, scope))
            })
        };
        found.secret = read.or_else(|| {
            named().map(|secret| SecretUse { is_read: is_reader && !secret.path.is_empty(), ..secret })
        });
        if found.secret.is_none() {
            return;
        }
        let written = found.effects.iter().filter_map(|effect| match effect {
            Effect::Write { target } => Some(target.path.clone()),
            Effect::Delete { .. }
            | Effect::Move { .. }
            | Effect::Permissions { .. }
            | Effect::Execute { .. }
            | Effect::Connect { .. } => None,
        });
        let packed = found.arguments.iter().filter(|word| is_packed(&word.rough()));
        let packed = packed.flat_map(|word| locate(word, &scope.cwds, self.world)).map(|path| path.name);
        for path in written.chain(packed).collect::<Vec<_>>() {
            scope.write_file(&path, Some(File::Printed(Stream::Secret)));
        }
    }

    /// A file that the shell itself reads: `$(<file)`.
    pub(super) fn notice_read(&mut self, file: &Text, scope: &Scope) {
        if let Some(secret) = self.secret_at(file, scope) {
            let found = self.new_found("", vec![], scope, &self.setting);
            self.commands.push(Found { secret: Some(SecretUse { is_read: true, ..secret }), ..found });
        }
    }

    /// The secret that a path leads to, by its place, its name, or because the script has put it there.
    pub(super) fn secret_at(&self, path: &Text, scope: &Scope) -> Option<SecretUse> {
        let through = self.followed(path, Last::Followed, scope);
        let path = through.as_ref().unwrap_or(path);
        locate(path, &scope.cwds, self.world).into_iter().find_map(|path| {
            let copied = matches!(scope.file(&path.name), Some(File::Printed(Stream::Secret)));
            let target = Target::from(path);
            let path = target.path.as_str();
            let is_public = is_public(path);
            let is_login = self.world.has_secret_at(path) && !self.world.has_conversation_at(path);
            // In a project or among temporary files it is the task's own.
            let is_personal =
                matches!(target.place, Place::InHome | Place::Personal | Place::OtherHome | Place::System);
            let name = path.rsplit('/').next().unwrap_or_default();
            let is_key = is_personal && is_secret_by_name(name);
            let is_kept = (is_login || is_key) && !is_public || is_environment_of_other(path);
            (copied || is_kept || is_secret(&target, self.world)).then_some(SecretUse {
                path: target.path,
                is_read: false,
                is_kept,
            })
        })
    }

    /// Secrets that code in another language names, if it reads files; and whether it talks to other machines.
    pub(super) fn secrets_in_code(
        &mut self,
        program: &str,
        language: Language,
        code: &str,
        call: &Call,
        scope: &Scope,
    ) {
        const READING: [&str; 8] = ["open", "read", "file", "cat ", "slurp", "copy", "path(", "loadtxt"];
        const TALKING: [&str; 12] = [
            "requests.", "urlopen", "http", "socket", "fetch(", "axios", "net.connect", "lwp", "ftplib",
            "smtplib", "curl", "websocket",
        ];
        let lower = code.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if !has(&READING) {
            return;
        }
        let names = named_in(&tokens(&with_places(code, self.world), language), self.world.home());
        let secret = names.iter().find_map(|name| self.secret_at(&Text::known(name.clone()), scope));
        if let Some(secret) = secret {
            let mut found = self.new_found(program, vec![], scope, &call.setting);
            found.connected |= has(&TALKING);
            found.secret = Some(SecretUse { is_read: true, ..secret });
            self.commands.push(found);
        }
    }

    /// A home directory taken as a whole takes the secrets in it along.
    fn whole_home(&self, path: &Text, found: &Found, scope: &Scope) -> Option<SecretUse> {
        if !GATHERERS.contains(&found.program.as_str()) {
            return None;
        }
        let mut paths = locate(path, &scope.cwds, self.world).into_iter();
        let home = paths.find(|path| matches!(path.place, Place::Home | Place::Root))?;
        Some(SecretUse { path: home.name, is_read: false, is_kept: false })
    }
}

/// The paths that strings of code may be: alone, added up, or as the parts of a path.
fn named_in(tokens: &[Token], home: &str) -> Vec<String> {
    let mut names = vec![];
    let mut joined: Option<String> = None;
    for (at, token) in tokens.iter().enumerate() {
        let Token::Text(text) = token else {
            if !matches!(token, Token::Mark('+' | ',' | '/')) {
                joined = None;
            }
            continue;
        };
        let text = text.strip_prefix('~').map_or_else(|| text.clone(), |rest| format!("{home}{rest}"));
        let separator = if at > 0 && matches!(tokens[at - 1], Token::Mark(',' | '/')) { "/" } else { "" };
        let whole = joined.take().map_or_else(|| text.clone(), |before| format!("{before}{separator}{text}"));
        if whole != text && whole.len() < 1_000 {
            names.push(whole.clone());
        }
        joined = Some(whole).filter(|whole| whole.len() < 1_000);
        if text.starts_with(['/', '.']) {
            names.push(text);
        }
    }
    // A sentence is none.
    names.retain(|name| !name.contains(char::is_whitespace));
    names
}

/// Returns true for keys, passwords and other secrets, by their usual places and names.
pub(super) fn is_secret(target: &Target, world: &World) -> bool {
    let path = target.path.as_str();
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_named = target.place != Place::Temporary && is_secret_by_name(name);
    (world.has_secret_at(path) || is_named) && !is_public(path)
}

/// What lies beside keys and is for everybody.
fn is_public(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.ends_with(".pub") || matches!(name, "known_hosts" | "authorized_keys")
}

/// The environment of a process that was not started here.
fn is_environment_of_other(path: &str) -> bool {
    let process = path.strip_prefix("/proc/").and_then(|rest| rest.strip_suffix("/environ"));
    process.is_some_and(|process| !process.starts_with("self"))
}

/// The name of an archive, or of something encrypted or encoded.
fn is_packed(name: &str) -> bool {
    const ENDINGS: [&str; 15] = [
        ".tar", ".tgz", ".tbz2", ".txz", ".gz", ".xz", ".bz2", ".zst", ".zip", ".7z", ".b64", ".enc", ".age",
        ".gpg", ".cpio",
    ];
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn edits_in_place(found: &Found) -> bool {
    let is_editor = matches!(found.program.as_str(), "sed" | "gsed" | "perl" | "ruby");
    is_editor && found.arguments.iter().any(|word| word.prefix().starts_with("-i") || word.prefix() == "-pi")
}

/// The arguments without keys that are only used to log in.
fn used_left_out(found: &Found) -> Vec<&Text> {
    let logs_in = matches!(found.program.as_str(), "ssh" | "scp" | "sftp" | "rsync" | "mosh" | "ssh-copy-id");
    let uses = |word: &Text| {
        word.value().is_some_and(|word| {
            USING.contains(&word) || logs_in && matches!(word, "-i" | "-e" | "--rsh" | "-F" | "-o")
        })
    };
    let attached = |word: &Text| {
        let text = word.rough();
        text.split_once('=').is_some_and(|(name, _)| name.starts_with('-') && USING.contains(&name))
    };
    let mut left = vec![];
    let mut is_value = false;
    for word in &found.arguments {
        if !std::mem::replace(&mut is_value, uses(word)) && !attached(word) {
            left.push(word);
        }
    }
    left
}

fn may_be_secret(word: &str) -> bool {
    word.contains(['.', '/']) || word.contains("id_") || word == "shadow"
}

/// The file names in an argument such as `file=@name`.
fn paths_in(argument: &Text) -> Vec<Text> {
    let text = argument.rough();
    let mut paths = vec![argument.clone()];
    if let Some((_, name)) = text.split_once('=') {
        paths.push(Text::known(name));
    }
    if let Some((_, name)) = text.split_once('@') {
        paths.push(Text::known(name.split(';').next().unwrap_or_default()));
    }
    paths
}
