//! Secrets do not belong in a log: they are replaced by what they are called.

/// Replaces secrets in a text by `[secret:NAME]`.
///
/// ```
/// use bashtion_audit::Masker;
/// let masker = Masker::new([("API_KEY".to_owned(), "s3cr3t-value".to_owned())]);
/// assert_eq!(masker.mask("curl -H 'key: s3cr3t-value'"), "curl -H 'key: [secret:API_KEY]'");
/// assert_eq!(masker.mask("git clone https://ghp_0123456789abcdefghijABCDEFGHIJ012345@host"),
///            "git clone https://[secret:github-token]@host");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Masker {
    /// The longest first, so that one that is part of another is not found in it.
    values: Vec<(String, String)>,
}

/// Whether a variable of this name holds something that nobody should read.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    const WORDS: [&str; 16] = [
        "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "API_KEY", "ACCESS_KEY",
        "PRIVATE_KEY", "CREDENTIAL", "AUTH_KEY", "SIGNING_KEY", "OAUTH", "BEARER", "COOKIE", "JWT",
    ];
    const ENDS: [&str; 5] = ["_KEY", "_PAT", "_PWD", "_AUTH", "_PASS"];
    let upper = name.to_ascii_uppercase();
    // Names are short: a search that is prepared for each word takes longer than looking everywhere for all.
    let begins = |at: &[u8]| {
        WORDS.iter().any(|word| at.first() == word.as_bytes().first() && at.starts_with(word.as_bytes()))
    };
    let bytes = upper.as_bytes();
    (0..bytes.len()).any(|at| begins(&bytes[at..])) || ENDS.iter().any(|end| upper.ends_with(end))
}

/// A kind of token that can be told by how it begins.
struct Shape {
    name: &'static str,
    prefix: &'static str,
    least: usize,
}

const fn shape(name: &'static str, prefix: &'static str, least: usize) -> Shape {
    Shape { name, prefix, least }
}

/// With how many characters must follow.
const SHAPES: &[Shape] = &[
    shape("github-token", "ghp_", 30),
    shape("github-token", "gho_", 30),
    shape("github-token", "ghu_", 30),
    shape("github-token", "ghs_", 30),
    shape("github-token", "ghr_", 30),
    shape("github-token", "github_pat_", 30),
    shape("gitlab-token", "glpat-", 18),
    shape("anthropic-key", "sk-ant-", 20),
    shape("api-key", "sk-proj-", 20),
    shape("api-key", "sk-", 32),
    shape("stripe-key", "sk_live_", 16),
    shape("stripe-key", "rk_live_", 16),
    shape("aws-key", "AKIA", 16),
    shape("aws-key", "ASIA", 16),
    shape("google-key", "AIza", 32),
    shape("slack-token", "xoxb-", 10),
    shape("slack-token", "xoxp-", 10),
    shape("slack-token", "xoxa-", 10),
    shape("npm-token", "npm_", 30),
    shape("pypi-token", "pypi-", 40),
    shape("huggingface-token", "hf_", 30),
    shape("jwt", "eyJ", 40),
];

/// What follows is a secret up to the next blank.
const INTRODUCTIONS: [(&str, &str); 9] = [
    ("bearer-token", "Bearer "),
    ("basic-credentials", "Authorization: Basic "),
    ("password", "password="),
    ("password", "--password="),
    ("password", "--password "),
    ("token", "--token="),
    ("token", "--token "),
    ("api-key", "--api-key="),
    ("api-key", "--api-key "),
];

impl Masker {
    /// For these names and values. Short values are not masked: they would be found everywhere.
    pub fn new(secrets: impl IntoIterator<Item = (String, String)>) -> Self {
        const SHORTEST: usize = 6;
        let mut values: Vec<_> = secrets.into_iter().filter(|(_, value)| value.len() >= SHORTEST).collect();
        values.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(&b.0)));
        Self { values }
    }

    /// The text without secrets.
    #[must_use]
    pub fn mask(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for (name, value) in &self.values {
            if masked.contains(value.as_str()) {
                masked = masked.replace(value.as_str(), &placeholder(name));
            }
        }
        mask_keys(&mask_shapes(&masked))
    }
}

fn placeholder(name: &str) -> String {
    format!("[secret:{name}]")
}

fn mask_shapes(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    let mut before: Option<char> = None;
    while let Some(next) = rest.chars().next() {
        let begins = before.is_none_or(|c| !c.is_ascii_alphanumeric());
        let found = begins
            .then(|| token_at(rest).or_else(|| introduced_at(rest)).or_else(|| assigned_at(rest)))
            .flatten()
            .or_else(|| in_address_at(rest));
        match found {
            Some((kept, name, length)) => {
                masked.push_str(&rest[..kept]);
                masked.push_str(&placeholder(name));
                rest = &rest[kept + length..];
                before = Some(']');
            }
            None => {
                masked.push(next);
                rest = &rest[next.len_utf8()..];
                before = Some(next);
            }
        }
    }
    masked
}

/// How much stands before it, its name, and its length.
fn token_at(text: &str) -> Option<(usize, &'static str, usize)> {
    SHAPES.iter().find_map(|Shape { name, prefix, least }| {
        let rest = text.strip_prefix(prefix)?;
        let length = rest.bytes().take_while(|byte| is_of_token(*byte)).count();
        (length >= *least).then_some((0, *name, prefix.len() + length))
    })
}

fn introduced_at(text: &str) -> Option<(usize, &'static str, usize)> {
    const LEAST: usize = 6;
    INTRODUCTIONS.iter().find_map(|(name, introduction)| {
        let matches = text.get(..introduction.len())?.eq_ignore_ascii_case(introduction);
        let rest = text.get(introduction.len()..).filter(|_| matches)?;
        let length =
            rest.bytes().take_while(|byte| is_of_token(*byte) || b"+/=.~!@#$%^*".contains(byte)).count();
        let is_variable = rest.starts_with('$') || rest.starts_with('[');
        (length >= LEAST && !is_variable).then_some((introduction.len(), *name, length))
    })
}

/// `API_TOKEN=value`
fn assigned_at(text: &str) -> Option<(usize, &'static str, usize)> {
    const LEAST: usize = 6;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let name = text.bytes().take_while(|byte| is_name(*byte)).count();
    let rest = text.get(name..)?.strip_prefix('=').filter(|_| is_secret_name(&text[..name]))?;
    let quotes = rest.bytes().take_while(|byte| b"\"'".contains(byte)).count();
    let value = rest.get(quotes..)?;
    let length = value.find(|c: char| c.is_whitespace() || "\"';|&<>()".contains(c)).unwrap_or(value.len());
    let is_known = value.starts_with('$') || value.starts_with('[');
    (length >= LEAST && !is_known).then_some((name + 1 + quotes, "value", length))
}

/// `://user:password@host`
fn in_address_at(text: &str) -> Option<(usize, &'static str, usize)> {
    let rest = text.strip_prefix("://")?;
    let end = rest.find(|c: char| c.is_whitespace() || "/\"'".contains(c)).unwrap_or(rest.len());
    let (before, _) = rest.get(..end)?.rsplit_once('@')?;
    let (user, password) = before.split_once(':')?;
    let is_known = password.is_empty() || password.starts_with('$') || password.starts_with('[');
    (!is_known).then_some(("://".len() + user.len() + 1, "password", password.len()))
}

fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

/// Whole private keys.
fn mask_keys(text: &str) -> String {
    const BEGIN: &str = "-----BEGIN ";
    const MARK: &str = "PRIVATE KEY-----";
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(BEGIN) {
        let (head, tail) = rest.split_at(at);
        masked.push_str(head);
        let is_key = tail.lines().next().is_some_and(|line| line.contains(MARK));
        if !is_key {
            masked.push_str(BEGIN);
            rest = &tail[BEGIN.len()..];
            continue;
        }
        masked.push_str(&placeholder("private-key"));
        let end =
            tail.find("-----END ").and_then(|end| tail[end..].find(MARK).map(|mark| end + mark + MARK.len()));
        rest = end.map_or("", |end| &tail[end..]);
    }
    masked.push_str(rest);
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_what_is_none() {
        let masker = Masker::new(
            [("DB_PASSWORD", "hunter22"), ("LONG_TOKEN", "hunter22-and-more"), ("SHORT_KEY", "abc")]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        let token = "x".repeat(40);
        let cases = [
            ("psql -W hunter22".to_owned(), "psql -W [secret:DB_PASSWORD]"),
            ("echo hunter22-and-more".to_owned(), "echo [secret:LONG_TOKEN]"),
            ("echo abc".to_owned(), "echo abc"),
            (format!("GH=ghp_{token} gh"), "GH=[secret:github-token] gh"),
            (format!("sk-ant-{token}"), "[secret:anthropic-key]"),
            ("task-sk-1".to_owned(), "task-sk-1"),
            ("AKIAIOSFODNN7EXAMPLE".to_owned(), "[secret:aws-key]"),
            (
                format!("curl -H 'Authorization: Bearer {token}'"),
                "curl -H 'Authorization: Bearer [secret:bearer-token]'",
            ),
            (
                "curl -H \"Authorization: Bearer $TOKEN\"".to_owned(),
                "curl -H \"Authorization: Bearer $TOKEN\"",
            ),
            ("mysql --password=topsecret1 x".to_owned(), "mysql --password=[secret:password] x"),
            ("git log --basic information".to_owned(), "git log --basic information"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter".to_owned(),
                "[secret:private-key]\nafter",
            ),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\ncut".to_owned(), "[secret:private-key]"),
            ("-----BEGIN CERTIFICATE-----\nx".to_owned(), "-----BEGIN CERTIFICATE-----\nx"),
            ("export LATE_TOKEN='inline-token-1'; x".to_owned(), "export LATE_TOKEN='[secret:value]'; x"),
            ("TOKEN=$(cat file) run".to_owned(), "TOKEN=$(cat file) run"),
            ("tool --token longtoken1".to_owned(), "tool --token [secret:token]"),
            ("git clone https://me:pass1@host/x".to_owned(), "git clone https://me:[secret:password]@host/x"),
            ("curl https://host:8080/a@b".to_owned(), "curl https://host:8080/a@b"),
            ("größe 中 🦀".to_owned(), "größe 中 🦀"),
        ];
        for (text, expected) in cases {
            assert_eq!(masker.mask(&text), expected);
        }
    }

    #[test]
    fn names() {
        for name in [
            "GITHUB_TOKEN", "api_key", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "DEPLOY_KEY", "MY_PAT",
            "MYSQL_PWD",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["PATH", "HOME", "KEYBOARD", "PATTERN", "SSH_AUTH_SOCK", "PWD", "OLDPWD"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
