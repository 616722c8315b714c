//! Programs that copy, move or link files, here and to other machines.

use super::page::Concern::Contents;
use super::page::Deed::{Concerns, Copies, DeletesTree, Mirrors, Moves, Writes};
use super::page::Which::{By, LastHere, Value};
use super::page::{Page, Talks, always, page, with};
use super::select;

const TO_DIRECTORY: &str = "-t -S --target-directory --suffix";

pub(super) const PAGES: &[Page] = &[
    page(&["mv", "gmv"], "Moves files.")
        .values(TO_DIRECTORY)
        .cases(&[always(&[Moves(By(select::sources)), Copies(By(select::sources), By(select::destinations))])])
        .examples(
            &["mv / x", "mv notes.txt /dev/null", "mv -t /etc a", "mv a /etc/passwd", "mv -T a /etc/x"],
            &["mv a b", "mv *.txt notes/", "find . -name '*.a' | xargs -I{} mv {} {}.txt"],
        ),
    page(&["cp", "gcp", "ln", "gln", "link", "ditto"], "Copies or links files.")
        .values(TO_DIRECTORY)
        .cases(&[always(&[Copies(By(select::sources), By(select::destinations))])])
        .examples(
            &["cp a /etc/passwd", "cp -P a /etc/x", "ln -sf a /usr/bin/x", "cp --target-directory=/etc a"],
            &["cp /etc/hosts .", "ln -s /etc/hosts", "cp -r a b"],
        ),
    page(&["install", "ginstall"], "Copies files and sets who may do what with them.")
        .values("-g -m -o -S -t --group --mode --owner --suffix --target-directory --strip-program")
        .cases(&[always(&[Copies(By(select::sources), By(select::destinations))])])
        .examples(&["install -m 755 x /usr/bin/x", "install -d /etc/x"], &["install -m 755 x build/x"]),
    page(&["scp"], "Copies files to and from other machines.")
        .values("-c -D -F -i -J -l -o -P -S -X")
        .cases(&[always(&[Writes(LastHere)])])
        .talks(Talks::Colon)
        .code("-S")
        .examples(&["scp host:x /etc/passwd"], &["scp host:x .", "scp -P 22 x host:/etc/x"]),
    page(&["rsync"], "Makes one directory like another, here or on other machines.")
        .values(
            "-e -f -B -T -M -@ --rsh --exclude --exclude-from --include --include-from --files-from --filter --log-file --temp-dir --backup-dir --partial-dir --compare-dest --copy-dest --link-dest --suffix --chmod --chown --port --timeout --bwlimit --max-size --min-size --rsync-path --password-file --out-format --info",
        )
        .dry_run("-n --dry-run")
        .cases(&[
            always(&[Copies(By(select::sources_here), LastHere), Writes(Value("--log-file --write-batch"))]),
            with("--remove-source-files --remove-sent-files", &[DeletesTree(By(select::sources_here))]),
            with("--del*", &[
                Mirrors(LastHere),
                Concerns(Contents(
                    "`rsync --delete` removes what the source does not have",
                    "look first with `--dry-run`, or leave `--delete` away",
                )),
            ]),
        ])
        .talks(Talks::Colon)
        .code("-e --rsh")
        .examples(
            &["rsync -a --delete empty/ /", "rsync -a x /etc/", "rsync -a --delete dist/ host:/var/www", "rsync -a x /etc -e n"],
            &["rsync -a src/ copy/", "rsync -an --delete src/ backup/", "rsync -a src/ host:dst"],
        ),
];
