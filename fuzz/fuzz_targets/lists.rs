//! What is denied stays denied when something stands before it that changes nothing.
#![no_main]

use bashtion_guard::{Decision, Policy, World, analyze};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let world = World::new("/home/dev/project", "/home/dev");
    let judge = |text: &str| Policy::default().judge(&analyze(text, &world), &world).decision;
    if judge(&text) == Decision::Deny {
        assert_ne!(judge(&format!("true; {text}")), Decision::Allow);
        assert_ne!(judge(&format!("ls\n{text}")), Decision::Allow);
    }
});
