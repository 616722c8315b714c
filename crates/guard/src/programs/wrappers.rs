//! Programs that start another program with words of theirs.

use super::page::Deed::Writes;
use super::page::Runs::{After, Own as InItsWay, Rest};
use super::page::Which::{First, Value};
use super::page::{Own, Page, Style, always, page, start};

pub(super) const PAGES: &[Page] = &[
    page(&["sudo"], "Runs a command as another user.")
        .values("-u -g -p -h -r -t -C -D -R -T -U --user --group --prompt --host --role --type --chdir --chroot --close-from --other-user --command-timeout")
        .dry_run("-l --list -v --validate -K --remove-timestamp -V --version --help")
        .help("--help")
        .enters("-D --chdir")
        .runs(Rest(start(0).sets().elevates()))
        .examples(&["sudo rm -rf /", "sudo -u root -- rm -rf /", "sudo A=b rm -rf /", "sudo -s <<< 'rm -rf /'", "sudo -i rm -rf /"], &["sudo -l", "sudo ls /root", "sudo -V"]),
    page(&["doas", "pkexec", "sudo-rs", "run0"], "Runs a command as another user.")
        .values("-u -C -D --user --group --chdir --setenv --unit --property")
        .enters("-D --chdir")
        .runs(Rest(start(0).elevates()))
        .examples(&["doas rm -rf /", "run0 rm -rf /"], &["doas ls", "pkexec --version"]),
    page(&["runuser"], "Runs a command as another user.")
        .values("-u -g -G -s -w --user --group --shell")
        .runs(Rest(start(0).elevates()))
        .examples(&["runuser -u root rm -rf /"], &["runuser --help"]),
    page(&["env", "genv"], "Runs a command with other variables.")
        .values("-u -C --unset --chdir")
        .enters("-C --chdir")
        .runs(Rest(start(0).sets()))
        .examples(&["env A=b rm -rf /", "env -C / rm -rf x/../etc", "env -S 'rm -rf /'", "env -S 'bash -c \"rm -rf /\"'"], &["env A=b ls", "env -u A make"]),
    page(&["timeout", "gtimeout"], "Runs a command for so long.")
        .values("-k -s --kill-after --signal")
        .runs(Rest(start(1)))
        .examples(&["timeout 5 rm -rf /", "timeout -k 1 5 rm -rf /"], &["timeout 5 make test"]),
    page(&["nice", "gnice"], "Runs a command with less of the machine.")
        .values("-n --adjustment")
        .runs(Rest(start(0)))
        .examples(&["nice rm -rf /", "nice -n 5 rm -rf /"], &["nice -n 5 make"]),
    page(&["ionice"], "Runs a command with less of the disks.")
        .values("-c -n -p -P -u --class --classdata --pid")
        .runs(Rest(start(0)))
        .examples(&["ionice -c 3 rm -rf /"], &["ionice -c 3 make"]),
    page(&["stdbuf", "gstdbuf"], "Runs a command with other buffers.")
        .values("-i -o -e --input --output --error")
        .runs(Rest(start(0)))
        .examples(&["stdbuf -oL rm -rf /"], &["stdbuf -oL make"]),
    page(&["time", "gtime"], "Runs a command and says how long it took.")
        .values("-f -o --format --output")
        .cases(&[always(&[Writes(Value("-o --output"))])])
        .runs(Rest(start(0)))
        .examples(&["/usr/bin/time -o /etc/x ls", "time rm -rf /"], &["time make", "/usr/bin/time -v -o t.txt make"]),
    page(&["strace", "ltrace"], "Runs a command and records what it asks of the system.")
        .values("-o -e -E -p -P -s -u -I -S -a -X -O -b -n -l -x --output --trace --expr --attach --trace-path --env --user --string-limit")
        .cases(&[always(&[Writes(Value("-o --output"))])])
        .runs(Rest(start(0)))
        .examples(&["strace -o /etc/passwd ls", "strace -f rm -rf /"], &["strace -f -o t.txt ls"]),
    page(&["nsenter"], "Runs a command in the rooms of another process.")
        .values("-t -S -G --target --setuid --setgid --map-user --map-group")
        .enters("--wd -w")
        .runs(Rest(start(0).leaves()))
        .examples(&["nsenter -t 1 -m rm -rf /"], &["nsenter --help"]),
    page(&["unshare"], "Runs a command in rooms of its own.")
        .values("-S -G -R -w --setuid --setgid --root --wd --map-user --map-group --propagation")
        .runs(Rest(start(0)))
        .examples(&["unshare -r rm -rf /"], &["unshare -n make"]),
    page(&["chroot"], "Runs a command below another root.")
        .values("--userspec --groups")
        .runs(Rest(start(1).leaves()))
        .examples(&["chroot /mnt rm -rf /"], &["chroot --help"]),
    page(&["systemd-run"], "Runs a command as a service.")
        .values("-p -M -u -H -E --unit --property --description --slice --uid --gid --setenv --on-active --on-calendar --on-boot --nice --working-directory --service-type --machine --host")
        .enters("--working-directory")
        .runs(Rest(start(0)))
        .examples(&["systemd-run --user rm -rf /", "systemd-run --unit x rm -rf /"], &["systemd-run --version"]),
    page(&["nohup", "setsid", "builtin", "unbuffer", "chronic", "busybox", "toybox", "noglob", "nocorrect"], "Runs a command.")
        .runs(Rest(start(0)))
        .examples(&["nohup rm -rf /", "busybox rm -rf /"], &["nohup make", "busybox ls"]),
    page(&["command", "exec"], "Runs a command without functions or aliases, or in place of the shell.")
        .values("-a")
        .dry_run("-v -V")
        .help("")
        .runs(Rest(start(0)))
        .examples(&["command rm -rf /", "exec -a x rm -rf /", "command -p rm -rf /"], &["command -v rm", "exec make"]),
    page(&["catchsegv", "eatmydata", "fakeroot", "dbus-run-session", "torsocks", "shx", "entr", "ts", "linux32", "linux64", "i386", "x86_64", "firejail", "valgrind", "numactl", "setarch", "setpriv", "tini", "dumb-init", "proot", "fakechroot", "heaptrack", "nq", "tsp", "watchexec", "env-cmd", "catatonit", "pidproxy"], "Runs a command.")
        .runs(Rest(start(0)))
        .examples(&["fakeroot rm -rf /", "setpriv --no-new-privs rm -rf /"], &["fakeroot make"]),
    page(&["caffeinate"], "Keeps the machine awake for a command.")
        .values("-t -w")
        .runs(Rest(start(0)))
        .examples(&["caffeinate -i rm -rf /"], &["caffeinate -t 5 make"]),
    page(&["choom"], "Runs a command that is ended first or last.")
        .values("-n -p --adjust --pid")
        .runs(Rest(start(0)))
        .examples(&["choom -n 500 -- rm -rf /"], &["choom -p 1"]),
    page(&["systemd-cat"], "Runs a command and logs what it prints.")
        .values("-t -p --identifier --priority --stderr-priority")
        .runs(Rest(start(0)))
        .examples(&["systemd-cat -t x rm -rf /"], &["systemd-cat make"]),
    page(&["sem"], "Runs a command beside others.")
        .values("-j --jobs --id")
        .runs(Rest(start(0)))
        .examples(&["sem -j 2 rm -rf /"], &["sem make"]),
    page(&["xvfb-run"], "Runs a command with a screen of its own.")
        .values("-n -e -f -p -s -w --server-num --server-args --error-file --auth-file")
        .cases(&[always(&[Writes(Value("-e --error-file"))])])
        .runs(Rest(start(0)))
        .examples(&["xvfb-run -a rm -rf /", "xvfb-run -e /etc/x make"], &["xvfb-run make test"]),
    page(&["proxychains", "proxychains4"], "Runs a command through a proxy.")
        .values("-f")
        .runs(Rest(start(0)))
        .examples(&["proxychains rm -rf /"], &["proxychains4 -q make"]),
    page(&["cpulimit"], "Runs a command with less of the processor.")
        .values("-l -p -e --limit --pid --exe")
        .runs(Rest(start(0)))
        .examples(&["cpulimit -l 50 rm -rf /"], &["cpulimit -l 50 make"]),
    page(&["prlimit"], "Runs a command with limits.")
        .values("-p --pid -o --output")
        .runs(Rest(start(0)))
        .examples(&["prlimit --nproc=5 rm -rf /"], &["prlimit --pid 1"]),
    page(&["dotenv", "onchange", "trickle", "softlimit", "chpst", "cgexec", "retry", "daemonize", "flatpak-spawn"], "Runs a command.")
        .values("-g -u -f -d -o -e -n -m -l -r -t -p")
        .runs(Rest(start(0)))
        .examples(&["chpst -u dev rm -rf /", "dotenv rm -rf /"], &["retry -n 3 make"]),
    page(&["gosu", "su-exec", "setuidgid", "s6-setuidgid"], "Runs a command as another user.")
        .runs(Rest(start(1).elevates()))
        .examples(&["gosu root rm -rf /"], &["gosu --version"]),
    page(&["rr", "toolbox", "distrobox-enter"], "Runs a command after a word.")
        .values("-e -o -F -p -n --output --event")
        .runs(Rest(start(1)))
        .examples(&["rr record rm -rf /"], &["rr record make"]),
    page(&["perf"], "Runs a command and measures it.")
        .values("-e -o -F -p -n -C -c -t --output --event --freq --pid")
        .cases(&[always(&[Writes(Value("-o --output"))])])
        .runs(After("record stat trace", 0))
        .examples(&["perf record rm -rf /", "perf record -o /etc/x ls"], &["perf stat make", "perf report"]),
    page(&["sshpass"], "Gives a password to a command.")
        .values("-p -f -d -P -e")
        .runs(Rest(start(0)))
        .examples(&["sshpass -p x ssh host rm -rf /"], &["sshpass -p x ssh host ls"]),
    page(&["faketime", "taskset", "chrt"], "Runs a command after a word.")
        .runs(Rest(start(1)))
        .examples(&["taskset 1 rm -rf /", "faketime yesterday rm -rf /"], &["taskset 1 make"]),
    page(&["ld.so", "ld-linux.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld-musl-x86_64.so.1"], "Starts programs.")
        .values("--library-path --preload --argv0")
        .runs(Rest(start(0)))
        .examples(&["/lib64/ld-linux-x86-64.so.2 /bin/rm -rf /"], &["/lib64/ld-linux-x86-64.so.2 /bin/ls"]),
    page(&["cross-env", "cross-env-shell"], "Runs a command with other variables.")
        .runs(Rest(start(0).sets()))
        .examples(&["cross-env A=b rm -rf /"], &["cross-env NODE_ENV=test jest"]),
    page(&["op", "doppler", "infisical", "dotenvx"], "Runs a command with secrets.")
        .values("--env-file -f --project --config --env")
        .runs(Rest(start(1).verb("run")))
        .examples(&["op run -- rm -rf /", "dotenvx run -- rm -rf /"], &["op vault list", "doppler run -- make"]),
    page(&["direnv", "aws-vault", "chamber"], "Runs a command with the variables of a place.")
        .runs(Rest(start(2).verb("exec")))
        .examples(&["direnv exec . rm -rf /", "aws-vault exec dev -- rm -rf /"], &["direnv allow", "chamber exec x -- make"]),
    page(&["pyenv", "rbenv", "nodenv", "jenv", "goenv", "bundle", "mise", "asdf"], "Runs a command with chosen versions.")
        .values("-n -p --with --name --python")
        .runs(After("exec x", 0))
        .examples(&["pyenv exec rm -rf /", "bundle exec rm -rf /", "mise x -- rm -rf /"], &["bundle install", "mise exec -- make"]),
    page(&["pipenv", "rye", "conda", "mamba", "micromamba", "pixi", "nx", "volta", "fnm", "devbox", "dagger"], "Runs a command with chosen packages.")
        .values("-n -p --with --name --python -e --environment")
        .runs(After("run exec", 0))
        .examples(&["pixi run rm -rf /", "conda run -n x rm -rf /", "pipenv run rm -rf /"], &["conda list", "pixi run test"]),
    page(&["uvx"], "Runs a program of a package.")
        .values("--with --from -p --python")
        .runs(Rest(start(0)))
        .examples(&["uvx rm -rf /"], &["uvx ruff check"]),
    page(&["apptainer", "singularity"], "Runs a command in an image.")
        .values("-B --bind -H --home --env --pwd")
        .runs(After("exec", 1))
        .examples(&["apptainer exec x.sif rm -rf /home"], &["apptainer pull x"]),
    page(&["xargs", "gxargs"], "Runs a command with the words that it reads.")
        .values("-I -J -a -n -P -L -s -d -E --max-args --max-procs --delimiter --arg-file --replace --max-lines --max-chars --eof")
        .runs(InItsWay(Own::Xargs))
        .examples(&["echo / | xargs rm -rf", "echo / | xargs -I{} rm -rf {}", "xargs -n 1 rm -rf / < x"], &["ls | xargs wc -l", "find . -name x | xargs -I{} mv {} {}.txt"]),
    page(&["parallel", "rush"], "Runs a command with each of many words.")
        .runs(InItsWay(Own::Parallel))
        .examples(&["parallel rm -rf ::: /"], &["parallel gzip ::: a b"]),
    page(&["su", "sg"], "Runs a command as another user.")
        .values("-c --command -s --shell -g -G --group")
        .runs(InItsWay(Own::Su))
        .examples(&["su -c 'rm -rf /'", "su root --command='rm -rf /'", "su - <<< 'rm -rf /'"], &["su --help"]),
    page(&["bwrap"], "Runs a command in a room.")
        .runs(InItsWay(Own::Bubblewrap))
        .examples(&["bwrap --bind / / rm -rf /"], &["bwrap --ro-bind / / ls"]),
    page(&["start-stop-daemon"], "Starts and stops services.")
        .values("--exec -x --startas -a --name -n --pidfile -p --user -u --chuid -c")
        .runs(InItsWay(Own::Daemon))
        .code("--exec")
        .examples(&["start-stop-daemon --start --exec /bin/rm -- -rf /"], &["start-stop-daemon --version"]),
    page(&["screen"], "Terminals that stay.")
        .runs(InItsWay(Own::Screen))
        .examples(&["screen -dm rm -rf /"], &["screen -ls"]),
    page(&["tmux", "byobu"], "Terminals that stay.")
        .values("-t -s -n -c -F -x -y -e")
        .runs(InItsWay(Own::Tmux))
        .examples(&["tmux new-session -d 'rm -rf /'"], &["tmux ls", "tmux new -d 'make'"]),
    page(&["script"], "Records what a command prints.")
        .values("-c -t -T -I -O -B -E -o -m -F --command --log-in --log-out --log-io --log-timing --timing --output-limit --echo --logging-format")
        .cases(&[always(&[Writes(First), Writes(Value("-I -O -B -T --log-in --log-out --log-io --log-timing"))])])
        .runs(InItsWay(Own::Script))
        .examples(&["script -c 'rm -rf /' x", "script --command='rm -rf /'", "script -qc 'rm -rf /' /dev/null", "script /etc/x"], &["script -c make log", "script -qec 'make test' /dev/null"]),
    page(&["flock"], "Runs a command while it holds a lock.")
        .values("-w -E -c --timeout --wait --conflict-exit-code --command")
        .runs(InItsWay(Own::Flock))
        .examples(&["flock x rm -rf /", "flock x -c 'rm -rf /'", "flock -w 5 x rm -rf /"], &["flock x make"]),
    page(&["gdb", "lldb"], "Looks into a program while it runs.")
        .runs(InItsWay(Own::Marked("--args --")))
        .examples(&["gdb --args rm -rf /"], &["gdb ./a.out"]),
    page(&["nix", "nix-shell", "guix"], "Runs a command with chosen packages.")
        .runs(InItsWay(Own::Marked("-c --command --")))
        .code("--run --command -c")
        .examples(&["nix shell nixpkgs#x -c rm -rf /", "nix-shell -p x --run 'rm -rf /'"], &["nix build", "nix develop -c make"]),
    page(&["logsave"], "Runs a command and keeps what it prints.")
        .style(Style::Words)
        .cases(&[always(&[Writes(First)])])
        .runs(Rest(start(1)))
        .examples(&["logsave /etc/x ls", "logsave x rm -rf /"], &["logsave x make"]),
];
