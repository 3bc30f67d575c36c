//! Names of every kind.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

use super::{Stage, is_clean, stage_set};
use crate::common::Repo;

#[test]
fn folders_above_with_odd_names() {
    let names: [&[u8]; 4] = [
        b"-dash *[a]?",
        b"new\nline",
        b"caf\xe9",
        b"\"quotes\" 'n $HOME",
    ];
    for name in names {
        let mut repo = Repo::unborn();
        repo.top = repo.outside().join(OsStr::from_bytes(name));
        fs::create_dir(&repo.top).unwrap();
        repo.git(["init", "-q"]);
        repo.write("a", "1\n");
        repo.write("d/x", "1\n");
        repo.commit("base");
        repo.edio(["snapshot"]).ok();
        repo.write("a", "2\n");
        repo.write("d/new", "2\n");
        repo.edio_in("d", ["snapshot"]).ok();
        repo.edio(["restore", "1"]).ok();
        assert_eq!(
            repo.manifest_in(&repo.turn_ref(1)),
            repo.manifest(),
            "{name:?}"
        );
        repo.edio_in("d", ["restore", "2", "-f", "new"]).ok();
        assert_eq!(
            (repo.read("d/new"), repo.read("a")),
            ("2\n".into(), "1\n".into()),
            "{name:?}"
        );
    }
}

#[test]
fn names_that_differ_in_case_or_form_only() {
    // Set on a disk that ignores case, and taken along to this one.
    for ignores_case in ["false", "true"] {
        let repo = stage_set();
        let mut pairs = vec![("a", "A"), ("dir/x", "Dir/x"), ("caf\u{e9}", "cafe\u{301}")];
        for (one, _) in &pairs {
            repo.write(one, format!("{one}\n"));
        }
        repo.commit("more");
        repo.git(["config", "core.ignoreCase", ignores_case]);
        repo.git(["config", "core.precomposeUnicode", "true"]);
        let first = repo.manifest();
        if first.len() > repo.git(["ls-files"]).lines().count() {
            return;
        }
        repo.edio(["snapshot"]).ok();
        for (one, other) in &pairs {
            fs::create_dir_all(repo.path(other).parent().unwrap()).unwrap();
            fs::rename(repo.path(one), repo.path(other)).unwrap();
        }
        repo.remove("dir");
        repo.edio(["snapshot"]).ok();
        let renamed = repo.manifest();
        for (one, _) in &pairs {
            repo.write(one, "beside the other\n");
        }
        repo.edio(["snapshot"]).ok();
        let both = repo.manifest();
        for (turn, files) in [
            ("1", &first),
            ("3", &both),
            ("2", &renamed),
            ("1", &first),
            ("2", &renamed),
        ] {
            repo.edio(["restore", turn]).ok();
            assert_eq!(
                &repo.manifest(),
                files,
                "turn {turn}, ignoreCase {ignores_case}"
            );
        }
        repo.write("story/changed", "2\n");
        repo.write("story/deep/new", "new\n");
        Stage::at_top(&repo).accept();
        pairs.push(("story/changed", "story/changed"));
        let committed = repo.manifest_in("HEAD");
        assert_eq!(committed, repo.manifest());
        repo.fsck();
    }
}

/// A relative path of this many bytes, of names as long as names may be.
fn long_path(length: usize) -> String {
    let mut path = String::new();
    while length - path.len() > 300 {
        path += &"d".repeat(255);
        path.push('/');
    }
    path += &"e".repeat(length - path.len() - 2);
    path + "/f"
}

#[test]
fn names_and_paths_as_long_as_they_may_be() {
    let repo = stage_set();
    let room = 4095 - repo.top.as_os_str().len() - 1;
    // With the shorter ones there is room beside them for another name, with the last one there is none.
    let paths = [
        "n".repeat(255),
        long_path(3900),
        long_path(room - 30),
        long_path(room),
    ];
    for path in &paths {
        repo.write(path, "1\n");
    }
    repo.edio(["snapshot"]).ok();
    let first = repo.manifest();
    assert_eq!(repo.manifest_in(&repo.turn_ref(1)), first);
    for path in &paths {
        repo.write(path, "2, and longer\n");
    }
    repo.edio(["snapshot"]).ok();
    for path in &paths {
        repo.write(path, "not saved\n");
    }
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.manifest(), first);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read(&paths[3]), "not saved\n");
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.manifest().len(), 2);
    repo.edio(["restore", "2"]).ok();
    assert_eq!(repo.manifest_in(&repo.turn_ref(2)), repo.manifest());
    repo.write("story/changed", "2\n");
    repo.write("story/deep/new", "new\n");
    Stage::at_top(&repo).accept();
    is_clean(&repo);
}

#[test]
fn a_path_that_is_too_long_is_named_and_left_alone() {
    let repo = stage_set();
    let room = 4095 - repo.top.as_os_str().len() - 1;
    let folder = long_path(room - 400);
    let folder = folder.strip_suffix("/f").unwrap();
    fs::create_dir_all(repo.path(folder)).unwrap();
    let file = || {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let mut folder = openat(CWD, repo.path(folder), flags, Mode::empty()).unwrap();
        for name in ["d".repeat(250), "e".repeat(250)] {
            let _ = mkdirat(&folder, &name, Mode::RWXU);
            folder = openat(&folder, &name, flags, Mode::empty()).unwrap();
        }
        let flags = OFlags::RDWR | OFlags::CREATE;
        fs::File::from(openat(&folder, "f", flags, Mode::RUSR).unwrap())
    };
    file().write_all(b"1\n").unwrap();
    let content = || io::read_to_string(file()).unwrap();
    repo.write("story/changed", "2\n");
    let ran = repo.edio(["snapshot", "--json"]);
    assert_eq!(ran.ok().json()[0]["skipped_count"], 1, "{ran}");
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.read("story/changed"), "1\n");
    assert_eq!(content(), "1\n");
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("story/changed"), "2\n");
    assert_eq!(content(), "1\n");
}
