//! A small syntax tree of bash, with spans.

use std::cell::OnceCell;
use std::rc::Rc;

/// Where something stands in the command text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(into = "[usize; 2]", from = "[usize; 2]")]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl From<[usize; 2]> for Span {
    fn from([start, end]: [usize; 2]) -> Self {
        Self { start, end }
    }
}

impl From<Span> for [usize; 2] {
    fn from(span: Span) -> Self {
        [span.start, span.end]
    }
}

/// Pipelines one after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    pub(crate) items: Vec<Item>,
}

#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) pipeline: Pipeline,
    /// What stands between this pipeline and the next.
    pub(crate) then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Next,
    Background,
    And,
    Or,
}

#[derive(Debug, Clone)]
pub(crate) struct Pipeline {
    pub(crate) negated: bool,
    pub(crate) stages: Vec<Command>,
}

#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub(crate) kind: Kind,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Simple(Simple),
    Subshell(List),
    Group(List),
    If {
        branches: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    /// `while` and `until`.
    Loop {
        condition: List,
        body: List,
    },
    /// `for` and `select`. Without words it goes over the arguments.
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: List,
    },
    ArithmeticFor {
        header: Word,
        body: List,
    },
    Case {
        subject: Word,
        arms: Vec<Arm>,
    },
    Function {
        name: String,
        body: Box<Command>,
    },
    /// `(( … ))`.
    Arithmetic(Word),
    /// `[[ … ]]`: its words, operators included.
    Test(Vec<Word>),
    /// `coproc NAME`: the name is that of a variable.
    Coprocess {
        name: Option<String>,
        body: Box<Command>,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Arm {
    pub(crate) patterns: Vec<Word>,
    pub(crate) body: List,
    /// It ends in `;&` or `;;&`: the next one may follow it.
    pub(crate) goes_on: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
}

#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) subscript: Option<Word>,
    pub(crate) append: bool,
    pub(crate) value: Assigned,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum Assigned {
    Word(Word),
    Array(Vec<Word>),
}

#[derive(Debug, Clone)]
pub(crate) struct Redirect {
    pub(crate) fd: Option<u32>,
    /// `{name}>`: the variable that gets the number of the descriptor.
    pub(crate) variable: Option<String>,
    pub(crate) operator: Operator,
    /// The file, the descriptor, or the text of a here-document or here-string.
    pub(crate) target: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Read,
    Write,
    Append,
    ReadWrite,
    /// `<&` and `>&` with a number or `-`.
    Duplicate,
    /// `&>` and `>&` with a name.
    WriteBoth,
    AppendBoth,
    HereDocument,
    HereString,
}

impl Operator {
    pub(crate) fn writes(self) -> bool {
        match self {
            Self::Write | Self::Append | Self::ReadWrite | Self::WriteBoth | Self::AppendBoth => true,
            Self::Read | Self::Duplicate | Self::HereDocument | Self::HereString => false,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
    pub(crate) span: Span,
}

impl Word {
    /// The text if the word is nothing but unquoted text: only then can it be a reserved word or a name.
    pub(crate) fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Bare(text)] => Some(text),
            _ => None,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Unquoted text: braces and patterns in it are alive.
    Bare(String),
    /// Text that stands for itself.
    Quoted(String),
    /// A double-quoted string.
    Double(Vec<Part>),
    Parameter(Parameter),
    /// `$( … )` and backticks.
    Command(List),
    /// `<( … )` and `>( … )`.
    Process(Direction, List),
    /// `$(( … ))`: the text and what is expanded in it.
    Arithmetic(Vec<Part>),
    /// A here-document: its text stands further down, and is read when the line ends.
    Document(Rc<OnceCell<Vec<Part>>>),
}

/// What is done with the file of a process substitution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) subscript: Option<Box<Word>>,
    pub(crate) change: Change,
}

/// What an expansion does with the value.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    None,
    /// `${#name}`.
    Length,
    /// `${!name}`.
    Indirect,
    /// `${name:-word}`, `:=`, and without the colon.
    Default(Box<Word>),
    /// `${name:=word}`: as before, and keeps it.
    Assign(Box<Word>),
    /// `${name:+word}`.
    Alternative(Box<Word>),
    /// `${name:?word}`.
    Require(Box<Word>),
    /// `${name#pattern}` and the like: the operator and the words.
    Edit {
        operator: &'static str,
        words: Vec<Word>,
    },
    /// `${name@P}` and the like.
    Transform(char),
}
