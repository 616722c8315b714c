//! Any bytes are judged without a panic, and every finding points into them.
#![no_main]

use bashtion_guard::{Policy, World, analyze};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let world = World::new("/home/dev/project", "/home/dev");
    let verdict = Policy::default().judge(&analyze(&text, &world), &world);
    for finding in verdict.findings {
        assert!(finding.span.start <= finding.span.end && finding.span.end <= text.len());
    }
});
