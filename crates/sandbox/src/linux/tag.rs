//! A mark made of a resource limit.
//!
//! `RLIMIT_LOCKS` has limited nothing since Linux 2.4, is unlimited everywhere, is inherited across `fork`,
//! `execve`, `setsid` and re-parenting, and can be read of any process. Each command gets a value of its own.
//!
//! Values nest, because a command may itself run Bashtion, which can only lower the limit further: a value
//! with `n` trailing zero bits owns the `2^n` values up to and including itself, and hands out parts of that range. After
//! two levels there are too few left; commands further in carry the tag of the second.
//! A process that lowers the limit by itself sheds the tag; that is why a control group comes first.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Resource, getrlimit};

/// `RLIMIT_LOCKS`, the same on every architecture; the C libraries disagree about its type.
pub(super) const RESOURCE: i64 = 10;

/// An unlimited caller owns the values up to this one.
const ROOT: u64 = 1 << 62;
/// With fewer than `2^16` values in a range, two commands would soon share one.
const FEWEST_BITS: u32 = 16;

/// The caller's own limit.
pub(super) fn own_limit() -> u64 {
    getrlimit(Resource::Locks).maximum.unwrap_or(u64::MAX)
}

/// A range of limit values that only one command's processes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag(u64);

impl Tag {
    /// One that no other live command has, or none if the caller's own limit leaves no room.
    pub(super) fn unique() -> Option<Self> {
        /// Begins anywhere, so that two hosts' values differ; counts, so that one host's never repeat.
        static NEXT: LazyLock<AtomicU64> =
            LazyLock::new(|| AtomicU64::new(RandomState::new().hash_one(std::process::id())));
        Self::within(own_limit(), NEXT.fetch_add(1, Ordering::Relaxed))
    }

    fn within(limit: u64, number: u64) -> Option<Self> {
        let limit = limit.min(ROOT);
        let zeros = limit.trailing_zeros().min(62);
        let child_zeros = zeros / 2;
        if limit == 0 || zeros - child_zeros < FEWEST_BITS {
            return None;
        }
        // An odd multiple, so that the number of trailing zeros tells the width of the range.
        let odd = (number << 1 | 1) % (1 << (zeros - child_zeros));
        Some(Self(limit - (odd << child_zeros)))
    }

    /// The one of this value, which another process has chosen.
    pub(super) fn of_value(value: u64) -> Self {
        Self(value.max(1))
    }

    pub(super) fn value(self) -> u64 {
        self.0
    }

    /// Whether a process with this limit is ours, or belongs to a command that one of ours runs.
    pub(super) fn covers(self, limit: u64) -> bool {
        let width = 1 << self.0.trailing_zeros();
        limit <= self.0 && limit > self.0 - width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_are_apart_and_do_not_cover_each_other() {
        let tags: Vec<_> = (0..1000).map(|n| Tag::within(u64::MAX, n).unwrap()).collect();
        for (i, a) in tags.iter().enumerate() {
            for (j, b) in tags.iter().enumerate() {
                assert_eq!(a.covers(b.value()), i == j, "{i} {j}");
            }
        }
    }

    #[test]
    fn a_tag_covers_those_nested_in_it_and_not_its_parent() {
        for number in [0, 1, 7, 12_345, u64::MAX] {
            let outer = Tag::within(u64::MAX, number).unwrap();
            let inner = Tag::within(outer.value(), number / 3).unwrap();
            assert!(outer.covers(inner.value()) && inner.covers(inner.value()));
            assert!(!inner.covers(outer.value()));
            assert_eq!(Tag::within(inner.value(), number), None, "a third one would not be unique");
            assert!(inner.value() < outer.value(), "a limit can only be lowered");
        }
    }

    #[test]
    fn no_tag_where_the_range_is_too_small() {
        for limit in [0, 1, 1000, 4096] {
            assert_eq!(Tag::within(limit, 5), None);
        }
    }
}
