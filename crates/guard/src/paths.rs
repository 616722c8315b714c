//! Where a path leads, in kinds that matter to rules. Nothing is looked up: links are not known.

use crate::patterns::{matches, matches_nearly_all};
use crate::secrets::{SecretKind, in_home, is_stored_in_home};
use crate::text::{Piece, Text, Why};
use crate::world::World;

/// The kinds of places, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// `/`.
    Root,
    /// A disk, a partition, physical memory.
    RawDevice,
    /// A directory of the system, or anything in it.
    System,
    /// The home directory.
    Home,
    /// What a person keeps at home: documents, keys, settings.
    Personal,
    /// The home of somebody else, or all of them.
    OtherHome,
    /// A `.git` directory.
    Repository,
    /// The workspace itself, everything directly in it, or a directory that contains it.
    WorkspaceRoot,
    /// The directory for temporary files itself.
    TemporaryRoot,
    /// Everything directly in the directory for temporary files.
    TemporaryAll,
    /// Not known.
    Unknown,
    /// Somewhere else.
    Outside,
    /// Somewhere in the home directory.
    InHome,
    /// Something in a `.git` directory.
    InRepository,
    /// In the workspace.
    Workspace,
    /// In a directory for temporary files.
    Temporary,
    /// `/dev/null` and the like.
    Harmless,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        serde::Serialize::serialize(self, f)
    }
}

/// A path as far as it is known, in kind and in words.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Path {
    pub(crate) place: Place,
    /// Absolute and normalised if known; as written otherwise.
    pub(crate) name: String,
    /// Why the place is not known.
    pub(crate) why: Option<Why>,
}

const TEMPORARY: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp"];

/// Directly below the root. `/opt` and others like it are the system's, what is in them is not.
const SYSTEM: [&str; 18] = [
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "root", "run", "sbin", "sys",
    "usr", "var", "System", "Library", "Applications",
];
const SHELVES: [&str; 6] = ["home", "opt", "srv", "mnt", "media", "Users"];

/// What package managers fetch again.
const PACKAGE_CACHES: [&str; 8] = [
    "/var/lib/apt/lists", "/var/cache/apt", "/var/cache/yum", "/var/cache/dnf", "/var/cache/apk",
    "/var/cache/pacman/pkg", "/var/cache/zypp", "/var/cache/debconf",
];

/// In the home directory, beside secrets.
const PERSONAL: [&str; 13] = [
    "Desktop", "Documents", "Downloads", "Library", "Mail", "Music", "Pictures", "Videos", "Dropbox",
    ".config", ".docker", ".gitconfig", ".local",
];

const HARMLESS: [&str; 11] = [
    "/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty",
    "/dev/ptmx", "/dev/random", "/dev/urandom", "/dev/fd",
];

/// The places that a path may lead to from each of the working directories. There is always one.
pub(crate) fn locate(text: &Text, cwds: &[Text], world: &World) -> Vec<Path> {
    let absolute = text.prefix().starts_with('/');
    let starts: Vec<Option<&Text>> = if absolute { vec![None] } else { cwds.iter().map(Some).collect() };
    let mut paths: Vec<Path> = vec![];
    for start in starts {
        let mut whole = start.cloned().unwrap_or_default();
        whole.push_str("/");
        whole.append(text);
        // A path that begins with something unknown may be absolute, unless it is a number.
        let unknown = matches!(text.pieces().first(), Some(Piece::Unknown(why)) if *why != Why::Number);
        let whole = if unknown { text.clone() } else { whole };
        for path in classify(&whole, world) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}

fn classify(text: &Text, world: &World) -> Vec<Path> {
    let known = |place, name: String| Path { place, name, why: None };
    let Some(parts) = components(text) else {
        let why = text.why().cloned();
        return vec![Path { place: Place::Unknown, name: text.to_string(), why }];
    };
    let name = format!("/{}", parts.iter().map(Part::shown).collect::<Vec<_>>().join("/"));
    // A pattern stands for several places: those that it could match among the ones that matter, and an ordinary one.
    let mut places = vec![];
    let mut prefix = String::new();
    for (index, part) in parts.iter().enumerate() {
        let last = index + 1 == parts.len();
        let Part::Pattern(pattern) = part else {
            prefix = format!("{prefix}/{}", part.shown());
            continue;
        };
        for notable in notable(&prefix, world) {
            if matches(pattern, notable) {
                let rest: Vec<_> = parts[index + 1..].iter().map(Part::shown).collect();
                let whole = [&format!("{prefix}/{notable}"), rest.join("/").as_str()].join("/");
                places.push(known(place_of(whole.trim_end_matches('/'), world), name.clone()));
            }
        }
        if last && matches_nearly_all(pattern) {
            places.extend(place_of_all(&prefix, world).map(|place| known(place, name.clone())));
        }
        prefix = format!("{prefix}/{}", part.shown());
    }
    places.push(known(place_of(&name, world), name.clone()));
    places.sort_by_key(|path| path.place);
    places.dedup();
    places
}

/// Names in a directory that a pattern should not match unnoticed.
fn notable<'a>(directory: &str, world: &'a World) -> Vec<&'a str> {
    let mut names = vec![".git"];
    if directory.is_empty() {
        names.extend(SYSTEM.iter().chain(&SHELVES));
    }
    if directory == world.home() {
        names.extend(PERSONAL);
        let stored = in_home().filter(|secret| secret.kind == SecretKind::Stored);
        names.extend(stored.map(|secret| secret.path).filter(|path| !path.contains(['/', '*'])));
    }
    for workspace in world.workspaces() {
        if let Some(rest) = workspace.strip_prefix(directory)
            && let Some(next) = rest.strip_prefix('/').and_then(|rest| rest.split('/').next())
        {
            names.push(next);
        }
    }
    names
}

/// What it means to take everything in a directory.
fn place_of_all(directory: &str, world: &World) -> Option<Place> {
    let directory = if directory.is_empty() { "/" } else { directory };
    match place_of(directory, world) {
        Place::TemporaryRoot => Some(Place::TemporaryAll),
        place @ (Place::Root
        | Place::System
        | Place::Home
        | Place::Personal
        | Place::OtherHome
        | Place::Repository
        | Place::WorkspaceRoot) => Some(place),
        Place::RawDevice
        | Place::TemporaryAll
        | Place::Unknown
        | Place::Outside
        | Place::InHome
        | Place::InRepository
        | Place::Workspace
        | Place::Temporary
        | Place::Harmless => None,
    }
}

fn place_of(path: &str, world: &World) -> Place {
    let path = if path.is_empty() { "/" } else { path };
    let inside = |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
    if path == "/" {
        return Place::Root;
    }
    if HARMLESS.contains(&path) || ["/dev/fd", "/dev/pts", "/proc/self/fd"].iter().any(|root| inside(root)) {
        return Place::Harmless;
    }
    if is_raw_device(path) {
        return Place::RawDevice;
    }
    if TEMPORARY.contains(&path) {
        return Place::TemporaryRoot;
    }
    if PACKAGE_CACHES.iter().any(|root| *root == path || inside(root)) {
        return Place::Outside;
    }
    let in_workspace = world.workspaces().iter().find(|root| *root == path || inside(root));
    if path == world.home() {
        return Place::Home;
    }
    // A workspace or a home that is itself a temporary directory is guarded like any other.
    if in_workspace.is_none() && !inside(world.home()) && TEMPORARY.iter().any(|root| inside(root)) {
        return Place::Temporary;
    }
    let parts: Vec<&str> = path[1..].split('/').collect();
    if inside(world.home()) {
        let rest: Vec<&str> = path[world.home().len() + 1..].split('/').collect();
        let is_personal = |name: &str| PERSONAL.contains(&name) || is_stored_in_home(name);
        if rest.len() == 1 && is_personal(rest[0]) || matches!(rest[0], ".ssh" | ".gnupg") {
            return Place::Personal;
        }
    } else if SYSTEM.contains(&parts[0]) && in_workspace.is_none_or(|root| is_broad(root, world)) {
        return Place::System;
    }
    if let Some(at) = parts.iter().position(|part| *part == ".git") {
        return if at + 1 == parts.len() { Place::Repository } else { Place::InRepository };
    }
    if SHELVES.contains(&parts[0]) && parts.len() <= 1 + usize::from(matches!(parts[0], "home" | "Users")) {
        return Place::OtherHome;
    }
    let contains_workspace = world
        .workspaces()
        .iter()
        .any(|root| root.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')));
    match in_workspace {
        Some(root) if root == path => Place::WorkspaceRoot,
        _ if contains_workspace => Place::WorkspaceRoot,
        Some(root) if !is_broad(root, world) => Place::Workspace,
        Some(_) | None if inside(world.home()) => Place::InHome,
        Some(_) | None => Place::Outside,
    }
}

/// A workspace that is the root, a home or a directory of the system makes nothing in it the task's own.
fn is_broad(workspace: &str, world: &World) -> bool {
    let parts = workspace.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>();
    workspace == world.home()
        || parts.len() <= 1
            && parts.first().is_none_or(|part| SYSTEM.contains(part) || SHELVES.contains(part))
        || matches!(
            parts.first(),
            Some(&("etc" | "usr" | "boot" | "bin" | "sbin" | "lib" | "proc" | "sys" | "dev"))
        )
}

fn is_raw_device(path: &str) -> bool {
    const STEMS: [&str; 14] = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "dm-", "md", "loop", "disk", "rdisk", "sr", "nbd", "zram",
    ];
    let Some(name) = path.strip_prefix("/dev/") else { return false };
    let stemmed = STEMS.iter().any(|stem| {
        name.strip_prefix(stem).is_some_and(|rest| rest.len() <= 8 && !rest.contains('/') && rest != "stdin")
    });
    let node = stemmed && !name.starts_with("std");
    node || matches!(name, "mem" | "kmem" | "port")
        || name.starts_with("disk/")
        || name.starts_with("mapper/")
        || name.starts_with("block/")
}

enum Part {
    Name(String),
    Pattern(String),
}

impl Part {
    fn shown(&self) -> &str {
        match self {
            Self::Name(text) | Self::Pattern(text) => text,
        }
    }
}

/// The parts of an absolute path without `.` and `..`. None if something unknown decides where it leads.
fn components(text: &Text) -> Option<Vec<Part>> {
    let mut parts: Vec<Part> = vec![];
    let mut current = String::new();
    let mut pattern = false;
    let mut finish = |current: &mut String, pattern: &mut bool| {
        let name = std::mem::take(current);
        // Of a line that ends as on Windows.
        let name = name.trim_end_matches('\r').to_owned();
        match (name.as_str(), std::mem::take(pattern)) {
            ("" | ".", _) => {}
            ("..", _) => drop(parts.pop()),
            (_, true) => parts.push(Part::Pattern(name)),
            (_, false) => parts.push(Part::Name(name)),
        }
    };
    for piece in text.pieces() {
        match piece {
            Piece::Known(text) => {
                let mut names = text.split('/');
                current.push_str(names.next().unwrap_or_default());
                for name in names {
                    finish(&mut current, &mut pattern);
                    current.push_str(name);
                }
            }
            Piece::Pattern(text) => {
                current.push_str(text);
                pattern = true;
            }
            // A number is part of some name.
            Piece::Unknown(Why::Number) => current.push('…'),
            // Something within a name, such as `build-$NAME`: it could hold a slash, but it begins here.
            Piece::Unknown(_) if !current.is_empty() && !matches!(current.as_str(), "." | "..") => {
                current.push('…');
            }
            Piece::Unknown(_) => return None,
        }
    }
    finish(&mut current, &mut pattern);
    Some(parts)
}

/// Without `.`, `..` and doubled slashes.
pub(crate) fn normalise(path: &str) -> String {
    let mut parts: Vec<&str> = vec![];
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
