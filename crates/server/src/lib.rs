//! Bashtion for other programs: protocol in, engine call, protocol out. Prints nothing.

pub mod hooks;
