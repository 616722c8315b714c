//! Simple commands: assignments, the name, and who it is that runs.

use crate::analysis::{Found, Setting, Stream};
use crate::effects;
use crate::paths::locate;
use crate::patterns::matches;
use crate::scope::{Arguments, File, Scope, Value, union};
use crate::syntax::ast::{Redirect, Simple, Word};
use crate::text::{Piece, Text, Why};
use crate::trace::Act;

use super::redirects::Redirected;
use super::{DEEPEST, Walker, output};

/// `sudo env timeout 5 nice …`: nobody needs more of them.
const MOST_WRAPPERS: usize = 24;

/// Builtins whose arguments are names of variables, which may have a subscript.
const NAMING: [&str; 8] = ["wait", "readonly", "declare", "typeset", "local", "export", "getopts", "coproc"];

/// One call of a program, builtin or function.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) arguments: Vec<Text>,
    pub(super) setting: Setting,
    pub(super) environment: Vec<(String, Text)>,
    pub(super) redirected: Redirected,
}

/// A variable that makes bash expand aliases, among other things.
pub(super) const POSIX: &str = "POSIXLY_CORRECT";

impl Walker<'_> {
    pub(super) fn simple(
        &mut self,
        simple: &Simple,
        redirects: &[Redirect],
        scope: &mut Scope,
        setting: &Setting,
    ) -> Stream {
        let redirected = self.redirects(redirects, scope, setting);
        let Some(name) = simple.words.first() else {
            for assignment in &simple.assignments {
                let environment = self.assign(assignment, scope);
                let value = environment.first().map_or(Text::unknown(Why::Many), |(_, value)| value.clone());
                self.record_assignment(&assignment.name, value, scope);
                self.notice_environment(environment, scope, setting);
            }
            self.redirection_alone(&redirected, scope, setting);
            return Stream::Nothing;
        };
        let declares = name.bare().is_some_and(|name| super::builtins::DECLARE.contains(&name));
        let names = simple.assignments.iter().map(|assignment| assignment.name.as_str());
        let before: Vec<(&str, Option<Vec<Value>>)> =
            names.map(|name| (name, scope.get(name).map(<[Value]>::to_vec))).collect();
        let mut environment = vec![];
        for assignment in &simple.assignments {
            let set = self.assign(assignment, scope);
            // An array is no variable of the environment, but `PATH=(x)` changes one.
            if set.len() != 1 || assignment.subscript.is_some() {
                self.record_assignment(&assignment.name, Text::unknown(Why::Many), scope);
            }
            environment.extend(set);
        }
        let setting = Setting { input: redirected.input.clone(), ..setting.clone() };
        self.setting = setting.clone();
        let mut names = self.alternatives(name, scope);
        // `${PYTHON:-python3}`: what the environment says instead is the caller's own choice.
        let known = |name: &Vec<Text>| name.first().is_some_and(|name| name.why().is_none());
        if names.iter().any(known) {
            if !names.iter().all(known) {
                self.record(Act::Unclear("the command's name may be another one"), scope);
            }
            names.retain(|name| {
                known(name) || !matches!(name.first().and_then(Text::why), Some(Why::Variable(_)))
            });
        }
        let rests = self.rests(&simple.words[1..], scope);
        let mut printed = Stream::Nothing;
        for (name, rest) in names.iter().flat_map(|name| rests.iter().map(move |rest| (name, rest))) {
            let argv: Vec<Text> = name.iter().chain(rest).cloned().collect();
            let call = Call {
                arguments: argv,
                setting: setting.clone(),
                environment: environment.clone(),
                redirected: redirected.clone(),
            };
            printed = output::followed_by(printed, self.run(&call, scope));
        }
        // Variables before a command are the command's alone, and those of a function the function's.
        if declares && name.bare().is_some_and(|name| matches!(name, "local" | "declare" | "typeset")) {
            scope.locals.extend(before.into_iter().map(|(name, values)| (name.to_owned(), values)));
        } else if !declares {
            for (name, values) in before {
                match values {
                    Some(values) => scope.set(name, values),
                    None => scope.forget(name),
                }
            }
        }
        redirected.deliver(printed, scope)
    }

    /// The possible arguments; where they are too many, one list with all of them.
    fn rests(&mut self, words: &[Word], scope: &mut Scope) -> Vec<Vec<Text>> {
        const MOST: usize = 12;
        let words: Vec<Vec<Vec<Text>>> = words.iter().map(|word| self.alternatives(word, scope)).collect();
        let count = words
            .iter()
            .map(Vec::len)
            .try_fold(1_usize, |all, one| Some(all.checked_mul(one)?).filter(|all| *all <= MOST));
        if count.is_none() {
            self.record(Act::Unclear("its arguments have too many possible values"), scope);
            let all = words.into_iter().flat_map(|word| word.into_iter().fold(vec![], union)).collect();
            return vec![all];
        }
        let mut rests: Vec<Vec<Text>> = vec![vec![]];
        for mut word in words {
            match (word.pop(), word.is_empty()) {
                (Some(only), true) => rests.iter_mut().for_each(|rest| rest.extend(only.iter().cloned())),
                (last, _) => {
                    word.extend(last);
                    let join = |rest: &Vec<Text>| {
                        word.iter().map(|fields| [rest.as_slice(), fields].concat()).collect::<Vec<_>>()
                    };
                    rests = rests.iter().flat_map(join).collect();
                }
            }
        }
        rests
    }

    /// Runs what the arguments say: the first of them is the name.
    pub(super) fn run(&mut self, call: &Call, scope: &mut Scope) -> Stream {
        if !self.step() {
            return Stream::Nothing;
        }
        if call.setting.via.len() > MOST_WRAPPERS {
            self.give_up("it is wrapped too often");
            return Stream::Nothing;
        }
        let Some((name, arguments)) = call.arguments.split_first() else {
            self.redirection_alone(&call.redirected, scope, &call.setting);
            return Stream::Nothing;
        };
        let step = self.record_call(call, scope);
        let outer = self.parent.replace(step);
        let stream = self.start_program(name, arguments, call, scope);
        self.parent = outer;
        stream
    }

    fn start_program(&mut self, name: &Text, arguments: &[Text], call: &Call, scope: &mut Scope) -> Stream {
        if !call.environment.is_empty() {
            self.run_environment(&call.environment, scope, &call.setting);
        }
        if let Some(name) = name.value() {
            if (scope.expands_aliases || scope.get(POSIX).is_some())
                && let Some(alias) = scope.aliases.get(name).cloned()
                && !call.setting.via.iter().any(|via| via == "alias")
            {
                let mut code = Text::known(alias);
                for argument in arguments {
                    code.push_str(" ");
                    code.append(argument);
                }
                // On the line that defines it, it is not known yet: the program of its name may run too.
                self.script(&code, scope, &call.setting.through("alias"));
            }
            if let Some(body) = scope.functions.get(name).cloned() {
                let printed = self.call_function(name, &body, arguments.to_vec(), scope, call);
                // Behind `command`, `bash -c` or `sudo`, or if it may not have been defined, the program runs.
                if call.setting.via.iter().all(|via| scope.functions.contains_key(via))
                    && self.functions.contains(name)
                {
                    return printed;
                }
            }
        }
        for argument in arguments {
            // `{name[expression]}<file`, and variables that builtins set: `wait -p`, `readonly -a`.
            let text = argument.prefix();
            let takes_names = name.value().is_some_and(|name| NAMING.contains(&name));
            if takes_names || text.starts_with('{') {
                self.evaluate_subscript(argument, scope);
            }
        }
        let Some(program) = self.program(name, scope) else {
            let why = name.why().map_or_else(|| "it is a pattern".to_owned(), ToString::to_string);
            self.give_up(format!("the command's name is not known: {why}"));
            let name_feed = super::shells::feed_of(name);
            let found = self.new_found(&name.to_string(), arguments.to_vec(), scope, &call.setting);
            self.commands.push(Found { effects: call.redirected.effects.clone(), feed: name_feed, ..found });
            return Stream::Unknown(name.to_string());
        };
        self.record_program(&program);
        if name.rough().contains('/') {
            if let Some(feed) = self.feed_from(name, scope) {
                self.notice_file(&program, name, feed, call, scope);
            }
            if let Stream::Known(code) = self.content(name, scope) {
                let mut inner = scope.clone();
                inner.arguments = Arguments::Known(arguments.to_vec());
                self.script(&code, &mut inner, &call.setting.through(&program));
            }
        }
        let arguments = arguments.to_vec();
        self.dispatch(&program, arguments, call, scope)
    }

    fn call_function(
        &mut self,
        name: &str,
        body: &crate::syntax::ast::Command,
        arguments: Vec<Text>,
        scope: &mut Scope,
        call: &Call,
    ) -> Stream {
        if self.depth >= DEEPEST {
            self.give_up("functions call each other too deeply");
            return Stream::Nothing;
        }
        self.depth += 1;
        self.inside_functions += 1;
        self.redirection_alone(&call.redirected, scope, &call.setting);
        let outer = std::mem::replace(&mut scope.arguments, Arguments::Known(arguments));
        let locals = std::mem::take(&mut scope.locals);
        let definition = scope.undefine(name);
        let list = crate::syntax::ast::List {
            items: vec![crate::syntax::ast::Item {
                pipeline: crate::syntax::ast::Pipeline { negated: false, stages: vec![body.clone()] },
                then: crate::syntax::ast::Then::Next,
            }],
        };
        let stream = self.list(&list, scope, &call.setting);
        self.depth -= 1;
        self.inside_functions -= 1;
        for (name, values) in std::mem::replace(&mut scope.locals, locals).into_iter().rev() {
            match values {
                Some(values) => scope.set(&name, values),
                None => scope.forget(&name),
            }
        }
        if let Some(definition) = definition.filter(|_| !scope.functions.contains_key(name)) {
            scope.define(name, definition);
        }
        scope.arguments = outer;
        stream
    }

    /// The name of a program without its directory, if it can be told.
    pub(super) fn program(&self, name: &Text, scope: &Scope) -> Option<String> {
        if let Some(value) = name.value() {
            if let Some(program) = scope.hashed.get(value) {
                return Some(program.clone());
            }
            for path in locate(name, &scope.cwds, self.world) {
                if let Some(File::Program(program)) = scope.file(&path.name) {
                    return Some(program.clone());
                }
            }
            let base = value.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            return Some(base.to_owned());
        }
        // A pattern for a name: take it for the worst that it matches.
        let pieces = name.pieces();
        // A program in an unknown directory is still that program: `"$VIRTUAL_ENV/bin/python"`.
        if let Some(Piece::Known(end)) = pieces.last()
            && let Some((_, base)) = end.rsplit_once('/')
            && !base.is_empty()
        {
            return Some(base.to_owned());
        }
        if pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_))) {
            return None;
        }
        let whole = name.with_patterns()?;
        let last = without_classes(whole.rsplit('/').next()?);
        if !last.contains(['*', '?', '[']) {
            return Some(last);
        }
        let last = last.as_str();
        NOTABLE.iter().find(|program| matches(last, program)).map(|program| (*program).to_owned())
    }

    pub(super) fn new_found(
        &self,
        program: &str,
        arguments: Vec<Text>,
        scope: &Scope,
        setting: &Setting,
    ) -> Found {
        Found {
            program: program.to_owned(),
            arguments,
            via: setting.via.clone(),
            span: self.span,
            effects: vec![],
            setting: setting.clone(),
            input: setting.input.clone(),
            feed: None,
            environment: vec![],
            connected: scope.connected,
            concerns: vec![],
            secret: None,
            cwds: scope.cwds.clone(),
        }
    }

    /// Writes down a program that is not taken apart further, and tells what it prints.
    pub(super) fn emit(
        &mut self,
        program: &str,
        arguments: Vec<Text>,
        call: &Call,
        scope: &mut Scope,
    ) -> Stream {
        self.emit_fed(program, arguments, call, scope, None)
    }

    /// The same for one that executes code from somewhere.
    pub(super) fn emit_fed(
        &mut self,
        program: &str,
        arguments: Vec<Text>,
        call: &Call,
        scope: &mut Scope,
        feed: Option<Stream>,
    ) -> Stream {
        let mut found = self.new_found(program, arguments, scope, &call.setting);
        found.environment.clone_from(&call.environment);
        found.connected |= call.redirected.connected;
        found.feed = feed;
        found.effects.clone_from(&call.redirected.effects);
        let outcome = effects::of(&found, self.world);
        found.effects.extend(outcome.effects);
        found.concerns = outcome.concerns;
        effects::remember(&found, self.world, scope);
        let stream = output::of(self, &found, scope);
        self.notice_links(&found, scope);
        self.leave_behind(&found, scope);
        self.notice_secrets(&mut found, call, scope);
        self.commands.push(found);
        stream
    }

    /// The same command a second time, with the places that links of the script lead to.
    fn notice_links(&mut self, found: &Found, scope: &Scope) {
        if let Some(arguments) = self.arguments_followed(&found.program, &found.arguments, scope) {
            let mut through = Found { arguments, ..found.clone() };
            through.effects = effects::of(&through, self.world).effects;
            self.commands.push(through);
        }
    }
}

/// `r[m]` can only be `rm`.
fn without_classes(pattern: &str) -> String {
    let mut plain = pattern.to_owned();
    while let Some(open) = plain.find('[')
        && let Some(length) = plain[open..].find(']')
        && plain[open + 1..open + length].chars().count() == 1
    {
        let inner = plain[open + 1..open + length].to_owned();
        plain.replace_range(open..=open + length, &inner);
    }
    plain
}

/// Programs that a pattern is taken for, the worst first.
const NOTABLE: [&str; 36] = [
    "rm", "dd", "mkfs", "mkfs.ext4", "mkfs.xfs", "wipefs", "fdisk", "killall", "unlink", "shred", "bash",
    "sh", "sudo", "su", "chmod", "chown", "mv", "cp", "tee", "nc", "ncat", "wget", "curl", "kill", "python3",
    "perl", "ruby", "node", "find", "xargs", "git", "cat", "ls", "echo", "env", "ssh",
];

impl Setting {
    pub(super) fn through(&self, wrapper: &str) -> Self {
        let mut setting = self.clone();
        setting.via.push(wrapper.to_owned());
        setting
    }
}

impl Found {
    /// For a function that is only defined: what depends on its arguments is not judged.
    pub(super) fn forget_arguments(&mut self) {
        use crate::analysis::Effect;
        use crate::paths::Place;
        let depends = |effect: &Effect| match effect {
            Effect::Delete { target, .. }
            | Effect::Move { target }
            | Effect::Write { target }
            | Effect::Permissions { target, .. }
            | Effect::Execute { target } => target.place == Place::Unknown,
            Effect::Connect { .. } => false,
        };
        self.effects.retain(|effect| !depends(effect));
    }
}
