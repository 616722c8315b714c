use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::programs::Concern;
use crate::world::World;

rule! {
    /// Deletion of containers, volumes, clusters, clouds and repositories on servers.
    ///
    /// ## Why
    /// Others may be using them, and what was stored in them is lost.
    ///
    /// ## Example
    /// `docker system prune -af --volumes`, `kubectl delete namespace staging`, `terraform destroy`, `aws s3 rb --force s3://x`
    ///
    /// ## Instead
    /// Show what would go (`terraform plan`, `kubectl get`, `--dry-run`) and let a person do it.
    DeletesInfrastructure, "deletes-infrastructure", Ask
}

impl Rule for DeletesInfrastructure {
    about!();

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        found.is_about(Concern::Infrastructure).then(|| {
            Problem::ask(
                format!("`{}` would delete something that others may be using", found.program),
                "show what would go (a plan, a list, a dry run) and let a person do it",
            )
        })
    }
}
