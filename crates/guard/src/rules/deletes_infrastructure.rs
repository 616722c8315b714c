use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::text::Text;
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
    about!(Help);

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        deletes(found).then(|| {
            Problem::ask(
                format!("`{}` would delete something that others may be using", found.program),
                "show what would go (a plan, a list, a dry run) and let a person do it",
            )
        })
    }
}

fn deletes(found: &Found) -> bool {
    let words: Vec<String> = found.arguments.iter().map(Text::rough).collect();
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
    let verbs = verbs(&words);
    let first = verbs.first().copied().unwrap_or_default();
    let second = verbs.get(1).copied().unwrap_or_default();
    if has(&["--dry-run", "--dry-run=client", "--dry-run=server", "--dryrun", "--help", "-h"]) {
        return false;
    }
    match found.program.as_str() {
        "docker" | "podman" | "nerdctl" => match (first, second) {
            ("system" | "volume" | "image" | "container" | "network" | "builder" | "buildx", "prune") => true,
            ("volume" | "network" | "context", "rm" | "remove") => true,
            ("rm", _) | ("container", "rm") => has(&["-f", "--force", "-fv", "-vf", "-v"]),
            ("rmi", _) | ("image", "rm") => has(&["-f", "--force"]),
            ("compose", _) if verbs.contains(&"down") => has(&["-v", "--volumes", "--rmi"]),
            ("system", "reset") => true,
            ("stop" | "kill" | "restart", _) => {
                found.arguments.iter().any(|argument| argument.why().is_some())
            }
            ("compose", "rm") => has(&["-v", "-f", "-fv", "-fsv"]),
            ("stack" | "service" | "swarm" | "secret" | "config", "rm" | "remove" | "leave") => true,
            _ => false,
        },
        "docker-compose" => first == "down" && has(&["-v", "--volumes", "--rmi"]),
        "kubectl" | "oc" | "k3s" => {
            first != "auth"
                && verbs.iter().take(4).any(|verb| matches!(*verb, "delete" | "drain" | "cordon" | "taint"))
                || first == "replace" && has(&["--force"])
                || first == "scale" && has(&["--replicas=0"])
        }
        "helm" | "helmfile" => {
            verbs.iter().take(3).any(|verb| matches!(*verb, "uninstall" | "delete" | "destroy" | "rollback"))
        }
        "terraform" | "tofu" | "terragrunt" | "pulumi" | "cdk" | "cdktf" => {
            matches!(first, "destroy" | "down")
                || has(&["-auto-approve", "--auto-approve", "-destroy", "--yes", "-y"])
                    && matches!(first, "apply" | "up" | "deploy")
                || first == "state" && matches!(second, "rm" | "push")
                || first == "workspace" && second == "delete"
                || first == "stack" && second == "rm"
                || first == "run-all" && second == "destroy"
        }
        "aws" => {
            let action = verbs.get(1).copied().unwrap_or_default();
            first == "s3" && matches!(action, "rb" | "rm")
                || first == "s3" && action == "sync" && has(&["--delete"])
                || [
                    "delete-", "terminate-", "deregister-", "remove-", "purge-", "stop-", "disable-",
                    "schedule-key-deletion",
                ]
                .iter()
                .any(|verb| action.starts_with(verb))
        }
        "gcloud" | "az" | "doctl" | "heroku" | "fly" | "flyctl" | "oci" | "ibmcloud" | "linode-cli"
        | "hcloud" | "scw" | "vercel" | "netlify" | "railway" | "render" | "wrangler" | "eksctl" | "kind"
        | "minikube" | "k3d" | "vagrant" | "multipass" | "lxc" | "virsh" | "nomad" | "supabase"
        | "firebase" | "serverless" | "sls" | "ansible-vault" | "sam" | "copilot" | "amplify" | "eb"
        | "rclone" | "gsutil" | "mc" | "b2" => verbs.iter().any(|verb| {
            let verb = verb.rsplit(':').next().unwrap_or_default();
            matches!(
                verb,
                "delete"
                    | "destroy"
                    | "terminate"
                    | "purge"
                    | "remove"
                    | "rm"
                    | "rb"
                    | "undefine"
                    | "del"
                    | "deletefile"
                    | "rmdir"
                    | "reset"
            )
        }),
        "gh" | "glab" => {
            matches!(second, "delete" | "archive" | "transfer" | "remove")
                || first == "api" && has(&["DELETE", "-XDELETE"])
                || first == "repo" && second == "sync" && has(&["--force"])
                || first == "pr" && second == "merge" && has(&["--admin"])
        }
        "vgremove" | "lvreduce" | "btrfs" => found.program != "btrfs" || has(&["delete"]),
        "kafka-topics" | "kafka-topics.sh" => has(&["--delete"]),
        "rabbitmqctl" => {
            ["reset", "force_reset", "delete_queue", "delete_vhost", "purge_queue"].contains(&first)
        }
        "velero" | "argocd" | "flux" | "istioctl" => {
            matches!(first, "uninstall" | "delete") || matches!(second, "delete")
        }
        _ => false,
    }
}

/// The words that are neither options nor values of the options that come before a subcommand.
fn verbs(words: &[String]) -> Vec<&str> {
    const WITH_VALUE: [&str; 16] = [
        "-R", "--repo", "--region", "--profile", "--output", "-n", "--namespace", "--context",
        "--kubeconfig", "-f", "--file", "-p", "--project", "--endpoint-url", "-C", "--host",
    ];
    let mut verbs = vec![];
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if WITH_VALUE.contains(&word.as_str()) && verbs.len() < 2 {
            rest.next();
        } else if !word.starts_with('-') {
            verbs.push(word.as_str());
        }
    }
    verbs
}
