//! Builtins that change the shell itself.

use crate::analysis::{Found, Stream};
use crate::paths::locate;
use crate::scope::{Arguments, Scope, Value, union};
use crate::text::{Text, Why};
use crate::trace::Act;

use super::Walker;
use super::links::Last;
use super::simple::Call;

pub(super) const DECLARE: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];

/// The most directories that are remembered by `pushd`.
const MOST_DIRECTORIES: usize = 32;

/// The most bytes of a working directory that is followed.
const LONGEST_DIRECTORY: usize = 256;

impl Walker<'_> {
    /// None if it is not one of these.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        arguments: &[Text],
        call: &Call,
        scope: &mut Scope,
    ) -> Option<Stream> {
        match name {
            "cd" | "chdir" => self.change_directory(arguments, scope),
            "pushd" => {
                let before = scope.cwds.clone();
                // The oldest are forgotten first.
                if scope.stack.len() >= MOST_DIRECTORIES {
                    scope.stack.remove(0);
                }
                scope.stack.push(before);
                self.change_directory(arguments, scope);
            }
            "popd" => {
                if let Some(cwds) = scope.stack.pop() {
                    scope.change_directory(cwds);
                }
            }
            "eval" => return Some(self.eval(arguments, call, scope)),
            "source" | "." => return Some(self.source(arguments, call, scope)),
            "trap" => self.trap(arguments, call),
            "alias" => self.alias(arguments, call, scope),
            "hash" => {
                if let [flag, path, name] = arguments
                    && flag.value() == Some("-p")
                {
                    scope.hashed.insert(name.rough(), base_name(&path.rough()));
                }
            }
            "compgen" | "complete" => {
                for argument in arguments {
                    self.second_evaluation(argument, scope);
                }
                let command = arguments.iter().position(|word| word.value() == Some("-C"));
                if let Some(code) = command.and_then(|at| arguments.get(at + 1)) {
                    let setting = call.setting.through(name);
                    self.script(code, &mut scope.clone(), &setting);
                }
            }
            "unalias" => scope.aliases.clear(),
            "shopt" => {
                let has = |word: &str| arguments.iter().any(|argument| argument.value() == Some(word));
                if has("expand_aliases") {
                    scope.expands_aliases = has("-s");
                }
            }
            "set" if arguments.is_empty() => {
                self.redirection_alone(&call.redirected, scope, &call.setting);
                return Some(Stream::Secret);
            }
            "set" => Self::set(arguments, scope),
            "shift" => {
                let count = arguments.first().map_or(Some(1), |count| count.value()?.parse::<usize>().ok());
                match (&mut scope.arguments, count) {
                    (Arguments::Known(list), Some(count)) if count <= list.len() => drop(list.drain(..count)),
                    // It fails, and shifts nothing.
                    (Arguments::Known(_), Some(_)) | (Arguments::Unknown, _) => {}
                    (Arguments::Known(_), None) => scope.arguments = Arguments::Unknown,
                }
            }
            "unset" => {
                for argument in arguments {
                    self.evaluate_subscript(argument, scope);
                    if let Some(name) = argument.value() {
                        scope.unset(name);
                    }
                }
            }
            "read" | "mapfile" | "readarray" => self.read(name, arguments, call, scope),
            "let" => {
                for argument in arguments {
                    self.evaluate_number(argument, scope);
                }
            }
            "test" | "[" => {
                for pair in arguments.windows(2) {
                    if pair[0].value() == Some("-v") {
                        self.evaluate_subscript(&pair[1], scope);
                    }
                }
            }
            "printf" if arguments.first().and_then(Text::value) == Some("-v") => {
                if let Some(target) = arguments.get(1) {
                    self.evaluate_subscript(target, scope);
                    self.doubtful.insert(target.rough());
                    if let (Some(name), Some(text)) = (target.value(), super::output::printf(&arguments[2..]))
                    {
                        scope.set(name, vec![Value::Scalar(text)]);
                    }
                }
            }
            _ if DECLARE.contains(&name) => {
                self.declare(arguments, call, scope);
                let shows = |word: &Text| matches!(word.value(), Some("-p" | "-x" | "-xp" | "-px"));
                if call.environment.is_empty() && arguments.iter().all(shows) {
                    self.redirection_alone(&call.redirected, scope, &call.setting);
                    return Some(Stream::Secret);
                }
            }
            _ => return None,
        }
        self.redirection_alone(&call.redirected, scope, &call.setting);
        Some(Stream::Nothing)
    }

    fn change_directory(&mut self, arguments: &[Text], scope: &mut Scope) {
        let operand = arguments
            .iter()
            .find(|argument| !matches!(argument.value(), Some("-P" | "-L" | "-e" | "-@" | "--")));
        let Some(operand) = operand else {
            let home = self.variable("HOME", scope);
            scope.change_directory(home);
            return;
        };
        if operand.value() == Some("-") {
            let previous = scope.previous.clone();
            scope.change_directory(previous);
            return;
        }
        let through = self.followed(operand, Last::Followed, scope);
        let operand = through.as_ref().unwrap_or(operand);
        let mut to = self.entered(operand, &scope.cwds);
        let is_plain = operand.prefix().starts_with(['/', '.']);
        for start in self.variable("CDPATH", scope).iter().filter_map(Text::value).filter(|_| !is_plain) {
            let starts: Vec<Text> =
                start.split(':').filter(|start| !start.is_empty()).map(Text::known).collect();
            to = union(to, self.entered(operand, &starts));
        }
        // Deeper than anybody goes: where that is has to be asked about, and to follow it takes too long.
        let is_deep = |path: &Text| path.value().is_some_and(|path| path.len() > LONGEST_DIRECTORY);
        if to.iter().any(is_deep) {
            to = vec![Text::unknown(Why::Many)];
        }
        scope.change_directory(to);
    }

    /// The directories that a path leads to from each of these.
    fn entered(&self, path: &Text, from: &[Text]) -> Vec<Text> {
        let paths = locate(path, from, self.world).into_iter();
        paths.map(|path| path.why.map_or_else(|| Text::known(path.name), Text::unknown)).collect()
    }

    fn eval(&mut self, arguments: &[Text], call: &Call, scope: &mut Scope) -> Stream {
        let mut code = Text::default();
        let arguments = arguments.strip_prefix(&[Text::known("--")]).unwrap_or(arguments);
        for (index, argument) in arguments.iter().enumerate() {
            if index > 0 {
                code.push_str(" ");
            }
            code.append(argument);
        }
        self.evaluate("eval", &code, call, scope)
    }

    /// Code that is run in this very shell.
    fn evaluate(&mut self, name: &str, code: &Text, call: &Call, scope: &mut Scope) -> Stream {
        if let Some(feed) = super::shells::feed_of(code) {
            return self.emit_fed(name, vec![code.clone()], call, scope, Some(feed));
        }
        self.redirection_alone(&call.redirected, scope, &call.setting);
        let setting = call.setting.through(name);
        self.script(code, scope, &setting)
    }

    fn source(&mut self, arguments: &[Text], call: &Call, scope: &mut Scope) -> Stream {
        let Some(file) = arguments.first() else { return Stream::Nothing };
        if is_connection(file.prefix()) {
            let found = self.new_found("bash", vec![], scope, &call.setting);
            self.commands.push(Found { connected: true, ..found });
            return Stream::Nothing;
        }
        let content = match file.value() {
            Some(path) if super::shells::INPUT.contains(&path) => call.setting.input.clone(),
            _ => self.content(file, scope),
        };
        match content {
            Stream::Known(code) if arguments.len() > 1 => {
                let given = Arguments::Known(arguments[1..].to_vec());
                let outer = std::mem::replace(&mut scope.arguments, given);
                let stream = self.evaluate("source", &code, call, scope);
                scope.arguments = outer;
                stream
            }
            Stream::Known(code) => self.evaluate("source", &code, call, scope),
            content @ (Stream::Downloaded | Stream::Decoded) => {
                self.emit_fed("source", arguments.to_vec(), call, scope, Some(content))
            }
            Stream::Unknown(program) if file.prefix().starts_with("/dev/fd/") => {
                self.give_up(format!("the shell reads commands that `{program}` prints"));
                Stream::Nothing
            }
            Stream::Nothing
            | Stream::Names(_)
            | Stream::Secret
            | Stream::Setup
            | Stream::Program(_)
            | Stream::Unknown(_) => self.emit("source", arguments.to_vec(), call, scope),
        }
    }

    fn trap(&mut self, arguments: &[Text], call: &Call) {
        let action = arguments.iter().find(|argument| argument.value() != Some("--"));
        let Some(action) = action.filter(|action| !matches!(action.value(), Some("-" | "" | "-p" | "-l")))
        else {
            return;
        };
        if arguments.len() > 1 {
            self.traps.push((action.clone(), call.setting.through("trap"), self.span));
        }
    }

    /// An alias is looked at where it is defined, and run where it is used.
    fn alias(&mut self, arguments: &[Text], call: &Call, scope: &mut Scope) {
        for argument in arguments {
            let text = argument.rough();
            let Some((name, value)) = text.split_once('=') else { continue };
            scope.aliases.insert(name.to_owned(), value.to_owned());
            let _ = self.emit("alias", vec![argument.clone()], call, scope);
        }
    }

    fn set(arguments: &[Text], scope: &mut Scope) {
        let flags = arguments.iter().filter_map(Text::value);
        for flag in flags {
            if let Some(letters) = flag.strip_prefix('-').filter(|letters| !letters.starts_with('-')) {
                scope.ends_on_failure |= letters.contains('e');
            } else if let Some(letters) = flag.strip_prefix('+') {
                scope.ends_on_failure &= !letters.contains('e');
            } else if flag == "errexit" {
                scope.ends_on_failure = true;
            } else if flag == "posix" {
                scope.expands_aliases = true;
            }
        }
        let at = arguments.iter().position(|argument| argument.value() == Some("--"));
        if let Some(at) = at {
            scope.arguments = Arguments::Known(arguments[at + 1..].to_vec());
        } else {
            let is_option = |text: &Text| {
                text.prefix().starts_with(['-', '+'])
                    || matches!(text.value(), Some("pipefail" | "errexit" | "nounset" | "posix"))
            };
            let rest: Vec<Text> =
                arguments.iter().skip_while(|argument| is_option(argument)).cloned().collect();
            if !rest.is_empty() {
                scope.arguments = Arguments::Known(rest);
            }
        }
    }

    fn read(&mut self, command: &str, arguments: &[Text], call: &Call, scope: &mut Scope) {
        const WITH_VALUE: &str = "adinNptuOscCu";
        let mut names = vec![];
        // How much is read, and into which parts it falls, is followed for plain lines only.
        let plain = |argument: &Text| {
            matches!(argument.value(), Some("-r" | "-t")) || !argument.prefix().starts_with('-')
        };
        if !arguments.iter().all(plain) {
            self.doubtful.extend(arguments.iter().map(Text::rough));
        }
        let mut skip = false;
        let mut array = None;
        for argument in arguments {
            self.evaluate_subscript(argument, scope);
            let text = argument.rough();
            // `mapfile -C CODE`, also in a cluster and without a blank.
            if command != "read"
                && let Some(at) = text.strip_prefix('-').and_then(|flags| flags.find('C'))
            {
                let rest = argument.strip_prefix(&text[..at + 2]).filter(|rest| !rest.is_empty());
                let next = arguments.iter().skip_while(|other| *other != argument).nth(1).cloned();
                if let Some(code) = rest.or(next) {
                    let setting = call.setting.through(command);
                    self.script(&code, &mut scope.clone(), &setting);
                }
            }
            if std::mem::take(&mut skip) {
                // `read -a NAME` names its array there.
                array = Some(text);
            } else if let Some(flags) = text.strip_prefix('-') {
                skip = flags.chars().last().is_some_and(|flag| WITH_VALUE.contains(flag));
            } else {
                names.push(text);
            }
        }
        if names.is_empty() {
            names.push("REPLY".to_owned());
        }
        let value = match &call.setting.input {
            Stream::Known(text) => text.clone(),
            Stream::Names(directories) => super::output::names(directories),
            Stream::Downloaded => Text::unknown(Why::Download),
            Stream::Decoded => Text::unknown(Why::Decoded),
            Stream::Nothing | Stream::Secret | Stream::Setup | Stream::Program(_) | Stream::Unknown(_) => {
                Text::unknown(Why::Input)
            }
        };
        // How lines and fields fall to names is not followed: each may hold any of them.
        let lines = match value.value() {
            Some(known) => known.lines().map(Text::known).collect(),
            None => vec![value],
        };
        let whole_lines = command != "read";
        if whole_lines {
            for name in names.drain(..).chain(array.take()) {
                scope.set(&name, vec![Value::Array(lines.clone())]);
            }
        }
        if let Some(name) = array {
            let fields = lines.iter().flat_map(|line| {
                crate::expand::fields(crate::expand::split(line, crate::expand::Splitting::Yes, scope))
            });
            let fields = fields.collect();
            scope.set(&name, vec![Value::Array(fields)]);
        }
        let several = names.len() > 1;
        let separators = self
            .variable("IFS", scope)
            .first()
            .and_then(|ifs| ifs.value().map(str::to_owned))
            .unwrap_or_else(|| " \t\n".to_owned());
        for (at, name) in names.iter().enumerate() {
            let last = at + 1 == names.len();
            let value = |line: &Text| match line.value() {
                Some(line) if several => {
                    let fields: Vec<&str> =
                        line.split(|c| separators.contains(c)).filter(|field| !field.is_empty()).collect();
                    let part = fields.get(at..if last { fields.len() } else { at + 1 }).unwrap_or_default();
                    Text::known(part.join(" "))
                }
                _ => line.clone(),
            };
            scope.set(name, lines.iter().map(value).map(Value::Scalar).collect());
        }
    }

    fn declare(&mut self, arguments: &[Text], call: &Call, scope: &mut Scope) {
        if arguments.iter().any(|argument| argument.value() == Some("-i")) {
            for (_, value) in &call.environment {
                self.second_evaluation(value, scope);
            }
        }
        // A reference to another variable: it has the other's value.
        if arguments.iter().any(|argument| argument.value() == Some("-n")) {
            for (name, target) in &call.environment {
                let values = self.variable(&target.rough(), scope).into_iter().map(Value::Scalar).collect();
                scope.set(name, values);
            }
        }
        for argument in arguments {
            self.second_evaluation(argument, scope);
            let text = argument.rough();
            if let Some((name, value)) = text.split_once('=') {
                let value = argument.strip_prefix(&format!("{name}=")).unwrap_or_else(|| Text::known(value));
                scope.set(name, vec![Value::Scalar(value)]);
            }
        }
        // It fails elsewhere, and leaves the variable as it is.
        if self.inside_functions == 0 && call.arguments.first().and_then(Text::value) == Some("local") {
            self.record(Act::Unclear("`local` stands outside of a function"), scope);
        }
        let mut found = self.new_found("export", arguments.to_vec(), scope, &call.setting);
        found.environment.clone_from(&call.environment);
        if !found.environment.is_empty() {
            self.commands.push(found);
        }
    }
}

/// A device of bash that is a connection to another machine.
fn is_connection(path: &str) -> bool {
    ["/dev/tcp/", "/dev/udp/"].iter().any(|device| path.starts_with(device))
}

fn base_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().to_owned()
}
