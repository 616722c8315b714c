use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found};
use crate::effects::targets;
use crate::options::Options;
use crate::paths::Place;
use crate::world::World;

rule! {
    /// Formatting, partitioning or overwriting of a disk, and removal of volumes.
    ///
    /// ## Why
    /// Everything on it is lost at once, for all users of the machine.
    ///
    /// ## Example
    /// `mkfs.ext4 /dev/sdb1`, `dd if=image.iso of=/dev/sda`, `echo > /dev/sda`, `wipefs -a /dev/sda`, `zpool destroy tank`
    ///
    /// ## Instead
    /// Work on an image file in the workspace, and look at disks with `lsblk` or `fdisk -l`.
    DestroysDisk, "destroys-disk", Deny
}

impl Rule for DestroysDisk {
    about!();

    fn check(&self, found: &Found, world: &World) -> Option<Problem> {
        let help = "look at disks with `lsblk` or `fdisk -l`; work on an image file in the workspace";
        let device = found.effects.iter().find_map(|effect| match effect {
            Effect::Write { target } | Effect::Delete { target, .. } if target.place == Place::RawDevice => {
                Some(target)
            }
            _ => None,
        });
        if let Some(target) = device {
            return Some(Problem::deny(format!("a raw device would be overwritten: {}", target.path), help));
        }
        let unknown = found
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Write { target } if target.place == Place::Unknown));
        if found.program == "dd" && unknown {
            return Some(Problem::ask("`dd` writes to something that is not known before it runs", help));
        }
        if !destroys(found) {
            return handed_over(found, world);
        }
        let operands = operands(found);
        let file = |path: &&crate::text::Text| {
            targets(path, found, world).iter().all(|target| {
                matches!(target.place, Place::Workspace | Place::Temporary | Place::Outside | Place::InHome)
            })
        };
        let regular = !operands.is_empty()
            && found.program.starts_with("mk")
            && operands.iter().all(|path| file(&path));
        let message = format!("`{}` destroys what is on a disk or volume", found.program);
        Some(if regular { Problem::ask(message, help) } else { Problem::deny(message, help) })
    }
}

/// A raw device given to a program that is not known to only look at it.
fn handed_over(found: &Found, world: &World) -> Option<Problem> {
    const LOOKING: [&str; 32] = [
        "", "ls", "lsblk", "df", "du", "stat", "file", "blkid", "mount", "umount", "findmnt", "smartctl",
        "hdparm", "fdisk", "sfdisk", "sgdisk", "parted", "fsck", "e2fsck", "tune2fs", "dumpe2fs", "xfs_info",
        "head", "cat", "xxd", "hexdump", "od", "dd", "echo", "test", "[", "printf",
    ];
    if LOOKING.contains(&found.program.as_str())
        || found.program.starts_with("fsck.")
        || found.program.starts_with("grep")
    {
        return None;
    }
    let device = found.arguments.iter().filter(|argument| argument.prefix().starts_with("/dev/"));
    let device = device
        .flat_map(|path| targets(path, found, world))
        .find(|target| target.place == Place::RawDevice)?;
    let message = format!("`{}` is given a raw device: {}", found.program, device.path);
    Some(Problem::ask(message, "look at disks with `lsblk`; work on an image file in the workspace"))
}

fn operands(found: &Found) -> Vec<crate::text::Text> {
    Options::parse(&found.arguments, "tbLUNOm", &["type", "label"]).operands
}

fn destroys(found: &Found) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| found.has(word));
    let some = !operands(found).is_empty();
    match found.program.as_str() {
        program
            if program == "mkfs"
                || program.starts_with("mkfs.")
                || program == "mke2fs"
                || program == "newfs" =>
        {
            some && !has(&["-V", "--version", "--help", "-n"])
        }
        "mkswap" | "blkdiscard" | "cfdisk" => some,
        "wipefs" => has(&["-a", "--all", "-af", "-fa", "-o"]),
        "fdisk" | "gdisk" | "cgdisk" => some && !has(&["-l", "--list", "-s", "-x", "--version", "--help"]),
        "sfdisk" => some && !has(&["-l", "--list", "-d", "--dump", "-J", "--json", "-s", "--verify"]),
        "sgdisk" => some && !has(&["-p", "--print", "-i", "-v", "--verify"]),
        "parted" => has(&["mklabel", "mktable", "rm", "mkpart", "resizepart", "mkfs"]),
        "cryptsetup" => has(&["luksFormat", "erase", "luksErase", "reencrypt", "luksKillSlot"]),
        "lvremove" | "vgremove" | "pvremove" => true,
        "zpool" | "zfs" => has(&["destroy", "labelclear"]),
        "mdadm" => has(&["--zero-superblock"]),
        "badblocks" => Options::parse(&found.arguments, "", &[]).has(&["w", "n"]),
        "hdparm" => found.arguments.iter().any(|argument| argument.prefix().starts_with("--security-erase")),
        "nvme" => has(&["format", "sanitize"]),
        "diskutil" => has(&["eraseDisk", "eraseVolume", "partitionDisk", "secureErase"]),
        _ => false,
    }
}
