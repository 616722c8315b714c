//! Shells that are given a script: `bash -c`, `… | sh`, `bash <<EOF`, `bash file`.

use crate::analysis::Stream;
use crate::paths::locate;
use crate::scope::{Arguments, Scope, Value};
use crate::text::{Piece, Text, Why};

use super::Walker;
use super::simple::{Call, POSIX};

pub(crate) const SHELLS: [&str; 10] =
    ["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "csh"];

/// Names for what a command reads.
pub(super) const INPUT: [&str; 4] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-"];

/// What the arguments of a shell ask for.
enum Script {
    Code {
        code: Text,
        arguments: Vec<Text>,
    },
    File {
        file: Text,
        arguments: Vec<Text>,
    },
    Input {
        arguments: Vec<Text>,
    },
    /// It only prints its version or the like.
    Nothing,
}

impl Walker<'_> {
    pub(super) fn shell(&mut self, name: &str, arguments: &[Text], call: &Call, scope: &mut Scope) -> Stream {
        let mut inner = scope.clone();
        // Only bash has to be told to expand aliases.
        let posix = |word: &Text| matches!(word.value(), Some("--posix" | "posix" | "expand_aliases"));
        inner.expands_aliases |= !matches!(name, "bash" | "rbash")
            || arguments.iter().any(posix)
            || call.environment.iter().any(|(name, _)| name == POSIX);
        let connected = call.redirected.connected || scope.connected;
        if connected {
            return self.emit(name, arguments.to_vec(), call, scope);
        }
        let setting = call.setting.through(name);
        match script_of(arguments) {
            Script::Nothing => self.emit(name, arguments.to_vec(), call, scope),
            Script::Code { code, arguments: rest } => {
                if let Some(feed) = feed_of(&code) {
                    return self.emit_fed(name, arguments.to_vec(), call, scope, Some(feed));
                }
                self.redirection_alone(&call.redirected, scope, &call.setting);
                // The first one is the name of the script.
                if let Some(zero) = rest.first() {
                    inner.set("0", vec![Value::Scalar(zero.clone())]);
                }
                inner.arguments = Arguments::Known(rest.into_iter().skip(1).collect());
                self.script(&code, &mut inner, &setting)
            }
            Script::File { file, .. } if file.value().is_none() && call.setting.input != Stream::Nothing => {
                // It may be an option: then the script is what it reads.
                let input = Call { arguments: vec![], ..call.clone() };
                self.shell(name, &[], &input, scope)
            }
            Script::File { file, arguments: rest } => {
                inner.arguments = Arguments::Known(rest);
                match self.content(&file, scope) {
                    Stream::Known(code) => {
                        self.redirection_alone(&call.redirected, scope, &call.setting);
                        self.script(&code, &mut inner, &setting)
                    }
                    feed @ (Stream::Downloaded | Stream::Decoded) => {
                        self.emit_fed(name, arguments.to_vec(), call, scope, Some(feed))
                    }
                    Stream::Unknown(program) if file.prefix().starts_with("/dev/fd/") => {
                        self.fed_by(&program, name, arguments, call, scope)
                    }
                    Stream::Nothing
                    | Stream::Names(_)
                    | Stream::Secret
                    | Stream::Setup
                    | Stream::Program(_)
                    | Stream::Unknown(_) => self.emit(name, arguments.to_vec(), call, scope),
                }
            }
            Script::Input { arguments: rest } => {
                inner.arguments = Arguments::Known(rest);
                match call.setting.input.clone() {
                    Stream::Nothing | Stream::Setup | Stream::Program(_) => {
                        self.emit(name, arguments.to_vec(), call, scope)
                    }
                    Stream::Known(code) => match feed_of(&code) {
                        Some(feed) => self.emit_fed(name, arguments.to_vec(), call, scope, Some(feed)),
                        None => {
                            self.redirection_alone(&call.redirected, scope, &call.setting);
                            self.script(&code, &mut inner, &setting)
                        }
                    },
                    feed @ (Stream::Downloaded | Stream::Decoded) => {
                        self.emit_fed(name, arguments.to_vec(), call, scope, Some(feed))
                    }
                    Stream::Names(_) | Stream::Secret => self.fed_by("a list", name, arguments, call, scope),
                    // `bash < script` is `bash script`.
                    Stream::Unknown(source) if source == "a file" => {
                        self.emit(name, arguments.to_vec(), call, scope)
                    }
                    Stream::Unknown(program) => self.fed_by(&program, name, arguments, call, scope),
                }
            }
        }
    }

    fn fed_by(
        &mut self,
        program: &str,
        name: &str,
        arguments: &[Text],
        call: &Call,
        scope: &mut Scope,
    ) -> Stream {
        self.give_up(format!("`{name}` runs commands that it reads from {program}"));
        self.emit(name, arguments.to_vec(), call, scope)
    }

    /// Whether a file is one that the script has downloaded or decoded.
    pub(super) fn feed_from(&self, file: &Text, scope: &Scope) -> Option<Stream> {
        let known =
            locate(file, &scope.cwds, self.world).into_iter().any(|path| scope.file(&path.name).is_some());
        match self.content(file, scope) {
            feed @ (Stream::Downloaded | Stream::Decoded) if known => Some(feed),
            _ => None,
        }
    }
}

fn script_of(arguments: &[Text]) -> Script {
    let mut rest = arguments.iter();
    let (mut code, mut input) = (false, false);
    while let Some(argument) = rest.as_slice().first() {
        let Some(text) = argument.value() else {
            // Options that are not known, if a `-c` still comes.
            let comes = rest.as_slice()[1..]
                .iter()
                .any(|next| next.prefix().starts_with('-') && next.prefix().ends_with('c'));
            if comes {
                rest.next();
                continue;
            }
            break;
        };
        let Some(flags) = text.strip_prefix(['-', '+']).filter(|flags| !flags.is_empty()) else { break };
        rest.next();
        match flags {
            "-" => break,
            "-version" | "-help" => return Script::Nothing,
            "-rcfile" | "-init-file" => drop(rest.next()),
            _ if text.starts_with("--") => {}
            _ => {
                // It only reads the script.
                if text.starts_with('-') && flags.contains('n') {
                    return Script::Nothing;
                }
                code |= text.starts_with('-') && flags.contains('c');
                input |= flags.contains('s');
                if flags.ends_with(['o', 'O']) && !flags.contains('c') {
                    rest.next();
                }
            }
        }
    }
    let rest = rest.as_slice();
    match rest.split_first() {
        Some((first, arguments)) if code => {
            Script::Code { code: first.clone(), arguments: arguments.to_vec() }
        }
        Some((first, arguments)) if !input && first.value() != Some("-") => match first.value() {
            Some(path) if INPUT.contains(&path) => Script::Input { arguments: arguments.to_vec() },
            _ => Script::File { file: first.clone(), arguments: arguments.to_vec() },
        },
        _ => Script::Input { arguments: rest.to_vec() },
    }
}

/// Where code comes from, if that matters more than what it says.
pub(super) fn feed_of(code: &Text) -> Option<Stream> {
    code.pieces().iter().find_map(|piece| match piece {
        Piece::Unknown(Why::Download) => Some(Stream::Downloaded),
        Piece::Unknown(Why::Decoded) => Some(Stream::Decoded),
        Piece::Unknown(Why::Setup) => Some(Stream::Setup),
        _ => None,
    })
}
