//! Commands that programs are given in places of their own.

use crate::options::Options;
use crate::text::Text;

/// Options of tar that take a value; those of `I` and `F` are commands.
const TAR_VALUES: &str = "bCFfgHIKLNTVX";

/// `tar cIf COMMAND x y`: values follow in the order of the letters. With a dash, a value is attached or follows.
pub(super) fn by_tar(arguments: &[Text]) -> Vec<Text> {
    let options = Options::parse(arguments, TAR_VALUES, &[]);
    let mut codes: Vec<Text> = options.values(&["I", "F"]).cloned().collect();
    let Some(bundle) = arguments.first().and_then(Text::value) else { return codes };
    if bundle.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        let letters = bundle.chars().filter(|letter| TAR_VALUES.contains(*letter));
        let values = letters.zip(&arguments[1..]).filter(|(letter, _)| matches!(letter, 'I' | 'F'));
        codes.extend(values.map(|(_, value)| value.clone()));
    }
    codes
}

/// `git clone -u COMMAND`.
pub(super) fn by_git_clone(arguments: &[Text]) -> Vec<Text> {
    let Some(at) = arguments.iter().position(|word| word.value() == Some("clone")) else { return vec![] };
    let options = Options::parse(&arguments[at + 1..], "ubocj", &["branch", "origin", "depth", "config"]);
    options.values(&["u"]).cloned().collect()
}

/// `cmake -E VERB …`: tools for scripts, some of which delete or run something.
pub(super) fn by_cmake(arguments: &[Text]) -> Vec<Text> {
    let Some(at) = arguments.iter().position(|word| word.value() == Some("-E")) else { return vec![] };
    let Some((verb, rest)) = arguments[at + 1..].split_first() else { return vec![] };
    let (command, rest) = match verb.value() {
        Some("rm") => ("rm", rest),
        Some("remove") => ("rm -f", rest),
        Some("remove_directory") => ("rm -rf", rest),
        Some("env") => ("env", rest),
        Some("time") => ("time", rest),
        Some("chdir") => ("", rest.get(1..).unwrap_or_default()),
        Some(_) | None => return vec![],
    };
    let mut code = Text::known(command);
    code.push_str(" ");
    code.append(&super::output::joined(rest));
    vec![code]
}
