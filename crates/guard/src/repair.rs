//! Proof that a command does nothing but look at one file, or change it.
//!
//! An allow-list: whatever is not known here is no proof. For a configuration that is wrong, so that what would repair it
//! can still be judged.

use crate::analysis::{Analysis, Effect, Found, Machine, Stream};
use crate::options::Options;
use crate::paths::locate;
use crate::text::Text;
use crate::world::World;

/// Returns true if a command certainly does nothing but show, edit, replace, remove or rename this file.
///
/// ```
/// use bashtion_guard::{World, analyze, only_repairs};
/// let world = World::new("/w", "/home/dev");
/// let repairs = |command| only_repairs(&analyze(command, &world), "/w/.bashtion.toml", &world);
/// assert!(repairs("cat .bashtion.toml && rm .bashtion.toml"));
/// assert!(!repairs("rm .bashtion.toml; make"));
/// ```
#[must_use]
pub fn only_repairs(analysis: &Analysis, file: &str, world: &World) -> bool {
    analysis.opaque.is_empty()
        && !analysis.commands.is_empty()
        && analysis.commands.iter().all(|found| repairs(found, file, world))
}

fn repairs(found: &Found, file: &str, world: &World) -> bool {
    let plain = found.via.is_empty()
        && found.environment.is_empty()
        && found.setting.machine == Machine::Here
        && !found.setting.elevated
        && found.arguments.iter().all(|argument| argument.value().is_some());
    // A file that is read as input has no other trace.
    let input = match &found.input {
        Stream::Nothing | Stream::Known(_) => true,
        Stream::Unknown(from) => from != "a file",
        Stream::Names(_)
        | Stream::Downloaded
        | Stream::Decoded
        | Stream::Secret
        | Stream::Setup
        | Stream::Program(_) => false,
    };
    plain
        && input
        && found.effects.iter().all(|effect| is_about(effect, file, found))
        && names(found, file, world)
}

fn is_about(effect: &Effect, file: &str, found: &Found) -> bool {
    let directory = |path: &str| path.rsplit_once('/').map(|(directory, _)| directory.to_owned());
    match effect {
        // It may be put aside under another name.
        Effect::Write { target } if found.program == "mv" => directory(&target.path) == directory(file),
        Effect::Write { target }
        | Effect::Move { target }
        | Effect::Delete { target, recursive: false }
        | Effect::Permissions { target, recursive: false } => target.path == file,
        Effect::Delete { recursive: true, .. }
        | Effect::Permissions { recursive: true, .. }
        | Effect::Execute { .. }
        | Effect::Connect { .. } => false,
    }
}

/// Returns true if a program is known, and nothing else is named for it to read.
fn names(found: &Found, file: &str, world: &World) -> bool {
    let is_file = |path: &Text| locate(path, &found.cwds, world).iter().all(|path| path.name == file);
    let options = Options::parse(&found.arguments, "nc", &["lines", "bytes"]);
    let operands = options.operands.as_slice();
    match found.program.as_str() {
        // Contents of files cannot come out of these.
        "" | "echo" | "printf" | "true" | ":" | "pwd" | "cd" | "ls" | "stat" => true,
        "cat" | "head" | "tail" | "nl" | "wc" | "rm" | "unlink" | "tee" | "touch" | "chmod" => {
            let skip = usize::from(found.program == "chmod");
            operands.iter().skip(skip).all(is_file)
        }
        "mv" => matches!(operands, [from, _] if is_file(from)),
        "sed" => match Options::parse(&found.arguments, "", &[]).operands.as_slice() {
            [script, paths @ ..] => script.value().is_some_and(is_mild_script) && paths.iter().all(is_file),
            [] => false,
        },
        "git" => match found.argument(0) {
            Some("status") => true,
            Some("checkout" | "restore") => !found.effects.is_empty(),
            Some("diff") => operands.len() == 2 && is_file(&operands[1]),
            Some(_) | None => false,
        },
        "bashtion" => matches!(found.argument(0), Some("config" | "check")),
        _ => false,
    }
}

/// One substitution, or the deletion of lines: other commands of sed run programs and write files.
fn is_mild_script(script: &str) -> bool {
    let deletes = script.strip_suffix('d').is_some_and(|lines| {
        !lines.is_empty() && lines.bytes().all(|byte| byte.is_ascii_digit() || b",$".contains(&byte))
    });
    let substitutes = || {
        let mut rest = script.strip_prefix('s')?.chars();
        let delimiter = rest.next().filter(char::is_ascii_punctuation)?;
        let parts: Vec<&str> = rest.as_str().split(delimiter).collect();
        let [_, _, flags] = parts[..] else { return None };
        let mild = |flag: u8| flag.is_ascii_digit() || b"gpiI".contains(&flag);
        (flags.bytes().all(mild) && !script.contains(['\n', '\\'])).then_some(())
    };
    deletes || substitutes().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_at_the_file_or_repairs_it_is_told_from_everything_else() {
        let world = World::new("/w", "/home/dev");
        let repairs =
            |command: &str| only_repairs(&crate::analyze(command, &world), "/w/.bashtion.toml", &world);
        for command in [
            "cat .bashtion.toml", "head -n 5 .bashtion.toml", "rm .bashtion.toml", "rm -f /w/.bashtion.toml",
            "mv .bashtion.toml broken.toml", "sed -i 's/of/off/' .bashtion.toml", "sed -i 3d .bashtion.toml",
            "git checkout .bashtion.toml", "git checkout HEAD -- .bashtion.toml",
            "git restore .bashtion.toml", "echo '[guard]' > .bashtion.toml",
            "cat > .bashtion.toml <<'E'\n[guard]\nE", "ls -la", "git status --short",
            "git diff .bashtion.toml", "bashtion config check .bashtion.toml",
            "cat .bashtion.toml | head -3", "cd /w && rm .bashtion.toml",
        ] {
            assert!(repairs(command), "{command}");
        }
        for command in [
            "make", "rm -rf .", "rm .bashtion.toml; make", "cat secrets.txt", "cat < secrets.txt",
            "cat secrets.txt > .bashtion.toml", "echo \"$(cat secrets.txt)\"", "echo \"$(<secrets.txt)\"",
            "sed -i '1e make' .bashtion.toml", "sed -i 's/x/make/e' .bashtion.toml",
            "sed -n 's/x/y/w out' .bashtion.toml", "git checkout main", "git log -p", "git diff",
            "sudo rm .bashtion.toml", "rm .bashtion.toml src/main.rs", "echo x > other",
            "mv .bashtion.toml src/main.rs", "mv a .bashtion.toml", "X=1 cat .bashtion.toml",
            "bashtion run make", "cat .bashtion.toml | bash", "cp .bashtion.toml x", "rm .b*",
        ] {
            assert!(!repairs(command), "{command}");
        }
    }
}
