//! Git: global options come before the subcommand, and each subcommand has options of its own.

use super::page::Concern::{ForcedPush, Hijacks, History, Stages};
use super::page::Deed::{Concerns, Deletes, DeletesTree, Moves, Writes};
use super::page::Which::{All, AllButLast, By, First, Fixed, Last, Only, Value, Variable};
use super::page::{Case, Page, Talks, always, page, sub};
use super::select;

/// Options before the subcommand whose value is the next word.
pub(crate) const GLOBAL_VALUES: &str = "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --shallow-file --exec-path";

const UNCOMMITTED: &[super::page::Deed] = &[Concerns(History("throws away uncommitted changes"))];
const BRANCH: &[super::page::Deed] = &[Concerns(History("deletes or replaces a branch"))];
const UNREACHABLE: &[super::page::Deed] = &[Concerns(History("deletes what could be brought back"))];
const REWRITES: &[super::page::Deed] = &[Concerns(History("rewrites history"))];
const EVERYTHING: &str = ". ./ * ./* : :/ .. ../ -- -f --force";

const HIJACKS: &[super::page::Deed] = &[Concerns(Hijacks("makes git run or read what stands elsewhere"))];

const CASES: &[Case] = &[
    always(&[Writes(Variable("GIT_TRACE"))]),
    sub("*", HIJACKS).with("-c=core.hookspath=* -c=include.path=* -c=includeif.*"),
    sub("config core.hooksPath|core.hookspath|include.path|includeIf.* *", HIJACKS)
        .without("--get --unset --get-all --unset-all"),
    sub("config set core.hooksPath|core.hookspath|include.path|includeIf.* *", HIJACKS),
    sub("checkout|reset|restore|checkout-index|clean", &[Writes(Value("--work-tree"))]),
    sub("config", &[Writes(Fixed("/etc/gitconfig"))]).with("--system"),
    sub("config", &[Writes(Value("-f --file"))]).without("--get --list -l --get-all --get-regexp"),
    sub("clone", &[Writes(Only(1))]),
    sub("init", &[Writes(Only(0))]),
    sub(
        "diff|log|show|archive|format-patch|shortlog|range-diff",
        &[Writes(Value("-o --output --output-directory"))],
    ),
    sub("bundle create", &[Writes(First)]),
    sub("worktree add", &[Writes(First)]),
    sub("submodule add", &[Writes(Only(1))]),
    sub("checkout", &[Writes(By(select::checked_out))]),
    sub("restore", &[Writes(All)]).without("-S --staged"),
    sub("restore", &[Writes(All)]).with("-W --worktree"),
    sub("mv", &[Moves(AllButLast), Writes(Last)]).without("-n --dry-run"),
    sub("rm", &[DeletesTree(By(select::taken_out))]).with("-r").without("--cached -n --dry-run"),
    sub("rm", &[Deletes(By(select::taken_out))]).without("-r --cached -n --dry-run"),
    sub("add|stage", &[Concerns(Stages)])
        .without("-n --dry-run -p --patch -i --interactive -e --edit --refresh"),
    sub("reset", UNCOMMITTED).with("--hard --merge"),
    sub("clean", &[Concerns(History("deletes files that git does not know"))])
        .with("-f --force -c=clean.requireForce=false")
        .without("-n --dry-run"),
    sub("checkout", UNCOMMITTED).with(EVERYTHING),
    sub("switch", UNCOMMITTED).with("--discard-changes -f --force"),
    sub("restore *", UNCOMMITTED).without("-S --staged"),
    sub("restore *", UNCOMMITTED).with("-W --worktree"),
    sub("branch", BRANCH).with("-D -M -C"),
    sub("branch", BRANCH).with("-d --delete -m --move").and("-f --force"),
    sub("tag", &[Concerns(History("deletes or replaces a tag"))]).with("-d --delete -f --force"),
    sub("stash clear|drop", &[Concerns(History("deletes stashed changes"))]),
    sub("push", &[Concerns(History("deletes branches or tags on the server"))])
        .with("-d --delete --mirror --prune :*")
        .without("-n"),
    sub("push|send-pack", &[Concerns(ForcedPush)]).with("-f --force +*").without("-n"),
    sub("filter-branch|filter-repo|replace", REWRITES),
    sub("reflog expire|delete", UNREACHABLE),
    sub("gc", UNREACHABLE).with("--prune*"),
    sub("prune", UNREACHABLE).without("-n --dry-run"),
    sub("update-ref|symbolic-ref", &[Concerns(History("deletes or moves a reference"))])
        .with("-d --delete --stdin"),
    sub("read-tree", UNCOMMITTED).with("--reset"),
    sub("rebase", REWRITES).with("--root"),
    sub("worktree remove", &[Concerns(History("deletes a working tree with its changes"))])
        .with("-f --force"),
    sub("submodule deinit", &[Concerns(History("deletes working trees of submodules"))])
        .with("-f --force --all"),
    sub("rm", &[Concerns(History("takes every file out"))])
        .with("-r")
        .and(". * ./ ./* : :/ .. ../")
        .without("-n --dry-run"),
    sub("lfs prune", &[Concerns(History("deletes local copies"))]),
    sub("remote remove|rm", &[Concerns(History("forgets a server and its branches"))]),
];

pub(super) const PAGES: &[Page] = &[
    page(&["git", "hub"], "Keeps the history of files.")
        .values(GLOBAL_VALUES)
        .within(&[
            ("commit", "-m -F -t --message --file --author --date --template"),
            ("checkout", "-b -B --orphan --conflict"),
            ("switch", "-c --create --orphan"),
            ("restore", "-s --source --conflict"),
            ("clone", "-b -o -u -j --branch --origin --depth --config --reference --template --filter"),
            ("push", "-o --push-option --repo --receive-pack --exec"),
            ("stash", "-m --message"),
            ("worktree", "-b -B --reason"),
            ("submodule", "-b --branch --name --reference --depth"),
            ("tag", "-m -F -u --message --file"),
            ("rebase", "-x -s -X --exec --onto --strategy"),
            ("merge pull", "-m -s -X --message --strategy"),
            (
                "diff log show shortlog range-diff",
                "-n -S -G --output --since --until --author --grep --format",
            ),
            ("format-patch", "-o --output-directory --subject-prefix"),
            ("archive", "-o --output --format --prefix --remote --exec"),
            ("clean", "-e --exclude"),
            ("config", "-f --file --type --default --blob"),
        ])
        .dry_run("--dry-run --analyze")
        .help("help --help -h --version")
        .enters("-C")
        .cases(CASES)
        .talks(Talks::Server("push fetch pull clone ls-remote"))
        .code("--exec -x --tree-filter --index-filter --env-filter --msg-filter --upload-pack -O")
        .examples(
            &[
                "git reset --hard", "git -C sub clean -fdx", "git push --force", "git push origin +main",
                "git push origin :old", "git diff --output=/etc/passwd", "git format-patch -o /etc HEAD~1",
                "git worktree add /etc/x", "git archive -o /etc/x HEAD", "git branch -D old",
                "git checkout .", "git -C /etc checkout -- passwd", "git config --system core.editor vim",
                "git reset --hard help", "git clone https://e.com/x /etc/x",
                "GIT_TRACE=/etc/passwd git status", "git -c core.hooksPath=/tmp/h commit",
                "git config include.path /tmp/x", "git config filter.x.smudge 'rm -rf /'",
                "git bisect run sh -c 'rm -rf /'",
            ],
            &[
                "git status", "git push --force-with-lease", "git clean -n", "git push --dry-run --force",
                "git commit -m 'reset --hard'", "git checkout main", "git rm --cached x",
                "git reset --hard --help", "git diff --output=x.patch", "GIT_TRACE=1 git status",
                "git config core.hooksPath", "git restore --staged x",
            ],
        ),
    page(&["bfg"], "Rewrites the history of a repository.")
        .cases(&[always(REWRITES)])
        .examples(&["bfg --delete-files x"], &["bfg --help"]),
];
