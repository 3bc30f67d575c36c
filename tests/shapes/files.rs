//! Files that are hard to hold.

use std::fs;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::os::unix::net::UnixListener;
use std::process::Command;

use super::{Stage, is_clean, stage_set};
use crate::common::{Repo, edio_binary, left_out, python};

/// Runs edio, and returns how many MiB it or one of its children took at most.
fn memory_of(repo: &Repo, words: &[&str]) -> u64 {
    let script = "import os, sys\npid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)\n\
                  _, status, usage = os.wait4(pid, 0)\nassert status == 0\nprint(usage.ru_maxrss // 1024)";
    let mut command = Command::new(python());
    repo.surround(&mut command);
    command
        .args(["-I", "-S", "-c", script])
        .arg(edio_binary())
        .args(words);
    let ran = repo.ran(command.current_dir(&repo.top));
    ran.ok().stdout.lines().last().unwrap().parse().unwrap()
}

#[test]
fn a_large_file_takes_time_and_no_memory() {
    const LENGTH: u64 = 300 << 20;
    let repo = stage_set();
    repo.git(["config", "edio.maxFileSize", "off"]);
    // From this length on git itself passes a file on piece by piece.
    repo.git(["config", "core.bigFileThreshold", "1m"]);
    repo.git(["config", "core.compression", "1"]);
    let large = fs::File::create(repo.path("large")).unwrap();
    large.set_len(LENGTH).unwrap();
    large.write_all_at(b"x", LENGTH - 1).unwrap();
    let to_take = memory_of(&repo, &["-q", "snapshot"]);
    repo.remove("large");
    let to_restore = memory_of(&repo, &["-q", "restore", "1", "-f", "large"]);
    let large = fs::File::open(repo.path("large")).unwrap();
    let mut last = [0];
    large.read_exact_at(&mut last, LENGTH - 1).unwrap();
    assert_eq!((large.metadata().unwrap().len(), last), (LENGTH, *b"x"));
    assert!(
        to_take < 100 && to_restore < 100,
        "{to_take}, {to_restore} MiB"
    );
}

#[test]
fn thousands_of_changed_paths() {
    let repo = stage_set();
    let path = |at: usize| format!("many/{}/a name that is not short {at}", at / 100);
    let count = std::env::var("EDIO_PATHS").map_or(3000, |count| count.parse().unwrap());
    for at in 0..count {
        repo.write(path(at), format!("{at}\n"));
    }
    repo.edio(["snapshot", "--force"]).ok();
    let first = repo.manifest();
    assert_eq!(first.len(), count + 2);
    for at in 0..count {
        match at % 3 {
            0 => repo.remove(path(at)),
            1 => repo.write(path(at), "changed\n"),
            _ => fs::rename(repo.path(path(at)), repo.path(path(at) + "!")).unwrap(),
        }
    }
    let second = repo.manifest();
    let ran = repo.edio(["restore", "1", "--json"]);
    assert_eq!(ran.ok().json()[0]["safety_turn"], 2, "{ran}");
    assert_eq!(repo.manifest(), first);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), second);
}

#[test]
fn beside_fifos_sockets_and_devices_the_story_is_the_same() {
    let repo = stage_set();
    let make = |words: &[&str]| {
        let mut command = Command::new("mknod");
        let made = command.args(words).current_dir(&repo.top).status();
        made.unwrap().success()
    };
    assert!(make(&["story/pipe", "p"]));
    let _listening = UnixListener::bind(repo.path("socket")).unwrap();
    let has_device = repo.is_root() && make(&["device", "c", "1", "3"]);
    if !has_device {
        left_out("no device can be made: FIFO and socket remain");
    }
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    is_clean(&repo);
    let kind = |path| fs::symlink_metadata(repo.path(path)).unwrap().file_type();
    assert!(kind("story/pipe").is_fifo() && kind("socket").is_socket());
    assert!(!has_device || kind("device").is_char_device());
    // In the place of a file they are named, and nothing is put in their place.
    repo.edio(["snapshot"]).ok();
    repo.remove("other");
    let device: &[&str] = &["other", "c", "1", "3"];
    assert!(make(if has_device { device } else { &["other", "p"] }));
    let ran = repo.edio(["snapshot"]);
    assert!(ran.ok().stderr.contains("other"), "{ran}");
    let refused = repo.edio(["restore", "1"]);
    assert!(refused.fails(3).stderr.contains("other"), "{refused}");
    assert!(!kind("other").is_file());
    repo.remove("other");
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.read("other"), "o\n");
}

#[test]
fn unreadable_and_read_only_paths() {
    let repo = stage_set();
    repo.write("closed/x", "1\n");
    repo.write("secret", "s\n");
    repo.write("fixed/x", "1\n");
    repo.give_away();
    repo.edio_without_rights(["snapshot"]).ok();
    let first = repo.manifest();
    repo.write("fixed/x", "2\n");
    repo.write("story/changed", "2\n");
    repo.chmod("closed", 0o000);
    repo.chmod("secret", 0o000);
    repo.chmod("fixed", 0o555);
    let ran = repo.edio_without_rights(["snapshot"]);
    let said = &ran.ok().stderr;
    assert!(said.contains("closed") && said.contains("secret"), "{ran}");
    // Nothing that can't be read is replaced, and where nothing can be written nothing is begun.
    let refused = repo.edio_without_rights(["restore", "1", "-f", "secret"]);
    refused.fails(3);
    repo.edio_without_rights(["restore", "1", "-f", "fixed"])
        .fails(3);
    repo.chmod("closed", 0o755);
    repo.chmod("secret", 0o644);
    repo.chmod("fixed", 0o755);
    assert_eq!(repo.read("fixed/x"), "2\n");
    assert_eq!(repo.read("secret"), "s\n");
    repo.edio_without_rights(["restore", "1"]).ok();
    assert_eq!(repo.manifest(), first);
}
