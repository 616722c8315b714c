//! A call about a name, as the command has made it.

use libc::c_long;
use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;

use crate::imp::sockets::notice::{Call, read_string};

/// A path as a command names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// The directory that a relative path begins in, by its descriptor; none for the working directory.
    pub(super) from: Option<i32>,
    /// Up to the last name; may be empty.
    pub(super) parent: Vec<u8>,
    pub(super) name: Vec<u8>,
    /// True if a slash follows the name, so that it must be of a directory.
    pub(super) is_directory: bool,
}

/// The file that gets another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Linked {
    /// What a descriptor of the caller is of.
    Descriptor(i32),
    At(Named),
}

/// Something that a command wants to do with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operation {
    Open {
        at: Named,
        flags: OFlags,
        mode: u32,
    },
    MakeDirectory {
        at: Named,
        mode: u32,
    },
    Rename {
        from: Named,
        to: Named,
        flags: u32,
    },
    Remove {
        at: Named,
        is_directory: bool,
    },
    SetMode {
        at: Named,
        mode: u32,
    },
    MakeLink {
        at: Named,
        text: Vec<u8>,
    },
    /// Another name for a file.
    Link {
        of: Linked,
        at: Named,
    },
    /// A named pipe, or another special file.
    MakeNode {
        at: Named,
        mode: u32,
    },
    Truncate {
        at: Named,
        length: u64,
    },
}

impl Operation {
    /// Reads it out of the memory of the caller. None if its path has no name at its end: the kernel has an answer to that.
    pub(super) fn of(call: Call) -> Result<Option<Self>, Errno> {
        let [first, second, third, fourth, fifth, _] = call.arguments;
        let at = |from: Option<u64>, address: u64| named(call.thread, from, address);
        #[expect(clippy::cast_possible_truncation, reason = "the kernel takes as much of each")]
        let (open_flags, number) =
            (|flags: u64| OFlags::from_bits_retain(flags as u32), |value: u64| value as u32);
        Ok(match Kind::of(call.number) {
            #[cfg(target_arch = "x86_64")]
            Kind::Open => {
                let flags = open_flags(second);
                opened(call.thread, None, first, flags)?.map(|at| Self::Open {
                    at,
                    flags,
                    mode: number(third),
                })
            }
            #[cfg(target_arch = "x86_64")]
            Kind::Creat => {
                let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC;
                at(None, first)?.map(|at| Self::Open { at, flags, mode: number(second) })
            }
            Kind::OpenAt => {
                let flags = open_flags(third);
                opened(call.thread, Some(first), second, flags)?.map(|at| Self::Open {
                    at,
                    flags,
                    mode: number(fourth),
                })
            }
            #[cfg(target_arch = "x86_64")]
            Kind::MakeDirectory => {
                at(None, first)?.map(|at| Self::MakeDirectory { at, mode: number(second) })
            }
            Kind::MakeDirectoryAt => {
                at(Some(first), second)?.map(|at| Self::MakeDirectory { at, mode: number(third) })
            }
            #[cfg(target_arch = "x86_64")]
            Kind::Rename => renamed(at(None, first)?, at(None, second)?, 0),
            Kind::RenameAt(has_flags) => {
                let flags = if has_flags { number(fifth) } else { 0 };
                renamed(at(Some(first), second)?, at(Some(third), fourth)?, flags)
            }
            #[cfg(target_arch = "x86_64")]
            Kind::Remove { is_directory } => at(None, first)?.map(|at| Self::Remove { at, is_directory }),
            Kind::RemoveAt => {
                let is_directory = number(third) & AtFlags::REMOVEDIR.bits() != 0;
                at(Some(first), second)?.map(|at| Self::Remove { at, is_directory })
            }
            #[cfg(target_arch = "x86_64")]
            Kind::SetMode => at(None, first)?.map(|at| Self::SetMode { at, mode: number(second) }),
            Kind::SetModeAt => at(Some(first), second)?.map(|at| Self::SetMode { at, mode: number(third) }),
            #[cfg(target_arch = "x86_64")]
            Kind::Link => another_name(linked_file(call.thread, None, first, 0)?, at(None, second)?),
            Kind::LinkAt => another_name(
                linked_file(call.thread, Some(first), second, number(fifth))?,
                at(Some(third), fourth)?,
            ),
            #[cfg(target_arch = "x86_64")]
            Kind::Symlink => linked(at(None, second)?, read_string(call.thread, first)?),
            Kind::SymlinkAt => linked(at(Some(second), third)?, read_string(call.thread, first)?),
            #[cfg(target_arch = "x86_64")]
            Kind::Node => at(None, first)?.map(|at| Self::MakeNode { at, mode: number(second) }),
            Kind::NodeAt => at(Some(first), second)?.map(|at| Self::MakeNode { at, mode: number(third) }),
            Kind::Truncate => at(None, first)?.map(|at| Self::Truncate { at, length: second }),
            Kind::Unknown => None,
        })
    }
}

fn linked(at: Option<Named>, text: Vec<u8>) -> Option<Operation> {
    Some(Operation::MakeLink { at: at?, text })
}

fn another_name(of: Option<Linked>, at: Option<Named>) -> Option<Operation> {
    Some(Operation::Link { of: of?, at: at? })
}

/// The file that a link is made of. None if it has no name: the kernel knows better.
fn linked_file(thread: i32, from: Option<u64>, address: u64, flags: u32) -> Result<Option<Linked>, Errno> {
    let flags = AtFlags::from_bits_retain(flags);
    let path = read_string(thread, address)?;
    #[expect(clippy::cast_possible_truncation, reason = "it is an int to the kernel")]
    let directory = from.map(|fd| fd as i32);
    if path.is_empty() && flags.contains(AtFlags::EMPTY_PATH) {
        return Ok(directory.map(Linked::Descriptor));
    }
    if flags.contains(AtFlags::SYMLINK_FOLLOW) {
        return Ok(descriptor_in(&path).map(Linked::Descriptor));
    }
    Ok(parse(from, &path).map(Linked::At))
}

fn renamed(from: Option<Named>, to: Option<Named>, flags: u32) -> Option<Operation> {
    Some(Operation::Rename { from: from?, to: to?, flags })
}

/// The forms that these calls have, with the places of their arguments.
enum Kind {
    #[cfg(target_arch = "x86_64")]
    Open,
    #[cfg(target_arch = "x86_64")]
    Creat,
    OpenAt,
    #[cfg(target_arch = "x86_64")]
    MakeDirectory,
    MakeDirectoryAt,
    #[cfg(target_arch = "x86_64")]
    Rename,
    RenameAt(bool),
    #[cfg(target_arch = "x86_64")]
    Remove {
        is_directory: bool,
    },
    RemoveAt,
    #[cfg(target_arch = "x86_64")]
    SetMode,
    SetModeAt,
    #[cfg(target_arch = "x86_64")]
    Link,
    LinkAt,
    #[cfg(target_arch = "x86_64")]
    Symlink,
    SymlinkAt,
    #[cfg(target_arch = "x86_64")]
    Node,
    NodeAt,
    Truncate,
    Unknown,
}

impl Kind {
    fn of(call: c_long) -> Self {
        match call {
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => Self::Open,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat => Self::Creat,
            libc::SYS_openat => Self::OpenAt,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mkdir => Self::MakeDirectory,
            libc::SYS_mkdirat => Self::MakeDirectoryAt,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename => Self::Rename,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_renameat => Self::RenameAt(false),
            libc::SYS_renameat2 => Self::RenameAt(true),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_unlink => Self::Remove { is_directory: false },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rmdir => Self::Remove { is_directory: true },
            libc::SYS_unlinkat => Self::RemoveAt,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chmod => Self::SetMode,
            libc::SYS_fchmodat => Self::SetModeAt,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_link => Self::Link,
            libc::SYS_linkat => Self::LinkAt,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_symlink => Self::Symlink,
            libc::SYS_symlinkat => Self::SymlinkAt,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_mknod => Self::Node,
            libc::SYS_mknodat => Self::NodeAt,
            libc::SYS_truncate => Self::Truncate,
            _ => Self::Unknown,
        }
    }
}

/// The calls that are asked about.
pub(in super::super) fn is_about_names(call: c_long) -> bool {
    call == libc::SYS_umask || !matches!(Kind::of(call), Kind::Unknown)
}

fn named(thread: i32, from: Option<u64>, address: u64) -> Result<Option<Named>, Errno> {
    Ok(parse(from, &read_string(thread, address)?))
}

/// The place of a file that is opened. One without a name has some name in its directory here.
fn opened(thread: i32, from: Option<u64>, address: u64, flags: OFlags) -> Result<Option<Named>, Errno> {
    let path = read_string(thread, address)?;
    if flags.contains(OFlags::TMPFILE) && !path.is_empty() {
        return Ok(parse(from, &[&path, &b"/nameless"[..]].concat()));
    }
    Ok(parse(from, &path))
}

fn parse(from: Option<u64>, path: &[u8]) -> Option<Named> {
    #[expect(clippy::cast_possible_truncation, reason = "it is an int to the kernel")]
    let from = from.map(|fd| fd as i32).filter(|fd| *fd != libc::AT_FDCWD);
    split(path).map(|(parent, name)| Named {
        from,
        parent: parent.to_owned(),
        name: name.to_owned(),
        is_directory: path.ends_with(b"/"),
    })
}

/// The path up to its last name, and that name.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    let start = path[..end].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let name = &path[start..end];
    (!matches!(name, b"" | b"." | b"..")).then_some((&path[..start], name))
}

/// The number of a descriptor of the caller, by one of the paths that it has for itself.
fn descriptor_in(path: &[u8]) -> Option<i32> {
    let number = match path {
        b"/dev/stdin" => return Some(0),
        b"/dev/stdout" => return Some(1),
        b"/dev/stderr" => return Some(2),
        path => path.strip_prefix(b"/proc/self/fd/").or_else(|| path.strip_prefix(b"/dev/fd/"))?,
    };
    str::from_utf8(number).ok()?.parse().ok()
}

impl Named {
    /// Returns true if it may lie in a git directory, going by its looks.
    pub(super) fn looks_like_git(&self) -> bool {
        self.parent.windows(4).any(|part| part == b".git") || self.name.ends_with(b".lock")
    }

    /// The name, if it is text. What git or we know is.
    pub(super) fn text(&self) -> Option<&str> {
        str::from_utf8(&self.name).ok()
    }

    /// The descriptor of the caller that it is another path of.
    pub(super) fn descriptor(&self) -> Option<i32> {
        descriptor_in(&[self.parent.as_slice(), &self.name].concat())
    }

    /// Returns true for devices and the process table, which no command can make names in.
    pub(super) fn is_the_kernels(&self) -> bool {
        [&b"/dev/"[..], b"/proc/"].iter().any(|place| self.parent.starts_with(place))
    }

    /// The place that a link leads to, which lies where that name is.
    pub(super) fn followed(directory: &[u8], text: &[u8]) -> Option<Self> {
        let path = if text.starts_with(b"/") { text.to_vec() } else { [directory, b"/", text].concat() };
        parse(None, &path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_of_a_path() {
        let parts = |path: &'static str| split(path.as_bytes());
        assert_eq!(parts("a/b"), Some((&b"a/"[..], &b"b"[..])));
        assert_eq!(parts("/a"), Some((&b"/"[..], &b"a"[..])));
        assert_eq!(parts("a//"), Some((&b""[..], &b"a"[..])));
        assert_eq!(parts("/.git/"), Some((&b"/"[..], &b".git"[..])));
        for path in ["", "/", ".", "a/..", "a/."] {
            assert_eq!(parts(path), None, "{path}");
        }
        assert_eq!(split(b"\xff/HEAD"), Some((&b"\xff/"[..], &b"HEAD"[..])));
    }

    #[test]
    fn paths_of_descriptors() {
        for (path, number) in [("/dev/stdout", 1), ("/dev/fd/7", 7), ("/proc/self/fd/12", 12)] {
            assert_eq!(descriptor_in(path.as_bytes()), Some(number), "{path}");
        }
        for path in ["/dev/fd/", "/dev/fd/x", "/proc/self/fd/1/x", "/tmp/1"] {
            assert_eq!(descriptor_in(path.as_bytes()), None, "{path}");
        }
    }
}
