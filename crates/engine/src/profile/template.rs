//! Templates: `{name}` is a field, `{name|text}` has something to say if it is empty, `{name:40}` is at least 40 wide, `{name>2}`
//! has every line indented by 2, and `[[…]]` is left out if a field in it is empty. A box grows with what is in it.

use std::fmt::Write;

/// Filled in. Lines from `┌…┐` to `└…┘` are a box: all its rows become as wide as the widest, a value of several lines has a row for
/// each, and what would move the cursor is shown as an escape. A block that may be left out cannot reach into a box.
pub(super) fn filled(template: &str, field: &dyn Fn(&str) -> String) -> String {
    let mut pieces = vec![];
    let mut rest = template;
    while let Some((before, inside, after)) = next_box(rest) {
        pieces.push(flowing(before, field));
        pieces.push(boxed(inside, field));
        rest = after;
    }
    pieces.push(flowing(rest, field));
    pieces.concat()
}

/// What is before the next box, the box, and what is after it.
fn next_box(template: &str) -> Option<(&str, &str, &str)> {
    let start = template.find('┌')?;
    let end = start + template[start..].find('┘')? + '┘'.len_utf8();
    Some((&template[..start], &template[start..end], &template[end..]))
}

fn boxed(template: &str, field: &dyn Fn(&str) -> String) -> String {
    let mut rows = vec![];
    for line in template.lines() {
        let inside = line.trim_start_matches(['┌', '│', '└']).trim_end_matches(['┐', '│', '┘']);
        let filler = if line.starts_with('│') { ' ' } else { '─' };
        let (left, right) = (line.chars().next(), line.chars().last());
        for (index, part) in flowing(inside, field).split('\n').enumerate() {
            let part = if index == 0 { escaped(part) } else { format!(" {}", escaped(part)) };
            rows.push((left, part, filler, right));
        }
    }
    let column = |text: &str| text.trim_end_matches(' ').chars().count() + 1;
    let declared = template.lines().next().map_or(0, |line| line.chars().count().saturating_sub(2));
    let width = rows.iter().map(|(_, text, filler, _)| if *filler == ' ' { column(text) } else { 0 });
    let width = width.chain([declared]).max().unwrap_or(declared);
    let mut text = String::new();
    for (left, inside, filler, right) in rows {
        let inside = inside.trim_end_matches(filler);
        let padding = width.saturating_sub(inside.chars().count());
        text.extend(left);
        text += inside;
        text.extend(std::iter::repeat_n(filler, padding));
        text.extend(right);
        text.push('\n');
    }
    text.pop();
    text
}

/// Tabs and the like would tear the frame.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for char in text.chars() {
        match char {
            _ if char.is_control() => {
                let _ = write!(safe, "{}", char.escape_default());
            }
            _ => safe.push(char),
        }
    }
    safe
}

/// In one pass, so that what a command prints is never taken for a template.
fn flowing(template: &str, field: &dyn Fn(&str) -> String) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find("[[") {
        let (before, after) = rest.split_at(at);
        text.push_str(&replaced(before, field).0);
        let Some(end) = after.find("]]") else {
            rest = after;
            break;
        };
        let (block, complete) = replaced(&after[2..end], field);
        if complete {
            text.push_str(&block);
        }
        rest = &after[end + 2..];
    }
    text.push_str(&replaced(rest, field).0);
    text
}

/// The text, and whether all its fields had something to say.
fn replaced(template: &str, field: &dyn Fn(&str) -> String) -> (String, bool) {
    let (mut text, mut complete) = (String::new(), true);
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        let (before, after) = rest.split_at(at);
        text.push_str(before);
        let Some(end) = after.find('}') else {
            rest = after;
            break;
        };
        let (name, otherwise) = after[1..end].split_once('|').unwrap_or((&after[1..end], ""));
        let (name, shape) = split_shape(name);
        let value = field(name);
        complete &= !value.is_empty();
        text.push_str(&shape.applied(if value.is_empty() { otherwise } else { &value }));
        rest = &after[end + 1..];
    }
    text.push_str(rest);
    (text, complete)
}

/// `{name:40}` is at least 40 wide, `{name>2}` has every line indented by 2.
enum Shape {
    AsIs,
    Wide(usize),
    Indented(usize),
}

fn split_shape(name: &str) -> (&str, Shape) {
    let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number <= 200);
    if let Some((name, width)) = name.split_once(':')
        && let Some(width) = number(width)
    {
        return (name, Shape::Wide(width));
    }
    if let Some((name, by)) = name.split_once('>')
        && let Some(by) = number(by)
    {
        return (name, Shape::Indented(by));
    }
    (name, Shape::AsIs)
}

impl Shape {
    fn applied(&self, value: &str) -> String {
        match self {
            Self::AsIs => value.to_owned(),
            Self::Wide(width) => format!("{value:width$}"),
            Self::Indented(by) => {
                let lines: Vec<String> = value
                    .trim_end_matches('\n')
                    .split('\n')
                    .map(|line| if line.is_empty() { String::new() } else { format!("{:by$}{line}", "") })
                    .collect();
                lines.join("\n")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(template: &str) -> String {
        filled(template, &|name| match name {
            "a" => "A{b}".to_owned(),
            "lines" => "1\n\n2\n".to_owned(),
            _ => String::new(),
        })
    }

    #[test]
    fn fields_are_filled_in_once() {
        assert_eq!(fill("<{a}|{b}|{b|none}>"), "<A{b}||none>");
        assert_eq!(fill("{a:6}|"), "A{b}  |");
        assert_eq!(fill("{lines>2}"), "  1\n\n  2");
        assert_eq!(fill("open { and [[ stay"), "open { and [[ stay");
    }

    #[test]
    fn a_block_without_its_field_is_left_out() {
        assert_eq!(fill("x[[ and {a}]][[ or {b}]]!"), "x and A{b}!");
    }

    #[test]
    fn a_box_holds_what_is_in_it() {
        let template = "┌─ A ───┐\n│ {none:6}│\n│ {a:6}│\n└───────┘\n{lines}";
        assert_eq!(fill(template), "┌─ A ───┐\n│       │\n│ A{b}  │\n└───────┘\n1\n\n2\n");
        let wide = fill("┌─ A ┐\n│ {a}{a}│\n└────┘");
        assert_eq!(wide, "┌─ A ──────┐\n│ A{b}A{b} │\n└──────────┘");
        let rows = filled("┌───┐\n│ {x}│\n└───┘", &|_| "one\n\ttwo".to_owned());
        assert_eq!(rows, "┌───────┐\n│ one   │\n│ \\ttwo │\n└───────┘");
    }
}
