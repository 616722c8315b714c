//! Programs that pack files together and unpack them.

use super::page::Deed::{DeletesTree, Writes};
use super::page::Which::{After, All, By, First, Fixed, From, Last, Only, Value};
use super::page::{Page, Style, always, page, sub, with, without};
use super::select;

const TAR_VALUES: &str = "-f -C -X -T -b -I -K -N -L -F -g -V -H --file --directory --exclude --exclude-from --files-from --transform --use-compress-program --owner --group --mode --mtime --format --one-top-level --strip-components --to-command";

pub(super) const PAGES: &[Page] = &[
    page(&["tar", "bsdtar", "gtar"], "Packs directories into one file, and unpacks them.")
        .style(Style::FirstCluster)
        .values(TAR_VALUES)
        .cases(&[
            with("--remove-files", &[DeletesTree(All)]),
            with("-x --extract --get", &[Writes(By(select::unpacked_by_tar))])
                .without("-t --list -O --to-stdout"),
            with("-c -r -u --create --append --update", &[Writes(Value("-f --file"))]),
        ])
        .code("--to-command --use-compress-program --rsh-command --info-script")
        .examples(
            &[
                "tar xf a.tar -C /etc", "tar -xPf a.tar", "tar cf /etc/x.tar a",
                "tar -cf x.tar --remove-files /",
            ],
            &["tar xf a.tar", "tar tf a.tar -C /etc", "tar czf - /etc/hosts", "tar czf x.tgz src"],
        ),
    page(&["unzip"], "Unpacks files.")
        .values("-d -x -P")
        .cases(&[
            without("-l -t -v -Z -p", &[Writes(Value("-d"))]),
            without("-d -l -t -v -Z -p", &[Writes(Fixed("."))]),
        ])
        .examples(
            &["unzip a.zip -d /etc", "cd /etc && unzip /tmp/a.zip"],
            &["unzip a.zip", "unzip -l a.zip -d /etc"],
        ),
    page(&["zip"], "Packs files together.")
        .values("-b -n -P -t")
        .cases(&[always(&[Writes(First)]), with("-m --move", &[DeletesTree(From(1))])])
        .code("-TT --unzip-command")
        .examples(
            &["zip -rm x.zip /etc", "zip /etc/x.zip a", "zip -r --move x.zip ~"],
            &["zip -r x.zip src", "zip - a"],
        ),
    page(&["7z", "7za", "7zz", "unrar", "rar"], "Packs and unpacks files.")
        .style(Style::Words)
        .cases(&[
            sub("x|e", &[Writes(After(&["-o"]))]),
            sub("a|u", &[Writes(First)]),
            sub("a|u|m|mf", &[DeletesTree(From(1))]).with("-sdel -df"),
            sub("x|e", &[Writes(Only(1))]),
        ])
        .examples(&["7z x a.7z -o/etc", "7z a x.7z / -sdel"], &["7z x a.7z", "7z l a.7z", "7z a x.7z src"]),
    page(&["cpio"], "Packs and unpacks files, or copies them through.")
        .values("-D -F -E -H -I -O -R -C --directory --file --format --owner")
        .cases(&[
            with("-p --pass-through", &[Writes(Last)]),
            with("-i --extract -p", &[Writes(Value("-D --directory"))]),
            with("-i --extract", &[Writes(Fixed("."))]).without("-D --directory -t --list --to-stdout"),
            with("-o --create", &[Writes(Value("-O -F --file"))]),
        ])
        .examples(
            &["cpio -pdm /etc", "cpio -i -D /etc", "cd /etc && cpio -id"],
            &["cpio -idm", "cpio -t", "cpio -pdm copy"],
        ),
    page(&["ar", "gar"], "Packs object files together.")
        .style(Style::FirstCluster)
        .cases(&[with("-r -q -d -m -s", &[Writes(First)])])
        .examples(&["ar rcs /usr/lib/libx.a x.o"], &["ar rcs libx.a x.o", "ar t /usr/lib/libx.a"]),
    page(&["dpkg-deb"], "Packs and unpacks Debian packages.")
        .style(Style::Words)
        .cases(&[with("-x -X --extract --vextract -R --raw-extract", &[Writes(Last)])])
        .examples(
            &["dpkg-deb -x a.deb /", "dpkg-deb -x a.deb /etc"],
            &["dpkg-deb -x a.deb out", "dpkg-deb -c a.deb"],
        ),
    page(&["unsquashfs"], "Unpacks file systems.")
        .style(Style::Words)
        .values("-d -dest -da -fr -p -e -ef")
        .dry_run("-l -ll -ls -lls -s -stat -help -v -version")
        .cases(&[always(&[Writes(Value("-d -dest"))])])
        .examples(&["unsquashfs -d /etc x.sqfs"], &["unsquashfs -d out x.sqfs"]),
    page(&["qemu-img"], "Makes and changes disk images.")
        .style(Style::Words)
        .values("-f -O -o -b -F -l -S -t -T -m -n -s -q")
        .reads("info check compare map measure")
        .cases(&[
            sub("dd", &[Writes(After(&["of="]))]),
            sub("create", &[Writes(First)]),
            sub("convert|rebase|commit|snapshot|amend", &[Writes(Last)]),
            sub("resize", &[Writes(First)]),
        ])
        .examples(
            &[
                "qemu-img dd if=a of=/dev/sda", "qemu-img convert a.qcow2 /dev/sda",
                "qemu-img create -f raw /dev/sda 1G",
            ],
            &["qemu-img create -f qcow2 disk.img 10G", "qemu-img info /dev/sda"],
        ),
];
