//! `install.sh`, by the checks in `installer.sh`: against a release made there, without a network.

use std::path::{Path, PathBuf};
use std::process::Command;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Runs one part of the checks.
#[track_caller]
fn passes(part: &str) {
    let scratch = tempfile::tempdir().unwrap();
    let mut bash = Command::new("bash");
    bash.arg(file("tests/installer.sh"))
        .arg(file("install.sh"))
        .arg(part);
    bash.env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("TMPDIR", scratch.path());
    let output = bash.output().unwrap();
    let (told, wrong) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success() && told.contains("ok: "),
        "{told}{wrong}"
    );
}

#[test]
fn it_installs_a_release_in_every_shell() {
    passes("installs");
}

#[test]
fn it_chooses_the_program_of_the_machine() {
    passes("chooses");
}

#[test]
fn it_unpacks_nothing_whose_sum_is_wrong() {
    passes("refuses");
}

#[test]
fn it_spares_what_is_installed_when_it_fails() {
    passes("spares");
}

#[test]
fn it_tells_what_is_wrong_with_its_arguments() {
    passes("misuses");
}

#[test]
fn it_builds_from_source() {
    passes("builds");
}

#[test]
fn it_leaves_nothing_when_it_is_ended() {
    passes("ends");
}

#[test]
fn it_does_nothing_when_its_download_is_cut() {
    passes("cut");
}

/// Where shellcheck is not installed there is nothing to hold; the continuous integration installs it.
#[test]
fn the_shell_scripts_are_clean() {
    let scripts = [
        "install.sh",
        ".ci/run",
        "tests/installer.sh",
        "packaging/archive.sh",
        "packaging/extras.sh",
        "packaging/homebrew.sh",
        "packaging/scoop.sh",
        "docs/scale.sh",
        ".github/actions/edio-run/run.sh",
    ]
    .map(file);
    if let Ok(output) = Command::new("shellcheck").args(scripts).output() {
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    let posix = std::fs::read_to_string(file("install.sh")).unwrap();
    assert!(posix.starts_with("#!/bin/sh\n"));
}
