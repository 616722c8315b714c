//! How much of a long output is kept, from which end, and what stands where the rest was.

use serde::{Deserialize, Serialize};

use super::window::Window;

/// How output that is too long is cut.
///
/// ```
/// use bashtion::{Cut, Engine, OutputSettings, Request, ToolContext};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), bashtion::Error> {
/// let marker = Some("[showing last {max} of {total}]\n".to_owned());
/// let cut = Cut { max: 6, head: 0, tail: 6, marker, ..Cut::default() };
/// let engine = Engine::builder().output(OutputSettings { cut, ..OutputSettings::default() }).build();
/// let outcome = engine.run(Request::new("printf 0123456789"), &ToolContext::from_host("/tmp")).await?;
/// assert_eq!(outcome.output.stdout(), "[showing last 6 of 10]\n456789");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// What is not longer than this is whole.
    pub max: usize,
    /// So much is kept of the beginning of what is longer.
    pub head: usize,
    /// And so much of its end.
    pub tail: usize,
    /// What is counted.
    pub unit: Unit,
    /// What stands between them, exactly. `{cut}` is how much is missing and `{total}` how much there was, both also with
    /// separators between thousands (`{cut,}`), `{max}` is the limit, `{file}` says where all of it is. By default a line
    /// of its own, and the cuts move to the ends of lines that are near.
    pub marker: Option<String>,
}

/// What is counted when output is cut. Characters are never divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Unicode characters.
    #[default]
    Characters,
    /// Bytes of UTF-8.
    Bytes,
}

impl Default for Cut {
    fn default() -> Self {
        Self { max: 30_000, head: 15_000, tail: 15_000, unit: Unit::default(), marker: None }
    }
}

impl Cut {
    /// The same with another limit: beginning and end keep their proportions.
    #[must_use]
    pub fn to(&self, max: usize) -> Self {
        let kept = self.head.saturating_add(self.tail).max(1);
        let head = if kept >= self.max {
            usize::try_from(max as u128 * self.head as u128 / kept as u128).unwrap_or(max)
        } else {
            self.head.min(max / 2)
        };
        let tail = if kept >= self.max { max - head } else { self.tail.min(max - head) };
        Self { max, head, tail, ..self.clone() }
    }

    /// A text as it is if it is short, and else cut.
    pub(crate) fn applied(&self, text: &str) -> String {
        let mut window = Window::new(self.clone());
        window.push(text);
        window.finish(|cut, total| self.mark(cut, total, "")).0
    }

    pub(super) fn mark(&self, cut: u64, total: u64, file: &str) -> String {
        let Some(marker) = &self.marker else {
            let (what, s) = match self.unit {
                Unit::Characters => ("character", if cut == 1 { "" } else { "s" }),
                Unit::Bytes => ("byte", if cut == 1 { "" } else { "s" }),
            };
            return format!("[... {cut} {what}{s} cut; {file} ...]");
        };
        let values = [
            ("{cut,}", separated(cut)),
            ("{cut}", cut.to_string()),
            ("{total,}", separated(total)),
            ("{total}", total.to_string()),
            ("{max,}", separated(self.max as u64)),
            ("{max}", self.max.to_string()),
            ("{file}", file.to_owned()),
        ];
        values.iter().fold(marker.clone(), |text, (name, value)| text.replace(name, value))
    }
}

/// With a comma between thousands.
pub(crate) fn separated(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_limit_keeps_the_proportions() {
        let halves = Cut::default().to(101);
        assert_eq!((halves.head, halves.tail), (50, 51));
        let tail_only = Cut { max: 50_000, head: 0, tail: 50_000, ..Cut::default() }.to(9);
        assert_eq!((tail_only.head, tail_only.tail), (0, 9));
        let shorter = Cut { max: 131_072, head: 4096, tail: 4096, ..Cut::default() };
        assert_eq!((shorter.to(10_000).head, shorter.to(10_000).tail), (4096, 4096));
        assert_eq!((shorter.to(100).head, shorter.to(100).tail), (50, 50));
        assert_eq!((shorter.to(0).head, shorter.to(0).tail), (0, 0));
    }

    #[test]
    fn thousands_are_separated() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (45_678, "45,678"), (1_234_567, "1,234,567")]
        {
            assert_eq!(separated(number), text);
        }
    }
}
