//! Links the C library into the program, where its archives are installed.
//!
//! The same file then runs on any Linux of its architecture, in any container; and starting it costs a sixth of a shell
//! less, because nothing has to be found, loaded and bound: agents start us for every command.
//!
//! Cargo can do that by itself only for a target that is named on the command line. So the libraries that it asks the
//! linker for by name are found here first, as one-line scripts that name the archives instead.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What Rust's standard library links with, and the archives that hold it.
const LIBRARIES: [(&str, &[&str]); 7] = [
    ("c", &["libc.a", "libgcc_eh.a", "libgcc.a"]),
    ("m", &["libm.a"]),
    ("gcc_s", &["libgcc_eh.a", "libgcc.a"]),
    ("dl", &["libdl.a"]),
    ("pthread", &["libpthread.a"]),
    ("rt", &["librt.a"]),
    ("util", &["libutil.a"]),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let native = env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    let glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    let Some(scripts) = env::var_os("OUT_DIR").map(PathBuf::from).filter(|_| native && glibc) else { return };
    if can_link(&scripts) && write_scripts(&scripts).is_some() {
        // For the program alone: tests are linked as ever.
        println!("cargo::rustc-link-arg-bins=-L{}", scripts.display());
        println!("cargo::rustc-link-arg-bins=-static-pie");
    }
}

/// Tried rather than guessed: some systems have no archives, and some compilers do not know the option.
fn can_link(directory: &Path) -> bool {
    let (source, program) = (directory.join("empty.c"), directory.join("empty"));
    let written = fs::write(&source, "int main(void) { return 0; }\n").is_ok();
    let compiled = || Command::new("cc").arg("-static-pie").arg("-o").args([&program, &source]).output();
    let runs = || Command::new(&program).status();
    written
        && compiled().is_ok_and(|done| done.status.success())
        && runs().is_ok_and(|status| status.success())
}

fn write_scripts(directory: &Path) -> Option<()> {
    for (name, archives) in LIBRARIES {
        let found: Option<Vec<String>> = archives.iter().map(|archive| path_of(archive)).collect();
        fs::write(directory.join(format!("lib{name}.so")), format!("GROUP ( {} )\n", found?.join(" ")))
            .ok()?;
    }
    Some(())
}

fn path_of(archive: &str) -> Option<String> {
    let answer = Command::new("cc").arg(format!("-print-file-name={archive}")).output().ok()?;
    let path = String::from_utf8(answer.stdout).ok()?.trim_end().to_owned();
    // A compiler that has none prints the bare name.
    Path::new(&path).is_absolute().then_some(path)
}
