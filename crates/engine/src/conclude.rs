//! From what was observed to what it means.

use bashtion_sandbox::{Exit, Report};

use crate::supervise::{Ended, Stopped};
use crate::{Outcome, Status};

pub(crate) fn conclude(ended: Ended) -> Outcome {
    let Ended { facts, pid, stopped, exit, usage, duration, captured, killed, leftovers } = ended;
    let status = match (stopped, exit) {
        (Some(Stopped::TimedOut(after)), _) => Status::TimedOut { after, killed: killed > 0 },
        // Without an exit it was being stopped, and could not be.
        (Some(Stopped::Cancelled), _) | (None, None) => Status::Cancelled,
        (None, Some(Exit::Code(code))) => Status::Exited(code),
        (None, Some(Exit::Signal(signal))) => Status::Signaled(signal),
    };
    Outcome {
        status,
        command: facts.command,
        display: facts.display,
        description: facts.description,
        cwd: facts.cwd,
        exit,
        duration,
        output: captured.output,
        output_file: captured.file,
        pid,
        verdict: facts.verdict,
        sandbox: Report::unconfined(),
        usage,
        killed,
        leftovers,
    }
}
