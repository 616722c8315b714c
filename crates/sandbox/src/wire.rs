//! Plain values as bytes, for other processes of the same version: numbers little-endian, lengths first.

use std::ffi::{CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Collects values.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(crate) fn number(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub(crate) fn signed(&mut self, value: i64) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub(crate) fn optional(&mut self, value: Option<u64>) {
        self.byte(value.is_some().into());
        self.number(value.unwrap_or(0));
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) {
        self.number(value.len() as u64);
        self.bytes.extend(value);
    }

    pub(crate) fn path(&mut self, path: &Path) {
        self.bytes(path.as_os_str().as_bytes());
    }

    pub(crate) fn list<T>(&mut self, values: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number(values.len() as u64);
        values.iter().for_each(|value| each(self, value));
    }

    pub(crate) fn paths(&mut self, paths: &[PathBuf]) {
        self.list(paths, |writer, path| writer.path(path));
    }

    pub(crate) fn strings(&mut self, strings: &[CString]) {
        self.list(strings, |writer, string| writer.bytes(string.as_bytes()));
    }
}

/// Takes values out again, in the same order. None where they are not there, or make no sense.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        self.byte().map(|byte| byte != 0)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(crate) fn int(&mut self) -> Option<i32> {
        self.signed()?.try_into().ok()
    }

    #[expect(clippy::option_option, reason = "there may be none, and there may be nothing to read")]
    pub(crate) fn optional(&mut self) -> Option<Option<u64>> {
        let (is_some, value) = (self.flag()?, self.number()?);
        Some(is_some.then_some(value))
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(usize::try_from(length).ok()?)
    }

    pub(crate) fn path(&mut self) -> Option<PathBuf> {
        Some(PathBuf::from(OsString::from_vec(self.bytes()?.to_vec())))
    }

    pub(crate) fn string(&mut self) -> Option<CString> {
        CString::new(self.bytes()?).ok()
    }

    /// Each takes at least a byte, so a length that is too large ends soon.
    pub(crate) fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(self.number()?).ok()?;
        let mut values = Vec::with_capacity(count.min(self.rest.len()));
        for _ in 0..count {
            values.push(each(self)?);
        }
        Some(values)
    }

    pub(crate) fn paths(&mut self) -> Option<Vec<PathBuf>> {
        self.list(Self::path)
    }

    pub(crate) fn strings(&mut self) -> Option<Vec<CString>> {
        self.list(Self::string)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let mut writer = Writer::default();
        writer.byte(7);
        writer.signed(-3);
        writer.optional(None);
        writer.optional(Some(u64::MAX));
        writer.paths(&["/a".into(), "".into()]);
        writer.strings(&[c"x y".to_owned()]);
        let bytes = writer.into_bytes();
        let mut reader = Reader::new(&bytes);
        assert_eq!((reader.byte(), reader.int()), (Some(7), Some(-3)));
        assert_eq!((reader.optional(), reader.optional()), (Some(None), Some(Some(u64::MAX))));
        assert_eq!(reader.paths(), Some(vec!["/a".into(), "".into()]));
        assert_eq!(reader.strings(), Some(vec![c"x y".to_owned()]));
        assert_eq!(reader.byte(), None);
    }

    #[test]
    fn what_is_cut_off_or_too_long_is_nothing() {
        let mut writer = Writer::default();
        writer.paths(&["/a/long/path".into()]);
        let bytes = writer.into_bytes();
        for length in 0..bytes.len() {
            assert_eq!(Reader::new(&bytes[..length]).paths(), None, "{length}");
        }
        assert_eq!(Reader::new(&[255; 64]).paths(), None);
        assert_eq!(Reader::new(&[255; 64]).strings(), None);
    }
}
