//! Variables that a model sets beside its command.

use std::collections::BTreeMap;

use bashtion_guard::{World, analyze};

use super::CallError;
use super::check::unsupported;
use super::in_words::excerpt;
use crate::{Decision, Policy, escape_arg};

/// The variables, unless one of them is not as harmless beside the command as it looks.
///
/// A request's variables are its caller's and nobody judges them; a call's are the model's. `LD_PRELOAD` here would do what has to
/// be asked about in the command. So whatever the guard's own rules have something to say about must be written there, where the
/// engine's policy decides.
pub(super) fn variables(
    field: &str,
    env: Option<&BTreeMap<String, String>>,
) -> Result<BTreeMap<String, String>, CallError> {
    const MOST: usize = 1000;
    let Some(env) = env else { return Ok(BTreeMap::new()) };
    if env.len() > MOST {
        return Err(CallError::Wrong {
            field: field.to_owned(),
            expected: format!("an object of at most {MOST} entries"),
            found: format!("one of {}", env.len()),
        });
    }
    for (name, value) in env {
        let field = format!("{field}.{}", excerpt(name));
        // Bash takes functions from variables with other names.
        if !is_name(name) {
            let reason = "the name of a variable is made of letters, digits and underscores, and does not begin with a digit";
            return Err(unsupported(&field, reason));
        }
        if let Some(reason) = objection(name, value) {
            let reason =
                format!("{reason}; if it has to be, write {name}=… before the command, where it is judged");
            return Err(unsupported(&field, &reason));
        }
    }
    Ok(env.clone())
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_letter) && !name.bytes().next().is_none_or(|first| first.is_ascii_digit())
}

/// What the guard says about it in a command that does nothing else.
fn objection(name: &str, value: &str) -> Option<String> {
    let world = World::new("/workspace", "/home/user");
    let text = format!("{name}={} true", escape_arg(value));
    let verdict = Policy::default().judge(&analyze(&text, &world), &world);
    match verdict.decision {
        Decision::Allow => None,
        Decision::Ask | Decision::Deny => {
            let first = verdict.findings.into_iter().next();
            Some(first.map_or_else(|| "it is not allowed".to_owned(), |finding| finding.message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str, value: &str) -> Option<String> {
        let env = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        variables("env", Some(&env)).err().map(|error| error.to_string())
    }

    #[test]
    fn what_has_to_be_asked_about_in_a_command_is_not_accepted_beside_it() {
        for (name, value) in [
            ("LD_PRELOAD", "./x.so"),
            ("BASH_ENV", "/workspace/x.sh"),
            ("PATH", "/tmp/x"),
            ("GIT_SSH_COMMAND", "rm -rf /"),
            ("BASH_FUNC_ls%%", "() { rm -rf /; }"),
            ("1A", ""),
            ("", ""),
            ("A B", ""),
            (&" ".repeat(100_000), ""),
        ] {
            assert!(said(name, value).is_some_and(|text| text.len() < 300), "{name}");
        }
        insta::assert_snapshot!(said("LD_PRELOAD", "./x.so").unwrap(), @r#""env.LD_PRELOAD" cannot be honoured: LD_PRELOAD makes other programs run something else; if it has to be, write LD_PRELOAD=… before the command, where it is judged"#);
    }

    #[test]
    fn what_is_only_text_is_accepted() {
        for (name, value) in [
            ("RUST_BACKTRACE", "1"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("MESSAGE", "it's; rm -rf / $(reboot) `x`\n"),
            ("_", ""),
            ("NODE_ENV", "production"),
        ] {
            assert_eq!(said(name, value), None, "{name}");
        }
    }
}
