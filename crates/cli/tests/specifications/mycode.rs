//! mycode
