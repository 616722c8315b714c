//! Programs that are given code: in an option, on standard input, or in words that mean something to them.

use crate::analysis::{Effect, Found, Setting, Stream};
use crate::options::Options;
use crate::paths::locate;
use crate::programs::page;
use crate::scope::Scope;
use crate::syntax::{self, Origin};
use crate::text::Text;

use super::code::{self, Act};
use super::languages::Language;
use super::redirects::Redirected;
use super::simple::Call;
use super::tokens::{Token, tokens};
use super::{Walker, makefile};

impl Walker<'_> {
    /// Finds the commands in the code that a program is given.
    pub(super) fn interpreter(&mut self, program: &str, arguments: &[Text], call: &Call, scope: &mut Scope) {
        if let Some(language) = Language::of(program) {
            self.language(program, language, arguments, call, scope);
            return;
        }
        let mut codes = code_in_words(program, arguments, &call.setting.input);
        if matches!(program, "npm" | "pnpm" | "yarn" | "bun") {
            codes.extend(self.package_script(arguments, scope));
        }
        if matches!(program, "make" | "gmake") {
            codes.extend(self.recipes(arguments, call, scope));
        }
        // What is typed into a terminal may be for any program in it.
        if matches!(program, "tmux" | "screen" | "byobu") {
            codes.retain(|code| syntax::parse(&code.rough(), Origin::Value(self.span)).is_ok());
        }
        for code in codes {
            // Its own input is not that of the commands in it.
            let setting = Setting { input: Stream::Nothing, ..call.setting.through(program) };
            self.script(&code, &mut scope.clone(), &setting);
        }
    }

    /// The script of a `package.json` that the script itself has written.
    fn package_script(&self, arguments: &[Text], scope: &Scope) -> Option<Text> {
        let words: Vec<&str> =
            arguments.iter().filter_map(Text::value).filter(|word| !word.starts_with('-')).collect();
        let name = match words.as_slice() {
            ["run" | "run-script", name, ..] | [name, ..] => *name,
            [] => return None,
        };
        let Stream::Known(text) = self.content(&Text::known("package.json"), scope) else { return None };
        let tokens = tokens(&text.rough(), Language::Node);
        tokens.windows(3).find_map(|window| match window {
            [Token::Text(key), Token::Mark(':'), Token::Text(code)] if key == name => {
                Some(Text::known(code.clone()))
            }
            _ => None,
        })
    }

    /// The recipes of a makefile that the script itself has written.
    fn recipes(&self, arguments: &[Text], call: &Call, scope: &Scope) -> Vec<Text> {
        let options = Options::parse(arguments, "fCIjlo", &["file", "directory", "makefile"]);
        let content = match options.value(&["f", "file", "makefile"]) {
            Some(file) if file.value() == Some("-") => call.setting.input.clone(),
            Some(file) => self.content(file, scope),
            None => ["GNUmakefile", "makefile", "Makefile"]
                .iter()
                .map(|name| self.content(&Text::known(*name), scope))
                .find(|content| matches!(content, Stream::Known(_)))
                .unwrap_or_default(),
        };
        let Stream::Known(text) = content else { return vec![] };
        if options.has(&["n", "dry-run", "just-print"]) {
            return vec![];
        }
        makefile::recipes(&text.rough(), &options.operands)
    }

    fn language(
        &mut self,
        program: &str,
        language: Language,
        arguments: &[Text],
        call: &Call,
        scope: &mut Scope,
    ) {
        let remote = |argument: &&Text| {
            ["http://", "https://"].iter().any(|scheme| argument.prefix().starts_with(scheme))
        };
        if language == Language::Node
            && arguments.iter().take(4).any(|argument| remote(&argument))
            && arguments.first().and_then(Text::value) == Some("run")
        {
            self.notice_feed(program, Stream::Downloaded, call, scope);
        }
        let mut codes = language.code(arguments);
        let reads_input = codes.is_empty() && language.reads_input(arguments);
        if reads_input {
            match &call.setting.input {
                Stream::Known(text) => codes.push(text.clone()),
                feed @ (Stream::Downloaded | Stream::Decoded) => {
                    self.notice_feed(program, feed.clone(), call, scope);
                }
                Stream::Nothing
                | Stream::Names(_)
                | Stream::Secret
                | Stream::Setup
                | Stream::Program(_)
                | Stream::Unknown(_) => {}
            }
        }
        if codes.is_empty()
            && let Some(file) = arguments.iter().find(|argument| !argument.prefix().starts_with('-'))
        {
            if let Some(feed) = self.feed_from(file, scope) {
                self.notice_file(program, file, feed, call, scope);
            }
            if let Stream::Known(text) = self.content(file, scope) {
                codes.push(text);
            }
        }
        for code in codes {
            if let Some(feed) = super::shells::feed_of(&code) {
                self.notice_feed(program, feed, call, scope);
            }
            let rough = code.rough();
            // Lines of input that are run one by one.
            let runs_lines = match language {
                Language::Awk => rough.contains("system($0)"),
                Language::Perl => {
                    ["system $_", "system($_)", "exec $_", "system$_"].iter().any(|call| rough.contains(call))
                }
                _ => false,
            };
            if runs_lines {
                match &call.setting.input {
                    Stream::Known(lines) => self.act(program, Act::Shell(lines.rough()), call, scope),
                    feed @ (Stream::Downloaded | Stream::Decoded) => {
                        self.notice_feed(program, feed.clone(), call, scope);
                    }
                    _ => {}
                }
            }
            for act in code::scan(&rough, language, self.world) {
                self.act(program, act, call, scope);
            }
            self.secrets_in_code(program, language, &rough, call, scope);
            self.suspect_strings(program, language, &rough, arguments, call, scope);
        }
    }

    fn notice_feed(&mut self, program: &str, feed: Stream, call: &Call, scope: &Scope) {
        let mut found = self.new_found(program, vec![], scope, &call.setting);
        found.feed = Some(feed);
        self.commands.push(found);
    }

    /// A file with such content is executed.
    pub(super) fn notice_file(
        &mut self,
        program: &str,
        file: &Text,
        feed: Stream,
        call: &Call,
        scope: &Scope,
    ) {
        let mut found = self.new_found(program, vec![file.clone()], scope, &call.setting);
        let paths = locate(file, &scope.cwds, self.world);
        found.effects = paths.into_iter().map(|path| Effect::Execute { target: path.into() }).collect();
        found.feed = Some(feed);
        self.commands.push(found);
    }

    /// Something that the code does, as a command of the shell would.
    fn act(&mut self, program: &str, act: Act, call: &Call, scope: &mut Scope) {
        let setting = call.setting.through(program);
        let inner = Call {
            arguments: vec![],
            setting: setting.clone(),
            environment: vec![],
            redirected: Redirected::default(),
        };
        match act {
            Act::Shell(code) => drop(self.script(&Text::known(code), &mut scope.clone(), &setting)),
            Act::Command(words) => {
                let arguments = words.into_iter().map(Text::known).collect();
                self.run(&Call { arguments, ..inner }, &mut scope.clone());
            }
            Act::Delete { path, recursive } => {
                let flags = if recursive { "-rf" } else { "-f" };
                let path = crate::expand::with_patterns(&Text::known(path));
                let arguments = vec![Text::known("rm"), Text::known(flags), Text::known("--"), path];
                self.run(&Call { arguments, ..inner }, &mut scope.clone());
            }
            Act::Write { path } => {
                let mut found = self.new_found(program, vec![], scope, &setting);
                let paths = locate(&Text::known(path), &scope.cwds, self.world);
                found.effects = paths.into_iter().map(|path| Effect::Write { target: path.into() }).collect();
                self.commands.push(found);
            }
            Act::ReverseShell => {
                let found = self.new_found("sh", vec![], scope, &setting);
                self.commands.push(Found { connected: true, ..found });
            }
            Act::ForkBomb => self.shapes.push(crate::analysis::Shape::ForkBomb(self.span)),
            Act::RunsDownload => self.notice_feed(program, Stream::Downloaded, call, scope),
            Act::RunsDecoded => self.notice_feed(program, Stream::Decoded, call, scope),
        }
    }
}

fn code_in_words(program: &str, arguments: &[Text], input: &Stream) -> Vec<Text> {
    let mut codes: Vec<Text> = vec![];
    if let Some(page) = page(program) {
        codes.extend(option_values(arguments, page.code));
    }
    let spaced = |argument: &&Text| argument.rough().contains(' ') && !argument.prefix().starts_with('-');
    let known_input = || match input {
        Stream::Known(text) => Some(text.clone()),
        _ => None,
    };
    match program {
        "watch" => {
            let options = Options::parse(arguments, "n", &["interval"]);
            codes.push(super::output::joined(&options.operands));
        }
        "tmux" | "screen" | "hyperfine" | "concurrently" | "byobu" => {
            codes.extend(arguments.iter().filter(spaced).cloned());
        }
        "sqlite3" | "psql" | "mysql" | "mariadb" | "ftp" | "sftp" => {
            let text = known_input();
            let lines = arguments
                .iter()
                .chain(text.iter())
                .flat_map(|text| text.rough().lines().map(str::to_owned).collect::<Vec<_>>());
            codes.extend(lines.filter_map(|line| {
                let line = line.trim_start();
                [".shell ", ".system ", "\\! ", "\\!", "system ", "!"]
                    .iter()
                    .find_map(|verb| line.strip_prefix(verb))
                    .map(Text::known)
            }));
        }
        "bashtion" => codes.extend(own_commands(arguments, known_input())),
        "npm" | "pnpm" | "yarn" => codes.extend(arguments.iter().filter_map(|argument| {
            let (name, code) = argument.value()?.split_once('=')?;
            name.starts_with("scripts.").then(|| Text::known(code))
        })),
        "ssh" | "scp" => codes.extend(arguments.iter().filter_map(|argument| {
            ["ProxyCommand=", "LocalCommand=", "-oProxyCommand=", "-oLocalCommand="]
                .iter()
                .find_map(|option| argument.strip_prefix(option))
        })),
        "at" | "batch" => codes.extend(known_input()),
        "crontab"
            if arguments.iter().any(|argument| argument.value() == Some("-")) || arguments.is_empty() =>
        {
            codes.extend(known_input().iter().flat_map(cron_commands));
        }
        "expect" => codes.extend(arguments.iter().chain(known_input().iter()).flat_map(spawned)),
        "tar" | "bsdtar" | "gtar" => {
            codes.extend(super::given::by_tar(arguments));
            let actions =
                arguments.iter().filter_map(|argument| argument.strip_prefix("--checkpoint-action=exec="));
            codes.extend(actions);
        }
        "vim" | "vi" | "nvim" | "ex" | "view" | "gvim" | "ed" => {
            codes.extend(arguments.iter().flat_map(|argument| after_bang(&argument.rough())));
            codes.extend(
                known_input()
                    .iter()
                    .flat_map(|text| text.rough().lines().flat_map(after_bang).collect::<Vec<_>>()),
            );
        }
        "less" | "more" => codes.extend(arguments.iter().filter_map(|argument| argument.strip_prefix("+!"))),
        "gdb" | "lldb" => codes.extend(arguments.iter().filter_map(|argument| {
            argument
                .strip_prefix("shell ")
                .or_else(|| argument.strip_prefix("!"))
                .or_else(|| argument.strip_prefix("platform shell "))
        })),
        "sed" | "gsed" => {
            codes.extend(sed_commands(arguments, known_input().as_ref()));
            if arguments.iter().any(|argument| matches!(argument.value(), Some("e" | "1e" | "$e"))) {
                codes.extend(known_input());
            }
        }
        "mapfile" | "readarray" => codes.extend(option_values(arguments, "-C")),
        "cmake" => codes.extend(super::given::by_cmake(arguments)),
        "git" => {
            codes.extend(git_commands(arguments));
            codes.extend(super::given::by_git_clone(arguments));
        }
        _ => {}
    }
    codes
}

fn option_values(arguments: &[Text], options: &str) -> Vec<Text> {
    let mut values = vec![];
    for (at, argument) in arguments.iter().enumerate() {
        for option in options.split(' ').filter(|option| !option.is_empty()) {
            if argument.value() == Some(option) {
                values.extend(arguments.get(at + 1).cloned());
            } else if option.starts_with("--")
                && let Some(value) = argument.strip_prefix(&format!("{option}="))
            {
                values.push(value);
            }
        }
    }
    values
}

/// The commands of a crontab: after five fields of time, or after `@daily`.
fn cron_commands(text: &Text) -> Vec<Text> {
    let rough = text.rough();
    let lines = rough.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let command = |line: &str| {
        let fields = if line.starts_with('@') { 1 } else { 5 };
        let mut rest = line;
        for _ in 0..fields {
            rest = rest.trim_start().split_once(char::is_whitespace).map_or("", |(_, rest)| rest);
        }
        Text::known(rest)
    };
    lines.map(command).filter(|command| !command.is_empty()).collect()
}

/// What an expect script spawns.
fn spawned(code: &Text) -> Vec<Text> {
    let rough = code.rough();
    let pieces = rough.split([';', '\n']).map(str::trim);
    let command = |piece: &str| {
        if let Some(typed) = ["send ", "send -- "].iter().find_map(|verb| piece.strip_prefix(verb)) {
            let typed = typed.trim().trim_matches('"').trim_end_matches("\\r").trim_end_matches("\\n");
            return Some(Text::known(typed));
        }
        Some(Text::known(["spawn ", "exec ", "system "].iter().find_map(|verb| piece.strip_prefix(verb))?))
    };
    pieces.filter_map(command).collect()
}

/// `:!command` and `:r !command` of an editor.
fn after_bang(word: &str) -> Vec<Text> {
    let word = word.trim_start_matches(['+', ':', ' ', '%']);
    let word = ["r ", "read ", "w ", "exe "].iter().find_map(|verb| word.strip_prefix(verb)).unwrap_or(word);
    let code = word.trim_start().strip_prefix('!').or_else(|| {
        let (_, rest) = word.split_once("system(")?;
        Some(rest.trim_matches(|c| "()'\"".contains(c)))
    });
    code.map(Text::known).into_iter().collect()
}

/// The `e` command of sed.
fn sed_commands(arguments: &[Text], input: Option<&Text>) -> Vec<Text> {
    let options = Options::parse(arguments, "ef", &["expression", "file"]);
    let given: Vec<&Text> = options.values(&["e", "expression"]).collect();
    let scripts = if given.is_empty() { options.operands.iter().take(1).collect() } else { given };
    let mut codes = vec![];
    for script in scripts {
        for line in script.rough().split([';', '\n']) {
            let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || "$,!/ ".contains(c));
            if let Some(code) = line.strip_prefix("e ") {
                codes.push(Text::known(code));
            }
            // `s/…/command/e` executes what it has put together.
            if line.starts_with('s') && line.len() > 4 {
                let separator = line[1..].chars().next().unwrap_or('/');
                // An escaped separator is an ordinary character.
                let whole = line[1..].replace(&format!("\\{separator}"), "\0");
                let parts: Vec<String> =
                    whole.split(separator).map(|part| part.replace('\0', &separator.to_string())).collect();
                if parts.len() >= 4 && parts[3].contains('e') {
                    codes.push(Text::known(parts[2].clone()));
                    codes.extend(input.cloned());
                }
            }
        }
    }
    codes
}

/// One word is a script, several are a command with its arguments.
fn as_code(words: &[Text]) -> Text {
    let quoted = |word: &Text| match word.value() {
        Some(value) if words.len() > 1 => Text::known(format!("'{}'", value.replace('\'', r"'\''"))),
        Some(_) | None => word.clone(),
    };
    super::output::joined(&words.iter().map(quoted).collect::<Vec<_>>())
}

/// Aliases that are shell commands, and what `bisect run` and `submodule foreach` run.
fn git_commands(arguments: &[Text]) -> Vec<Text> {
    let mut codes = vec![];
    let configures = arguments.iter().any(|word| word.value() == Some("config"));
    for (at, argument) in arguments.iter().enumerate() {
        if let Some(code) = argument.strip_prefix("!") {
            codes.push(code);
        }
        let text = argument.rough();
        // `git config alias.x 'push --force'`.
        if text.starts_with("alias.")
            && !text.contains('=')
            && let Some(value) = arguments.get(at + 1).map(Text::rough)
        {
            let code = value.strip_prefix('!').map_or_else(|| format!("git {value}"), str::to_owned);
            codes.push(Text::known(code));
        }
        // `-c filter.x.clean=command`, and `git config filter.x.clean command`.
        let next = arguments.get(at + 1).map(Text::rough);
        let separate = next
            .as_deref()
            .filter(|_| configures && !text.starts_with('-'))
            .map(|next| (text.as_str(), next));
        if let Some((key, value)) = text.split_once('=').or(separate) {
            if text.contains('=') && key.starts_with("alias.") {
                let code = value.strip_prefix('!').map_or_else(|| format!("git {value}"), str::to_owned);
                codes.push(Text::known(code));
            }
            let key_in_lower = key.to_lowercase();
            let of_filter = key_in_lower.starts_with("filter.")
                || [".textconv", ".command", ".driver", ".cmd"].iter().any(|end| key_in_lower.ends_with(end));
            let executes = of_filter
                || [
                    "core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "diff.external",
                    "sequence.editor",
                ]
                .contains(&key_in_lower.as_str());
            if executes && !matches!(value, "cat" | "less" | "true" | ":" | "vim" | "nano" | "") {
                codes.push(Text::known(value.trim_start_matches('!')));
            }
        }
        // The command may be attached: `rebase -x'make test'`, `grep -O'less'`.
        let attached = ["-x", "-O"].iter().find_map(|option| argument.strip_prefix(option));
        codes.extend(attached.filter(|code| code.rough().contains(' ')));
        if matches!(text.as_str(), "run" | "foreach") && at > 0 {
            let rest = &arguments[at + 1..];
            let start = rest.iter().position(|word| !word.prefix().starts_with('-')).unwrap_or(rest.len());
            codes.push(super::output::joined(&rest[start..]));
            codes.push(as_code(&rest[start..]));
        }
    }
    codes
}

/// What `bashtion run` would run. Whatever may be it is taken for it: the values of options do no harm as commands. What is not
/// known here is judged by it.
fn own_commands(arguments: &[Text], input: Option<Text>) -> Vec<Text> {
    let Some(verb) = arguments.iter().position(|word| !word.prefix().starts_with('-')) else { return vec![] };
    if arguments[verb].value().is_some_and(|verb| verb != "run") {
        return vec![];
    }
    let rest = &arguments[verb + 1..];
    let after_dashes = rest.iter().position(|word| word.value() == Some("--")).map(|at| &rest[at + 1..]);
    let mut codes: Vec<Text> = match after_dashes {
        Some(words) => words.to_vec(),
        None => rest.iter().filter(|word| !word.prefix().starts_with('-')).cloned().collect(),
    };
    if rest.iter().any(|word| word.value() == Some("-")) {
        codes.extend(input);
    }
    codes.retain(|code| code.value().is_some());
    codes
}
