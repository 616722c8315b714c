//! What a script has set so far: variables, the working directory, functions, files.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::analysis::Stream;
use crate::syntax::ast::Command;
use crate::text::{Text, Why};
use crate::world::World;

/// More possible values of one thing than this are not followed.
pub(crate) const MOST_ALTERNATIVES: usize = 24;

/// More variables, functions and files than this are not followed: they count as unknown.
const MOST_NAMES: usize = 256;

#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// The possible values of each variable.
    variables: Rc<BTreeMap<String, Vec<Value>>>,
    /// The possible working directories.
    pub(crate) cwds: Vec<Text>,
    pub(crate) previous: Vec<Text>,
    pub(crate) stack: Vec<Vec<Text>>,
    pub(crate) functions: Rc<BTreeMap<String, Rc<Command>>>,
    /// Names that stand for other programs, as `hash -p` sets them.
    pub(crate) hashed: BTreeMap<String, String>,
    pub(crate) aliases: BTreeMap<String, String>,
    pub(crate) expands_aliases: bool,
    pub(crate) arguments: Arguments,
    /// What the local variables of the running functions had before.
    pub(crate) locals: Vec<(String, Option<Vec<Value>>)>,
    /// What can be read from descriptors other than the first.
    pub(crate) descriptors: BTreeMap<u32, Stream>,
    /// What the script has put into files, by absolute path.
    files: Rc<BTreeMap<String, File>>,
    /// Directories that the script has made, by absolute path: entering one does not fail.
    made: Rc<BTreeSet<String>>,
    /// Links that the script has made, and where they lead, by absolute path.
    links: Rc<BTreeMap<String, String>>,
    /// The script ends when a command fails: `set -e`.
    pub(crate) ends_on_failure: bool,
    /// A descriptor of this shell is connected to another machine.
    pub(crate) connected: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Scalar(Text),
    Array(Vec<Text>),
}

#[derive(Debug, Clone)]
pub(crate) enum Arguments {
    Known(Vec<Text>),
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum File {
    /// This was written into it.
    Text(Text),
    /// It came from another machine.
    Downloaded,
    /// It was encoded or packed before.
    Decoded,
    /// It is a copy of, or a link to, this program.
    Program(String),
    /// What this program printed, or settings for a shell.
    Printed(Stream),
}

impl Scope {
    pub(crate) fn new(world: &World) -> Self {
        let cwd = Text::known(world.cwd());
        Self {
            variables: Rc::default(),
            cwds: vec![cwd.clone()],
            previous: vec![cwd],
            stack: vec![],
            functions: Rc::default(),
            hashed: BTreeMap::new(),
            aliases: BTreeMap::new(),
            expands_aliases: false,
            arguments: Arguments::Known(vec![]),
            locals: vec![],
            descriptors: BTreeMap::new(),
            files: Rc::default(),
            made: Rc::default(),
            links: Rc::default(),
            ends_on_failure: false,
            connected: false,
        }
    }

    pub(crate) fn set(&mut self, name: &str, values: Vec<Value>) {
        if self.variables.len() < MOST_NAMES || self.variables.contains_key(name) {
            Rc::make_mut(&mut self.variables).insert(name.to_owned(), limited(values));
        }
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.set(name, vec![Value::Scalar(Text::default())]);
    }

    /// As if it had never been set here: its value is the caller's.
    pub(crate) fn forget(&mut self, name: &str) {
        Rc::make_mut(&mut self.variables).remove(name);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&[Value]> {
        self.variables.get(name).map(Vec::as_slice)
    }

    pub(crate) fn define(&mut self, name: &str, body: Rc<Command>) {
        if self.functions.len() < MOST_NAMES {
            Rc::make_mut(&mut self.functions).insert(name.to_owned(), body);
        }
    }

    /// Forgets a function; the definition comes back.
    pub(crate) fn undefine(&mut self, name: &str) -> Option<Rc<Command>> {
        Rc::make_mut(&mut self.functions).remove(name)
    }

    /// The variables that have other values than there.
    pub(crate) fn differing(&self, other: &Self) -> Vec<String> {
        if Rc::ptr_eq(&self.variables, &other.variables) {
            return vec![];
        }
        let names = self.variables.keys().chain(other.variables.keys());
        names.filter(|name| self.get(name) != other.get(name)).cloned().collect()
    }

    /// What the script has put into a file.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    pub(crate) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    pub(crate) fn write_file(&mut self, path: &str, file: Option<File>) {
        match file {
            Some(file) if self.files.len() < MOST_NAMES => {
                Rc::make_mut(&mut self.files).insert(path.to_owned(), file);
            }
            Some(_) | None if self.files.contains_key(path) => {
                drop(Rc::make_mut(&mut self.files).remove(path));
            }
            Some(_) | None => {}
        }
    }

    pub(crate) fn make_directory(&mut self, path: String) {
        if self.made.len() < MOST_NAMES {
            Rc::make_mut(&mut self.made).insert(path);
        }
    }

    /// Returns true if the script has made all of these directories.
    pub(crate) fn has_made(&self, directories: &[Text]) -> bool {
        // A path as `mktemp` prints it.
        let is_fresh = |path: &str| path.contains("/tmp.mktemp");
        !directories.is_empty()
            && directories
                .iter()
                .all(|path| path.value().is_some_and(|path| self.made.contains(path) || is_fresh(path)))
    }

    pub(crate) fn make_link(&mut self, path: String, target: String) {
        if self.links.len() < MOST_NAMES {
            Rc::make_mut(&mut self.links).insert(path, target);
        }
    }

    /// The links that the script has made.
    pub(crate) fn links(&self) -> &BTreeMap<String, String> {
        &self.links
    }

    /// Takes over the files of a part that ran in a shell of its own.
    pub(crate) fn share_files(&mut self, other: &Self) {
        self.files = Rc::clone(&other.files);
        self.made = Rc::clone(&other.made);
        self.links = Rc::clone(&other.links);
    }

    pub(crate) fn change_directory(&mut self, to: Vec<Text>) {
        self.previous = std::mem::replace(&mut self.cwds, to);
    }

    /// After a part that may or may not have run: everything may have either value.
    pub(crate) fn merge(&mut self, other: Self) {
        if !Rc::ptr_eq(&self.variables, &other.variables) {
            for (name, values) in other.variables.iter() {
                let unset = || vec![Value::Scalar(Text::unknown(Why::Variable(name.clone())))];
                let mine = self.get(name).map_or_else(unset, <[Value]>::to_vec);
                self.set(name, union(mine, values.clone()));
            }
        }
        self.cwds = union(std::mem::take(&mut self.cwds), other.cwds);
        self.previous = union(std::mem::take(&mut self.previous), other.previous);
        if !Rc::ptr_eq(&self.functions, &other.functions) {
            other.functions.iter().for_each(|(name, body)| self.define(name, Rc::clone(body)));
        }
        self.hashed.extend(other.hashed);
        self.aliases.extend(other.aliases);
        self.expands_aliases |= other.expands_aliases;
        if !Rc::ptr_eq(&self.files, &other.files) {
            other.files.iter().for_each(|(path, file)| self.write_file(path, Some(file.clone())));
        }
        if !Rc::ptr_eq(&self.links, &other.links) {
            other.links.iter().for_each(|(path, target)| self.make_link(path.clone(), target.clone()));
        }
        // What only one of the ways has made may not be there.
        if !Rc::ptr_eq(&self.made, &other.made) {
            Rc::make_mut(&mut self.made).retain(|path| other.made.contains(path));
        }
        self.connected |= other.connected;
        if self.stack.len() < other.stack.len() {
            self.stack = other.stack;
        }
    }
}

pub(crate) fn union<T: PartialEq>(mut mine: Vec<T>, others: Vec<T>) -> Vec<T> {
    for other in others {
        if !mine.contains(&other) {
            mine.push(other);
        }
    }
    mine
}

fn limited(mut values: Vec<Value>) -> Vec<Value> {
    if values.len() > MOST_ALTERNATIVES {
        values.truncate(MOST_ALTERNATIVES);
        values.push(Value::Scalar(Text::unknown(Why::Many)));
    }
    values
}
