//! What the code of other languages does: signs in the whole text, and the calls in it.
//!
//! This recognises what it knows and is blind to the rest: it finds dangers, it proves nothing harmless.

use super::calls::Reader;
use super::languages::Language;
use super::tokens::{Token, tokens};
use crate::world::World;

/// Something that code does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    Shell(String),
    Command(Vec<String>),
    Delete { path: String, recursive: bool },
    Write { path: String },
    ReverseShell,
    ForkBomb,
    RunsDownload,
    RunsDecoded,
}

/// Modules that the code mentions.
#[derive(Debug, Clone)]
pub(super) struct Imports {
    pub(super) subprocess: bool,
    pub(super) child_process: bool,
    pub(super) zx: bool,
    /// It looks at names, ages or sizes before it acts.
    pub(super) chooses: bool,
    /// Other names that it gives to functions and modules, and what they are.
    renamed: Vec<(String, String)>,
}

impl Imports {
    /// The name of a function with its first part as it was before it was renamed.
    pub(super) fn resolved(&self, name: &str) -> String {
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        match self.renamed.iter().find(|(new, _)| new == first) {
            Some((_, real)) if rest.is_empty() => real.clone(),
            Some((_, real)) => format!("{real}.{rest}"),
            None => name.to_owned(),
        }
    }

    fn of(code: &str, tokens: &[Token]) -> Self {
        const CHOOSES: [&str; 15] = [
            "if /", "__pycache__", "== \"", "endswith", "startswith", "suffix", "st_mtime", "st_size",
            "mtime", ".test(", "=~", ".filter(", ".match", "fnmatch", "end_with",
        ];
        let code = &code.to_lowercase();
        Self {
            subprocess: code.contains("subprocess"),
            child_process: code.contains("child_process"),
            zx: code.contains("zx"),
            chooses: CHOOSES.iter().any(|word| code.contains(word)),
            renamed: renamed(tokens),
        }
    }
}

/// What the code does, as far as it can be seen.
pub(super) fn scan(code: &str, language: Language, world: &World) -> Vec<Act> {
    let code = with_places(&without_documents(code, language), world);
    let mut acts = vec![];
    let lower = code.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let connects = has(&[
        "socket.socket", "socket(", "create_connection(", "'socket'", "\"socket\"", "[socket ", "fsockopen",
        "pfsockopen", "tcpsocket", "net.connect", "net.socket", "createconnection", "/inet/tcp",
        "io::socket", "socket;", "socket.tcp", "require(\"net\")", "require('net')", "tcpclient",
    ]);
    let executes = has(&[
        "/bin/sh", "/bin/bash", "/bin/zsh", "\"sh\"", "'sh'", "\"bash\"", "'bash'", "\"sh -i\"", "pty.spawn",
        "dup2", "getline", "proc_open", "os.execute", "popen", "exec(", "system(", "system$", "[exec ",
        "sh -c",
    ]);
    if connects && executes {
        acts.push(Act::ReverseShell);
    }
    if forks_without_end(&lower) {
        acts.push(Act::ForkBomb);
    }
    let runs = has(&["exec(", "eval(", "eval ", "system(", "compile(", "exec "]);
    if runs
        && has(&[
            "urlopen", "requests.get", "urllib", "http.get", "https.get", "fetch(", "open-uri", "net::http",
            "lwp", "file_get_contents('http", "file_get_contents(\"http",
        ])
    {
        acts.push(Act::RunsDownload);
    }
    if runs
        && has(&[
            "b64decode", "base64.decode", "base64_decode", "decode_base64", "'base64'", "\"base64\"",
            "atob(", "unhexlify", "fromhex", "gzinflate", "rot13", "unpack(",
        ])
    {
        acts.push(Act::RunsDecoded);
    }
    if has(&["iex", "invoke-expression"])
        && has(&["irm", "iwr", "invoke-restmethod", "invoke-webrequest", "downloadstring"])
    {
        acts.push(Act::RunsDownload);
    }
    if let Some((_, rest)) = lower.split_once("remove-item") {
        let paths = rest
            .split_whitespace()
            .filter(|word| word.starts_with(['/', '~', '.', '*']))
            .map(|word| word.trim_matches(['"', '\'', ';']));
        let home = |path: &str| {
            path.strip_prefix('~').map_or_else(|| path.to_owned(), |rest| format!("{}{rest}", world.home()))
        };
        acts.extend(paths.map(|path| Act::Delete { path: home(path), recursive: rest.contains("-rec") }));
    }
    let tokens = tokens(&code, language);
    Reader::new(&tokens, Imports::of(&code, &tokens), language, &mut acts, world).read();
    acts
}

/// `import os as o`, `from os import system as s`, `const f = require("fs")`.
fn renamed(tokens: &[Token]) -> Vec<(String, String)> {
    let mut renamed = vec![];
    let mut module: Option<&str> = None;
    // `const {rmSync: remove} = require("fs")`, which is one word without blanks.
    let destructured = tokens.iter().filter_map(|token| match token {
        Token::Name(name) => name.split_once(':').filter(|(_, new)| !new.is_empty() && !new.starts_with(':')),
        Token::Text(_) | Token::Run(_) | Token::Mark(_) => None,
    });
    renamed.extend(destructured.map(|(real, new)| (new.to_owned(), real.to_owned())));
    for window in tokens.windows(4) {
        match window {
            [Token::Name(from), Token::Name(name), Token::Name(import), _]
                if from == "from" && import == "import" =>
            {
                module = Some(name);
            }
            [_, Token::Name(real), Token::Name(word), Token::Name(new)] if word == "as" => {
                let real = module.map_or_else(|| real.clone(), |module| format!("{module}.{real}"));
                renamed.push((new.clone(), real));
            }
            [Token::Name(import), Token::Name(_), _, _] if import == "import" && module.is_some() => {}
            [Token::Name(new), Token::Mark('='), Token::Name(require), Token::Mark('(')]
                if require == "require" =>
            {
                renamed.push((new.clone(), String::new()));
            }
            [Token::Name(require), Token::Mark('('), Token::Text(real), Token::Mark(')')]
                if require == "require" =>
            {
                if let Some(last) = renamed.last_mut().filter(|(_, real)| real.is_empty()) {
                    real.trim_start_matches("node:").clone_into(&mut last.1);
                }
            }
            [Token::Mark(';'), ..] => module = None,
            _ => {}
        }
    }
    renamed.retain(|(new, real)| !real.is_empty() && new != real);
    renamed
}

/// A loop in which it makes copies of itself, and neither it nor they ever end.
fn forks_without_end(code: &str) -> bool {
    let loops = ["while", "loop", "for(;;)", "for (;;)", "until"];
    let Some(start) = loops.iter().filter_map(|word| code.find(word)).min() else { return false };
    let ends = ["exit", "wait", "sleep", "break", "sys.argv", "accept("];
    let modified = ["fork while", "fork until", "fork() while"].iter().any(|words| code.contains(words));
    (code[start..].contains("fork") || modified) && !ends.iter().any(|word| code.contains(word))
}

/// Expressions for the home and working directory become strings.
pub(super) fn with_places(code: &str, world: &World) -> String {
    let home = format!("\"{}\"", world.home());
    let cwd = format!("\"{}\"", world.cwd());
    let mut code = code.to_owned();
    for expression in [
        "os.path.expanduser('~')", "os.path.expanduser(\"~\")", "os.environ['HOME']", "os.environ[\"HOME\"]",
        "os.getenv('HOME')", "os.getenv(\"HOME\")", "pathlib.Path.home()", "Path.home()", "process.env.HOME",
        "require('os').homedir()", "require(\"os\").homedir()", "os.homedir()", "ENV['HOME']",
        "ENV[\"HOME\"]", "Dir.home", "$ENV{HOME}", "getenv('HOME')", "getenv(\"HOME\")", "ENVIRON[\"HOME\"]",
        "homedir()",
    ] {
        code = code.replace(expression, &home);
    }
    for expression in ["os.getcwd()", "process.cwd()", "Dir.pwd", "Path.cwd()"] {
        code = code.replace(expression, &cwd);
    }
    code
}

/// Without documentation between lines such as `=begin` and `=end`, and what comes after `__END__`.
fn without_documents(code: &str, language: Language) -> String {
    if !matches!(language, Language::Perl | Language::Ruby) {
        return code.to_owned();
    }
    let mut kept = String::new();
    let mut inside = false;
    for line in code.lines() {
        match line.trim_end() {
            "__END__" | "__DATA__" => break,
            "=end" | "=cut" => inside = false,
            start if start.starts_with('=') && start[1..].starts_with(|c: char| c.is_ascii_alphabetic()) => {
                inside = true;
            }
            _ if inside => {}
            line => {
                kept.push_str(line);
                kept.push('\n');
            }
        }
    }
    kept
}
