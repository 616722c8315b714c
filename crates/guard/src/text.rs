//! Strings that are known in part.

use std::fmt;

/// What can be said of a string before the command runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Text {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Piece {
    Known(String),
    /// An unquoted pattern: it stands for the names that it matches.
    Pattern(String),
    Unknown(Why),
}

/// Why something is not known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Why {
    /// A variable that the script does not set. It may be empty.
    Variable(String),
    /// The same, but certainly not empty: `${NAME:?}`.
    Required(String),
    /// What a program prints.
    Output(String),
    /// Something from another machine.
    Download,
    /// Something that was encoded or packed.
    Decoded,
    /// Settings for a shell, from a program that is made for it.
    Setup,
    /// A number, such as a process id: no slash, no blank, not empty.
    Number,
    /// Lines of a file or of standard input.
    Input,
    /// An argument of a function or script whose caller is not known.
    Argument(String),
    /// Too many possible values to follow.
    Many,
}

impl Text {
    pub(crate) fn known(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { pieces: if text.is_empty() { vec![] } else { vec![Piece::Known(text)] } }
    }

    pub(crate) fn unknown(why: Why) -> Self {
        Self { pieces: vec![Piece::Unknown(why)] }
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The string, if all of it is known.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Known(text)] => Some(text),
            _ => None,
        }
    }

    /// The string, where a pattern that nothing matches stands for itself.
    pub(crate) fn with_patterns(&self) -> Option<String> {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Known(text) | Piece::Pattern(text) => Some(text.as_str()),
                Piece::Unknown(_) => None,
            })
            .collect()
    }

    /// What is known of its beginning.
    pub(crate) fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Known(text)) => text,
            _ => "",
        }
    }

    /// The first thing that is not known.
    pub(crate) fn why(&self) -> Option<&Why> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Unknown(why) => Some(why),
            Piece::Known(_) | Piece::Pattern(_) => None,
        })
    }

    pub(crate) fn has_pattern(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Pattern(_)))
    }

    pub(crate) fn push(&mut self, piece: Piece) {
        // A string that doubles itself would fill the memory.
        const LONGEST: usize = 1 << 16;
        const MOST_PIECES: usize = 256;
        let length = |piece: &Piece| match piece {
            Piece::Known(text) | Piece::Pattern(text) => text.len(),
            Piece::Unknown(_) => 0,
        };
        let so_far: usize = self.pieces.iter().map(length).sum();
        if self.pieces.len() >= MOST_PIECES || so_far + length(&piece) > LONGEST && !self.pieces.is_empty() {
            if self.pieces.last() != Some(&Piece::Unknown(Why::Many)) {
                self.pieces.push(Piece::Unknown(Why::Many));
            }
            return;
        }
        match (self.pieces.last_mut(), piece) {
            (_, Piece::Known(text) | Piece::Pattern(text)) if text.is_empty() => {}
            (Some(Piece::Known(last)), Piece::Known(text)) => last.push_str(&text),
            (_, piece) => self.pieces.push(piece),
        }
    }

    pub(crate) fn push_str(&mut self, text: &str) {
        self.push(Piece::Known(text.to_owned()));
    }

    pub(crate) fn append(&mut self, other: &Self) {
        for piece in &other.pieces {
            self.push(piece.clone());
        }
    }

    /// The rest after a known beginning.
    pub(crate) fn strip_prefix(&self, prefix: &str) -> Option<Self> {
        let rest = self.prefix().strip_prefix(prefix)?;
        let mut text = Self::known(rest);
        for piece in &self.pieces[1..] {
            text.push(piece.clone());
        }
        Some(text)
    }

    /// The known words in it, for looking at code whose parts come from variables.
    pub(crate) fn rough(&self) -> String {
        let rough = |piece: &Piece| match piece {
            Piece::Known(text) | Piece::Pattern(text) => text.clone(),
            Piece::Unknown(_) => String::new(),
        };
        self.pieces.iter().map(rough).collect()
    }
}

/// As it would be written in a script.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| match piece {
            Piece::Known(text) | Piece::Pattern(text) => f.write_str(text),
            Piece::Unknown(Why::Variable(name) | Why::Required(name)) => write!(f, "${{{name}}}"),
            Piece::Unknown(Why::Output(program)) => write!(f, "$({program} …)"),
            Piece::Unknown(Why::Argument(name)) => write!(f, "${name}"),
            Piece::Unknown(
                Why::Number | Why::Input | Why::Many | Why::Download | Why::Decoded | Why::Setup,
            ) => f.write_str("…"),
        })
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) | Self::Required(name) => write!(f, "the value of ${name} is not known"),
            Self::Output(program) => write!(f, "what `{program}` prints is not known"),
            Self::Download => f.write_str("it comes from another machine"),
            Self::Decoded => f.write_str("it was encoded or packed"),
            Self::Setup => f.write_str("it is what a program prints for the shell"),
            Self::Number => f.write_str("it is a number that is not known"),
            Self::Input => f.write_str("it comes from input that is not known"),
            Self::Argument(name) => write!(f, "the argument ${name} is not known"),
            Self::Many => f.write_str("it has too many possible values"),
        }
    }
}

impl serde::Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
