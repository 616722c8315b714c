//! Changes to repositories in the workspace, put back or not.

use bashtion_sandbox::{Restored, Restoring};

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
