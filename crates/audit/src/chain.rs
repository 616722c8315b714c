//! What binds each row to the one before.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::store::Entry;

/// The key of one user's log. Whoever has it can forge rows, so it is private to the user, as the log is.
pub(crate) struct Key([u8; Key::LENGTH]);

/// A keyed hash: HMAC-SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hash([u8; 32]);

impl Hash {
    /// Before the first row.
    pub(crate) const ZERO: Self = Self([0; 32]);

    /// One of another length is no hash of ours, and equals none.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.try_into().unwrap_or([0xff; 32]))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Key {
    pub(crate) const LENGTH: usize = 32;

    pub(crate) fn new(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }

    /// The hash of a row. Each part goes in with its length, so that none can take from its neighbour.
    pub(crate) fn link(&self, before: &Hash, id: i64, time: i64, entry: &Entry) -> Hash {
        let optional = |part: &Option<String>| part.as_ref().map(String::as_bytes).map(<[u8]>::to_vec);
        let (id, time) = (id.to_le_bytes(), time.to_le_bytes());
        self.hash(&[
            Some(b"row".to_vec()),
            Some(before.0.to_vec()),
            Some(id.to_vec()),
            Some(time.to_vec()),
            Some(entry.kind.as_bytes().to_vec()),
            Some(entry.operation.as_bytes().to_vec()),
            optional(&entry.command),
            optional(&entry.cwd),
            optional(&entry.decision),
            optional(&entry.status),
            Some(entry.data.as_bytes().to_vec()),
        ])
    }

    /// What proves that an end of the chain is where it is.
    pub(crate) fn seal(&self, name: &str, id: i64, hash: &Hash) -> Hash {
        let parts = [b"end".to_vec(), name.as_bytes().to_vec(), id.to_le_bytes().to_vec(), hash.0.to_vec()];
        self.hash(&parts.map(Some))
    }

    fn hash(&self, parts: &[Option<Vec<u8>>]) -> Hash {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("any length can be a key");
        for part in parts {
            let length = part.as_ref().map_or(u64::MAX, |part| part.len() as u64);
            mac.update(&length.to_le_bytes());
            mac.update(part.as_deref().unwrap_or_default());
        }
        Hash(mac.finalize().into_bytes().into())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}
