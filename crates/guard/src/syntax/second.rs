//! A second opinion on where commands begin.
//!
//! tree-sitter-bash is another grammar by other people. Where it reads the text without an error, every command that it
//! sees must be one that our parser sees too; otherwise one of the two is wrong and the text counts as unreadable. Where
//! it reports an error it has no opinion: it fails on much valid bash, such as a redirection after a here-document.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

use super::ast::Span;

/// How often the parser may report progress before it is stopped: it can take long over text that is no script.
const MOST_REPORTS: usize = 2_000;

/// Words that tree-sitter-bash takes for commands and bash does not.
const RESERVED: [&str; 20] = [
    "time", "coproc", "!", "{", "}", "if", "then", "elif", "else", "fi", "for", "while", "until", "do",
    "done", "case", "esac", "select", "function", "[[",
];

/// The other parser.
pub(crate) struct Second {
    parser: Parser,
}

impl Second {
    pub(crate) fn new() -> Self {
        let mut parser = Parser::new();
        // It fails only if the two crates were built for different versions of their interface, which a test would see.
        let _ = parser.set_language(&tree_sitter_bash::LANGUAGE.into());
        Self { parser }
    }

    /// A place where it sees a command and `ours`, in order, has none.
    pub(crate) fn objection(&mut self, text: &str, ours: &[usize]) -> Option<Span> {
        let mut reports = 0;
        let mut watch = |state: &ParseState| {
            reports += 1;
            if state.has_error() || reports > MOST_REPORTS {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut watch);
        let mut read = |at: usize, _| &text.as_bytes()[at.min(text.len())..];
        let Some(tree) = self.parser.parse_with_options(&mut read, None, Some(options)) else {
            self.parser.reset();
            return None;
        };
        if tree.root_node().has_error() {
            return None;
        }
        unexpected(tree.root_node(), text, ours)
    }
}

/// Goes through the tree without recursion: it may be deep.
fn unexpected(root: Node<'_>, text: &str, ours: &[usize]) -> Option<Span> {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let inside = match node.kind() {
            "command_name" => {
                let span = Span { start: node.start_byte(), end: node.end_byte() };
                let known = ours.binary_search(&span.start).is_ok();
                if !known && !RESERVED.contains(&&text[span.start..span.end]) {
                    return Some(span);
                }
                true
            }
            // Here the places differ: the text was taken out and unescaped first.
            "heredoc_body" => false,
            "command_substitution" => !text[node.start_byte()..].starts_with('`'),
            _ => true,
        };
        if inside && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return None;
            }
        }
    }
}
