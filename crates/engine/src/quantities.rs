//! Sizes, counts and times as people write them.

use std::time::{Duration, SystemTime};

/// Bytes, with K, M, G or T for powers of 1024.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a size such as 500M or 2G, of at least one byte");
    let upper = text.to_ascii_uppercase();
    let number = upper.trim_end_matches("IB").trim_end_matches('B');
    let (number, unit) = match number.strip_suffix(['K', 'M', 'G', 'T']) {
        Some(digits) => {
            (digits, 1_u64 << (10 * (1 + "KMGT".find(&number[digits.len()..]).ok_or_else(wrong)?)))
        }
        None => (number, 1),
    };
    let value = number.trim().parse::<u64>().ok().and_then(|value| value.checked_mul(unit));
    value.filter(|value| *value > 0).ok_or_else(wrong)
}

/// At least one.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let value = text.parse::<u64>().ok().filter(|value| *value > 0);
    value.ok_or_else(|| format!("{text:?} is not a number of at least 1"))
}

/// A day, a moment, or how long ago.
pub fn parse_moment(text: &str) -> Result<SystemTime, String> {
    let day = || humantime::parse_rfc3339_weak(&format!("{text} 00:00:00")).ok();
    let ago = || SystemTime::now().checked_sub(humantime::parse_duration(text).ok()?);
    humantime::parse_rfc3339_weak(text)
        .ok()
        .or_else(day)
        .or_else(ago)
        .ok_or_else(|| format!("{text:?} is not a time such as 2026-01-31, 2026-01-31T12:00:00Z, 2h or 7d"))
}

/// A time with its unit, or a number of seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    if text.ends_with('M') {
        return Err(format!("{text:?} could be minutes or months: write 5m, or 5months"));
    }
    let seconds = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds
        .or_else(|| humantime::parse_duration(text).ok())
        .ok_or_else(|| format!("{text:?} is not a time such as 30s, 5m or 500ms"))
}

/// The same, of at least a second.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    if text.ends_with('M') {
        return Err(format!("{text:?} could be minutes or months: write 5m, or 5months"));
    }
    let seconds = text.parse::<u64>().ok().map(Duration::from_secs);
    let time = seconds.or_else(|| humantime::parse_duration(text).ok());
    time.filter(|time| time.as_secs() > 0)
        .ok_or_else(|| format!("{text:?} is not a time of at least a second, such as 30s or 5m"))
}
