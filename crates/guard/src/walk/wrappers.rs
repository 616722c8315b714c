//! Programs that start another program with the rest of their arguments.

use crate::analysis::{Machine, Setting, Stream};
use crate::paths::locate;
use crate::programs::{Page, Runs, Start, is_listed, page};
use crate::scope::{Scope, Value};
use crate::text::Text;

use super::Walker;
use super::simple::Call;

/// Variables and their values.
type Environment = Vec<(String, Text)>;

impl Walker<'_> {
    /// None if it is no wrapper, or is not used as one.
    pub(super) fn wrapper(
        &mut self,
        name: &str,
        arguments: &[Text],
        call: &Call,
        scope: &mut Scope,
    ) -> Option<Stream> {
        let page = page(name)?;
        let start = match page.runs {
            Runs::Rest(start) => start,
            Runs::After(words, skip) => return self.runner(page, (words, skip), arguments, call, scope),
            Runs::Nothing | Runs::Own(_) => return None,
        };
        let first = arguments.first().and_then(Text::value).unwrap_or_default();
        // These only tell about a command.
        if is_listed(page.dry_run, first) || is_listed(page.help, first) {
            return None;
        }
        if !start.verb.is_empty() && first != start.verb {
            return None;
        }
        if name == "sudo" && matches!(first, "-e" | "--edit") {
            let setting = Setting { elevated: true, ..call.setting.through(name) };
            let argv = [vec![Text::known("sudoedit")], arguments[1..].to_vec()].concat();
            return Some(self.run(&Call { arguments: argv, setting, ..call.clone() }, scope));
        }
        // Without a command, `exec` redirects this shell itself.
        if name == "exec" && arguments.is_empty() {
            scope.connected |= call.redirected.connected;
            scope.descriptors.extend(call.redirected.descriptors.clone());
        }
        let Some((rest, environment)) = Self::rest(page, start, arguments) else {
            return self.shell_of(name, start, call, scope);
        };
        self.notice_writes(name, &arguments[..arguments.len().saturating_sub(rest.len())], call, scope);
        let mut setting = call.setting.through(name);
        setting.elevated |= start.elevates;
        // Out of the container again.
        if start.leaves && setting.machine == Machine::Container {
            setting.machine = Machine::Here;
        }
        let mut inner = scope.clone();
        if let Some(directory) = directory_option(page, arguments) {
            let paths = locate(&directory, &scope.cwds, self.world).into_iter();
            let paths = paths.map(|path| path.why.map_or_else(|| Text::known(path.name), Text::unknown));
            inner.change_directory(paths.collect());
        }
        for (name, value) in &environment {
            inner.set(name, vec![Value::Scalar(value.clone())]);
        }
        let environment = [call.environment.clone(), environment].concat();
        let call = Call { arguments: rest, setting, environment, redirected: call.redirected.clone() };
        // `exec` and `command` run in this shell, so what they change stays.
        if matches!(name, "command" | "builtin") {
            return Some(self.run(&call, scope));
        }
        let stream = self.run(&call, &mut inner);
        scope.share_files(&inner);
        Some(stream)
    }

    /// The command in the arguments, and the variables set for it. None if there is no command.
    fn rest(page: &Page, start: Start, arguments: &[Text]) -> Option<(Vec<Text>, Environment)> {
        let mut at = 0;
        let mut environment = vec![];
        while let Some(argument) = arguments.get(at) {
            let text = argument.rough();
            if text == "--" {
                at += 1;
                break;
            }
            // `env $(cat .env) program`: variables that are not known.
            let program_follows = arguments.get(at + 1).is_some_and(|next| next.value().is_some());
            if text.is_empty() && argument.why().is_some() && program_follows {
                at += 1;
                continue;
            }
            if page.names.contains(&"env")
                && let Some(code) = split_string(argument, arguments.get(at + 1))
            {
                // `env -S "rm -rf /"` splits its argument into words.
                let words = split_words(&code.rough());
                let after = if argument.rough().len() > 2 { at + 1 } else { at + 2 };
                return Self::rest(page, start, &[words, arguments.get(after..)?.to_vec()].concat());
            }
            if text.starts_with("--") {
                at += if is_listed(page.values, &text) { 2 } else { 1 };
            } else if text == "-" && page.names.contains(&"env") {
                at += 1;
            } else if let Some(short) = text.strip_prefix('-').filter(|short| !short.is_empty()) {
                let value = short.find(|flag| is_listed(page.values, &format!("-{flag}")));
                at += if value.is_some_and(|value| value + 1 == short.len()) { 2 } else { 1 };
            } else if let Some((name, value)) = start.sets.then(|| assignment(argument)).flatten() {
                environment.push((name, value));
                at += 1;
            } else {
                break;
            }
        }
        // `timeout ${T:-10}` may be either.
        let is_time = |argument: &Text| {
            argument.why().is_some() || argument.rough().starts_with(|c: char| c.is_ascii_digit())
        };
        while page.names.contains(&"timeout") && arguments.get(at + 1).is_some_and(is_time) {
            at += 1;
        }
        at += start.skip;
        while start.skip > 0 && arguments.get(at).and_then(Text::value) == Some("--") {
            at += 1;
        }
        let rest = arguments.get(at..).filter(|rest| !rest.is_empty())?;
        Some((rest.to_vec(), environment))
    }

    fn runner(
        &mut self,
        page: &Page,
        (words, skip): (&str, usize),
        arguments: &[Text],
        call: &Call,
        scope: &mut Scope,
    ) -> Option<Stream> {
        let is_word = |argument: &Text| argument.value().is_some_and(|word| is_listed(words, word));
        let at = arguments.iter().take(3).position(is_word)?;
        if arguments[..at].iter().any(|argument| !argument.prefix().starts_with('-')) {
            return None;
        }
        let start = Start { skip, verb: "", sets: false, elevates: false, leaves: false };
        let (rest, _) = Self::rest(page, start, &arguments[at + 1..])?;
        let name = page.names.first()?;
        self.notice_writes(name, &arguments[..arguments.len().saturating_sub(rest.len())], call, scope);
        let setting = call.setting.through(name);
        let call = Call { arguments: rest, setting, ..call.clone() };
        Some(self.run(&call, &mut scope.clone()))
    }

    /// Without a command, `sudo -s` is a shell, and reads what it is given.
    fn shell_of(&mut self, name: &str, start: Start, call: &Call, scope: &Scope) -> Option<Stream> {
        if !start.elevates {
            return None;
        }
        let Stream::Known(code) = &call.setting.input else { return None };
        let setting = Setting { elevated: true, input: Stream::Nothing, ..call.setting.through(name) };
        Some(self.script(code, &mut scope.clone(), &setting))
    }

    /// What a wrapper itself writes: `strace -o FILE`.
    pub(super) fn notice_writes(&mut self, name: &str, arguments: &[Text], call: &Call, scope: &Scope) {
        let mut found = self.new_found(name, arguments.to_vec(), scope, &call.setting);
        if page(name).is_some_and(Page::knows_files) {
            found.effects = crate::effects::of(&found, self.world).effects;
            if !found.effects.is_empty() {
                self.commands.push(found);
            }
        }
    }
}

/// The words of `env -S`, which knows quotes.
fn split_words(code: &str) -> Vec<Text> {
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            (c, None) if c.is_whitespace() => words.extend(word.take().map(Text::known)),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.map(Text::known));
    words
}

/// Where the command runs, if the wrapper says so.
fn directory_option(page: &Page, arguments: &[Text]) -> Option<Text> {
    let names: Vec<&str> = page.enters.split(' ').filter(|name| !name.is_empty()).collect();
    let at =
        arguments.iter().position(|argument| names.iter().any(|name| argument.prefix().starts_with(name)))?;
    let given = &arguments[at];
    let attached = names
        .iter()
        .find_map(|name| given.strip_prefix(&format!("{name}=")).or_else(|| given.strip_prefix(name)));
    attached.filter(|value| !value.is_empty()).or_else(|| arguments.get(at + 1).cloned())
}

/// The value of `-S` or `--split-string`.
fn split_string(argument: &Text, next: Option<&Text>) -> Option<Text> {
    let text = argument.rough();
    if matches!(text.as_str(), "-S" | "--split-string" | "-vS" | "-iS") {
        return next.cloned();
    }
    argument.strip_prefix("--split-string=").or_else(|| argument.strip_prefix("-S"))
}

pub(super) fn assignment(argument: &Text) -> Option<(String, Text)> {
    let (name, _) = argument.prefix().split_once('=')?;
    let valid = !name.is_empty() && !name.starts_with('-') && !name.contains(['/', ' ']);
    valid.then(|| Some((name.to_owned(), argument.strip_prefix(&format!("{name}="))?)))?
}
