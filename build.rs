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

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let of_target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    // Elsewhere such a program is unknown; and how one without shared libraries begins is for rustc to choose.
    let is_static = of_target("FEATURE")
        .split(',')
        .any(|name| name == "crt-static");
    if of_target("OS") != "linux" || of_target("ENV") != "gnu" || is_static {
        return Ok(());
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    let is_for_here = env::var_os("HOST") == env::var_os("TARGET");
    let has_own_linker = env::var_os("RUSTC_LINKER").is_some();
    if let (true, false, Some(folder)) = (is_for_here, has_own_linker, env::var_os("OUT_DIR"))
        && let Some(files) = static_libraries()
    {
        link_instead_of_shared(Path::new(&folder), &files)?;
    }
    Ok(())
}

/// Where they are; `None` where the system lacks one: most have them beside the C compiler, some in a package of their own.
fn static_libraries() -> Option<Vec<PathBuf>> {
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
