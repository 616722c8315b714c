//! Links the program so that it runs everywhere and starts fast: agents start it for every command.
//!
//! The C library is linked into it, where its archives are installed. The same file then runs on any Linux of its
//! architecture, in any container; and starting it costs a sixth of a shell less, because nothing has to be found, loaded
//! and bound. Cargo can do that by itself only for a target that is named on the command line. So the libraries that it
//! asks the linker for by name are found here first, as one-line scripts that name the archives instead.
//!
//! What a start passes through lies side by side in it, and addresses that have to be adjusted are listed tersely: each
//! page that is not looked at is one less to map and to unmap.

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

/// Which functions lie side by side: see `scripts/startup-order`.
const ORDER: &str = "startup.ld";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={ORDER}");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let native = env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    let glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    let Some(directory) = env::var_os("OUT_DIR").map(PathBuf::from).filter(|_| native && glibc) else {
        return;
    };
    let mut options = vec![];
    let mut try_also = |more: &[String]| {
        let tried = [options.as_slice(), more].concat();
        let works = can_link(&directory, &tried);
        if works {
            options = tried;
        }
        works
    };
    let scripts = format!("-L{}", directory.display());
    if write_scripts(&directory).is_some() && try_also(&[scripts, "-static-pie".to_owned()]) {
        // The C library has to know of it, so only with our own.
        try_also(&["-Wl,-z,pack-relative-relocs".to_owned()]);
    }
    if let Some(root) = env::var_os("CARGO_MANIFEST_DIR").filter(|_| is("PROFILE", "release")) {
        try_also(&[format!("-Wl,-T,{}", Path::new(&root).join(ORDER).display())]);
    }
    // For the program alone: tests are linked as ever.
    options.iter().for_each(|option| println!("cargo::rustc-link-arg-bins={option}"));
}

/// Whether a small program can be linked so, and runs: some systems have no archives, and linkers and C libraries differ
/// in what they know.
fn can_link(directory: &Path, options: &[String]) -> bool {
    let (source, program) = (directory.join("trial.rs"), directory.join("trial"));
    let mut compiler = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    compiler.arg("--crate-name=trial").arg("-o").args([&program, &source]);
    compiler.args(options.iter().map(|option| format!("-Clink-arg={option}")));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        compiler.arg(format!("-Clinker={linker}"));
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    compiler.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    fs::write(&source, "fn main() { println!(\"{:?}\", std::env::args()) }\n").is_ok()
        && compiler.output().is_ok_and(|done| done.status.success())
        && Command::new(&program).current_dir(directory).output().is_ok_and(|done| done.status.success())
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
