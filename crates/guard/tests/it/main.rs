//! The guard, judged.
mod corpus;
mod differential;
mod scripts;
