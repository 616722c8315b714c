//! Programs that run commands in ways of their own: per file, per line, on other machines, later.

use crate::analysis::{Machine, Setting, Stream};
use crate::options::Options;
use crate::programs::{Own, Page, Runs, is_listed, page};
use crate::scope::Scope;
use crate::text::{Text, Why};

use super::languages::Language;
use super::simple::Call;
use super::{Walker, containers, output, shells};

impl Walker<'_> {
    /// What a program with these arguments comes to.
    pub(super) fn dispatch(
        &mut self,
        program: &str,
        arguments: Vec<Text>,
        call: &Call,
        scope: &mut Scope,
    ) -> Stream {
        if let Some(stream) = self.builtin(program, &arguments, call, scope) {
            return stream;
        }
        if shells::SHELLS.contains(&program) {
            return self.shell(program, &arguments, call, scope);
        }
        if let Some(stream) = self.wrapper(program, &arguments, call, scope) {
            return stream;
        }
        if let Some(stream) = self.launcher(program, &arguments, call, scope) {
            return stream;
        }
        self.interpreter(program, &arguments, call, scope);
        if Language::of(program).is_none() {
            self.suspect_words(program, &arguments, call, scope);
        }
        self.emit(program, arguments, call, scope)
    }

    fn launcher(
        &mut self,
        program: &str,
        arguments: &[Text],
        call: &Call,
        scope: &mut Scope,
    ) -> Option<Stream> {
        let page = page(program)?;
        let Runs::Own(own) = page.runs else { return None };
        match own {
            Own::Find => Some(self.find(program, arguments, call, scope)),
            Own::Fd => Some(self.fd(arguments, call, scope)),
            Own::Xargs => Some(self.xargs(arguments, call, scope)),
            Own::Parallel => Some(self.parallel(arguments, call, scope)),
            Own::Ssh => Some(self.ssh(page, program, arguments, call, scope)),
            Own::Su => self.su(program, arguments, call, scope),
            Own::Bubblewrap => {
                let command = after_bubblewrap(arguments)?;
                Some(self.start(program, command, call, scope))
            }
            Own::Daemon => {
                let starts =
                    |word: &Text| word.value().is_some_and(|word| is_listed("--exec -x --startas -a", word));
                let at = arguments.iter().position(starts)?;
                let after = arguments
                    .iter()
                    .position(|word| word.value() == Some("--"))
                    .map_or(arguments.len(), |at| at + 1);
                let argv = [arguments.get(at + 1..at + 2)?, &arguments[after..]].concat();
                Some(self.start(program, argv, call, scope))
            }
            Own::Screen => {
                let first = arguments.first()?.prefix();
                if !first.starts_with("-d") || !first.contains('m') {
                    return None;
                }
                let argv = arguments.get(1 + usize::from(first.ends_with('S'))..)?.to_vec();
                Some(self.start(program, argv, call, scope))
            }
            Own::Script | Own::Flock => self.with_code_option(program, arguments, call, scope),
            Own::Package => self.package_of(program, arguments, call, scope),
            Own::Compose => {
                let arguments = [&[Text::known("compose")], arguments].concat();
                self.container("docker", &arguments, call, scope)
            }
            Own::Tmux => {
                let options = Options::parse(arguments, "tsncFxye", &[]);
                let verbs = [
                    "new", "new-session", "neww", "new-window", "splitw", "split-window", "respawn-pane",
                    "run-shell", "run",
                ];
                let (verb, rest) = options.operands.split_first()?;
                if rest.is_empty() || !verbs.contains(&verb.value()?) {
                    return None;
                }
                let setting = call.setting.through(program);
                Some(self.script(&output::joined(rest), &mut scope.clone(), &setting))
            }
            Own::Marked(marks) => {
                let is_mark = |word: &Text| word.value().is_some_and(|word| is_listed(marks, word));
                let at = arguments.iter().position(is_mark)?;
                let argv = arguments.get(at + 1..).filter(|argv| argv.len() > 1)?.to_vec();
                Some(self.start(program, argv, call, scope))
            }
            Own::Container => self.container(program, arguments, call, scope),
        }
    }

    /// `npx PACKAGE`, `npm exec PACKAGE`, `pnpm exec PROGRAM`.
    fn package_of(
        &mut self,
        program: &str,
        arguments: &[Text],
        call: &Call,
        scope: &mut Scope,
    ) -> Option<Stream> {
        if matches!(program, "npx" | "bunx" | "pnpx") {
            return self.package(program, arguments, call, scope);
        }
        let at = arguments.iter().position(|word| !word.prefix().starts_with('-'))?;
        let verb = arguments[at].value()?;
        let runs = matches!(
            (program, verb),
            ("npm", "exec" | "x") | ("pnpm" | "yarn", "dlx" | "exec") | ("bun", "x")
        );
        if runs { self.package(program, &arguments[at + 1..], call, scope) } else { None }
    }

    fn xargs(&mut self, arguments: &[Text], call: &Call, scope: &mut Scope) -> Stream {
        let mut at = 0;
        let mut replace: Option<String> = None;
        let mut input = call.setting.input.clone();
        while let Some(argument) = arguments.get(at) {
            let text = argument.rough();
            let Some(flags) = text.strip_prefix('-') else { break };
            at += 1;
            if flags == "-" {
                break;
            }
            let next = || arguments.get(at).map(Text::rough);
            match flags {
                "I" | "J" => {
                    replace = next();
                    at += 1;
                }
                "i" => replace = Some("{}".to_owned()),
                "a" => {
                    input = arguments.get(at).map_or(Stream::Nothing, |file| self.content(file, scope));
                    at += 1;
                }
                "-arg-file" => {
                    input = arguments.get(at).map_or(Stream::Nothing, |file| self.content(file, scope));
                    at += 1;
                }
                "n" | "P" | "L" | "s" | "d" | "E" | "-max-args" | "-max-procs" | "-delimiter" => at += 1,
                _ if flags.starts_with("-arg-file=") => {
                    let file = argument.strip_prefix("--arg-file=").unwrap_or_default();
                    input = self.content(&file, scope);
                }
                _ => replace = flags.strip_prefix('I').map(str::to_owned).or(replace),
            }
        }
        let mut command = arguments.get(at..).unwrap_or_default().to_vec();
        if command.is_empty() {
            command.push(Text::known("echo"));
        }
        let words = if replace.is_some() { output::lines(&input) } else { output::words(&input) };
        let argv = match &replace {
            Some(mark) => command.iter().flat_map(|argument| filled(argument, mark, &words)).collect(),
            None => [command, words].concat(),
        };
        let setting = Setting { input: Stream::Nothing, ..call.setting.through("xargs") };
        self.run(&Call { arguments: argv, setting, ..call.clone() }, &mut scope.clone())
    }

    /// GNU parallel: the command is a piece of script.
    fn parallel(&mut self, arguments: &[Text], call: &Call, scope: &mut Scope) -> Stream {
        let at =
            arguments.iter().position(|argument| matches!(argument.value(), Some(":::" | ":::+" | "::::")));
        let (command, values) = arguments.split_at(at.unwrap_or(arguments.len()));
        let values = match values.split_first() {
            Some((mark, values)) if mark.value() != Some("::::") => values.to_vec(),
            _ => output::words(&call.setting.input),
        };
        let start =
            command.iter().position(|argument| !argument.prefix().starts_with('-')).unwrap_or(command.len());
        let mut code = Text::default();
        for argument in &command[start..] {
            for filled in filled(argument, "{}", &values) {
                code.append(&filled);
                code.push_str(" ");
            }
        }
        if !command.iter().any(|argument| argument.rough().contains('{')) {
            for value in &values {
                code.append(value);
                code.push_str(" ");
            }
        }
        let setting = Setting { input: Stream::Nothing, ..call.setting.through("parallel") };
        self.script(&code, &mut scope.clone(), &setting)
    }

    fn ssh(
        &mut self,
        page: &Page,
        program: &str,
        arguments: &[Text],
        call: &Call,
        scope: &mut Scope,
    ) -> Stream {
        let mut at = 0;
        while let Some(flags) =
            arguments.get(at).and_then(|argument| argument.rough().strip_prefix('-').map(str::to_owned))
        {
            let value = flags.find(|flag| is_listed(page.values, &format!("-{flag}")));
            at += if value.is_some_and(|value| value + 1 == flags.len()) { 2 } else { 1 };
        }
        // Options may follow the host too.
        let mut rest = arguments.get(at + 1..).unwrap_or_default();
        while let Some(flags) =
            rest.first().and_then(|word| word.rough().strip_prefix('-').map(str::to_owned))
            && flags != "-"
        {
            let value = flags.find(|flag| is_listed(page.values, &format!("-{flag}")));
            let taken = if value.is_some_and(|value| value + 1 == flags.len()) { 2 } else { 1 };
            rest = rest.get(taken..).unwrap_or_default();
        }
        let mut code = Text::default();
        for argument in rest.iter().filter(|argument| argument.value() != Some("--")) {
            code.append(argument);
            code.push_str(" ");
        }
        let mut inner = scope.clone();
        inner.cwds = vec![Text::known(self.world.home())];
        let setting = Setting { machine: Machine::Remote, ..call.setting.through(program) };
        if !rest.is_empty() {
            self.script(&code, &mut inner, &setting);
        } else if let Stream::Known(script) = &call.setting.input {
            self.script(script, &mut inner, &setting);
        }
        self.interpreter(program, arguments, call, scope);
        self.emit(program, arguments.to_vec(), call, scope)
    }

    fn su(&mut self, program: &str, arguments: &[Text], call: &Call, scope: &mut Scope) -> Option<Stream> {
        let is_code = |argument: &Text| {
            matches!(argument.value(), Some("--command"))
                || argument.value().is_some_and(|text| is_cluster(text, 'c'))
        };
        let mut setting = Setting { elevated: true, ..call.setting.through(program) };
        if let Some(code) = arguments.iter().find_map(|argument| argument.strip_prefix("--command=")) {
            return Some(self.script(&code, &mut scope.clone(), &setting));
        }
        let Some(at) = arguments.iter().position(is_code) else {
            // Without a command it is a shell, and reads what it is given.
            let Stream::Known(code) = std::mem::take(&mut setting.input) else { return None };
            return Some(self.script(&code, &mut scope.clone(), &setting));
        };
        Some(self.script(arguments.get(at + 1)?, &mut scope.clone(), &setting))
    }

    /// `script -c CODE FILE`, `flock FILE -c CODE`, `flock FILE command…`.
    fn with_code_option(
        &mut self,
        program: &str,
        arguments: &[Text],
        call: &Call,
        scope: &mut Scope,
    ) -> Option<Stream> {
        let setting = call.setting.through(program);
        let is_code = |argument: &Text| {
            argument.value().is_some_and(|text| text == "--command" || is_cluster(text, 'c'))
        };
        if let Some(at) = arguments.iter().position(is_code) {
            self.notice_writes(program, arguments, call, scope);
            return Some(self.script(arguments.get(at + 1)?, &mut scope.clone(), &setting));
        }
        if let Some(code) = arguments.iter().find_map(|argument| argument.strip_prefix("--command=")) {
            self.notice_writes(program, arguments, call, scope);
            return Some(self.script(&code, &mut scope.clone(), &setting));
        }
        if program == "script" {
            // As on BSD: the file, and then the command.
            let options = Options::parse(arguments, "FtTIOBEo", &[]);
            let argv = options.operands.get(1..).filter(|rest| !rest.is_empty())?.to_vec();
            return Some(self.run(&Call { arguments: argv, setting, ..call.clone() }, &mut scope.clone()));
        }
        let mut at = 0;
        while let Some(flags) =
            arguments.get(at).and_then(|argument| argument.rough().strip_prefix('-').map(str::to_owned))
        {
            at += if flags.ends_with(['w', 'E']) { 2 } else { 1 };
        }
        let argv = arguments.get(at + 1..).filter(|rest| !rest.is_empty())?.to_vec();
        Some(self.run(&Call { arguments: argv, setting, ..call.clone() }, &mut scope.clone()))
    }

    /// `npx PACKAGE arguments…`.
    fn package(
        &mut self,
        program: &str,
        arguments: &[Text],
        call: &Call,
        scope: &mut Scope,
    ) -> Option<Stream> {
        let setting = call.setting.through(program);
        let mut at = 0;
        while let Some(text) = arguments.get(at).map(Text::rough).filter(|text| text.starts_with('-')) {
            at += 1;
            match text.as_str() {
                "--" => break,
                _ if text.starts_with("--call=") => {
                    return Some(self.script(
                        &Text::known(&text["--call=".len()..]),
                        &mut scope.clone(),
                        &setting,
                    ));
                }
                "-c" | "--call" => {
                    return Some(self.script(arguments.get(at)?, &mut scope.clone(), &setting));
                }
                "-p" | "--package" => at += 1,
                _ => {}
            }
        }
        let mut argv = arguments.get(at..).filter(|rest| !rest.is_empty())?.to_vec();
        // Without the version.
        let name = argv[0].rough();
        if let Some(end) = name.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at) {
            argv[0] = Text::known(&name[..end]);
        }
        Some(self.run(&Call { arguments: argv, setting, ..call.clone() }, &mut scope.clone()))
    }

    fn container(
        &mut self,
        program: &str,
        arguments: &[Text],
        call: &Call,
        scope: &mut Scope,
    ) -> Option<Stream> {
        let inside = containers::inside(program, arguments)?;
        let mut setting = call.setting.through(program);
        setting.machine = inside.machine;
        setting.mounts =
            inside.mounts.into_iter().map(|(host, there)| (absolute(&host, scope), there)).collect();
        let mut inner = scope.clone();
        inner.cwds = vec![Text::known(inside.cwd)];
        self.run(&Call { arguments: inside.command, setting, ..call.clone() }, &mut inner);
        Some(self.emit(program, arguments.to_vec(), call, scope))
    }
}

impl Walker<'_> {
    /// Runs a command that another program starts.
    fn start(&mut self, launcher: &str, arguments: Vec<Text>, call: &Call, scope: &mut Scope) -> Stream {
        self.run(&Call { arguments, setting: call.setting.through(launcher), ..call.clone() }, scope)
    }
}

/// The command after the options of bubblewrap.
fn after_bubblewrap(arguments: &[Text]) -> Option<Vec<Text>> {
    let mut at = 0;
    while let Some(option) = arguments.get(at).map(Text::rough).filter(|word| word.starts_with("--")) {
        at += match option.as_str() {
            "--" => 1,
            "--bind" | "--ro-bind" | "--dev-bind" | "--bind-try" | "--ro-bind-try" | "--dev-bind-try"
            | "--symlink" | "--setenv" | "--chmod" | "--file" | "--bind-data" | "--ro-bind-data" => 3,
            "--dev" | "--proc" | "--tmpfs" | "--dir" | "--chdir" | "--uid" | "--gid" | "--unsetenv"
            | "--hostname" | "--mqueue" | "--remount-ro" | "--cap-add" | "--cap-drop" | "--seccomp"
            | "--args" | "--lock-file" | "--sync-fd" => 2,
            _ => 1,
        };
        if option == "--" {
            break;
        }
    }
    arguments.get(at..).filter(|rest| !rest.is_empty()).map(<[Text]>::to_vec)
}

fn absolute(path: &Text, scope: &Scope) -> Text {
    if path.prefix().starts_with('/') || path.why().is_some() {
        return path.clone();
    }
    let mut whole = scope.cwds.first().cloned().unwrap_or_default();
    whole.push_str("/");
    whole.append(path);
    whole
}

/// Whether a cluster of short options ends in this one.
fn is_cluster(text: &str, flag: char) -> bool {
    text.strip_prefix('-').is_some_and(|flags| {
        !flags.starts_with('-')
            && flags.ends_with(flag)
            && flags.bytes().all(|byte| byte.is_ascii_alphabetic())
    })
}

/// An argument with each of the values in place of the mark.
pub(super) fn filled(argument: &Text, mark: &str, values: &[Text]) -> Vec<Text> {
    let Some((before, after)) = argument.value().and_then(|text| text.split_once(mark)) else {
        return vec![argument.clone()];
    };
    let fill = |value: &Text| {
        let mut text = Text::known(before);
        text.append(value);
        text.push_str(after);
        text
    };
    if values.is_empty() { vec![Text::unknown(Why::Input)] } else { values.iter().map(fill).collect() }
}
