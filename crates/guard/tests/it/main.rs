//! The guard, judged.
mod corpus;
