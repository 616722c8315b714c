//! Why a tool could not do what it was asked to, for the model.

use std::error::Error;

use bashtion::causes;
use rmcp::model::{CallToolResult, ContentBlock};

/// In words. Becomes a result that is marked as an error, because the model can do something about it.
#[derive(Debug)]
pub(super) struct Wrong(pub(super) String);

/// An error with everything behind it.
impl<E: Error + 'static> From<E> for Wrong {
    fn from(error: E) -> Self {
        Self(causes(&error))
    }
}

impl From<Wrong> for CallToolResult {
    fn from(Wrong(text): Wrong) -> Self {
        Self::error(vec![ContentBlock::text(text)])
    }
}
