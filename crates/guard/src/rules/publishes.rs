use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::programs::Concern;
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
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        found.is_about(Concern::Release).then(|| {
            let verb = found.argument(0).filter(|word| !word.starts_with('-')).unwrap_or_default();
            let called = format!("{} {verb}", found.program);
            Problem::ask(
                format!("`{}` makes a release to the public", called.trim_end()),
                "make a dry run, and let a person release it",
            )
        })
    }
}
