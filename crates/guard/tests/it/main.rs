//! The guard, judged.

mod corpus;
mod differential;
mod policy;
mod properties;
mod rules;
mod scripts;
