//! Package managers.

use super::page::Concern::{Essential, Infrastructure, Looks, Machine, Release};
use super::page::Deed::{Concerns, Writes};
use super::page::Which::Last;
use super::page::{Deed, Own, Page, Runs, Style, always, page, sub, with};

const PACKAGES: &[Deed] = &[Concerns(Machine("packages of the machine"))];
const GLOBAL: &[Deed] = &[Concerns(Machine("programs of every project"))];
const ESSENTIAL: &[Deed] = &[Concerns(Essential("packages without which the machine does not start"))];
const RELEASE: &[Deed] = &[Concerns(Release)];
/// Packages that a machine cannot be without.
const VITAL: &str = "libc6 libc-bin glibc bash coreutils dpkg apt systemd sudo login passwd util-linux base-files init linux-image* kernel rpm dnf yum pacman filesystem openssh-server";

pub(super) const PAGES: &[Page] = &[
    page(&["apt", "apt-get", "aptitude"], "Packages of Debian.")
        .values("-o -c -t -a --option --config-file --target-release --default-release")
        .dry_run("-s --simulate --dry-run --just-print --no-act --recon --print-uris --download-only -d")
        .help("help --help --version -h -v")
        .cases(&[
            sub(
                "install|remove|purge|autoremove|autopurge|upgrade|dist-upgrade|full-upgrade|safe-upgrade|update|build-dep|reinstall|satisfy|dselect-upgrade|edit-sources",
                PACKAGES,
            ),
            sub("remove|purge|autoremove|install", ESSENTIAL).with("--allow-remove-essential --force-yes"),
            sub("remove|purge", ESSENTIAL).with(VITAL),
        ])
        .examples(
            &["apt-get install -y jq", "apt remove x", "apt-get remove --allow-remove-essential bash", "apt purge libc6"],
            &["apt list --installed", "apt-get -s install jq", "apt-get --help", "apt search jq", "apt-get clean"],
        ),
    page(&["dpkg"], "Packages of Debian, one by one.")
        .style(Style::Words)
        .dry_run("--simulate --dry-run --no-act")
        .cases(&[
            with("-i -r -P --install --remove --purge --unpack --configure --force-all", PACKAGES),
            with("--force-remove-essential --force-all", ESSENTIAL),
            with("-r -P --remove --purge", ESSENTIAL).and(VITAL),
            with("-x -X --extract --vextract", &[Writes(Last)]),
        ])
        .code("--pre-invoke")
        .examples(&["dpkg -i x.deb", "dpkg -r --force-remove-essential bash", "dpkg -x a.deb /"], &["dpkg -l", "dpkg --simulate -i x.deb", "dpkg -x a.deb out"]),
    page(&["yum", "dnf", "microdnf"], "Packages of Fedora.")
        .values("-c -x --config --exclude --enablerepo --disablerepo --installroot --releasever")
        .dry_run("--assumeno --downloadonly")
        .help("help --help --version -h")
        .cases(&[
            sub("install|remove|erase|upgrade|update|autoremove|downgrade|reinstall|distro-sync|swap|groupinstall|groupremove|localinstall|module", PACKAGES),
            sub("remove|erase", ESSENTIAL).with(VITAL),
        ])
        .examples(&["dnf install jq", "yum -y remove x", "dnf remove glibc"], &["dnf list", "yum search jq", "dnf --assumeno install jq"]),
    page(&["zypper"], "Packages of openSUSE.")
        .dry_run("-D --dry-run --no-confirm=false -d --download-only")
        .help("help --help --version -h")
        .cases(&[sub("install|in|remove|rm|update|up|dist-upgrade|dup|patch|addrepo|ar|removerepo|rr", PACKAGES)])
        .examples(&["zypper install jq", "zypper rm x"], &["zypper search jq", "zypper install -D jq"]),
    page(&["apk"], "Packages of Alpine.")
        .values("-p -X --root --repository")
        .dry_run("-s --simulate")
        .cases(&[sub("add|del|upgrade|fix|update", PACKAGES), sub("del", ESSENTIAL).with("musl busybox alpine-base apk-tools")])
        .examples(&["apk add jq", "apk del musl"], &["apk info", "apk -s add jq"]),
    page(&["pkg", "port", "snap", "flatpak", "opkg", "xbps-install", "emerge", "eopkg"], "Packages of other systems.")
        .dry_run("-n --dry-run -p --pretend")
        .cases(&[sub("install|remove|erase|upgrade|update|add|del|delete|autoremove|downgrade|rm|uninstall|refresh|revert", PACKAGES)])
        .examples(&["snap install x", "flatpak uninstall x", "pkg delete x"], &["snap list", "flatpak list", "pkg info"]),
    page(&["pacman", "yay", "paru"], "Packages of Arch.")
        .dry_run("-p --print -h")
        .cases(&[
            with("-S --sync", PACKAGES).without("-s -i -l -g -w --search --info --list --groups --downloadonly"),
            with("-R -U --remove --upgrade", PACKAGES),
            with("-R --remove", ESSENTIAL).and("glibc bash systemd filesystem pacman linux coreutils base"),
        ])
        .examples(&["pacman -S jq", "pacman -Rns x", "pacman -Syu", "pacman -Rdd glibc"], &["pacman -Ss jq", "pacman -Q", "pacman -Sp jq", "pacman -Si jq"]),
    page(&["rpm"], "Packages of Fedora, one by one.")
        .dry_run("--test")
        .cases(&[
            with("-i -e -U -F --install --erase --upgrade --freshen", PACKAGES).without("-q --query -V --verify -K --checksig"),
            with("-e --erase", ESSENTIAL).and("glibc bash rpm systemd coreutils filesystem"),
        ])
        .examples(&["rpm -ivh x.rpm", "rpm -e x", "rpm -e --nodeps glibc"], &["rpm -qa", "rpm -qi x", "rpm -i --test x.rpm"]),
    page(&["brew"], "Packages of macOS.")
        .dry_run("-n --dry-run")
        .help("help --help --version -h")
        .cases(&[
            sub("install|uninstall|remove|rm|upgrade|reinstall|tap|untap|link|unlink|autoremove", PACKAGES),
            sub("services start|stop|restart|run|cleanup|kill", PACKAGES),
        ])
        .examples(&["brew install jq", "brew services stop x"], &["brew list", "brew install --dry-run jq", "brew services list"]),
    page(&["npm", "pnpm", "yarn", "bun"], "Packages of JavaScript.")
        .values("-C -w --prefix --registry --workspace --tag --otp --userconfig --cache --dir --cwd --filter --omit --only")
        .dry_run("--dry-run")
        .help("help --help --version -h -v")
        .cases(&[
            sub("install|i|add|uninstall|remove|rm|update|up|upgrade|link|ci|un", GLOBAL)
                .with("-g --global --location=global")
                .without("--prefix"),
            sub("install|i|add|ci", &[Writes(super::page::Which::Value("--prefix"))]),
            sub("global add|remove|upgrade|update", GLOBAL).without("--prefix"),
            sub("publish|unpublish|deprecate", RELEASE),
            sub("npm publish", RELEASE),
            sub("dist-tag add|rm", RELEASE),
            sub("owner add|rm", RELEASE),
        ])
        .runs(Runs::Own(Own::Package))
        .examples(
            &["npm install -g typescript", "npm publish", "yarn global add x", "npm exec -c 'rm -rf /'", "npm publish help", "pnpm dlx rimraf /", "npm install --prefix /usr x"],
            &["npm install", "npm publish --dry-run", "npm help install", "npm cache clean --force", "npm run build"],
        ),
    page(&["npx", "bunx", "pnpx"], "Runs a program of a package.")
        .values("-p --package -c --call")
        .runs(Runs::Own(Own::Package))
        .examples(&["npx rimraf /", "npx -c 'rm -rf /'", "npx -y rimraf@5 /"], &["npx tsc", "npx rimraf dist"]),
    page(&["gem", "cpan", "cpanm"], "Packages of Ruby and Perl.")
        .help("help --help --version -h")
        .cases(&[sub("uninstall", GLOBAL), sub("push|yank|owner", RELEASE)])
        .examples(&["gem uninstall x", "gem push x.gem"], &["gem list", "gem install x"]),
    page(&["pip", "pip3", "pipx"], "Packages of Python.")
        .values("-r -c -e -i -t --requirement --constraint --index-url --target --prefix --root")
        .dry_run("--dry-run")
        .help("help --help --version -h")
        .cases(&[with("--break-system-packages", PACKAGES), sub("install", &[Writes(super::page::Which::Value("-t --target --root"))])])
        .examples(&["pip install --break-system-packages x", "pip install -t /usr/lib/python3 x"], &["pip install x", "pip cache purge", "pip install -r requirements.txt"]),
    page(&["docker", "podman", "nerdctl"], "Containers.")
        .values("-H -c -l --host --context --log-level --config")
        .within(&[("compose", "-f -p --file --project-name --profile --env-file"), ("build", "-f -t --file --tag")])
        .dry_run("--dry-run")
        .help("help --help --version")
        .cases(&[
            sub("system|volume|image|container|network|builder|buildx prune", &[Concerns(Infrastructure)]),
            sub("volume|network|context|stack|service|swarm|secret|config rm|remove|leave", &[Concerns(Infrastructure)]),
            sub("system reset", &[Concerns(Infrastructure)]),
            sub("rm", &[Concerns(Infrastructure)]).with("-f --force -v --volumes"),
            sub("container rm|remove", &[Concerns(Infrastructure)]).with("-f --force -v --volumes"),
            sub("rmi", &[Concerns(Infrastructure)]).with("-f --force"),
            sub("image rm|remove", &[Concerns(Infrastructure)]).with("-f --force"),
            sub("compose", &[Concerns(Infrastructure)]).with("down").and("-v --volumes --rmi"),
            sub("compose", &[Concerns(Infrastructure)]).with("rm").and("-v -f --force --volumes"),
            sub("stop|kill|restart …", &[Concerns(Infrastructure)]),
            sub("cp", &[Writes(super::page::Which::LastHere)]),
            sub("container cp", &[Writes(super::page::Which::LastHere)]),
            sub("save|export", &[Writes(super::page::Which::Value("-o --output"))]),
            sub("ps|images|logs|inspect|info|version", &[Concerns(Looks)]),
        ])
        .runs(Runs::Own(Own::Container))
        .examples(
            &["docker system prune -af", "docker rm -f db", "docker compose -f x.yml down -v", "docker cp c:/x /etc/x", "docker run -v /:/host x rm -rf /host", "docker volume rm x help"],
            &["docker ps", "docker compose down", "docker cp c:/x .", "docker run --rm x rm -rf /tmp/x", "docker build -f x ."],
        ),
    page(&["docker-compose", "podman-compose"], "Several containers together.")
        .values("-f -p --file --project-name --profile --env-file")
        .dry_run("--dry-run")
        .help("help --help --version -h")
        .cases(&[sub("down", &[Concerns(Infrastructure)]).with("-v --volumes --rmi"), sub("rm", &[Concerns(Infrastructure)]).with("-v -f --force")])
        .runs(Runs::Own(Own::Compose))
        .examples(&["docker-compose down -v", "docker-compose -f x.yml down --volumes"], &["docker-compose up -d", "docker-compose down"]),
    page(&["alternatives", "update-ca-certificates", "update-ca-trust"], "Settings of packages.")
        .dry_run("--list --display -n")
        .cases(&[always(PACKAGES)])
        .examples(&["update-ca-certificates", "alternatives --set java x"], &["alternatives --list"]),
];
