//! Clouds, clusters and servers that others use too.

use super::page::Concern::{Infrastructure, Release};
use super::page::Deed::{Concerns, Writes};
use super::page::Which::LastHere;
use super::page::{Deed, Own, Page, Runs, Style, Talks, page, sub, with};

const INFRASTRUCTURE: &[Deed] = &[Concerns(Infrastructure)];
const VERBS: &str = "delete destroy terminate purge remove rm rb undefine del deletefile rmdir reset *:delete *:destroy *:rm *:remove *:reset *:purge";

pub(super) const PAGES: &[Page] = &[
    page(&["kubectl", "oc", "k3s"], "Clusters of containers.")
        .values("-n -f -l -o -s -c -k --namespace --context --kubeconfig --cluster --user --filename --selector --output --server --as --container --token")
        .dry_run("--dry-run=client --dry-run=server --dry-run=true")
        .help("help --help --version -h")
        .reads("auth get describe explain logs version api-resources cluster-info top")
        .cases(&[
            with("delete drain cordon taint", INFRASTRUCTURE),
            sub("replace", INFRASTRUCTURE).with("--force"),
            sub("scale", INFRASTRUCTURE).with("--replicas=0"),
            sub("rollout undo", INFRASTRUCTURE),
            sub("cp", &[Writes(LastHere)]),
        ])
        .runs(Runs::Own(Own::Container))
        .examples(
            &["kubectl delete namespace staging", "kubectl -n prod delete pod x", "kubectl delete pod x --dry-run=none", "kubectl scale deploy/x --replicas=0"],
            &["kubectl get pods", "kubectl delete pod x --dry-run=client", "kubectl auth can-i delete pods"],
        ),
    page(&["helm", "helmfile"], "Packages of clusters.")
        .values("-n -f --namespace --kube-context --kubeconfig --values --set --version")
        .dry_run("--dry-run")
        .help("help --help -h")
        .cases(&[sub("uninstall|delete|destroy|rollback|un|del", INFRASTRUCTURE)])
        .examples(&["helm uninstall x", "helm -n prod delete x", "helm rollback x 1"], &["helm list", "helm uninstall x --dry-run"]),
    page(&["terraform", "tofu", "terragrunt", "cdktf"], "Machines as a description says.")
        .style(Style::Words)
        .help("-help --help -h --version -version")
        .cases(&[
            sub("destroy|down", INFRASTRUCTURE),
            sub("apply|up|deploy", INFRASTRUCTURE).with("-auto-approve --auto-approve -destroy --yes -y"),
            sub("plan", &[]),
            sub("state rm|push", INFRASTRUCTURE),
            sub("workspace delete", INFRASTRUCTURE),
            sub("run-all destroy", INFRASTRUCTURE),
            sub("force-unlock|taint", INFRASTRUCTURE),
        ])
        .examples(&["terraform destroy", "terraform apply -auto-approve", "terraform -chdir=x destroy", "terraform state rm x"], &["terraform plan", "terraform apply", "terraform destroy -help", "terraform plan -destroy"]),
    page(&["pulumi", "cdk"], "Machines as a program says.")
        .values("-s -C --stack --cwd --profile -a --app")
        .help("help --help --version -h")
        .cases(&[
            sub("destroy|down", INFRASTRUCTURE),
            sub("up|deploy", INFRASTRUCTURE).with("--yes -y --force"),
            sub("stack rm", INFRASTRUCTURE),
        ])
        .examples(&["pulumi destroy", "pulumi up --yes", "pulumi stack rm dev", "cdk destroy"], &["pulumi preview", "cdk diff"]),
    page(&["aws"], "The cloud of Amazon.")
        .values("--region --profile --output --endpoint-url --query --cli-input-json --exclude --include")
        .dry_run("--dry-run --dryrun --generate-cli-skeleton")
        .help("--help --version help help$")
        .cases(&[
            sub("s3 rb|rm", INFRASTRUCTURE),
            sub("s3 sync", INFRASTRUCTURE).with("--delete"),
            sub("* delete-*|terminate-*|deregister-*|remove-*|purge-*|stop-*|disable-*|schedule-key-deletion", INFRASTRUCTURE),
            sub("s3 cp|mv|sync", &[Writes(LastHere)]),
        ])
        .talks(Talks::Cloud("cp sync mv"))
        .examples(
            &["aws s3 rb s3://x --force", "aws ec2 terminate-instances --instance-ids i-1", "aws s3 cp s3://b/x /etc/passwd", "aws s3 sync s3://b /etc --region x"],
            &["aws s3 ls", "aws ec2 terminate-instances help", "aws s3 rm s3://b/x --dryrun", "aws s3 cp s3://b/x ."],
        ),
    page(
        &[
            "gcloud", "az", "doctl", "heroku", "fly", "flyctl", "oci", "ibmcloud", "linode-cli", "hcloud", "scw", "vercel",
            "netlify", "railway", "render", "wrangler", "eksctl", "firebase", "serverless", "sls", "sam", "copilot", "amplify",
            "eb", "mc", "b2", "ansible-vault",
        ],
        "Clouds.",
    )
    .values("-R -p -n -a --repo --region --profile --output --namespace --context --project --endpoint-url --host --app -g --resource-group")
    .dry_run("--dry-run")
    .help("help --help --version -h")
    .cases(&[with(VERBS, INFRASTRUCTURE)])
    .talks(Talks::Cloud("cp sync copy upload"))
    .code("--command -C")
    .examples(&["gcloud compute instances delete x", "heroku apps:destroy x", "az group delete -n x", "flyctl apps destroy x"], &["gcloud config list", "az vm list", "heroku logs"]),
    page(&["gh", "glab"], "Repositories, issues and releases on a server.")
        .values("-R -X -f -F -H -q -t -b -B --repo --method --field --raw-field --header --jq --title --body --base --head --notes --notes-file --hostname")
        .help("help --help --version -h")
        .dry_run("--dry-run")
        .cases(&[
            sub("* delete|archive|transfer|remove", INFRASTRUCTURE),
            sub("api", INFRASTRUCTURE).with("-X=DELETE --method=DELETE -X=delete"),
            sub("repo sync", INFRASTRUCTURE).with("--force"),
            sub("pr merge", INFRASTRUCTURE).with("--admin"),
            sub("release create|upload|edit", &[Concerns(Release)]).without("--draft"),
        ])
        .examples(
            &["gh repo delete x/y --yes", "gh api -X DELETE repos/x/y", "gh release create v1", "gh release edit v1 --draft=false", "gh api --method=DELETE repos/x/y"],
            &["gh pr list", "gh release list", "gh pr create --title 'delete it'", "gh release create v1 --draft"],
        ),
    page(&["velero", "argocd", "flux", "istioctl"], "Looks after clusters.")
        .values("-n --namespace --context")
        .help("help --help --version -h")
        .cases(&[sub("uninstall|delete", INFRASTRUCTURE), sub("* delete", INFRASTRUCTURE)])
        .examples(&["argocd app delete x", "flux uninstall"], &["argocd app list"]),
    page(&["kafka-topics", "kafka-topics.sh"], "Topics of messages.")
        .cases(&[with("--delete", INFRASTRUCTURE)])
        .examples(&["kafka-topics --delete --topic x"], &["kafka-topics --list"]),
    page(&["rabbitmqctl"], "Queues of messages.")
        .values("-n -p --node --vhost")
        .cases(&[sub("reset|force_reset|delete_queue|delete_vhost|delete_user|purge_queue", INFRASTRUCTURE)])
        .examples(&["rabbitmqctl reset", "rabbitmqctl -n x purge_queue y"], &["rabbitmqctl status"]),
];
