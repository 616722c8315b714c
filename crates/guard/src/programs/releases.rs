//! Programs that make releases to the public.

use super::page::Concern::Release;
use super::page::Deed::{Concerns, Writes};
use super::page::Which::Value;
use super::page::{Deed, Page, always, page, sub, with};

const RELEASE: &[Deed] = &[Concerns(Release)];

pub(super) const PAGES: &[Page] = &[
    page(&["cargo"], "Builds, tests and publishes Rust packages.")
        .within(&[("yank install add", "--version --vers")])
        .values("--root --target-dir --manifest-path")
        .dry_run("--dry-run -n --list")
        .help("help --help --version -h -V")
        .cases(&[always(&[Writes(Value("--root --target-dir"))]), sub("publish|yank|owner", RELEASE), sub("+* publish|yank|owner", RELEASE)])
        .code("-s --shell")
        .examples(&["cargo publish", "cargo +nightly publish", "cargo install --root /usr x", "cargo yank --version 1.0.0"], &["cargo build", "cargo publish --dry-run", "cargo test -- -n", "cargo help publish"]),
    page(&["jsr", "lerna", "vsce", "ovsx", "changeset"], "Publishes packages of JavaScript.")
        .dry_run("--dry-run")
        .help("help --help --version -h")
        .cases(&[sub("publish|unpublish", RELEASE)])
        .examples(&["lerna publish", "vsce publish"], &["lerna run build", "vsce package", "jsr publish --dry-run"]),
    page(&["twine", "poetry", "uv", "flit", "hatch", "pdm", "maturin"], "Builds and publishes packages of Python.")
        .values("-p -n --with --with-requirements --with-editable --name --python --extra --group --env-file --project --directory --package --index")
        .dry_run("--dry-run")
        .help("help --help --version -h")
        .cases(&[sub("publish|upload", RELEASE)])
        .runs(super::page::Runs::After("run", 0))
        .examples(&["twine upload dist/x", "poetry publish", "uv run rm -rf /"], &["poetry build", "uv sync", "poetry publish --dry-run", "uv cache clean"]),
    page(&["mvn", "mvnw"], "Builds and publishes packages of Java.")
        .dry_run("-DdryRun=true -DdryRun")
        .style(super::page::Style::Words)
        .cases(&[with("deploy release:perform", RELEASE)])
        .examples(&["mvn deploy", "mvn clean deploy -B"], &["mvn test", "mvn package"]),
    page(&["gradle", "gradlew"], "Builds and publishes packages of Java.")
        .style(super::page::Style::Words)
        .dry_run("-m --dry-run")
        .cases(&[with("publish publishAllPublications* publishPlugins publishTo* uploadArchives", RELEASE).without("publishToMavenLocal")])
        .examples(&["./gradlew publish"], &["./gradlew build", "./gradlew publishToMavenLocal", "gradle publish --dry-run"]),
    page(&["dotnet", "nuget"], "Builds and publishes packages of .NET.")
        .help("help --help --version -h")
        .cases(&[sub("push", RELEASE), sub("nuget push", RELEASE), sub("nuget delete", RELEASE)])
        .examples(&["dotnet nuget push x.nupkg", "nuget push x"], &["dotnet build"]),
    page(&["goreleaser"], "Builds and publishes programs in Go.")
        .dry_run("--snapshot --skip=publish")
        .help("help --help --version -h")
        .cases(&[sub("release", RELEASE)])
        .examples(&["goreleaser release"], &["goreleaser release --snapshot", "goreleaser check"]),
    page(&["semantic-release"], "Makes a release of what was committed.")
        .dry_run("--dry-run -d")
        .cases(&[always(RELEASE)])
        .examples(&["npx semantic-release"], &["semantic-release --dry-run"]),
];
