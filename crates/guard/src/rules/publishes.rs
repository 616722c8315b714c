use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::text::Text;
use crate::world::World;

rule! {
    /// Releases to the public.
    ///
    /// ## Why
    /// What is published is copied at once, and a version number can be used only once.
    ///
    /// ## Example
    /// `npm publish`, `cargo publish`, `twine upload dist/*`
    ///
    /// ## Instead
    /// Build and check the package with a dry run, and let a person release it.
    Publishes, "publishes", Ask
}

impl Rule for Publishes {
    about!(Help);

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let mut words = found
            .arguments
            .iter()
            .filter_map(Text::value)
            .filter(|word| !word.starts_with(['+', '-']) || *word == "-m");
        let first = words.next().unwrap_or_default();
        let second = words.next().unwrap_or_default();
        let dry = ["--dry-run", "--help", "--list", "--draft"].iter().any(|flag| found.has(flag));
        let dry = dry || found.has("--snapshot") || found.program == "cargo" && found.has("-n");
        let publishes = match found.program.as_str() {
            "npm" | "pnpm" | "yarn" | "bun" | "jsr" | "lerna" => {
                matches!(first, "publish" | "unpublish" | "deprecate")
                    || first == "npm" && second == "publish"
            }
            "cargo" => matches!(first, "publish" | "yank" | "owner"),
            "python" | "python3" => {
                first == "-m" && matches!(second, "twine" | "flit" | "poetry") && found.has("upload")
            }
            "twine" => first == "upload",
            "poetry" | "uv" | "flit" | "hatch" | "pdm" | "maturin" => matches!(first, "publish" | "upload"),
            "gem" => matches!(first, "push" | "yank"),
            "mvn" => found.has("deploy") || found.has("release:perform"),
            "gradle" | "gradlew" => found.arguments.iter().any(|argument| {
                argument.prefix().starts_with("publish") && !argument.prefix().contains("Local")
            }),
            "dotnet" | "nuget" => first == "push" || first == "nuget" && second == "push",
            "gh" => first == "release" && matches!(second, "create" | "upload" | "edit"),
            "vsce" | "ovsx" => first == "publish",
            "goreleaser" => first == "release",
            "semantic-release" => true,
            _ => false,
        };
        (publishes && !dry).then(|| {
            Problem::ask(
                format!("`{} {first}` makes a release to the public", found.program),
                "make a dry run, and let a person release it",
            )
        })
    }
}
