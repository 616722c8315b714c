//! The part of a configuration that is about background tasks.

use bashtion::TaskLimits;
use serde::Deserialize;

use super::sandbox::Quantity;
use crate::quantities::{parse_count, parse_seconds, parse_size};

/// `[tasks]`. What is not given stays as it was.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct Tasks {
    limit: Option<Quantity>,
    output_size: Option<Quantity>,
    keep_for: Option<Quantity>,
    keep_size: Option<Quantity>,
}

impl Tasks {
    pub(super) fn limits(self) -> Result<TaskLimits, String> {
        let mut limits = TaskLimits::default();
        if let Some(most) = self.limit {
            limits.most = usize::try_from(parse_count(&most.text())?).unwrap_or(usize::MAX);
        }
        if let Some(size) = self.output_size {
            limits.output_size = parse_size(&size.text())?;
        }
        if let Some(time) = self.keep_for {
            limits.keep_for = parse_seconds(&time.text())?;
        }
        if let Some(size) = self.keep_size {
            limits.keep_size = parse_size(&size.text())?;
        }
        Ok(limits)
    }
}
