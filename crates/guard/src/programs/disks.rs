//! Disks, partitions, volumes and file systems.

use super::page::Concern::{Disk, Infrastructure, MakesFileSystem};
use super::page::Deed::Concerns;
use super::page::{Deed, Page, Style, always, page, sub, with};

const DISK: &[Deed] = &[Concerns(Disk)];

pub(super) const PAGES: &[Page] = &[
    page(&["mkfs.ext2", "mkfs.ext3", "mkfs.ext4", "mke2fs"], "Makes a file system; what was there before is lost.")
        .values("-b -C -d -E -e -g -G -i -I -J -L -m -M -N -o -O -r -t -T -U")
        .dry_run("-V -n")
        .cases(&[sub("*", &[Concerns(MakesFileSystem)])])
        .examples(&["mkfs.ext4 /dev/sdb1", "mkfs.ext4 disk.img", "mkfs.ext4 -L n /dev/sdb1"], &["mkfs.ext4 -V", "mkfs.ext4 -n /dev/sdb1"]),
    page(&["mkfs", "mkfs.*", "newfs", "mkntfs", "mkdosfs"], "Makes a file system; what was there before is lost.")
        .values("-t -L -U --type --label")
        .cases(&[sub("*", &[Concerns(MakesFileSystem)])])
        .examples(
            &["mkfs -t ext4 /dev/sdb1", "mkfs.xfs -f /dev/sdb1", "mkfs.vfat -n DATA /dev/sdb1", "mkfs -V /dev/sdb1", "mkfs -t ext4 -n /dev/sdb1"],
            &["mkfs --help"],
        ),
    page(&["mkswap"], "Makes a swap area; what was there before is lost.")
        .values("-L -U -p --label --uuid --pagesize")
        .cases(&[sub("*", &[Concerns(MakesFileSystem)])])
        .examples(&["mkswap /dev/sdb2"], &["mkswap --help"]),
    page(&["blkdiscard", "cfdisk"], "Empties or divides a disk.")
        .values("-o -l -p --offset --length --step")
        .cases(&[sub("*", DISK)])
        .examples(&["blkdiscard /dev/sda", "cfdisk /dev/sda"], &["blkdiscard --help"]),
    page(&["wipefs"], "Forgets what is on a disk.")
        .values("-o -t -O --offset --types --output")
        .dry_run("-n --no-act")
        .cases(&[with("-a --all -o --offset", DISK)])
        .examples(&["wipefs -a /dev/sda", "wipefs -fa /dev/sda"], &["wipefs /dev/sda", "wipefs -n -a /dev/sda"]),
    page(&["fdisk", "gdisk", "cgdisk"], "Divides a disk.")
        .values("-b -c -L -o -t -u -w -W --output --type --units")
        .dry_run("-l --list -s -x -V --getsz")
        .cases(&[sub("*", DISK)])
        .examples(&["fdisk /dev/sda"], &["fdisk -l", "sudo fdisk -l /dev/sda"]),
    page(&["sfdisk"], "Divides a disk by a script.")
        .values("-N -o -X -Y -w -W --label --output --wipe")
        .dry_run("-l --list -d --dump -J --json -s --show-size -V --verify -n --no-act -g --show-geometry -F --list-free")
        .cases(&[sub("*", DISK), with("--delete", DISK)])
        .examples(&["sfdisk /dev/sda", "sfdisk --delete /dev/sda"], &["sfdisk -l", "sfdisk -d /dev/sda"]),
    page(&["sgdisk"], "Divides a disk by a script.")
        .values("-a -b -c -d -i -n -t -u --backup --delete --info --new")
        .dry_run("-p --print -i --info -v --verify -P --pretend")
        .cases(&[sub("*", DISK)])
        .examples(&["sgdisk -Z /dev/sda", "sgdisk -d 1 /dev/sda"], &["sgdisk -p /dev/sda"]),
    page(&["parted"], "Divides a disk.")
        .cases(&[with("mklabel mktable rm mkpart resizepart mkfs set", DISK)])
        .examples(&["parted /dev/sda mklabel gpt", "parted -s /dev/sda rm 1"], &["parted /dev/sda print", "parted -l"]),
    page(&["cryptsetup"], "Encrypted disks.")
        .cases(&[with("luksFormat erase luksErase reencrypt luksKillSlot luksRemoveKey", DISK)])
        .examples(&["cryptsetup luksFormat /dev/sda", "cryptsetup erase /dev/sda"], &["cryptsetup status x"]),
    page(&["lvremove", "vgremove", "pvremove", "lvreduce"], "Deletes volumes.")
        .dry_run("-t --test")
        .cases(&[always(DISK)])
        .examples(&["lvremove vg/data", "vgremove vg"], &["lvremove --help", "lvremove -t vg/data"]),
    page(&["zpool", "zfs"], "Pools and file systems of ZFS.")
        .dry_run("-n")
        .cases(&[sub("destroy|labelclear|rollback", DISK)])
        .examples(&["zpool destroy tank", "zfs destroy -r tank/x"], &["zpool status", "zfs list", "zfs destroy -n tank/x"]),
    page(&["btrfs"], "File systems with subvolumes.")
        .cases(&[
            sub("subvolume|sub|su delete|del", &[Concerns(Infrastructure)]),
            sub("device|dev delete|remove", &[Concerns(Infrastructure)]),
            sub("check|rescue", DISK).with("--repair"),
        ])
        .examples(&["btrfs subvolume delete /data/x", "btrfs sub del @home"], &["btrfs subvolume list /", "btrfs filesystem df /"]),
    page(&["dmsetup"], "Devices made of others.")
        .cases(&[sub("remove|remove_all|wipe_table|clear|suspend", DISK)])
        .examples(&["dmsetup remove_all", "dmsetup wipe_table x"], &["dmsetup ls", "dmsetup status"]),
    page(&["mdadm"], "Disks joined into one.")
        .cases(&[with("--zero-superblock --stop -S --remove --create -C", DISK)])
        .examples(&["mdadm --zero-superblock /dev/sda", "mdadm --stop /dev/md0"], &["mdadm --detail /dev/md0"]),
    page(&["badblocks"], "Tests a disk, by writing to it with `-w`.")
        .values("-b -c -e -d -i -o -p -t")
        .cases(&[with("-w -n", DISK)])
        .examples(&["badblocks -w /dev/sda", "badblocks -svn /dev/sda"], &["badblocks --help"]),
    page(&["hdparm"], "Settings of a disk.")
        .cases(&[with("--security-erase* --trim-sector* --write-sector --make-bad-sector", DISK)])
        .examples(&["hdparm --security-erase x /dev/sda"], &["hdparm -I /dev/sda"]),
    page(&["nvme"], "Disks on the bus.")
        .cases(&[sub("format|sanitize|delete-ns|write-zeroes|write", DISK)])
        .examples(&["nvme format /dev/nvme0n1", "nvme sanitize /dev/nvme0"], &["nvme list"]),
    page(&["diskutil"], "Disks of macOS.")
        .reads("list info")
        .cases(&[with("eraseDisk eraseVolume partitionDisk secureErase zeroDisk randomDisk reformat deleteVolume deleteContainer", DISK)])
        .examples(&["diskutil eraseDisk JHFS+ x /dev/disk2"], &["diskutil list"]),
    page(&["sg_format", "sg_sanitize", "scrub", "nwipe", "dban"], "Empties a disk.")
        .style(Style::Words)
        .cases(&[always(DISK)])
        .examples(&["nwipe /dev/sda", "scrub /dev/sda"], &["nwipe --help"]),
];
