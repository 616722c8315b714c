//! Addresses of proxies, which may hold a password.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The value as a command may see it: without `user:password@` if the variable names a proxy.
///
/// A proxy that asks for a password does not work then. Whoever wants commands to have it says so with a variable of
/// their own (`[env.set]`, `--env`), which nothing is taken from.
pub(super) fn without_password<'a>(name: &OsStr, value: &'a OsStr) -> Cow<'a, OsStr> {
    const END: &[u8] = b"_proxy";
    let name = name.as_bytes();
    let is_proxy = name.len() >= END.len() && name[name.len() - END.len()..].eq_ignore_ascii_case(END);
    let bytes = value.as_bytes();
    let Some((start, end)) = Some(userinfo(bytes)).filter(|(start, end)| is_proxy && start < end) else {
        return Cow::Borrowed(value);
    };
    Cow::Owned(OsString::from_vec([&bytes[..start], &bytes[end..]].concat()))
}

/// Finds the user's name and password with their `@`: RFC 3986, section 3.2. Programs also take an address without its
/// scheme, and passwords in which nobody has escaped an `@` or a slash.
fn userinfo(url: &[u8]) -> (usize, usize) {
    let scheme = url.windows(3).position(|window| window == b"://");
    let start = scheme.map_or(0, |at| at + 3);
    let end = url.iter().rposition(|byte| *byte == b'@').map_or(start, |at| at + 1);
    (start, end.max(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_taken_out() {
        let seen = |name: &str, value: &'static str| {
            without_password(name.as_ref(), value.as_ref()).to_str().unwrap().to_owned()
        };
        for (value, expected) in [
            ("http://proxy.example:3128", "http://proxy.example:3128"),
            ("http://me:pass@proxy.example:3128/", "http://proxy.example:3128/"),
            ("http://me@proxy.example", "http://proxy.example"),
            ("me:pass@proxy.example:3128", "proxy.example:3128"),
            ("socks5h://me:p@ss/word@proxy.example", "socks5h://proxy.example"),
            ("proxy.example:3128", "proxy.example:3128"),
            ("", ""),
            ("@", ""),
        ] {
            for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
                assert_eq!(seen(name, value), expected, "{name}={value}");
            }
        }
        assert_eq!(seen("OTHER", "http://me:pass@host"), "http://me:pass@host");
        assert_eq!(seen("NO_PROXY", "localhost,.example"), "localhost,.example");
    }
}
