//! Telling settings from secrets, for all formats.

/// The keys of a file that may be shown. A `*` at the end or in the middle stands for anything.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Keys {
    /// These, unless their names speak of a secret.
    Only(&'static [&'static str]),
    /// All whose names do not speak of a secret.
    AllButSecret,
}

/// A file of which nobody can say that nothing secret is left in it. It stays hidden as a whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Doubt;

/// Decides about the entries of one file, and remembers what was taken out.
#[derive(Debug)]
pub(super) struct Cleaner {
    keys: Keys,
    took: bool,
    secrets: Vec<String>,
}

/// Parts of names that speak of a secret, or of whose it is.
const SECRET_NAMES: &[&str] = &[
    "auth", "token", "pass", "pwd", "secret", "cred", "private", "username", "login", "mail", "otp", "sign",
    "apikey", "api_key", "api-key", "keyfile", "certfile", "header", "cookie", "session",
];

impl Cleaner {
    pub(super) fn new(keys: Keys) -> Self {
        Self { keys, took: false, secrets: vec![] }
    }

    /// Returns true if an entry of this name may be shown. The value is remembered if not.
    pub(super) fn admits(&mut self, key: &str, value: &str) -> bool {
        let name = key.trim_matches(['"', '\'', '[', ']', ' ']).to_ascii_lowercase();
        let is_flag = ["true", "false", "yes", "no"].contains(&bare(value).to_ascii_lowercase().as_str());
        let speaks = !is_flag
            && (SECRET_NAMES.iter().any(|part| name.contains(part)) || name == "user" || ends_in_user(&name));
        let is_known = match self.keys {
            Keys::Only(known) => known.iter().any(|pattern| matches(pattern, &name)),
            Keys::AllButSecret => true,
        };
        let is_admitted = !speaks && is_known && no_token(key).is_ok();
        if !is_admitted {
            self.take(if speaks { value } else { "" });
        }
        is_admitted
    }

    /// Takes an entry out that is not even looked at.
    pub(super) fn take(&mut self, secret: &str) {
        const SHORTEST: usize = 4;
        self.took = true;
        let secret = bare(secret);
        if secret.len() >= SHORTEST {
            self.secrets.push(secret.to_owned());
        }
    }

    /// The value of an entry that may be shown, without names and passwords in its addresses.
    pub(super) fn value(&mut self, value: &str) -> Result<String, Doubt> {
        let mut shown = String::with_capacity(value.len());
        let mut rest = value;
        while let Some(at) = rest.find("://") {
            let (before, address) = rest.split_at(at + 3);
            let end = address.find(|c: char| c.is_whitespace() || "\"'<>`".contains(c));
            let (address, after) = address.split_at(end.unwrap_or(address.len()));
            plain(before.trim_end_matches("://"))?;
            shown.push_str(before);
            shown.push_str(self.address(address)?);
            rest = after;
        }
        plain(rest)?;
        shown.push_str(rest);
        Ok(shown)
    }

    /// An address after its `://`, without what stands before the host: RFC 3986, section 3.2.
    fn address<'a>(&mut self, address: &'a str) -> Result<&'a str, Doubt> {
        let authority = address.split('/').next().unwrap_or(address);
        let shown = match authority.rsplit_once('@') {
            Some((user, host)) => {
                self.take(user.split_once(':').map_or(user, |(_, password)| password));
                &address[authority.len() - host.len()..]
            }
            None => address,
        };
        let (host, path) = shown.split_once('/').unwrap_or((shown, ""));
        let (host, port) = host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port)));
        let is_host = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
        let is_port = port.is_none_or(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        // It may be a password with a slash that nobody has escaped: `me:12/34@host`.
        let may_be_user = port.is_some() && path.contains('@');
        if !is_host || !is_port || may_be_user || !path.split('/').all(is_plain_segment) {
            return Err(Doubt);
        }
        no_token(shown)?;
        Ok(shown)
    }

    /// The text if it holds nothing of what was taken out, and true if nothing was.
    pub(super) fn finish(self, text: String) -> Result<(String, bool), Doubt> {
        let leaks = self.secrets.iter().any(|secret| text.contains(secret.as_str()));
        if leaks { Err(Doubt) } else { Ok((text, !self.took)) }
    }
}

/// Returns true for a part of a path that is certainly no secret: some registries take a token as one, or in a query.
fn is_plain_segment(segment: &str) -> bool {
    const MOST_DIGITS: usize = 4;
    const LONGEST: usize = 20;
    let name = segment.strip_prefix('@').unwrap_or(segment);
    let letters: Vec<char> = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let digits = letters.iter().filter(|letter| letter.is_ascii_digit()).count();
    name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._~+-".contains(letter))
        && !name.eq_ignore_ascii_case("t")
        && !speaks_of_a_secret(name)
        && (letters.len() < LONGEST || digits <= MOST_DIGITS)
}

fn speaks_of_a_secret(word: &str) -> bool {
    const WORDS: [&str; 8] = ["auth", "token", "pass", "pwd", "secret", "cred", "apikey", "cookie"];
    let word = word.to_ascii_lowercase();
    WORDS.iter().any(|part| word.contains(part))
}

/// Text that is no address. One with an `@` may be an address without its scheme.
fn plain(text: &str) -> Result<(), Doubt> {
    let mut ats = text.match_indices('@');
    let begins = |before: &str| {
        let before = before.strip_suffix(['"', '\'']).unwrap_or(before);
        before.is_empty() || before.ends_with(|c: char| c.is_whitespace() || ",[".contains(c))
    };
    if ats.any(|(at, _)| !begins(&text[..at])) {
        return Err(Doubt);
    }
    // A password that follows its name without a sign between them.
    if text.split_whitespace().any(speaks_of_a_secret) {
        return Err(Doubt);
    }
    // A comment, perhaps, in a format that has none here.
    if [" ;", " #", "\t;", "\t#"].iter().any(|mark| text.contains(mark)) {
        return Err(Doubt);
    }
    // `-Dhttp.proxyPassword=…` among the arguments of a program.
    let mut names = text.match_indices(['=', ':']).map(|(at, _)| last_word(&text[..at]));
    if names.any(|name| SECRET_NAMES.iter().any(|part| name.to_ascii_lowercase().contains(part))) {
        return Err(Doubt);
    }
    no_token(text)
}

fn last_word(text: &str) -> &str {
    let text = text.trim_end_matches(['"', '\'', ' ']);
    text.rsplit(|c: char| !c.is_ascii_alphanumeric() && !"_.-".contains(c)).next().unwrap_or(text)
}

/// Refuses text with a word that looks like a key: long, of letters and digits; or that begins as keys do.
fn no_token(text: &str) -> Result<(), Doubt> {
    const LONGEST_WORD: usize = 16;
    const BEGINNINGS: &[&str] =
        &["npm_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "pypi-", "sk-", "xox", "AKIA", "eyJ"];
    let is_key = |word: &str| {
        let has = |test: fn(&u8) -> bool| word.as_bytes().iter().any(test);
        word.len() >= LONGEST_WORD && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    };
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"+=".contains(c));
    let begins = |part: &str| BEGINNINGS.iter().any(|beginning| part.starts_with(beginning));
    let parts = text.split(|c: char| c.is_whitespace() || "/\"'=,:;{[(".contains(c));
    if words.into_iter().any(is_key) || parts.into_iter().any(begins) { Err(Doubt) } else { Ok(()) }
}

fn bare(value: &str) -> &str {
    value.trim().trim_matches(['"', '\'']).trim()
}

/// `proxyUser`, `deploy_user`: not `useragent`.
fn ends_in_user(name: &str) -> bool {
    name.len() > "user".len() && name.ends_with("user")
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((begin, end)) => {
            name.len() > begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: &str) -> Result<String, Doubt> {
        Cleaner::new(Keys::AllButSecret).value(value)
    }

    #[test]
    fn addresses_lose_their_passwords() {
        for (value, expected) in [
            ("https://npm.example/", "https://npm.example/"),
            ("https://me:hunter2@npm.example:8443/a/b/", "https://npm.example:8443/a/b/"),
            ("https://me@npm.example", "https://npm.example"),
            ("https://me:p@ss@npm.example/x", "https://npm.example/x"),
            ("https://npm.example/@scope/x", "https://npm.example/@scope/x"),
            (
                "\"https://a:b@one.example\" https://c:d@two.example",
                "\"https://one.example\" https://two.example",
            ),
            ("@scope", "@scope"),
            ("plain words 123", "plain words 123"),
        ] {
            assert_eq!(shown(value).as_deref(), Ok(expected), "{value}");
        }
    }

    #[test]
    fn what_may_be_a_secret_is_doubted() {
        for value in [
            "me:hunter2@npm.example:8080",
            "https://me:pass/word@npm.example/",
            "https://me:12/34@npm.example/",
            "https://npm.example/?token=abc",
            "https://conda.example/t/tk-1/channel",
            "https://pypi.example/a1b2c3d4e5f6g7h8i9/simple",
            "npm_abc",
            "-Xmx1g -Dhttp.proxyPassword=hunter2",
            "{\"token\" : \"hunter2\"}",
            "ghp_abcdef",
            "0123456789abcdef0123456789abcdef",
            "https://a.example,https://b:c@d.example",
        ] {
            assert_eq!(shown(value), Err(Doubt), "{value}");
        }
    }

    #[test]
    fn names_that_speak_of_secrets() {
        let admits = |key: &str, value: &str| Cleaner::new(Keys::AllButSecret).admits(key, value);
        for key in ["_authToken", "//x/:_password", "Password", "proxyUser", "npmAuthIdent", "user", "e-mail"]
        {
            assert!(!admits(key, "x"), "{key}");
        }
        assert!(admits("user", "true") && admits("index-url", "x") && admits("useragent", "x"));
        let mut cleaner = Cleaner::new(Keys::Only(&["registry", "@*:registry"]));
        assert!(cleaner.admits("@scope:registry", "x") && cleaner.admits("registry", "x"));
        assert!(!cleaner.admits("@:registry", "x") && !cleaner.admits("other", "x"));
    }

    #[test]
    fn what_was_taken_out_is_nowhere_else() {
        let mut cleaner = Cleaner::new(Keys::AllButSecret);
        assert!(!cleaner.admits("password", "'hunter2'"));
        assert_eq!(cleaner.finish("note = hunter2".to_owned()), Err(Doubt));
    }

    #[test]
    fn addresses_that_may_hold_a_secret_are_doubted() {
        for value in [
            "https://pkgs.example/@org/npm/?token=hidden",
            "https://www.myget.org/F/feed/auth/2d1e7c3a-9b1f-4c0d-8e11-aa22bb33cc44/npm/",
            "https://x.example/F/feed/2d1e7c3a-9b1f-4c0d-8e11-aa22bb33cc44/npm/",
            "jdbc:sqlserver://h;user=sa;password=hidden",
            "jdbc:as400://h/x;password=hidden;more",
            "https://user:\"hidden\"@host/simple",
            "https://x.example/npm/;_authToken=hidden",
            "https://x.example/npm/auth=hidden/",
            "https://x.example/npm/token:hidden/",
            "https://john.doe:1234/@host/",
            "https://x.example/t/hidden/",
            "https://x.example/T/hidden/",
            "https://x.example/t%2fhidden/",
            "-Djavax.net.ssl.keyStorePassword hidden",
        ] {
            assert!(shown(value).is_err(), "{value}");
        }
    }
}
