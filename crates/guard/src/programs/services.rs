//! Services, and what runs at set times.

use super::page::Concern::{Looks, Machine};
use super::page::Deed::Concerns;
use super::page::{Deed, Page, always, page, sub};

const SERVICES: &[Deed] = &[Concerns(Machine("services of the machine"))];
const TIMES: &[Deed] = &[Concerns(Machine("what runs at set times"))];
pub(super) const PAGES: &[Page] = &[
    page(&["systemctl", "initctl"], "Starts and stops services, and the machine itself.")
        .values("-t -p -P -H -M -n -o -s --type --property --host --machine --lines --output --signal --state --kill-whom --kill-who --root --job-mode --what --when")
        .dry_run("--dry-run")
        .help("--help --version -h")
        .cases(&[
            sub("!status|show|is-active|is-enabled|is-failed|is-system-running|cat|get-default|show-environment|list-*|help", SERVICES)
                .without("--user"),
            sub("stop|disable|mask|kill|reboot|poweroff|halt|suspend|hibernate|kexec|exit|isolate", SERVICES),
            sub("status|show|is-active|list-*|cat|is-enabled|is-failed", &[Concerns(Looks)]),
        ])
        .examples(
            &["systemctl stop nginx", "systemctl kill -s KILL nginx", "systemctl stop nginx help", "systemctl --user stop x", "systemctl reboot"],
            &["systemctl status nginx", "systemctl list-automounts", "systemctl --user start x", "systemctl", "sudo systemctl status x"],
        ),
    page(&["service", "rc-service"], "Starts and stops services.")
        .dry_run("--status-all")
        .cases(&[sub("* !status", SERVICES)])
        .examples(&["service nginx restart", "service nginx stop"], &["service nginx status", "service --status-all"]),
    page(&["launchctl"], "Services of macOS.")
        .reads("list print blame dumpstate help version")
        .cases(&[sub("*", SERVICES)])
        .examples(&["launchctl unload x.plist", "launchctl remove x"], &["launchctl list", "launchctl print system"]),
    page(&["loginctl"], "Sessions of users.")
        .cases(&[sub("terminate-*|kill-*|lock-sessions|poweroff|reboot|disable-linger|enable-linger", SERVICES)])
        .examples(&["loginctl terminate-session 3"], &["loginctl list-sessions"]),
    page(&["crontab"], "What runs at set times.")
        .values("-u")
        .dry_run("-l -V")
        .cases(&[always(TIMES)])
        .examples(&["crontab -r", "crontab x"], &["crontab -l", "crontab -u dev -l"]),
    page(&["at", "batch", "atrm"], "What runs at a set time.")
        .values("-q -f -t")
        .dry_run("-l -V -c")
        .cases(&[always(TIMES)])
        .examples(&["at now", "atrm 3"], &["at -l"]),
    page(&["supervisorctl", "pm2", "monit"], "Services of a supervisor.")
        .reads("status list ls logs log tail show describe info version monit summary")
        .cases(&[sub("stop|shutdown|delete|kill|remove|unmonitor", SERVICES).with("all kill shutdown *")])
        .examples(&["supervisorctl stop all", "pm2 delete all", "pm2 kill"], &["pm2 list", "supervisorctl status", "pm2 restart app"]),
];
