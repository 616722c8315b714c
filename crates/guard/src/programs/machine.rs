//! Power, the kernel, the network, the clock and processes of the machine.

use super::page::Concern::{Looks, Machine, Processes};
use super::page::Deed::Concerns;
use super::page::{Deed, Page, Runs, always, page, start, sub, with, without};

const POWER: &[Deed] = &[Concerns(Machine("whether the machine runs"))];
const KERNEL: &[Deed] = &[Concerns(Machine("the kernel"))];
const SETTINGS: &[Deed] = &[Concerns(Machine("settings of the machine"))];
const NETWORK: &[Deed] = &[Concerns(Machine("the network"))];
const FIREWALL: &[Deed] = &[Concerns(Machine("the firewall"))];
const MOUNTS: &[Deed] = &[Concerns(Machine("mounts"))];
const LOOKS: &[Deed] = &[Concerns(Looks)];
/// Methods by which the machine is told over D-Bus to end.
const METHODS: &str = "*PowerOff *Reboot *Halt *Suspend *Hibernate *KExec *HybridSleep *SuspendThenHibernate";

pub(super) const PAGES: &[Page] = &[
    page(
        &["shutdown", "reboot", "poweroff", "halt", "init", "telinit", "kexec"],
        "Turns the machine off, or starts it anew.",
    )
    .cases(&[always(POWER)])
    .examples(&["reboot", "shutdown -h now", "init 0"], &["reboot --help"]),
    page(&["rtcwake"], "Puts the machine to sleep until a time.")
        .values("-m -s -t -d -A --mode --seconds --time --date --device --adjfile")
        .dry_run("-n --dry-run -m=show -m=disable -m=no -m=on --mode=show --mode=disable --mode=no --mode=on --list-modes")
        .cases(&[always(POWER)])
        .examples(&["rtcwake -m off -s 10", "rtcwake -m mem -s 10"], &["rtcwake -m show", "rtcwake -m no -s 10"]),
    page(&["dbus-send", "busctl", "gdbus"], "Calls services of the machine.")
        .cases(&[with(METHODS, POWER)])
        .examples(
            &["busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager PowerOff b 1"],
            &["busctl list", "busctl introspect org.freedesktop.login1 /org/freedesktop/login1"],
        ),
    page(&["modprobe"], "Loads and removes parts of the kernel.")
        .dry_run("-n --dry-run --show --show-depends -D -R -c --showconfig")
        .cases(&[always(KERNEL)])
        .examples(&["modprobe -r kvm", "modprobe x"], &["modprobe -n x", "modprobe --show-depends x"]),
    page(&["insmod", "rmmod"], "Loads and removes parts of the kernel.")
        .cases(&[always(KERNEL)])
        .examples(&["rmmod kvm"], &["rmmod --help"]),
    page(&["sysctl"], "Shows and sets switches of the kernel.")
        .values("-r --pattern")
        .cases(&[with("-w --write -p --load --system", KERNEL), with("*=*", KERNEL), with("-f", KERNEL)])
        .examples(&["sysctl -w vm.swappiness=1", "sysctl vm.swappiness=1", "sysctl -p"], &["sysctl -a", "sysctl -n vm.swappiness"]),
    page(&["iptables", "ip6tables", "iptables-legacy", "iptables-nft", "arptables", "ebtables"], "The firewall, rule by rule.")
        .values("-A -I -D -C -s -d -p -j -i -o -t -m --source --destination --protocol --jump --table --dport --sport --state --ctstate --comment")
        .cases(&[with("-A -I -D -F -P -R -X -N -Z -E --append --insert --delete --flush --policy --replace --delete-chain --new-chain --zero", FIREWALL)])
        .examples(&["iptables -F", "iptables -A INPUT -s 10.0.0.0/8 -j DROP", "iptables -P INPUT DROP"], &["iptables -L -n", "iptables -S", "iptables -t nat -L"]),
    page(&["iptables-restore", "ip6tables-restore"], "Sets the firewall anew.")
        .dry_run("-t --test")
        .cases(&[always(FIREWALL)])
        .examples(&["iptables-restore rules.v4"], &["iptables-restore -t rules.v4"]),
    page(&["nft"], "The firewall.")
        .values("-f -I --file --includepath")
        .dry_run("-c --check")
        .reads("list describe monitor")
        .cases(&[sub("*", FIREWALL), with("-f --file", FIREWALL)])
        .examples(&["nft flush ruleset", "nft -f rules"], &["nft list ruleset", "nft -c -f rules"]),
    page(&["ufw"], "The firewall, made simple.")
        .dry_run("--dry-run")
        .reads("status version show")
        .help("help --help --version -h")
        .cases(&[sub("*", FIREWALL)])
        .examples(&["ufw disable", "ufw deny 22"], &["ufw status", "ufw --dry-run enable"]),
    page(&["firewall-cmd"], "The firewall, as a service.")
        .dry_run("--state --list-all --list-all-zones --list-ports --list-services --get-zones --get-active-zones --get-default-zone")
        .cases(&[with("--*", FIREWALL)])
        .examples(&["firewall-cmd --panic-on", "firewall-cmd --add-port=80/tcp"], &["firewall-cmd --list-all", "firewall-cmd --state"]),
    page(&["pfctl"], "The firewall of BSD.")
        .values("-f -s -t -T -F -k -a")
        .cases(&[with("-f -F -d -e -k", FIREWALL)])
        .examples(&["pfctl -d", "pfctl -F all"], &["pfctl -s rules"]),
    page(&["ip"], "Addresses, routes and devices of the network.")
        .values("-f -n -b --family --netns --batch")
        .runs(Runs::Rest(start(3).verb("netns")))
        .cases(&[
            sub("!netns", NETWORK).with("add del delete set flush down up change replace append"),
            sub("netns add|del|delete|set|attach", NETWORK),
        ])
        .examples(&["ip link set eth0 down", "ip route flush table main", "ip netns exec x rm -rf /"], &["ip addr", "ip -br link show", "ip netns list"]),
    page(&["ifconfig", "route"], "Addresses and routes of the network.")
        .cases(&[with("add del delete set flush down up", NETWORK)])
        .examples(&["ifconfig eth0 down", "route del default"], &["ifconfig", "route -n"]),
    page(&["timedatectl", "hostnamectl", "localectl"], "Clock, name and language of the machine.")
        .cases(&[with("set* hostname", SETTINGS)])
        .examples(&["timedatectl set-time 10:00", "hostnamectl set-hostname x"], &["timedatectl status", "hostnamectl"]),
    page(&["nmcli"], "Network connections.")
        .cases(&[with("set* down delete modify off up add connect disconnect", SETTINGS)])
        .examples(&["nmcli radio wifi off", "nmcli con delete x"], &["nmcli device status"]),
    page(&["date"], "Tells and sets the time.")
        .values("-d -s -r -f --date --set --reference --file")
        .cases(&[with("-s --set", &[Concerns(Machine("the clock"))])])
        .examples(&["date -s 10:00", "date --set=10:00"], &["date -d yesterday", "date +%s"]),
    page(&["hwclock"], "The clock of the hardware.")
        .dry_run("--test -r --show")
        .cases(&[with("-w -s --set --hctosys --systohc", &[Concerns(Machine("the clock"))])])
        .examples(&["hwclock --systohc"], &["hwclock --show"]),
    page(&["mount"], "Makes file systems available.")
        .values("-o -t -O -L -U --options --types --source --target")
        .dry_run("-f --fake -V -h -l --show-labels")
        .cases(&[sub("*", MOUNTS), with("-a --all --source", MOUNTS)])
        .examples(&["mount /dev/sdb1 /mnt", "mount -o remount,rw /"], &["mount", "mount -l"]),
    page(&["umount", "swapoff", "swapon"], "Takes file systems or swap away, or adds it.")
        .values("-t -O -o -p")
        .dry_run("-s --summary --show --fake -V")
        .cases(&[sub("*", MOUNTS), with("-a --all", MOUNTS)])
        .examples(&["umount /mnt", "swapoff -a", "swapoff /swap"], &["swapon --show", "swapon -s"]),
    page(&["losetup"], "Makes files look like disks.")
        .values("-o -j -b --offset --sizelimit --associated")
        .cases(&[sub("*", MOUNTS), with("-d -D --detach --detach-all -f --find", MOUNTS)])
        .examples(&["losetup /dev/loop0 x.img", "losetup -D"], &["losetup -a", "losetup --list"]),
    page(
        &[
            "setenforce", "update-grub", "grub-install", "grub2-install", "efibootmgr", "dpkg-reconfigure", "update-alternatives",
            "ldconfig", "depmod", "mkinitcpio", "update-initramfs", "dracut", "grub-mkconfig", "update-rc.d", "chkconfig",
        ],
        "Settings of the machine.",
    )
    .dry_run("--list --display --query --get-selections -p -n --dry-run")
    .cases(&[always(SETTINGS)])
    .examples(&["setenforce 0", "update-grub"], &["update-alternatives --list editor", "ldconfig -p"]),
    page(&["journalctl"], "The logs of the machine.")
        .cases(&[with("--vacuum* --rotate --flush", &[Concerns(Machine("the logs of the machine"))]), without("--vacuum*", LOOKS)])
        .examples(&["journalctl --vacuum-time=1s", "journalctl --rotate"], &["journalctl -u nginx", "sudo journalctl -n 5"]),
    page(&["history"], "The history of the shell.")
        .cases(&[with("-c -w", &[Concerns(Machine("the history of the shell"))])])
        .examples(&["history -c"], &["history", "history 5"]),
    page(&["killall", "pkill", "xkill", "skill", "slay"], "Ends processes by their names.")
        .values("-u -U -G -g -t -P -s -n -o --signal --euid --uid --user --group --older-than --younger-than -y -F --pidfile")
        .dry_run("-l --list -V -0 --signal=0 -s=0")
        .cases(&[always(&[Concerns(Processes)])])
        .examples(&["killall node", "pkill -f python", "killall nginx help"], &["killall -l", "pkill -0 node"]),
    page(&["fuser"], "Processes that use a file or a port.")
        .values("-n -N --namespace")
        .cases(&[with("-k --kill", &[Concerns(Processes)])])
        .examples(&["fuser -k 8080/tcp", "fuser -km /"], &["fuser 8080/tcp", "fuser -v ."]),
    page(
        &[
            "ls", "cat", "head", "tail", "less", "more", "grep", "id", "whoami", "ps", "top", "df", "du", "lsblk", "blkid",
            "lsof", "ss", "netstat", "dmesg", "stat", "file", "which", "lscpu", "lspci", "lsusb", "free", "uptime", "uname",
            "hostname", "true", "echo", "test", "printenv", "getent", "findmnt", "wc",
        ],
        "Only looks.",
    )
    .cases(&[always(LOOKS)])
    .examples(&["sudo cat x > /etc/passwd"], &["sudo ls /root", "sudo lsof -i :80", "sudo dmesg"]),
];
