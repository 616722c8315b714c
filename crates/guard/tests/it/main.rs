//! The guard, judged.

mod corpus;
mod differential;
mod permissions;
mod policy;
mod programs;
mod properties;
mod real;
mod rules;
mod scripts;
