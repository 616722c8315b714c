//! What is known about programs. Each is a page: its options, its operands, and what it does by them.
//!
//! Everything that has to know a program reads its page: what it does to files and machines, how the command in its
//! words is found, and what the rules say of it. A page is a constant, so nothing is read or built when the guard starts.

mod accounts;
mod archives;
mod cloud;
mod compute;
mod copies;
mod databases;
mod disks;
mod document;
mod downloads;
mod editors;
mod files;
mod git;
mod index;
mod machine;
mod packages;
mod page;
mod releases;
mod remote;
mod runners;
mod select;
mod services;
mod usage;
mod wrappers;

pub(crate) use git::GLOBAL_VALUES;
pub(crate) use index::page;
pub(crate) use page::{Concern, Deed, Own, Page, Runs, Start, Talks};
pub(crate) use select::{named_inside, outputs};
pub(crate) use usage::{Usage, is_listed};

/// All pages, in the order in which they are documented.
pub(crate) const PAGES: &[&[Page]] = &[
    files::PAGES,
    copies::PAGES,
    editors::PAGES,
    archives::PAGES,
    downloads::PAGES,
    remote::PAGES,
    git::PAGES,
    machine::PAGES,
    services::PAGES,
    packages::PAGES,
    disks::PAGES,
    accounts::PAGES,
    databases::PAGES,
    cloud::PAGES,
    compute::PAGES,
    releases::PAGES,
    wrappers::PAGES,
    runners::PAGES,
];
