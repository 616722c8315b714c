//! Machines and clusters that run here.

use super::page::Concern::Infrastructure;
use super::page::Deed::Concerns;
use super::page::{Deed, Page, page, sub};

const INFRASTRUCTURE: &[Deed] = &[Concerns(Infrastructure)];
const VERBS: &str = "delete|destroy|terminate|purge|remove|rm|undefine|reset";

pub(super) const PAGES: &[Page] = &[page(
    &[
        "kind", "minikube", "k3d", "vagrant", "multipass", "lxc", "incus", "virsh", "nomad", "limactl",
        "colima",
    ],
    "Machines and clusters that run here.",
)
.values("-c -p --connect --profile --name")
.help("help --help --version -h")
.cases(&[sub(VERBS, INFRASTRUCTURE), sub("* delete|destroy|purge|remove|rm|undefine|reset", INFRASTRUCTURE)])
.code("-c --command")
.examples(
    &["vagrant destroy -f", "kind delete cluster", "virsh -c qemu:///system undefine x", "lxc delete x"],
    &["vagrant status", "minikube start", "kind get clusters"],
)];
