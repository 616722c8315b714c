//! A command without the `cd` that agents put in front of everything.

use std::path::{Component, Path, PathBuf};

/// The command as a person wants to see it: without a leading `cd DIR &&` or `cd DIR;` when `DIR` is where it runs
/// anyway. With any other operator after it, `||` above all, the `cd` says something and stays.
///
/// `here` are the names that the working directory is known by.
pub(crate) fn display(command: &str, here: &[&Path]) -> String {
    let rest = redundant_cd(command, here).unwrap_or(command);
    rest.to_owned()
}

fn redundant_cd<'a>(command: &'a str, here: &[&Path]) -> Option<&'a str> {
    let after_cd = command.trim_start().strip_prefix("cd")?.strip_prefix([' ', '\t'])?;
    let after_dashes = after_cd.trim_start_matches([' ', '\t']);
    let operand = match after_dashes.strip_prefix("--") {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start_matches([' ', '\t']),
        Some(_) | None => after_dashes,
    };
    let (directory, rest) = first_word(operand)?;
    let rest = rest.trim_start_matches([' ', '\t']);
    let rest = match rest.strip_prefix("&&") {
        Some(rest) => rest,
        None => rest.strip_prefix(';').filter(|rest| !rest.starts_with([';', '&']))?,
    };
    let rest = rest.trim_start();
    let is_here = here.iter().any(|here| normal(&here.join(&directory)) == normal(here));
    (is_here && !rest.is_empty()).then_some(rest)
}

/// The first word with its quotes removed and what follows it; none if its value depends on anything but itself.
fn first_word(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut chars = text.char_indices().peekable();
    let mut end = text.len();
    while let Some((index, char)) = chars.next() {
        match char {
            ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => {
                end = index;
                break;
            }
            '$' | '`' | '*' | '?' | '[' | '{' | '!' | '#' => return None,
            '~' | '-' if word.is_empty() => return None,
            '\\' => word.push(chars.next()?.1),
            '\'' => loop {
                match chars.next()?.1 {
                    '\'' => break,
                    char => word.push(char),
                }
            },
            '"' => loop {
                match chars.next()?.1 {
                    '"' => break,
                    '\\' | '$' | '`' | '!' => return None,
                    char => word.push(char),
                }
            },
            char => word.push(char),
        }
    }
    (!word.is_empty()).then(|| (word, &text[end..]))
}

/// Without `.` and trailing slashes. `..` stays: through a symbolic link it leads elsewhere than it seems.
fn normal(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shows(command: &str, expected: &str) {
        assert_eq!(display(command, &[Path::new("/w"), Path::new("/link to w")]), expected);
    }

    #[test]
    fn a_redundant_cd_goes() {
        shows("cd /w && make", "make");
        shows("cd /w; make", "make");
        shows("cd /w;make", "make");
        shows("cd /w&&make", "make");
        shows("  cd  /w/  &&  make test", "make test");
        shows("cd /w/. && make", "make");
        shows("cd . && make", "make");
        shows("cd ./ && make", "make");
        shows("cd \"/w\" && make", "make");
        shows("cd '/link to w' && make", "make");
        shows(r"cd /link\ to\ w && make", "make");
        shows("cd -- /w && make", "make");
        shows("cd /w && a && b; c | d", "a && b; c | d");
    }

    #[test]
    fn a_fallback_stays() {
        shows("cd /w && cmd || fallback", "cmd || fallback");
        shows("cd /w; cmd || fallback", "cmd || fallback");
        shows("cd /w || exit 1", "cd /w || exit 1");
        shows("cd /w || exit 1; make", "cd /w || exit 1; make");
        shows("cd /w || cd /v && make", "cd /w || cd /v && make");
    }

    #[test]
    fn a_cd_to_elsewhere_stays() {
        for command in
            ["cd /v && make", "cd /w/sub && make", "cd .. && make", "cd /w/../w && make", "cd ~ && make"]
        {
            shows(command, command);
        }
    }

    #[test]
    fn what_is_not_just_a_cd_stays() {
        for command in [
            "cd /w", "cd /w &&", "cd /w;", "cd /w ;; x", "cd && make", "cd /w & make", "cd /w | make",
            "cd /w > log && make", "cd /w /x && make", "cd $PWD && make", "cd \"$PWD\" && make",
            "cd - && make", "cd -P /w && make", "(cd /w && make)", "cdx /w && make", "cd '/w && make",
            "make && cd /w && x", "echo cd /w && make",
        ] {
            shows(command, command);
        }
    }
}
