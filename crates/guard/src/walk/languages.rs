//! Languages whose programs are given on the command line, and where the code stands there.

use crate::options::Options;
use crate::text::Text;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    Perl,
    Ruby,
    Node,
    Php,
    Awk,
    Other,
}

impl Language {
    pub(super) fn of(program: &str) -> Option<Self> {
        let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        match stem {
            "python" | "pypy" | "ipython" => Some(Self::Python),
            "perl" => Some(Self::Perl),
            "ruby" | "jruby" => Some(Self::Ruby),
            "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" => Some(Self::Node),
            "php" => Some(Self::Php),
            "awk" | "gawk" | "mawk" | "nawk" => Some(Self::Awk),
            "lua" | "luajit" | "Rscript" | "R" | "m4" | "wish" | "powershell" | "osascript" | "tclsh"
            | "julia" | "groovy" | "scala" | "elixir" | "pwsh" => Some(Self::Other),
            _ => None,
        }
    }

    /// The code in the arguments.
    pub(super) fn code(self, arguments: &[Text]) -> Vec<Text> {
        if self == Self::Awk {
            let options = Options::parse(arguments, "Fvfe", &["field-separator", "assign", "file", "source"]);
            let given: Vec<Text> = options.values(&["e", "source"]).cloned().collect();
            let file = options.value(&["f", "file"]).is_some();
            return if given.is_empty() && !file {
                options.operands.into_iter().take(1).collect()
            } else {
                given
            };
        }
        let letters = match self {
            Self::Python => "c",
            Self::Php => "rBRE",
            Self::Node => "ep",
            Self::Perl | Self::Ruby | Self::Awk => "eE",
            Self::Other => "ec",
        };
        let mut codes = vec![];
        for (at, argument) in arguments.iter().enumerate() {
            let text = argument.rough();
            let next = || arguments.get(at + 1).cloned();
            if self == Self::Other && text.eq_ignore_ascii_case("-command") {
                codes.extend(next());
                continue;
            }
            match text.strip_prefix("--") {
                Some("eval" | "print" | "run" | "execute") => codes.extend(next()),
                Some(long) => codes.extend(long.strip_prefix("eval=").map(Text::known)),
                None if text == "eval" && at == 0 => codes.extend(next()),
                None => {
                    let cluster = text.strip_prefix('-').unwrap_or_default();
                    if let Some(place) = cluster.find(|flag| letters.contains(flag))
                        && cluster[..place].bytes().all(|byte| byte.is_ascii_alphanumeric())
                    {
                        // The code may be attached: `-e'…'`.
                        let attached = &cluster[place + 1..];
                        if attached.is_empty() || attached.len() < 3 {
                            codes.extend(next());
                        } else {
                            codes.push(Text::known(attached));
                        }
                    }
                }
            }
        }
        codes
    }

    /// Whether it takes its code from standard input.
    pub(super) fn reads_input(self, arguments: &[Text]) -> bool {
        let operand = arguments
            .iter()
            .find(|argument| !argument.prefix().starts_with('-') || argument.value() == Some("-"));
        self != Self::Awk
            && match operand {
                Some(operand) => matches!(operand.value(), Some("-" | "/dev/stdin")),
                None => !arguments.iter().any(|argument| {
                    matches!(argument.value(), Some("--version" | "-V" | "-v" | "--help" | "-h" | "-m"))
                }),
            }
    }
}
