//! Limits that were reached.

use bashtion_sandbox::{Enforced, Limit};

use super::End;
use super::denial::{Bytes, Denial, What};
use super::evidence::Evidence;
use super::remedy::Remedy;

/// Those that the kernel counts are known; of the others it tells the process alone.
pub(super) fn reached(end: &End<'_>, evidence: &Evidence<'_>) -> Vec<Denial> {
    let limits = &end.confinement.limits;
    let mut denials = vec![];
    let mut reached = |name: &'static str, value: String, why: &'static str| {
        denials.push(Denial { what: What::Limit { name, value }, why, remedy: Remedy::Limit(name) });
    };
    for limit in end.limits_reached {
        match limit {
            Limit::Memory => {
                let bytes = Bytes(limits.memory.unwrap_or(0));
                reached("memory", bytes.to_string(), "so processes were killed");
            }
            Limit::Processes => {
                let count = limits.processes.unwrap_or(0);
                reached("processes", count.to_string(), "so some could not be started");
            }
        }
    }
    let failed_with = |signs: &[&str]| end.failed() && signs.iter().any(|sign| evidence.says(sign));
    if let Some(time) = limits.cpu
        && (end.ended_by("SIGXCPU") || failed_with(&["CPU time limit exceeded"]))
    {
        reached("cpu", format!("{} s", time.as_secs()), "so a process was ended");
    }
    if let Some(bytes) = limits.file_size
        && (end.ended_by("SIGXFSZ") || failed_with(&["File size limit exceeded", "File too large"]))
    {
        reached("file-size", Bytes(bytes).to_string(), "so a file was cut");
    }
    if let Some(files) = limits.open_files
        && failed_with(&["Too many open files"])
    {
        reached("open-files", files.to_string(), "so a file could not be opened");
    }
    // Where each process has its own limit, nobody counts.
    if end.enforced.limits != Enforced::Full {
        if let Some(bytes) = limits.memory
            && failed_with(&["Cannot allocate memory", "MemoryError", "out of memory"])
        {
            reached("memory", Bytes(bytes).to_string(), "as it seems");
        }
        if let Some(count) = limits.processes
            && failed_with(&["Resource temporarily unavailable"])
        {
            reached("processes", count.to_string(), "as it seems");
        }
    }
    denials
}
