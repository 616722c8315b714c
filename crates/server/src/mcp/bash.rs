//! The tool that runs commands.

use std::sync::Arc;

use bashtion::calls::{self, Placement};
use bashtion::{CancellationToken, Error, Events, Outcome, Status, causes};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult};
use rmcp::service::RequestContext;
use serde_json::Value;

use super::arguments::not_understood;
use super::asking::Asked;
use super::progress::Progress;
use super::wrong::Wrong;
use super::{Questions, Shared, reply};

/// Runs what the call asks for to its end, or starts it.
pub(super) async fn call(
    shared: &Shared,
    gone: &CancellationToken,
    call: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, Wrong> {
    let CallToolRequestParams { arguments, input_responses, request_state, .. } = call;
    let given = Value::Object(arguments.unwrap_or_default());
    let parsed =
        calls::parse(shared.setup.profile.tool.input, given).map_err(|error| not_understood(&error))?;
    let ends = shared.running.ends(gone, &context);
    let Some(_place) = shared.running.enter(&ends).await else {
        return Err(Wrong("not run: the call was cancelled before its turn came".to_owned()));
    };

    let wanted = parsed.call();
    // What ran already would run again when the client comes back with an answer.
    let can_come_back = wanted.requests.len() == 1;
    let asked = Arc::new(Asked::new(shared, &context, can_come_back, request_state, input_responses));
    let engine = match shared.setup.questions {
        Questions::Ask => shared.setup.engine.with_approver(asked.clone()),
        Questions::Refuse => shared.setup.engine.clone(),
    };

    let (cancel, kill) = (CancellationToken::new(), CancellationToken::new());
    let mut caller = shared.caller.again().cancel(cancel.clone()).kill(kill.clone());
    let progress = Progress::of(&context).filter(|_| wanted.placement != Placement::Background);
    let results = match progress {
        None => ends.meanwhile(wanted.run(&engine, &caller), &cancel, &kill).await,
        Some(progress) => {
            let (sender, events) = Events::watching();
            caller = caller.events(sender);
            let work = ends.meanwhile(wanted.run(&engine, &caller), &cancel, &kill);
            tokio::select! {
                biased;
                results = work => results,
                () = progress.stream(events) => unreachable!("it goes on until it is dropped"),
            }
        }
    };
    if let [Ok(Outcome { status: Status::NeedsApproval, approval_id: Some(id), .. })] = results.as_slice()
        && let Some(question) = asked.question_to_bring_back(id)
    {
        return Ok(question.into());
    }
    let mut told: Vec<CallToolResult> = results.iter().map(|result| told(result, shared)).collect();
    Ok(match told.len() {
        1 => told.remove(0),
        _ => reply::joined(told),
    }
    .into())
}

fn told(result: &Result<Outcome, Error>, shared: &Shared) -> CallToolResult {
    match result {
        Ok(outcome) => reply::outcome(outcome, &shared.setup),
        Err(error) => Wrong(format!("not run: {}", causes(error))).into(),
    }
}
