//! Changes to repositories and settings in the workspace: kept from happening, or put back, or not.

use bashtion_sandbox::{Restored, Restoring, Stopped, StoppedBy};

use super::denial::{Denial, What};
use super::remedy::Remedy;

/// Lists those first that somebody has to look at: only a few are told.
pub(super) fn restored(restored: &[Restored]) -> Vec<Denial> {
    const DANGER: &str = "git runs what hooks and configuration name";
    const LOOK: Remedy = Remedy::ByHand("look at it before git is used there");
    let mut denials = vec![];
    for wanted in [Restoring::NotPutBack, Restoring::NotChecked, Restoring::PutBack] {
        let (fate, why, remedy) = match wanted {
            Restoring::NotPutBack => ("was exchanged and could not be put back", DANGER, LOOK),
            Restoring::NotChecked => ("may have been changed and cannot be looked at", DANGER, LOOK),
            Restoring::PutBack => (
                "was changed and has been put back",
                "hooks and configuration of repositories stay as they are",
                Remedy::ByHand("change them outside of the sandbox"),
            ),
        };
        for Restored { path, .. } in restored.iter().filter(|restored| restored.how == wanted) {
            let what = What::Restored { path: path.clone(), fate };
            denials.push(Denial { what, why, remedy: remedy.clone() });
        }
    }
    denials
}

/// Lists names that were not made or changed.
pub(super) fn stopped(stopped: &[Stopped]) -> Vec<Denial> {
    const OUTSIDE: Remedy = Remedy::ByHand("do that outside of the sandbox");
    let denial = |Stopped { path, why }: &Stopped| {
        let changing = What::Changing(path.clone());
        let (what, why, remedy) = match why {
            StoppedBy::Key(key) => (
                What::SettingKey { key: key.clone(), file: path.clone() },
                "git would run or follow it outside of the sandbox",
                OUTSIDE,
            ),
            StoppedBy::Git => (changing, "git would run or follow it outside of the sandbox", OUTSIDE),
            StoppedBy::Repository => (
                changing,
                "it would make this directory a repository whose configuration nobody has looked at",
                Remedy::Instead("make it in /tmp"),
            ),
            StoppedBy::Settings => {
                (changing, "an agent or an editor would run or follow it outside of the sandbox", OUTSIDE)
            }
        };
        Denial { what, why, remedy }
    };
    stopped.iter().map(denial).collect()
}
