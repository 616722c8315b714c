//! Accounts of the machine.

use super::page::Concern::{Accounts, RemovesAccount};
use super::page::Deed::Concerns;
use super::page::{Deed, Page, always, page, sub, with};

const CHANGES: &[Deed] = &[Concerns(Accounts)];
const REMOVES: &[Deed] = &[Concerns(RemovesAccount)];
const LOCKING: &str = "-l --lock -L -d --delete -e --expire -E --expiredate -s --shell";

pub(super) const PAGES: &[Page] = &[
    page(&["userdel", "deluser"], "Deletes accounts.")
        .cases(&[always(REMOVES)])
        .examples(&["userdel -r bob", "deluser root"], &["userdel --help"]),
    page(
        &[
            "groupdel", "delgroup", "useradd", "adduser", "groupadd", "addgroup", "chpasswd", "vipw", "vigr",
            "newusers", "gpasswd", "dscl",
        ],
        "Makes and changes accounts and groups.",
    )
    .cases(&[always(CHANGES)])
    .examples(&["useradd bob", "groupdel staff"], &["useradd --help"]),
    page(&["visudo"], "Who may act as root.")
        .dry_run("-c --check")
        .cases(&[always(CHANGES)])
        .examples(&["visudo", "visudo -f x"], &["visudo -c"]),
    page(&["usermod", "groupmod"], "Changes accounts and groups.")
        .cases(&[always(CHANGES), with(LOCKING, REMOVES)])
        .examples(&["usermod -aG docker bob", "usermod -L root"], &["usermod --help"]),
    page(&["chage", "chsh", "chfn"], "Changes accounts.")
        .dry_run("-l --list")
        .cases(&[sub("*", CHANGES), with("-s --shell -e --expiredate -E", CHANGES), with(LOCKING, REMOVES)])
        .examples(&["chsh -s /bin/false root", "chage -E 0 bob"], &["chage -l bob", "chsh -l"]),
    page(&["passwd"], "Changes passwords.")
        .dry_run("-S --status")
        .cases(&[always(CHANGES), with(LOCKING, REMOVES)])
        .examples(&["passwd -l root", "passwd bob"], &["passwd -S bob"]),
];
