//! chorus
