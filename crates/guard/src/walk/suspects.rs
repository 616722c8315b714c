//! Words that may be a command to a program that is not known, and strings that may be one to code that can execute.
//!
//! Neither is sure to run. What would be denied if it ran is asked about.

use crate::analysis::{Analysis, Stream};
use crate::rules;
use crate::scope::Scope;
use crate::text::Text;
use crate::verdict::Decision;

use super::Walker;
use super::languages::Language;
use super::simple::Call;
use super::tokens::{Token, tokens};

/// Programs that a dangerous command begins with.
const DANGEROUS: &[&str] = &[
    "rm", "dd", "shred", "wipefs", "mkfs", "mkfs.ext4", "mkfs.xfs", "mkswap", "blkdiscard", "mv", "cp",
    "tee", "chmod", "chown", "kill", "pkill", "killall", "find", "bash", "sh", "zsh", "dash", "sudo", "env",
    "busybox", "curl", "wget", "nc", "ln", "truncate",
];

/// Programs to which words are text, patterns or names of files.
const TEXT_PROGRAMS: &[&str] = &[
    "echo", "printf", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "git", "gh", "glab", "hub",
    "cat", "ls", "man", "which", "type", "whereis", "whatis", "apropos", "tldr", "info", "help", "test", "[",
    "logger", "notify-send", "say", "cowsay", "figlet", "wall", "jq", "yq", "sed", "gsed", "touch", "mkdir",
    "cp", "mv", "ln", "rm", "tee", "diff", "cmp", "head", "tail", "wc", "sort", "uniq", "cut", "tr", "expr",
    "basename", "dirname", "file", "stat", "apt", "apt-get", "dpkg", "pip", "pip3", "npm", "cargo", "go",
    "curl", "wget", "bashtion", "chmod", "chown", "read", "export",
];

/// Options whose value many programs run.
const CODE_OPTIONS: &[&str] =
    &["-c", "-e", "-x", "--command", "--exec", "--execute", "--eval", "--cmd", "--run"];

const MOST_SUSPECTS: usize = 4;

/// Signs that code can run commands or delete files, in lower case.
const EXECUTES: &[&str] = &[
    "system", "exec", "popen", "spawn", "subprocess", "child_process", "getattr", "__import__", "importlib",
    "eval", "shell", "commands", "process", "rmtree", "unlink", "fileutils", "kernel", "open3", "pty", "|&",
    "invoke-expression", "run(",
];

/// Signs that code deletes files, in lower case.
const DELETES: &[&str] =
    &["rmtree", "unlink", "rmsync", "rmdirsync", "rm_r", "\"rm\"", "'rm'", "rm -", "remove"];

impl Walker<'_> {
    /// Looks at the words of a program of which nothing is known.
    pub(super) fn suspect_words(&mut self, program: &str, arguments: &[Text], call: &Call, scope: &Scope) {
        if TEXT_PROGRAMS.contains(&program) {
            return;
        }
        let begins = |at: &usize| {
            let name = arguments[*at].value().unwrap_or_default();
            DANGEROUS.contains(&name.rsplit('/').next().unwrap_or_default())
        };
        let setting = call.setting.through(program);
        for at in (0..arguments.len()).filter(begins).take(MOST_SUSPECTS) {
            let suffix =
                Call { arguments: arguments[at..].to_vec(), setting: setting.clone(), ..call.clone() };
            let denied = self.denied(|walker| drop(walker.run(&suffix, &mut scope.clone())));
            if let Some(message) = denied {
                self.give_up(format!("`{program}` may run a part of its words as a command: {message}"));
                return;
            }
        }
        let values =
            arguments.iter().enumerate().filter_map(|(at, argument)| option_value(arguments, at, argument));
        for code in values.take(MOST_SUSPECTS).collect::<Vec<_>>() {
            let denied = self.denied(|walker| drop(walker.script(&code, &mut scope.clone(), &setting)));
            if let Some(message) = denied {
                self.give_up(format!("`{program}` may run the value of an option: {message}"));
                return;
            }
        }
    }

    /// Looks at the strings of code that can execute something, in whatever way.
    pub(super) fn suspect_strings(
        &mut self,
        program: &str,
        language: Language,
        code: &str,
        arguments: &[Text],
        call: &Call,
        scope: &Scope,
    ) {
        let lower = code.to_lowercase();
        // These run words of their own code as they are.
        let bare = language == Language::Other;
        if !bare && !EXECUTES.iter().any(|sign| lower.contains(sign)) {
            return;
        }
        let tokens = tokens(code, language);
        let given = language == Language::Awk
            || lower.contains("arg")
            || lower.contains("stdin")
            || lower.contains("input");
        let words = arguments.iter().filter(|_| given).filter_map(Text::value).filter(|word| *word != code);
        let words = words.map(|word| word.split_once('=').map_or(word, |(_, value)| value));
        let pieces = code.split([';', '\n', '(', ')', '[', ']', '{', '}']).filter(|_| bare);
        let pieces = pieces
            .map(|piece| piece.trim().trim_start_matches("exec ").trim_matches(['`', '\'', '"']).to_owned());
        let input = match &call.setting.input {
            Stream::Known(text) if given && text.rough() != code => Some(text.rough()),
            _ => None,
        };
        let lists = lists(&tokens).into_iter().chain(formatted(&tokens));
        // `rmtree(sys.argv[1])`: what it is given may be what it deletes.
        let removes = DELETES.iter().any(|sign| lower.contains(sign));
        let removed = words.clone().filter(|word| removes && word.starts_with(['/', '~', '.', '*']));
        let removed: Vec<String> = removed.map(|word| format!("rm -rf -- {word}")).collect();
        let texts = tokens.iter().filter_map(|token| match token {
            Token::Text(text) => Some(text.clone()),
            Token::Name(_) | Token::Run(_) | Token::Mark(_) => None,
        });
        let setting = call.setting.through(program);
        let texts =
            texts.chain(lists).chain(words.map(str::to_owned)).chain(input).chain(pieces).chain(removed);
        let is_command = |text: &String| {
            let first = text.split_whitespace().next().unwrap_or_default();
            text.trim().contains(' ') && DANGEROUS.contains(&first.rsplit('/').next().unwrap_or_default())
        };
        for text in texts.filter(is_command).take(MOST_SUSPECTS).collect::<Vec<_>>() {
            let script = Text::known(text);
            let denied = self.denied(|walker| drop(walker.script(&script, &mut scope.clone(), &setting)));
            if let Some(message) = denied {
                self.give_up(format!("the code of `{program}` may run a string in it: {message}"));
                return;
            }
        }
    }

    /// What a rule would deny of what is followed here, all of which is forgotten again.
    fn denied(&mut self, follow: impl FnOnce(&mut Self)) -> Option<String> {
        let (opaque, shapes, steps) = (self.opaque.len(), self.shapes.len(), self.steps_taken.len());
        let before = self.commands.len();
        let traps = std::mem::take(&mut self.traps);
        self.depth += 1;
        if self.depth < super::DEEPEST {
            follow(self);
        }
        self.depth -= 1;
        self.traps = traps;
        let analysis = Analysis {
            command: String::new(),
            commands: self.commands.split_off(before),
            opaque: self.opaque.split_off(opaque),
            last_pipeline: vec![],
            shapes: self.shapes.split_off(shapes),
            steps: vec![],
        };
        self.steps_taken.truncate(steps);
        let findings = rules::findings(&analysis, self.world);
        findings.into_iter().find(|finding| finding.severity == Decision::Deny).map(|finding| finding.message)
    }
}

/// The value of an option that may be code, in the next word or attached with `=`.
fn option_value(arguments: &[Text], at: usize, argument: &Text) -> Option<Text> {
    let option = CODE_OPTIONS.iter().find(|option| argument.prefix().starts_with(**option))?;
    if argument.value() == Some(option) {
        return arguments.get(at + 1).filter(|value| value.rough().contains(' ')).cloned();
    }
    option.starts_with("--").then(|| argument.strip_prefix(&format!("{option}=")))?
}

/// `'rm -rf {}'.format('/')` with the values put in.
fn formatted(tokens: &[Token]) -> Vec<String> {
    let put_in = |window: &[Token]| match window {
        [Token::Text(text), Token::Mark('.'), Token::Name(name), Token::Mark('('), Token::Text(value)]
            if name == "format" =>
        {
            Some(text.replace("{}", value).replace("{0}", value))
        }
        _ => None,
    };
    tokens.windows(5).filter_map(put_in).collect()
}

/// Strings one after the other, with nothing but commas between them, as one line.
fn lists(tokens: &[Token]) -> Vec<String> {
    let mut lists = vec![];
    let mut line: Vec<&str> = vec![];
    for token in tokens {
        match token {
            Token::Text(text) => line.push(text),
            Token::Mark(',') => {}
            Token::Name(_) | Token::Run(_) | Token::Mark(_) => {
                if line.len() > 1 {
                    lists.push(line.join(" "));
                }
                line.clear();
            }
        }
    }
    if line.len() > 1 {
        lists.push(line.join(" "));
    }
    lists
}
