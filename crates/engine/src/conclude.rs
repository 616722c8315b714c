//! From what was observed to what it means.

use bashtion_sandbox::Exit;

use crate::supervise::{Ended, Stopped};
use crate::{Outcome, Status};

pub(crate) fn conclude(ended: Ended) -> Outcome {
    let Ended { facts, pid, stopped, exit, usage, duration, captured, report, tracking, killed, leftovers } =
        ended;
    let (output_file, output_file_bytes) = captured.file.unzip();
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
        output_file,
        output_file_bytes,
        pid,
        verdict: facts.verdict,
        sandbox: report,
        usage,
        tracking,
        killed,
        leftovers,
    }
}
