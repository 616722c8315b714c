use super::{Problem, Rule, about, rule};
use crate::analysis::Found;
use crate::text::Text;
use crate::world::World;

rule! {
    /// Changes to the running machine: power, services, packages, timers, the firewall, mounts.
    ///
    /// ## Why
    /// They touch everybody who uses the machine, and outlive the task.
    ///
    /// ## Example
    /// `shutdown -h now`, `systemctl stop nginx`, `apt-get install jq`, `crontab -r`, `iptables -F`, `npm install -g typescript`
    ///
    /// ## Instead
    /// Install into the project or a virtual environment, and run services of your own on other ports.
    ChangesSystem, "changes-system", Ask
}

impl Rule for ChangesSystem {
    about!(Help, Container);

    fn check(&self, found: &Found, _: &World) -> Option<Problem> {
        let what = changed(found)?;
        let help =
            "do it inside the project (a virtual environment, a local install, another port), or ask for it";
        Some(Problem::ask(format!("`{}` changes {what}", found.program), help))
    }
}

/// The flags with which a program does nothing but tell what it would do.
fn pretends(program: &str) -> &'static [&'static str] {
    match program {
        "apt" | "apt-get" | "aptitude" | "apk" => {
            &["-s", "--simulate", "--dry-run", "--just-print", "--no-act", "--recon"]
        }
        "dpkg" => &["--simulate", "--dry-run", "--no-act"],
        "zypper" => &["-D", "--dry-run"],
        "dnf" | "yum" | "microdnf" => &["--assumeno"],
        "rpm" => &["--test"],
        "pacman" | "yay" | "paru" => &["-p", "--print"],
        "brew" | "npm" | "pnpm" | "pip" | "pip3" | "systemctl" | "modprobe" | "ufw" => &["--dry-run"],
        "nft" => &["-c", "--check"],
        _ => &[],
    }
}

/// What the machine is told over D-Bus to end.
const POWER: [&str; 7] = ["PowerOff", "Reboot", "Halt", "Suspend", "Hibernate", "KExec", "HybridSleep"];

#[expect(clippy::too_many_lines, reason = "a table, one program after the other")]
fn changed(found: &Found) -> Option<&'static str> {
    let arguments: Vec<&str> = found.arguments.iter().filter_map(Text::value).collect();
    let has = |words: &[&str]| arguments.iter().any(|argument| words.contains(argument));
    let only_shows = matches!(arguments[..], ["--help" | "--version" | "-V" | "-h"]);
    if only_shows || has(pretends(&found.program)) {
        return None;
    }
    let verb = arguments.iter().find(|argument| !argument.starts_with('-')).copied().unwrap_or_default();
    let one_of = |verbs: &[&str]| verbs.contains(&verb);
    match found.program.as_str() {
        "shutdown" | "reboot" | "poweroff" | "halt" | "init" | "telinit" | "kexec" => {
            Some("whether the machine runs")
        }
        "rtcwake" => (!has(&["show", "disable", "no", "on"])).then_some("whether the machine runs"),
        "dbus-send" | "busctl" | "gdbus" => arguments
            .iter()
            .any(|argument| POWER.iter().any(|method| argument.ends_with(method)))
            .then_some("whether the machine runs"),
        "systemctl" | "initctl" => (!one_of(&[
            "", "status", "show", "is-active", "is-enabled", "is-failed", "is-system-running", "cat", "help",
            "get-default", "show-environment",
        ]) && !verb.starts_with("list-")
            && (!has(&["--user"]) || one_of(&["stop", "disable", "mask", "kill"]))
            || one_of(&["reboot", "poweroff", "halt"]))
        .then_some("services of the machine"),
        "service" => (arguments.len() > 1 && !has(&["status"])).then_some("services of the machine"),
        "launchctl" => (!one_of(&["", "list", "print"])).then_some("services of the machine"),
        "crontab" => (!has(&["-l"]) && !has(&["--help"])).then_some("what runs at set times"),
        "at" | "batch" => (!has(&["-l", "-V", "-c"])).then_some("what runs at set times"),
        "iptables" | "ip6tables" | "nft" | "ufw" | "firewall-cmd" | "pfctl" => (!arguments
            .iter()
            .any(|flag| flag.starts_with('-') && !flag.starts_with("--") && flag.contains('L'))
            && !has(&["-L", "-S", "--list", "status", "list", "--list-all", "-V", "--version"]))
        .then_some("the firewall"),
        "mount" => (!arguments.is_empty() && !has(&["-l", "-V", "--help"])).then_some("mounts"),
        "umount" | "swapoff" | "swapon" | "losetup" => {
            (!arguments.is_empty() && !has(&["--show", "-s", "-a"])).then_some("mounts")
        }
        "apt" | "apt-get" | "aptitude" => one_of(&[
            "install", "remove", "purge", "autoremove", "upgrade", "dist-upgrade", "full-upgrade", "update",
            "build-dep", "reinstall",
        ])
        .then_some("packages of the machine"),
        "dpkg" => {
            has(&["-i", "-r", "-P", "--install", "--remove", "--purge"]).then_some("packages of the machine")
        }
        "yum" | "dnf" | "zypper" | "apk" | "microdnf" | "pkg" | "port" | "snap" | "flatpak" => one_of(&[
            "install", "remove", "erase", "upgrade", "update", "add", "del", "delete", "autoremove",
            "downgrade", "rm",
        ])
        .then_some("packages of the machine"),
        "pacman" | "yay" | "paru" => arguments
            .iter()
            .any(|argument| {
                argument.starts_with("-S") && !argument.starts_with("-Ss")
                    || argument.starts_with("-R")
                    || argument.starts_with("-U")
            })
            .then_some("packages of the machine"),
        "rpm" => has(&["-i", "-e", "-U", "-ivh", "-Uvh", "--erase"]).then_some("packages of the machine"),
        "brew" => one_of(&["install", "uninstall", "remove", "upgrade", "reinstall", "services"])
            .then_some("packages of the machine"),
        "npm" | "pnpm" | "yarn" | "bun" => {
            (!arguments.iter().any(|argument| argument.starts_with("--prefix"))
                && has(&["-g", "--global", "global", "--location=global"])
                && has(&["install", "i", "add", "uninstall", "remove", "rm", "update", "link"]))
            .then_some("programs of every project")
        }
        "gem" | "cpan" | "cpanm" => one_of(&["uninstall"]).then_some("programs of every project"),
        "pip" | "pip3" => has(&["--break-system-packages"]).then_some("packages of the machine"),
        "modprobe" | "insmod" | "rmmod" | "sysctl" => {
            let reads = found.program == "sysctl"
                && !arguments
                    .iter()
                    .any(|argument| *argument == "-w" || argument.contains('=') || *argument == "-p");
            (!reads && !has(&["-n", "--show-depends"])).then_some("the kernel")
        }
        "history" => has(&["-c", "-w"]).then_some("the history of the shell"),
        "timedatectl" | "hostnamectl" | "localectl" | "nmcli" => arguments
            .iter()
            .any(|argument| {
                argument.starts_with("set") || matches!(*argument, "down" | "delete" | "modify" | "off")
            })
            .then_some("settings of the machine"),
        "ip" | "ifconfig" | "route" => {
            has(&["add", "del", "delete", "set", "flush", "down", "up"]).then_some("the network")
        }
        "setenforce"
        | "update-grub"
        | "grub-install"
        | "efibootmgr"
        | "dpkg-reconfigure"
        | "update-alternatives"
        | "ldconfig"
        | "depmod"
        | "mkinitcpio"
        | "update-initramfs" => Some("settings of the machine"),
        "journalctl" => arguments
            .iter()
            .any(|argument| argument.starts_with("--vacuum") || argument.starts_with("--rotate"))
            .then_some("the logs of the machine"),
        "date" => has(&["-s", "--set"]).then_some("the clock"),
        _ => None,
    }
}
