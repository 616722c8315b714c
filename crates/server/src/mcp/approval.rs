//! The tool that looks at a question to the user. It answers none.

use std::time::Duration;

use bashtion::{Approval, ApprovalError, ApprovalId, ApprovalState, CancellationToken};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, JsonObject};
use rmcp::service::RequestContext;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::arguments::{self, read};
use super::reply::result;
use super::tools::USUAL_WAIT_MS;
use super::wrong::Wrong;
use super::{Setup, Shared};

pub(super) async fn look(
    shared: &Shared,
    gone: &CancellationToken,
    given: Option<JsonObject>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, Wrong> {
    const PAUSE: Duration = Duration::from_millis(250);
    let wanted: arguments::Look = read(given)?;
    let id: ApprovalId = wanted.approval_id.parse()?;
    let until = Instant::now() + Duration::from_millis(wanted.timeout_ms.unwrap_or(USUAL_WAIT_MS));
    let ends = shared.running.ends(gone, context);
    loop {
        let approval = find(shared, &id)?;
        let waits = matches!(approval.state, ApprovalState::Waiting { .. });
        if !waits || Instant::now() >= until {
            return Ok(told(&approval, &shared.setup));
        }
        tokio::select! {
            () = sleep(PAUSE) => {}
            () = ends.come() => return Ok(told(&approval, &shared.setup)),
        }
    }
}

/// Only of this workspace.
fn find(shared: &Shared, id: &ApprovalId) -> Result<Approval, ApprovalError> {
    let approval = shared.setup.engine.approvals().get(id)?;
    let ours = shared.setup.roots.iter().any(|root| {
        approval.cwd.starts_with(root) || root.canonicalize().is_ok_and(|real| approval.cwd.starts_with(real))
    });
    if ours { Ok(approval) } else { Err(ApprovalError::Unknown { given: id.to_string() }) }
}

fn told(approval: &Approval, setup: &Setup) -> CallToolResult {
    let (state, next) = match &approval.state {
        ApprovalState::Waiting { .. } => (
            "waiting",
            "the user has not answered yet; ask them, do something else, or wait again".to_owned(),
        ),
        ApprovalState::Approved { .. } => {
            ("approved", "make the very same bash call again, and it runs, once".to_owned())
        }
        ApprovalState::Denied { reason, .. } if reason.is_empty() => {
            ("denied", "the user does not want it: do not try it in another way".to_owned())
        }
        ApprovalState::Denied { reason, .. } => ("denied", format!("the user does not want it: {reason}")),
        ApprovalState::Expired => {
            ("expired", "nobody answered in time: ask again with the same bash call".to_owned())
        }
        ApprovalState::Used => ("used", "it has run, or was refused, once already".to_owned()),
    };
    let text = format!("{} is {state}: {next}\ncommand: {}", approval.id, approval.display);
    let facts = json!({
        "approval_id": approval.id, "state": state, "next": next, "display": approval.display,
    });
    result(text, facts, false, setup)
}
