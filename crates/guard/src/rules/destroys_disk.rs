use super::{Problem, Rule, about, rule};
use crate::analysis::{Effect, Found};
use crate::effects::targets;
use crate::paths::Place;
use crate::programs::{Concern, Deed, Page, Usage, page};
use crate::text::Text;
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
        let makes = found.is_about(Concern::MakesFileSystem);
        if !makes && !found.is_about(Concern::Disk) {
            return handed_over(found, world);
        }
        // One in a file of the user is asked about.
        let operands = page(&found.program).map(|page| Usage::of(found, page).operands).unwrap_or_default();
        let is_file = |path: &Text| {
            targets(path, found, world).iter().all(|target| {
                matches!(target.place, Place::Workspace | Place::Temporary | Place::Outside | Place::InHome)
            })
        };
        let message = format!("`{}` destroys what is on a disk or volume", found.program);
        let regular = makes && !operands.is_empty() && operands.iter().all(is_file);
        Some(if regular { Problem::ask(message, help) } else { Problem::deny(message, help) })
    }
}

/// A raw device given to a program that is not known to only look at it.
fn handed_over(found: &Found, world: &World) -> Option<Problem> {
    const LOOKING: [&str; 26] = [
        "", "ls", "lsblk", "df", "du", "stat", "file", "blkid", "mount", "umount", "findmnt", "smartctl",
        "fsck", "e2fsck", "tune2fs", "dumpe2fs", "xfs_info", "head", "cat", "xxd", "hexdump", "od", "dd",
        "echo", "test", "printf",
    ];
    let knows_disks = |page: &'static Page| {
        let of_disk = |deed: &Deed| matches!(deed, Deed::Concerns(Concern::Disk | Concern::MakesFileSystem));
        page.cases.iter().any(|case| case.deeds.iter().any(of_disk)) || Usage::of(found, page).shows()
    };
    if page(&found.program).is_some_and(knows_disks) {
        return None;
    }
    if LOOKING.contains(&found.program.as_str())
        || found.program == "["
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
