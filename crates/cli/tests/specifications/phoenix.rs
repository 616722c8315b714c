//! phoenix
