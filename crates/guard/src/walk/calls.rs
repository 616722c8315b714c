//! Calls in the code of other languages: those that run commands, delete and write files.

use super::code::{Act, Imports};
use super::languages::Language;
use super::tokens::{Token, tokens};
use crate::world::World;

/// What stands in a shell command for a value that is not known.
const GAP: &str = "${VALUE_IN_CODE}";

/// Tokens between the parentheses of one call.
const LONGEST_CALL: usize = 400;

pub(super) struct Reader<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) at: usize,
    pub(super) variables: Vec<(String, Vec<String>)>,
    language: Language,
    acts: &'a mut Vec<Act>,
    world: &'a World,
    depth: usize,
    /// Directories whose files it goes through.
    walked: Vec<String>,
    /// It deletes something that has no constant name.
    deletes: bool,
    imports: Imports,
}

/// An argument: what strings it holds, in one piece or as a list, and all words in it.
#[derive(Debug, Default)]
pub(super) struct Argument {
    pub(super) texts: Vec<String>,
    names: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        tokens: &'a [Token],
        imports: Imports,
        language: Language,
        acts: &'a mut Vec<Act>,
        world: &'a World,
    ) -> Self {
        Self {
            tokens,
            at: 0,
            variables: vec![],
            language,
            acts,
            world,
            depth: 0,
            walked: vec![],
            deletes: false,
            imports,
        }
    }
}

impl Reader<'_> {
    #[expect(clippy::too_many_lines, reason = "one token after the other, by kind")]
    pub(super) fn read(&mut self) {
        // The last string that was an argument, for `Path("x").unlink()`.
        let mut receiver: Option<String> = None;
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token {
                Token::Run(code) => self.acts.push(Act::Shell(code.clone())),
                Token::Name(name) => {
                    let name = name.clone();
                    // `$db->exec(…)` is a method of something.
                    let is_method = self.at >= 3
                        && self.tokens[self.at - 2] == Token::Mark('>')
                        && self.tokens[self.at - 3] == Token::Mark('-');
                    // `for d in ["a", "b"]`.
                    if name == "in" && self.tokens.get(self.at) == Some(&Token::Mark('[')) && self.at >= 2 {
                        if let Token::Name(variable) = self.tokens[self.at - 2].clone() {
                            self.at += 1;
                            let values = self.elements();
                            self.variables.push((variable, values));
                        }
                        continue;
                    }
                    match self.tokens.get(self.at) {
                        Some(Token::Mark('('))
                            if is_method && matches!(self.language, Language::Php | Language::Perl) => {}
                        Some(Token::Mark('=')) if self.tokens.get(self.at + 1) != Some(&Token::Mark('=')) => {
                            self.at += 1;
                            self.assignment(name);
                        }
                        Some(Token::Mark('(')) => {
                            let from = self.at + 1;
                            let chained = from >= 4
                                && self.tokens[from - 3] == Token::Mark('.')
                                && self.tokens[from - 4] == Token::Mark(')');
                            let arguments = self.arguments();
                            let text = arguments.first().and_then(|argument| argument.texts.first()).cloned();
                            let member = from >= 3 && self.tokens[from - 3] == Token::Mark('.');
                            self.call(&name, &arguments, receiver.as_deref().filter(|_| chained), member);
                            receiver = text.or(receiver);
                            // What stands in the parentheses may hold calls of its own.
                            self.at = from;
                        }
                        Some(Token::Text(text))
                            if matches!(
                                self.language,
                                Language::Perl | Language::Ruby | Language::Php | Language::Other
                            ) =>
                        {
                            let mut texts = vec![text.clone()];
                            let mut next = self.at + 1;
                            while let (Some(Token::Mark(',')), Some(Token::Text(more))) =
                                (self.tokens.get(next), self.tokens.get(next + 1))
                            {
                                texts.push(more.clone());
                                next += 2;
                            }
                            let arguments: Vec<Argument> = texts
                                .into_iter()
                                .map(|text| Argument { texts: vec![text], names: vec![] })
                                .collect();
                            self.call(&name, &arguments, None, false);
                        }
                        _ => {
                            self.deletes |= matches!(name.as_str(), "unlink" | "rmtree")
                                && self.language == Language::Perl;
                            if name == "kill" && self.is_aimed_at_everyone() {
                                self.acts
                                    .push(Act::Command(["kill", "-9", "-1"].map(str::to_owned).to_vec()));
                            }
                        }
                    }
                }
                Token::Mark('|') if self.language == Language::Awk => {
                    let before = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
                    if let Some(Token::Text(code)) = self.tokens.get(self.at) {
                        let shell = crate::walk::SHELLS.contains(&code.trim());
                        match before {
                            Some(Token::Text(data)) if shell => self.acts.push(Act::Shell(data.clone())),
                            _ => self.acts.push(Act::Shell(code.clone())),
                        }
                    }
                }
                Token::Mark('>') if self.language == Language::Awk => {
                    while self.tokens.get(self.at) == Some(&Token::Mark('>')) {
                        self.at += 1;
                    }
                    if let Some(Token::Text(path)) = self.tokens.get(self.at)
                        && path.contains('/')
                    {
                        self.acts.push(Act::Write { path: path.clone() });
                    }
                }
                Token::Text(code) if self.language == Language::Awk => {
                    let piped = self.tokens.get(self.at) == Some(&Token::Mark('|'));
                    if piped
                        && matches!(self.tokens.get(self.at + 1), Some(Token::Name(name)) if name == "getline")
                    {
                        self.acts.push(Act::Shell(code.clone()));
                    }
                }
                Token::Text(_) | Token::Mark(_) => {}
            }
        }
        // Files that are found in a directory and deleted one by one.
        if self.deletes {
            for path in std::mem::take(&mut self.walked) {
                let mut path = self.at_home(&path);
                if self.imports.chooses {
                    path += "/…";
                }
                self.acts.push(Act::Delete { path, recursive: true });
            }
        }
    }

    /// The arguments in parentheses, which begin at the next token.
    pub(super) fn arguments(&mut self) -> Vec<Argument> {
        let mut arguments = vec![Argument::default()];
        let mut depth = 0_usize;
        let mut glue = false;
        let mut joins = false;
        let mut fills = false;
        let mut separator = None;
        let mut before = None;
        let end = self.at + LONGEST_CALL;
        while let Some(token) = self.tokens.get(self.at).filter(|_| self.at < end) {
            self.at += 1;
            match token {
                Token::Mark('(' | '[' | '{') => depth += 1,
                Token::Mark(')' | ']' | '}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        break;
                    }
                }
                Token::Mark(',') if depth == 1 => arguments.push(Argument::default()),
                _ => {}
            }
            let Some(argument) = arguments.last_mut() else { break };
            if let Token::Name(name) = token {
                argument.names.push(name.clone());
                // `' '.join([…])`.
                if name == "join" && before == Some(&Token::Mark('.')) {
                    separator = argument.texts.pop();
                }
            }
            for text in self.texts_of(token) {
                match argument.texts.last_mut() {
                    Some(last) if glue => last.push_str(&text),
                    Some(last) if fills && last.contains("%s") => *last = last.replacen("%s", &text, 1),
                    _ => argument.texts.push(text),
                }
            }
            fills |= matches!(token, Token::Mark('%'));
            before = Some(token);
            glue = matches!(token, Token::Mark('+' | '.'));
            joins |= matches!(token, Token::Mark('/'));
        }
        for argument in &mut arguments {
            // `os.path.join(a, "b")` and `Path(a) / "b"` are one path.
            let joining =
                |name: &String| ["join", "joinpath", "resolve"].iter().any(|end| name.ends_with(end));
            if let Some(separator) = separator.take() {
                argument.texts = vec![argument.texts.join(&separator)];
                continue;
            }
            if (joins || argument.names.iter().any(joining)) && argument.texts.len() > 1 {
                argument.texts = vec![argument.texts.join("/")];
            }
        }
        arguments
    }

    #[expect(clippy::too_many_lines, reason = "a table, one program after the other")]
    fn call(&mut self, name: &str, arguments: &[Argument], receiver: Option<&str>, member: bool) {
        let name = &self.imports.resolved(name);
        let last = name.rsplit(['.', ':', '$']).next().unwrap_or(name);
        let texts: Vec<String> = arguments.iter().flat_map(|argument| argument.texts.clone()).collect();
        let first = texts.first().cloned();
        let own = first.clone().or_else(|| receiver.map(str::to_owned)).map(|path| self.at_home(&path));
        let recursive_option =
            arguments.iter().any(|argument| argument.names.iter().any(|name| name == "recursive"));
        match last {
            "exec" | "eval" | "compile" if self.language == Language::Python => {
                if let Some(code) = first.filter(|_| self.depth < 3) {
                    let tokens = tokens(&code, self.language);
                    Reader {
                        tokens: &tokens,
                        at: 0,
                        variables: self.variables.clone(),
                        language: self.language,
                        acts: self.acts,
                        world: self.world,
                        depth: self.depth + 1,
                        walked: vec![],
                        deletes: false,
                        imports: self.imports.clone(),
                    }
                    .read();
                }
            }
            _ if self.is_process(name, last) => self.process(last, &texts),
            "rmtree"
            | "remove_tree"
            | "rm_rf"
            | "rm_r"
            | "rmtree!"
            | "removeSync"
            | "emptyDirSync"
            | "rimraf"
            | "rimrafSync"
            | "remove_entry_secure"
            | "remove_dir"
            | "deleteDirectory"
            | "rm_f" => {
                self.delete(texts, own, last != "rm_f");
            }
            "rmSync" | "rmdirSync" => self.delete(texts, own, recursive_option),
            "rm" if name != "rm" || matches!(self.language, Language::Other | Language::Node) => {
                self.delete(texts, own, recursive_option);
            }
            // Sets and lists have such methods too.
            "remove" | "delete" | "rmdir" if !is_of_files(name) || member && !texts.is_empty() => {}
            "unlink" | "unlinkSync" | "remove" | "removedirs" | "rmdir" | "delete" => {
                self.deletes |= texts.is_empty() && own.is_none();
                self.delete(texts, own, recursive_option);
            }
            "walk" | "rglob" | "glob" | "iglob" | "iterdir" | "scandir" | "listdir" | "readdirSync"
            | "readdir" | "find" | "walkSync" => {
                let of_receiver = matches!(last, "rglob" | "iterdir")
                    || last == "glob" && receiver.is_some() && !name.starts_with("glob");
                let path = if of_receiver { receiver.map(|path| self.at_home(path)) } else { own };
                self.walked.extend(path);
            }
            "extractall" | "extract" | "unpack_archive" => {
                if let Some(path) = texts.last().filter(|path| path.starts_with('/')) {
                    let path = path.clone();
                    self.write(&path);
                }
            }
            "open" | "fopen" | "File.open" => {
                let writes = texts.get(1).is_some_and(|mode| mode.contains(['w', 'a', 'x', '+', '>']));
                let perl = self.language == Language::Perl
                    && texts.first().is_some_and(|mode| mode.starts_with('>'));
                if perl {
                    let path = texts.get(1).cloned().or(first).unwrap_or_default();
                    self.acts.push(Act::Write { path: path.trim_start_matches('>').trim().to_owned() });
                } else if let Some(path) = first.filter(|_| writes) {
                    self.write(&path);
                }
            }
            // Strings, tables and open files have such methods too.
            "write" | "truncate" | "replace" | "rename" | "copy" | "move" | "link" | "symlink" | "cp"
            | "mv"
                if !is_function_of_files(name, member) => {}
            "writeFileSync" | "writeFile" | "appendFileSync" | "appendFile" | "createWriteStream"
            | "file_put_contents" | "write" | "write_text" | "write_bytes" | "binwrite" | "truncate"
            | "truncateSync" => {
                let receives = matches!(last, "write_text" | "write_bytes");
                let path = if receives { receiver.map(str::to_owned) } else { first };
                // `f.write("text")` has a text, not a path.
                if let Some(path) = path.filter(|path| path.starts_with(['/', '~']) && !path.contains('\n')) {
                    self.write(&path);
                }
            }
            "copyfile" | "copy" | "copy2" | "copytree" | "copyFileSync" | "cp" | "cpSync" | "symlink"
            | "link" | "move" | "rename" | "renameSync" | "replace" | "mv" => {
                let away = matches!(last, "move" | "rename" | "renameSync" | "replace" | "mv");
                if let Some(path) = texts.first().filter(|path| away && path.starts_with('/')) {
                    self.acts.push(Act::Delete { path: path.clone(), recursive: false });
                }
                if let Some(path) = texts.get(1).filter(|path| path.starts_with(['/', '~'])) {
                    let path = path.clone();
                    self.write(&path);
                }
            }
            "kill" => {
                let everyone = arguments
                    .first()
                    .is_some_and(|argument| argument.texts.is_empty() && argument.names.is_empty());
                if everyone && self.is_aimed_at_everyone() {
                    self.acts.push(Act::Command(["kill", "-9", "-1"].map(str::to_owned).to_vec()));
                }
            }
            _ => {}
        }
    }

    /// Whether a call runs a command. Many things are called `run` and `exec`.
    fn is_process(&self, name: &str, last: &str) -> bool {
        let bare = !name.contains(['.', ':']);
        match last {
            "system"
            | "popen"
            | "shell_exec"
            | "passthru"
            | "getoutput"
            | "getstatusoutput"
            | "check_call"
            | "check_output"
            | "Popen"
            | "execSync"
            | "execFile"
            | "execFileSync"
            | "spawnSync"
            | "proc_open"
            | "pcntl_exec"
            | "posix_spawn"
            | "execa"
            | "capture2"
            | "capture3"
            | "popen2"
            | "popen3"
            | "open3"
            | "create_subprocess_shell"
            | "create_subprocess_exec"
            | "execl"
            | "execlp"
            | "execv"
            | "execvp"
            | "execve"
            | "spawnl"
            | "spawnlp"
            | "spawnv"
            | "spawnvp" => true,
            "run" | "call" => {
                self.imports.subprocess && (bare || name.starts_with("subprocess") || name.starts_with("sp."))
            }
            "exec" => match self.language {
                Language::Node => self.imports.child_process,
                Language::Perl | Language::Ruby | Language::Php => bare || name.starts_with("Kernel"),
                Language::Python | Language::Awk | Language::Other => false,
            },
            "spawn" => {
                self.imports.child_process || name == "pty.spawn" || bare && self.language == Language::Ruby
            }
            "execute" => name == "os.execute",
            "$" => self.imports.zx,
            _ => false,
        }
    }

    /// `os.kill(-1, 9)` and `kill 9, -1`: among the next tokens.
    fn is_aimed_at_everyone(&self) -> bool {
        let from = self.at.saturating_sub(10);
        let near = &self.tokens[from..(self.at + 8).min(self.tokens.len())];
        near.windows(2).any(|pair| pair == [Token::Mark('-'), Token::Mark('1')])
    }

    fn process(&mut self, name: &str, texts: &[String]) {
        let texts: Vec<String> = texts.iter().map(|text| self.with_gaps(text)).collect();
        let Some(first) = texts.first() else { return };
        let replaces = name.starts_with("exec")
            && matches!(name, "execl" | "execlp" | "execv" | "execvp" | "execve")
            || name.starts_with("spawn") && matches!(name, "spawnl" | "spawnlp" | "spawnv" | "spawnvp");
        // They name the file and then the arguments, of which the first is the name again.
        if replaces && texts.len() > 1 {
            self.acts.push(Act::Command(texts[1..].to_vec()));
            return;
        }
        let single = texts.len() == 1 || first.trim().contains(' ');
        self.acts.push(if single { Act::Shell(first.clone()) } else { Act::Command(texts.clone()) });
    }

    /// With a variable that is not known where a value would be put in.
    fn with_gaps(&self, text: &str) -> String {
        let open = match self.language {
            Language::Python => "{",
            Language::Ruby => "#{",
            Language::Node => "${",
            Language::Perl | Language::Php | Language::Awk | Language::Other => return text.to_owned(),
        };
        let is_value = |inner: &str| {
            inner.starts_with(|c: char| c.is_alphabetic() || c == '_') && !inner.contains([',', ' ', '\n'])
        };
        let mut whole = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(open) {
            whole.push_str(before);
            match after.split_once('}').filter(|(inner, _)| is_value(inner)) {
                Some((_, after)) => {
                    whole.push_str(GAP);
                    rest = after;
                }
                None => {
                    whole.push_str(open);
                    rest = after;
                }
            }
        }
        whole.push_str(rest);
        if self.language == Language::Python { whole.replace("%s", GAP) } else { whole }
    }

    fn delete(&mut self, texts: Vec<String>, own: Option<String>, recursive: bool) {
        let paths = if texts.is_empty() { own.into_iter().collect() } else { texts };
        for path in paths {
            let path = self.at_home(&path);
            self.acts.push(Act::Delete { path, recursive });
        }
    }

    fn write(&mut self, path: &str) {
        let path = self.at_home(path);
        self.acts.push(Act::Write { path });
    }

    fn at_home(&self, path: &str) -> String {
        match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", self.world.home()),
            _ => path.to_owned(),
        }
    }
}

/// Returns true if a function that others have too, by name, is one of a module for files: `'a/b'.replace('/', '-')` is text.
fn is_function_of_files(name: &str, member: bool) -> bool {
    const EVERYWHERE: [&str; 3] = ["replace", "copy", "write"];
    match name.rsplit_once(['.', ':']) {
        None => !member && !EVERYWHERE.contains(&name),
        Some((receiver, _)) => receiver.trim_end_matches(':') == "IO" || is_of_files(name),
    }
}

/// Whether a method belongs to a module for files.
fn is_of_files(name: &str) -> bool {
    let receiver = name.rsplit_once(['.', ':']).map_or("", |(receiver, _)| receiver.trim_end_matches(':'));
    let modules = [
        "os", "fs", "fsp", "fs.promises", "File", "Dir", "FileUtils", "Deno", "shutil", "Path", "pathlib",
        "fse",
    ];
    modules.contains(&receiver) || receiver.is_empty() && name != "delete"
}
