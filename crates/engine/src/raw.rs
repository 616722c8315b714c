//! Paths on their way to another process of ours: as they are, whether or not they are text.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// For `#[serde(with = "crate::raw")]`.
pub(crate) fn serialize<T: Raw, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.clone().bare().serialize(serializer)
}

pub(crate) fn deserialize<'de, T: Raw, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::Bare::deserialize(deserializer).map(T::dressed)
}

/// Something made of paths.
pub(crate) trait Raw: Clone {
    type Bare: Serialize + DeserializeOwned;
    fn bare(self) -> Self::Bare;
    fn dressed(bare: Self::Bare) -> Self;
}

impl Raw for PathBuf {
    type Bare = OsString;

    fn bare(self) -> OsString {
        self.into_os_string()
    }

    fn dressed(bare: OsString) -> Self {
        bare.into()
    }
}

impl Raw for Option<PathBuf> {
    type Bare = Option<OsString>;

    fn bare(self) -> Self::Bare {
        self.map(PathBuf::into_os_string)
    }

    fn dressed(bare: Self::Bare) -> Self {
        bare.map(PathBuf::from)
    }
}

impl Raw for Vec<PathBuf> {
    type Bare = Vec<OsString>;

    fn bare(self) -> Self::Bare {
        self.into_iter().map(PathBuf::into_os_string).collect()
    }

    fn dressed(bare: Self::Bare) -> Self {
        bare.into_iter().map(PathBuf::from).collect()
    }
}

impl Raw for Option<Vec<PathBuf>> {
    type Bare = Option<Vec<OsString>>;

    fn bare(self) -> Self::Bare {
        self.map(Raw::bare)
    }

    fn dressed(bare: Self::Bare) -> Self {
        bare.map(Raw::dressed)
    }
}
