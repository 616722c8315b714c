use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::paths::{Place, locate};
use crate::programs::Concern;
use crate::text::Text;
use crate::verdict::Decision;
use crate::world::World;

rule! {
    /// Settings that make other programs run something else.
    ///
    /// ## Why
    /// A later, harmless-looking command does what nobody has judged.
    ///
    /// ## Example
    /// `alias rm='rm -rf /'`, `PATH=/tmp/x:$PATH ls`, `LD_PRELOAD=./x.so ls`, `GIT_SSH_COMMAND='…' git fetch`,
    /// `git config core.hooksPath …`
    ///
    /// ## Instead
    /// Call the program that you mean by its path.
    HijacksPrograms, "hijacks-programs", Ask
}

impl Rule for HijacksPrograms {
    about!();

    fn check(&self, found: &Found, world: &World) -> Option<Problem> {
        if found.program == "alias" {
            return alias(found, world);
        }
        let told = found.concerns.iter().find_map(|concern| match concern {
            Concern::Hijacks(what) => Some(*what),
            _ => None,
        });
        if let Some(what) = told {
            let message = format!("`{}` {what}", found.program);
            return Some(Problem::ask(message, "leave this setting as it is; `--no-verify` skips hooks"));
        }
        found.environment.iter().find_map(|(name, value)| {
            (is_loaded_by_programs(name) && changes(name, value, found, world)).then(|| {
                Problem::ask(
                    format!("{name} makes other programs run something else"),
                    "call the program that you mean by its path",
                )
            })
        })
    }
}

/// An alias for something that would not be allowed.
fn alias(found: &Found, world: &World) -> Option<Problem> {
    let text = found.arguments.first()?.rough();
    let (name, value) = text.split_once('=')?;
    let verdict = crate::judge_text(value, world);
    (verdict.decision != Decision::Allow).then(|| {
        let reason = verdict.findings.first().map(|finding| finding.message.clone()).unwrap_or_default();
        Problem::ask(
            format!("`{name}` would from then on mean: {reason}"),
            "leave the names of programs as they are",
        )
    })
}

/// Variables from which programs take other programs or code.
pub(crate) fn is_loaded_by_programs(name: &str) -> bool {
    const LOADED: [&str; 25] = [
        "PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV",
        "GIT_SSH_COMMAND", "GIT_SSH", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "PYTHONSTARTUP",
        "PERL5OPT", "RUBYOPT", "LESSOPEN", "NODE_OPTIONS", "PROMPT_COMMAND", "GIT_EXEC_PATH",
        "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "SHELLOPTS", "BASHOPTS", "RUSTC_WRAPPER",
        "BASHTION_CONFIG",
    ];
    LOADED.contains(&name)
}

fn changes(name: &str, value: &Text, found: &Found, world: &World) -> bool {
    let text = value.rough();
    match name {
        // Directories that anybody could have filled.
        "PATH" => text.split(':').any(|directory| {
            let path = Text::known(directory);
            directory == "."
                || !directory.is_empty() && directory.starts_with("/tmp")
                || locate(&path, &found.cwds, world)
                    .iter()
                    .any(|path| matches!(path.place, Place::Temporary | Place::TemporaryRoot))
                    && directory.starts_with('/')
        }),
        "ENV" => text.contains('/'),
        "NODE_OPTIONS" => text.contains("--require") || text.contains("-r ") || text.contains("--import"),
        "GIT_PAGER" => {
            !matches!(text.split(' ').next(), Some("cat" | "less" | "" | "more" | "delta" | "bat"))
        }
        "LD_LIBRARY_PATH" => text.contains("/tmp"),
        // A key or an option is no other program.
        "GIT_SSH_COMMAND" => !text.starts_with("ssh "),
        "RUBYOPT" | "PERL5OPT" => text.contains("-r") || text.contains("-M"),
        _ => !value.is_empty(),
    }
}
