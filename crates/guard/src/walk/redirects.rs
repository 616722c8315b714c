//! Redirections: what is read, what is written, and connections in disguise.

use std::collections::BTreeMap;

use crate::analysis::{Effect, SecretUse, Setting, Stream};
use crate::effects;
use crate::paths::{Path, locate};
use crate::scope::{File, Scope};
use crate::syntax::ast::{Operator, Redirect};
use crate::text::{Text, Why};

use super::links::Last;
use super::secrets::is_secret;
use super::{Walker, as_file};

/// The descriptors of one command.
#[derive(Debug, Clone, Default)]
pub(super) struct Redirected {
    pub(super) input: Stream,
    /// Files that standard output goes into, and whether it is added. None: into the pipe.
    output: Option<(Vec<String>, bool)>,
    pub(super) effects: Vec<Effect>,
    /// What the other descriptors yield.
    pub(super) descriptors: BTreeMap<u32, Stream>,
    /// A descriptor leads to another machine.
    pub(super) connected: bool,
    /// Files that are read.
    pub(super) read: Vec<Text>,
}

impl Redirected {
    /// Where the output goes: on through the pipe, or into files that are remembered.
    pub(super) fn deliver(&self, stream: Stream, scope: &mut Scope) -> Stream {
        let Some((files, added)) = &self.output else { return stream };
        for name in files {
            if *added && let Some(File::Text(before)) = scope.file(name).cloned() {
                let whole = super::output::followed_by(Stream::Known(before), stream.clone());
                scope.write_file(name, as_file(whole));
                continue;
            }
            scope.write_file(name, as_file(stream.clone()));
        }
        Stream::Nothing
    }
}

impl Walker<'_> {
    pub(super) fn redirects(
        &mut self,
        redirects: &[Redirect],
        scope: &mut Scope,
        setting: &Setting,
    ) -> Redirected {
        let mut result = Redirected { input: setting.input.clone(), ..Redirected::default() };
        for redirect in redirects {
            let mut values = self.values(&redirect.target, scope);
            for value in &values {
                self.record_redirect(redirect.operator, value, scope);
            }
            if let Some(name) = &redirect.variable {
                self.record_assignment(name, Text::unknown(Why::Number), scope);
            }
            match redirect.operator {
                Operator::HereDocument | Operator::HereString => {
                    let mut text = values.pop().unwrap_or_default();
                    if redirect.operator == Operator::HereString {
                        text.push_str("\n");
                    }
                    match redirect.fd {
                        None | Some(0) => result.input = Stream::Known(text),
                        Some(fd) => drop(result.descriptors.insert(fd, Stream::Known(text))),
                    }
                    continue;
                }
                Operator::Duplicate => {
                    let joins =
                        scope.connected && values.iter().any(|text| !matches!(text.value(), Some("1" | "2")));
                    result.connected |= joins;
                    let source = values
                        .first()
                        .and_then(|text| text.value()?.trim_end_matches('-').parse::<u32>().ok());
                    let stream = source.and_then(|fd| {
                        result.descriptors.get(&fd).or_else(|| scope.descriptors.get(&fd)).cloned()
                    });
                    if let Some(stream) = stream.filter(|_| redirect.fd.is_none_or(|fd| fd == 0)) {
                        result.input = stream;
                    }
                    if joins && redirect.fd.is_none_or(|fd| fd == 0) {
                        result.input = Stream::Downloaded;
                    }
                    continue;
                }
                Operator::Read
                | Operator::Write
                | Operator::Append
                | Operator::ReadWrite
                | Operator::WriteBoth
                | Operator::AppendBoth => {}
            }
            // Patterns are alive in the target of a redirection too.
            for value in values.iter().map(crate::expand::with_patterns) {
                self.redirect_to(redirect, &value, &mut result, scope, setting);
            }
        }
        result
    }

    fn redirect_to(
        &mut self,
        redirect: &Redirect,
        value: &Text,
        result: &mut Redirected,
        scope: &Scope,
        setting: &Setting,
    ) {
        let operator = redirect.operator;
        if let Some(host) = network_device(value.prefix()) {
            result.connected = true;
            result.effects.push(Effect::Connect { host });
            if !operator.writes() || operator == Operator::ReadWrite {
                result.input = Stream::Downloaded;
            }
            return;
        }
        let through = self.followed(value, Last::Followed, scope);
        let value = through.as_ref().unwrap_or(value);
        let paths = locate(value, &scope.cwds, self.world);
        let targets = effects::located(value, setting, &scope.cwds, self.world);
        if operator == Operator::Read {
            result.read.push(value.clone());
            let content = self.content(value, scope);
            match redirect.fd {
                None | Some(0) => result.input = content,
                Some(fd) => drop(result.descriptors.insert(fd, content)),
            }
            return;
        }
        if redirect.fd.is_none_or(|fd| fd == 1) {
            let names =
                paths.iter().filter(|path| !path.name.ends_with("/stderr")).map(|path| path.name.clone());
            result.output =
                Some((names.collect(), matches!(operator, Operator::Append | Operator::AppendBoth)));
        }
        result.effects.extend(targets.into_iter().map(|target| Effect::Write { target }));
    }

    /// What reading a file yields.
    pub(super) fn content(&self, name: &Text, scope: &Scope) -> Stream {
        let through = self.followed(name, Last::Followed, scope);
        let name = through.as_ref().unwrap_or(name);
        let paths = locate(name, &scope.cwds, self.world);
        for path in &paths {
            match scope.file(&path.name) {
                Some(File::Text(text)) => return Stream::Known(text.clone()),
                Some(File::Downloaded) => return Stream::Downloaded,
                Some(File::Decoded) => return Stream::Decoded,
                Some(File::Program(name)) => return Stream::Program(name.clone()),
                Some(File::Printed(stream)) => return stream.clone(),
                None => {}
            }
        }
        let program = name.value().filter(|name| {
            ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"].iter().any(|place| name.starts_with(place))
        });
        if let Some(base) = program.and_then(|name| name.rsplit('/').next()) {
            return Stream::Program(base.to_owned());
        }
        let is_environment = |path: &Path| path.name.starts_with("/proc/") && path.name.ends_with("/environ");
        if paths.iter().any(|path| is_environment(path) || is_secret(&path.clone().into(), self.world)) {
            return Stream::Secret;
        }
        Stream::Unknown("a file".to_owned())
    }

    /// A redirection that belongs to no simple command is written down by itself.
    pub(super) fn redirection_alone(&mut self, redirected: &Redirected, scope: &Scope, setting: &Setting) {
        let secret = redirected.read.iter().find_map(|file| self.secret_at(file, scope));
        if !redirected.effects.is_empty() || secret.is_some() {
            let mut found = self.new_found("", vec![], scope, setting);
            found.effects.clone_from(&redirected.effects);
            found.connected = redirected.connected;
            found.secret = secret.map(|secret| SecretUse { is_read: true, ..secret });
            self.commands.push(found);
        }
    }
}

/// `/dev/tcp/HOST/PORT`, which bash makes a connection of.
fn network_device(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    Some(rest.split('/').next().unwrap_or_default().to_owned())
}
