//! Constants in the code of other languages: strings, and what variables hold.

use super::calls::Reader;
use super::tokens::Token;

impl Reader<'_> {
    /// `name = "text"`, also put together from several; `name = ["a", "b"]`.
    pub(super) fn assignment(&mut self, name: String) {
        let start = self.at;
        let values = match self.tokens.get(self.at) {
            Some(Token::Mark('[')) => self.elements(),
            Some(Token::Name(call))
                if self.tokens.get(self.at + 1) == Some(&Token::Mark('(')) && call.ends_with("join") =>
            {
                self.at += 1;
                let parts: Vec<String> =
                    self.arguments().into_iter().flat_map(|argument| argument.texts).collect();
                vec![parts.join("/")]
            }
            _ => self.sum().into_iter().collect(),
        };
        if values.is_empty() {
            self.at = start;
        } else {
            self.variables.push((name, values));
        }
    }

    /// Strings that are added to each other, or joined as paths.
    fn sum(&mut self) -> Option<String> {
        let mut value = String::new();
        let start = self.at;
        while let Some(text) =
            self.tokens.get(self.at).and_then(|token| self.texts_of(token).into_iter().next())
        {
            value.push_str(&text);
            self.at += 1;
            match self.tokens.get(self.at) {
                Some(Token::Mark('/')) => value.push('/'),
                Some(Token::Mark('+' | '.')) => {}
                _ => break,
            }
            self.at += 1;
        }
        (self.at > start).then_some(value)
    }

    /// The strings between brackets.
    pub(super) fn elements(&mut self) -> Vec<String> {
        let mut values = vec![];
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token {
                Token::Mark(']') => break,
                token => values.extend(self.texts_of(token)),
            }
        }
        values
    }

    /// The strings that a token may stand for. Names in braces are replaced, as in a string with an `f` before it.
    pub(super) fn texts_of(&self, token: &Token) -> Vec<String> {
        let value = |name: &str| {
            self.variables.iter().rev().find(|(own, _)| own == name).map(|(_, values)| values.clone())
        };
        match token {
            Token::Text(text) => {
                let mut text = text.clone();
                for (name, values) in &self.variables {
                    let mark = format!("{{{name}}}");
                    if text.contains(&mark) {
                        text = text.replace(&mark, &values.join(" "));
                    }
                }
                vec![text]
            }
            Token::Name(name) => value(name).unwrap_or_default(),
            Token::Run(_) | Token::Mark(_) => vec![],
        }
    }
}
