//! Everything that a script would run, set or write, step by step. Permissions are given for these.
//!
//! [`Found`](crate::Found) tells what matters to rules: what is dangerous may be recognised in a fragment. Whether
//! something may be *allowed* is another question, and needs every step, with its words as they are.

use std::sync::Arc;

use crate::syntax::ast::Span;
use crate::text::Text;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// The step that leads to this one: the wrapper, the shell, the function.
    pub(crate) parent: Option<usize>,
    pub(crate) span: Span,
    /// The possible working directories.
    pub(crate) cwds: Arc<Vec<Text>>,
    pub(crate) act: Act,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    Call(Invocation),
    /// A variable of the shell gets a value.
    Assign {
        name: String,
        value: Text,
    },
    /// A redirection opens a file for writing, or a connection.
    Write {
        target: Text,
        mode: Mode,
    },
    /// Something runs, or is set, that cannot be told.
    Unclear(&'static str),
}

/// One start of a program, builtin or function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// Resolved; the first is the name.
    pub(crate) words: Vec<Text>,
    /// Variables set for it alone.
    pub(crate) environment: Vec<(String, Text)>,
    /// What the name comes to: without its directory, and known by content if the script has copied or renamed it.
    pub(crate) program: Option<String>,
    pub(crate) function: Function,
}

/// Whether a name is that of a function of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    No,
    /// It was defined under a condition, or for another shell: the program of that name may run instead.
    Perhaps,
    Certainly,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Replace,
    Append,
    /// `/dev/tcp/…`, in whichever direction.
    Connect,
}
