//! Links the program so that it starts fast, since an agent's hook starts it at every tool call: at a fixed address, and
//! with the C library in it.
//!
//! To move it to another address at each start takes a fifth of the time that it takes to start. What is given up makes it
//! harder to use a fault of memory; there is no unsafe code here to have one. To look for shared libraries takes a third.
//! rustc can link them in where it is told to (`-C target-feature=+crt-static`), but a package can't ask it to.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "cargo says in variables what it builds for, and the C compiler where its libraries are"
)]

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What rustc links any program with.
const SHARED: [&str; 7] = ["gcc_s", "util", "rt", "pthread", "m", "dl", "c"];

/// What has all of that in it.
const STATIC: [&str; 4] = ["libm.a", "libgcc_eh.a", "libgcc.a", "libc.a"];

/// What the standard library uses where the system has it. Nothing else asks for them, so they would be left out, and each
/// process would be forked to be started, which takes a millisecond.
const ASKED_FOR: [&str; 2] = [
    "gnu_get_libc_version",
    "posix_spawn_file_actions_addchdir_np",
];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let of_target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    // Elsewhere such programs are unknown.
    if of_target("OS") != "linux" || of_target("ENV") != "gnu" {
        return Ok(());
    }
    let features = of_target("FEATURE");
    // Then rustc links it so itself.
    if !features.split(',').any(|name| name == "crt-static") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        match (env::var_os("OUT_DIR"), static_libraries()) {
            (Some(folder), Some(files)) => link_instead_of_shared(Path::new(&folder), &files)?,
            _ => return Ok(()),
        }
    }
    for name in ASKED_FOR {
        println!("cargo::rustc-link-arg-bins=-Wl,--undefined={name}");
    }
    Ok(())
}

/// Where they are; `None` where the system lacks one (most have them beside the C compiler, some in a package of their own),
/// or where another is built for, or another linker is used than cc.
fn static_libraries() -> Option<Vec<PathBuf>> {
    let is_for_here = env::var_os("HOST") == env::var_os("TARGET");
    let has_own_linker = env::var_os("RUSTC_LINKER").is_some();
    if !is_for_here || has_own_linker {
        return None;
    }
    STATIC.iter().map(|name| static_library(name)).collect()
}

fn static_library(name: &str) -> Option<PathBuf> {
    let mut cc = Command::new("cc");
    let told = cc.arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(told.stdout).ok()?.trim_end());
    // Of what it doesn't find it says the mere name.
    path.is_absolute().then_some(path)
}

/// Has the linker find these where it looks for a shared library.
fn link_instead_of_shared(folder: &Path, files: &[PathBuf]) -> io::Result<()> {
    let files: Vec<String> = files
        .iter()
        .map(|file| format!("\"{}\"", file.display()))
        .collect();
    let script = format!("GROUP ( {} )\n", files.join(" "));
    for name in SHARED {
        fs::write(folder.join(format!("lib{name}.so")), &script)?;
    }
    // Programs alone: the tests are linked as usual.
    println!("cargo::rustc-link-arg-bins=-L{}", folder.display());
    println!("cargo::rustc-link-arg-bins=-static");
    Ok(())
}
