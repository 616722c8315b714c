//! Links the unwinder into the program.
//!
//! Otherwise every start loads `libgcc_s.so`, which costs a tenth of it: agents start us for every command.
//! Where the C compiler has no archive of it, the shared library is used as ever.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const ARCHIVE: &str = "libgcc_eh.a";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let native = env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    let glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if let Some(directory) = directory_of_archive().filter(|_| native && glibc) {
        println!("cargo::rustc-link-search=native={}", directory.display());
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

fn directory_of_archive() -> Option<PathBuf> {
    let answer = Command::new("cc").arg(format!("-print-file-name={ARCHIVE}")).output().ok()?;
    let path = String::from_utf8(answer.stdout).ok()?;
    // A compiler that has none prints the bare name.
    Path::new(path.trim_end()).parent().filter(|parent| parent.is_absolute()).map(Path::to_owned)
}
