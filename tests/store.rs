//! `edio init --store`: the turns of a folder without a repository, or of a repository that is not to be written to.

use std::ffi::OsStr;
use std::fs;
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::{NOW, Ran, Repo, fed, left_out, payload};

const DAY: i64 = 24 * 60 * 60;

/// A folder for one test, and edio run in it by a person who has a home folder also in the hostile world.
struct Folder(Repo);

impl Deref for Folder {
    type Target = Repo;

    fn deref(&self) -> &Repo {
        &self.0
    }
}

impl Folder {
    fn command<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Command {
        let mut command = self.0.command(words);
        command.env("HOME", self.outside().join("home"));
        command
    }

    fn edio<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Ran {
        self.ran(&mut self.command(words))
    }

    fn edio_in<W: AsRef<OsStr>>(
        &self,
        folder: impl AsRef<Path>,
        words: impl IntoIterator<Item = W>,
    ) -> Ran {
        self.ran(self.command(words).current_dir(self.path(folder)))
    }

    fn edio_later(&self, seconds: i64, words: &[&str]) -> Ran {
        let later = (NOW + seconds).to_string();
        self.ran(self.command(words).env("EDIO_NOW", later))
    }

    /// As the user to whom everything was given away.
    fn edio_without_rights(&self, words: &[&str]) -> Ran {
        let edio = self.outside().join("edio");
        let mut command = match self.is_root() {
            false => self.like_edio(edio, words),
            true => {
                let mut command = self.like_edio("setpriv", words);
                command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
                command.arg(edio);
                command
            }
        };
        self.ran(command.args(words).env("HOME", self.outside().join("home")))
    }
}

/// A repository with these files in one commit.
fn repository(files: &[(&str, &str)]) -> Folder {
    Folder(Repo::with(files))
}

/// A folder that is no repository, with a file in it.
fn plain() -> Folder {
    let repo = Folder(Repo::unborn());
    repo.remove(".git");
    repo.write("a", "one\n");
    repo
}

/// The same with a store, and no agent connected.
fn stored() -> Folder {
    let repo = plain();
    repo.edio(["init", "--store", "--agents", "none"]).ok();
    repo
}

/// Where the stores are.
fn stores(repo: &Folder) -> PathBuf {
    repo.outside().join("home/.local/share/edio/stores")
}

/// What lies among the stores.
fn listed(repo: &Folder) -> Vec<String> {
    let entries = fs::read_dir(stores(repo)).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The one store.
fn store(repo: &Folder) -> PathBuf {
    let names = listed(repo);
    assert_eq!(names.len(), 1, "{names:?}");
    stores(repo).join(&names[0])
}

/// The messages of the turns, the first turn first, as they are seen from this folder.
fn turns_in(repo: &Folder, folder: impl AsRef<Path>) -> Vec<String> {
    let ran = repo.edio_in(folder, ["log", "--json"]);
    let said = |turn: &Value| turn["message"].as_str().unwrap().trim_end().to_owned();
    let mut turns: Vec<String> = ran.ok().json().iter().map(said).collect();
    turns.reverse();
    turns
}

fn turns(repo: &Folder) -> Vec<String> {
    turns_in(repo, &repo.top)
}

/// Where `edio status` says that the turns are, seen from this folder.
fn store_seen_in(repo: &Folder, folder: impl AsRef<Path>) -> Value {
    let ran = repo.edio_in(folder, ["status", "--json"]);
    ran.ok().json()[0]["store"].clone()
}

fn snapshot(repo: &Folder, message: &str) {
    repo.edio(["snapshot", "-m", message]).ok();
}

#[test]
fn a_folder_without_git_has_the_verbs() {
    let repo = plain();
    let told = repo.edio(["status"]);
    assert!(told.fails(4).stderr.contains("edio init --store"), "{told}");
    let made = repo.edio(["init", "--store", "--agents", "none"]);
    assert!(
        made.ok().stderr.contains(".local/share/edio/stores/"),
        "{made}"
    );
    snapshot(&repo, "first");
    let first = repo.manifest();
    repo.write("a", "one\ntwo\n");
    repo.write("sub/b", "new\n");
    snapshot(&repo, "second");
    let second = repo.manifest();
    assert_eq!(turns(&repo), ["first", "second"]);
    let welcome = repo.edio([""; 0]);
    assert!(welcome.ok().stdout.contains("store: "), "{welcome}");
    assert!(!welcome.stderr.contains("accept"), "{welcome}");

    assert!(repo.edio(["show", "2"]).ok().stdout.contains("+two"));
    assert!(repo.edio(["diff", "1..2"]).ok().stdout.contains("+new"));
    assert!(repo.edio(["blame", "a"]).ok().stdout.contains("second"));
    assert!(repo.edio(["why", "a:2"]).ok().stdout.contains("second"));
    let shown = repo.edio(["exec", "1", "--", "cat", "a"]);
    assert_eq!(shown.ok().stdout, "one\n");
    let found = repo.edio(["bisect", "--good", "1", "--", "sh", "-c", "! grep -q two a"]);
    assert!(found.ok().stdout.contains("second"), "{found}");
    repo.edio(["context", "2"]).ok();

    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.manifest(), first);
    repo.edio(["undo"]).ok();
    assert_eq!(repo.manifest(), second);
    repo.edio(["redo"]).ok();
    assert_eq!(repo.manifest(), first);
    repo.edio(["undo"]).ok();
    repo.edio(["revert", "2"]).ok();
    assert_eq!(repo.manifest(), first);
    repo.edio(["run", "--", "sh", "-c", "echo made > c"]).ok();
    assert_eq!(turns(&repo).last().unwrap(), "sh -c 'echo made > c'");

    repo.edio(["forget", "-f", "sub/b", "--yes"]).ok();
    assert!(!repo.edio(["show", "2"]).ok().stdout.contains("+new"));
    repo.edio(["redact", "--check"]).ok();
    repo.edio(["doctor"]).ok();
    let bundle = repo.outside().join("bundle");
    repo.edio([
        OsStr::new("export"),
        OsStr::new("--bundle"),
        bundle.as_ref(),
    ])
    .ok();
    repo.edio(["sessions", "--close"]).ok();
    repo.edio([OsStr::new("import"), bundle.as_ref()]).ok();
    assert_eq!(repo.edio(["sessions", "--json"]).ok().json().len(), 1);
    repo.edio(["gc"]).ok();
    assert!(!repo.has(".git"));
    let git_dir = store(&repo).join("git");
    repo.git([
        OsStr::new("--git-dir"),
        git_dir.as_ref(),
        OsStr::new("fsck"),
        OsStr::new("--strict"),
    ]);
}

/// What is not committed has no branch: none is claimed.
#[test]
fn a_store_has_no_branch_and_no_accept() {
    let repo = stored();
    snapshot(&repo, "first");
    assert!(!repo.edio(["show", "1"]).ok().stdout.contains("branch"));
    for words in [&["accept", "done"][..], &["accept", "--dry-run"]] {
        let ran = repo.edio(words);
        ran.fails(1);
        assert!(ran.stderr.contains("no branch to commit to"), "{ran}");
        assert!(ran.stderr.contains("edio sessions --close"), "{ran}");
    }
    assert_eq!(turns(&repo), ["first"]);
}

#[test]
fn p1_a_repository_is_left_as_it_is_to_the_last_byte() {
    let repo = repository(&[("a", "one\n"), (".mcp.json", "{}\n")]);
    repo.write("staged", "staged\n");
    repo.git(["add", "staged"]);
    let before = (
        repo.everything_in(".git"),
        repo.path(".git").metadata().unwrap().mtime_nsec(),
    );
    let head = repo.git(["rev-parse", "HEAD"]);

    let made = repo.edio(["init", "--store", "--agents", "claude"]);
    assert!(made.ok().stderr.contains("git tracks it"), "{made}");
    assert_eq!(repo.read(".mcp.json"), "{}\n");
    snapshot(&repo, "first");
    repo.write("a", "two\n");
    claude(
        &repo,
        &repo.top,
        "UserPromptSubmit",
        json!({"prompt": "Do"}),
    );
    repo.edio(["run", "--", "sh", "-c", "echo x > b"]).ok();
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.read("a"), "one\n");
    assert!(!repo.has("b"));
    repo.edio(["undo"]).ok();
    repo.edio(["blame", "a"]).ok();
    repo.edio(["exec", "1", "--", "true"]).ok();
    repo.edio(["accept", "done"]).fails(1);
    assert_eq!(repo.edio(["doctor"]).code, Some(1));
    repo.edio(["forget", "-f", "b", "--yes"]).ok();
    repo.edio(["sessions", "--close"]).ok();
    repo.edio(["gc", "-d", "0"]).ok();
    repo.edio(["init", "--store", "--remove"]).ok();

    let after = (
        repo.everything_in(".git"),
        repo.path(".git").metadata().unwrap().mtime_nsec(),
    );
    assert_eq!(after, before);
    assert_eq!(repo.git(["rev-parse", "HEAD"]), head);
}

/// What a repository tracks is held, also where the list or a rule would leave it out.
#[test]
fn p2_what_the_repository_tracks_is_held() {
    let repo = repository(&[("dist/index.js", "built\n"), (".gitignore", "*.log\n")]);
    repo.write("kept.log", "log\n");
    repo.git(["add", "-f", "kept.log"]);
    repo.git(["commit", "-q", "-m", "log"]);
    let made = repo.edio(["init", "--store", "--agents", "none"]);
    assert!(!made.ok().stderr.contains("dist"), "{made}");
    repo.write("node_modules/x", "x");
    repo.write("dist/new.js", "new\n");
    snapshot(&repo, "first");
    for path in ["kept.log", "dist/index.js", "dist/new.js"] {
        repo.remove(path);
    }
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.read("kept.log"), "log\n");
    assert_eq!(repo.read("dist/index.js"), "built\n");
    assert_eq!(repo.read("dist/new.js"), "new\n");
    let shown = repo.edio(["show", "1"]);
    assert!(!shown.ok().stdout.contains("node_modules"), "{shown}");
}

#[test]
fn what_tools_make_again_is_not_held() {
    let repo = stored();
    for folder in [
        "node_modules",
        "target",
        "dist",
        ".venv",
        "x/__pycache__",
        ".hg",
    ] {
        repo.write(format!("{folder}/f"), "x");
    }
    for file in ["build/f", "lib/f", "x/target", ".env"] {
        repo.write(file, "x");
    }
    snapshot(&repo, "first");
    let shown = repo.edio(["show", "1", "--json"]).ok().json()[0]["changes"].clone();
    let paths: Vec<&str> = shown
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, [".env", "a", "build/f", "lib/f", "x/target"]);
    // A restore leaves it alone, and the person's own rules come first.
    repo.edio(["restore", "1"]).ok();
    assert!(repo.has("node_modules/f"));
    repo.write(".gitignore", "!dist/\n*.tmp\n");
    repo.write("x.tmp", "x");
    snapshot(&repo, "second");
    let shown = repo.edio(["show", "2"]);
    assert!(shown.ok().stdout.contains("dist/f"), "{shown}");
    assert!(!shown.stdout.contains("x.tmp"), "{shown}");
}

#[test]
fn a_large_folder_is_refused_unless_it_is_meant() {
    let repo = plain();
    fs::create_dir(repo.path("many")).unwrap();
    for n in 0..20_000 {
        fs::write(repo.path(format!("many/{n}")), "").unwrap();
    }
    repo.write("node_modules/x", "x");
    let refused = repo.edio(["init", "--store"]);
    refused.fails(3);
    assert!(refused.stderr.contains("20001 files"), "{refused}");
    assert!(refused.stderr.contains("many/"), "{refused}");
    assert!(
        refused.stderr.contains("edio init --store --force"),
        "{refused}"
    );
    repo.edio(["status"]).fails(4);
    assert!(!repo.has("EDIO.md"));
    assert!(!stores(&repo).exists());
    repo.write(".gitignore", "/many/9*\n");
    repo.edio(["init", "--store", "--agents", "none"]).ok();
    // A heap that comes later is refused as one that was there.
    repo.remove(".gitignore");
    repo.edio(["snapshot"]).fails(3);
    repo.edio(["init", "--store", "--force", "--agents", "none"])
        .ok();
    snapshot(&repo, "all");
}

#[test]
fn a_heavy_folder_is_refused_unless_it_is_meant() {
    let repo = plain();
    for n in 0..6 {
        let file = fs::File::create(repo.path(format!("{n}.bin"))).unwrap();
        file.set_len(90 << 20).unwrap();
    }
    let refused = repo.edio(["init", "--store"]);
    refused.fails(3);
    assert!(refused.stderr.contains("540.0 MiB"), "{refused}");
    repo.edio(["init", "--store", "--force", "--agents", "none"])
        .ok();
}

#[test]
fn p9_nobody_else_may_look_into_a_store() {
    let repo = stored();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&stores(&repo)), 0o700);
    assert_eq!(mode(&store(&repo)), 0o700);
    // Also where others may look into the folder around it.
    repo.chmod(stores(&repo), 0o755);
    let other = repo.outside().join("other");
    fs::create_dir(&other).unwrap();
    repo.edio_in(&other, ["init", "--store", "--agents", "none"])
        .ok();
    for name in listed(&repo) {
        assert_eq!(mode(&stores(&repo).join(name)), 0o700);
    }
}

#[test]
fn again_changes_nothing() {
    let repo = plain();
    repo.edio(["init", "--store", "--agents", "claude"]).ok();
    snapshot(&repo, "first");
    let (config, files) = (
        fs::read(store(&repo).join("git/config")).unwrap(),
        repo.manifest(),
    );
    repo.edio(["init", "--store", "--agents", "claude"]).ok();
    repo.edio(["init", "--agents", "claude"]).ok();
    assert_eq!(fs::read(store(&repo).join("git/config")).unwrap(), config);
    assert_eq!(repo.manifest(), files);
    assert_eq!(turns(&repo), ["first"]);
}

#[test]
fn a_dry_run_leaves_nothing_behind() {
    let repo = plain();
    let told = repo.edio(["init", "--store", "--agents", "claude", "--dry-run"]);
    assert!(told.ok().stderr.contains(".mcp.json"), "{told}");
    assert!(told.stdout.contains("+++ b/EDIO.md"), "{told}");
    let record = repo
        .edio(["init", "--store", "--dry-run", "--json"])
        .ok()
        .json();
    let said = record[0]["store"].as_str().unwrap();
    assert!(!repo.outside().join("home/.local").exists());
    assert_eq!(repo.manifest().len(), 1);
    repo.edio(["init", "--store", "--agents", "none"]).ok();
    assert_eq!(Path::new(said), store(&repo));
}

#[test]
fn agents_are_connected_and_hidden_in_the_store() {
    let repo = plain();
    repo.edio(["init", "--store", "--agents", "claude"]).ok();
    assert!(repo.has(".mcp.json"));
    snapshot(&repo, "first");
    let shown = repo.edio(["show", "1"]);
    assert!(!shown.ok().stdout.contains("EDIO.md"), "{shown}");
    let removed = repo.edio(["init", "--remove"]);
    assert!(
        removed.ok().stderr.contains("edio init --store --remove"),
        "{removed}"
    );
    assert_eq!(repo.manifest().len(), 1);
    assert_eq!(turns(&repo), ["first"]);
}

#[test]
fn a_store_is_put_away_and_fetched_back() {
    let repo = plain();
    repo.edio(["init", "--store", "--agents", "claude"]).ok();
    snapshot(&repo, "first");
    let would = repo.edio(["init", "--store", "--remove", "--dry-run"]);
    assert!(would.ok().stderr.contains("would be put away"), "{would}");
    repo.edio(["init", "--store", "--remove", "--agents", "claude"])
        .fails(2);
    let removed = repo.edio(["init", "--store", "--remove"]);
    let away = stores(&repo).join(&listed(&repo)[0]);
    assert!(
        removed.ok().stderr.contains(away.to_str().unwrap()),
        "{removed}"
    );
    assert_eq!(repo.manifest().len(), 1);
    repo.edio(["log"]).fails(4);
    // What is put away is in nobody's way.
    let sub = repo.path("sub");
    fs::create_dir(&sub).unwrap();
    repo.edio_in(&sub, ["init", "--store", "--agents", "none"])
        .ok();
    repo.edio_in(&sub, ["init", "--store", "--remove"]).ok();
    repo.edio(["init", "--store", "--agents", "none", "--dry-run"])
        .ok();
    repo.edio(["log"]).fails(4);
    let back = repo.edio(["init", "--store", "--agents", "none"]);
    assert!(back.ok().stderr.contains("had been put away"), "{back}");
    assert_eq!(turns(&repo), ["first"]);
    let repo = repository(&[("a", "")]);
    repo.edio(["init", "--store", "--remove"]).fails(1);
}

#[test]
fn a_store_whose_folder_is_gone_goes_after_a_while() {
    let repo = stored();
    snapshot(&repo, "first");
    let (here, other) = (repo.top.clone(), repo.outside().join("other"));
    fs::create_dir(&other).unwrap();
    let gc = |seconds: i64, words: &[&str]| {
        let mut command = repo.command([&["gc"], words].concat());
        let later = (NOW + seconds).to_string();
        repo.ran(command.current_dir(&other).env("EDIO_NOW", later))
    };
    // Nothing is unused, and there is no repository.
    gc(0, &[]).fails(4);
    let moved = repo.outside().join("moved");
    fs::rename(&here, &moved).unwrap();
    let first = gc(DAY, &[]);
    assert!(first.ok().stdout.contains("kept for now"), "{first}");
    assert!(gc(10 * DAY, &[]).ok().stdout.contains("kept for now"));
    // It comes back, is used, and is gone again: the days count anew.
    fs::rename(&moved, &here).unwrap();
    gc(10 * DAY, &[]).ok();
    gc(10 * DAY, &[]).fails(4);
    fs::rename(&here, &moved).unwrap();
    gc(12 * DAY, &[]).ok();
    assert!(gc(21 * DAY, &[]).ok().stdout.contains("kept for now"));
    let would = gc(22 * DAY, &["--dry-run", "--json"]);
    let record = &would.ok().json()[0];
    assert_eq!(record["end"], "folder_gone");
    assert_eq!(record["folder"], here.to_str().unwrap());
    assert_eq!(record["removed"], true);
    assert_eq!(listed(&repo).len(), 1);
    let gone = gc(22 * DAY, &[]);
    assert!(gone.ok().stdout.contains(": removed: "), "{gone}");
    assert_eq!(listed(&repo), [""; 0]);
}

#[test]
fn p4_a_disk_that_is_not_mounted_for_a_while_costs_nothing() {
    let repo = stored();
    snapshot(&repo, "first");
    let (here, other) = (repo.top.clone(), repo.outside().join("other"));
    repo.git_in(&repo.outside(), ["init", "-q", "other"]);
    let gc = |seconds: i64, words: &[&str]| {
        let mut command = repo.command([&["gc"], words].concat());
        let later = (NOW + seconds).to_string();
        repo.ran(command.current_dir(&other).env("EDIO_NOW", later))
            .ok();
    };
    let away = repo.outside().join("away");
    fs::rename(&here, &away).unwrap();
    // The first look never counts, whatever is said of the days, and what edio starts by itself takes no store.
    gc(0, &["-d", "0"]);
    gc(9 * DAY, &["-d", "0"]);
    gc(100 * DAY, &["--behind"]);
    fs::rename(&away, &here).unwrap();
    // It was found unused, and is used again, though no gc has seen that.
    repo.edio(["snapshot"]).ok();
    fs::rename(&here, &away).unwrap();
    gc(100 * DAY, &[]);
    assert_eq!(listed(&repo).len(), 1);
    gc(110 * DAY, &[]);
    assert_eq!(listed(&repo), [""; 0]);
}

#[test]
fn p9_what_is_forgotten_is_gone_from_a_store_at_once() {
    let repo = stored();
    repo.write("secret", "TOKEN=hush\n");
    snapshot(&repo, "first");
    let git_dir = store(&repo).join("git");
    let git_dir = git_dir.to_str().unwrap();
    let id = repo.git(["hash-object", repo.path("secret").to_str().unwrap()]);
    let has = || repo.git_says(["--git-dir", git_dir, "cat-file", "-e", &id]);
    assert!(has());
    let ran = repo.edio(["forget", "-f", "secret", "--yes"]);
    assert!(!ran.ok().stderr.contains("git gc"), "{ran}");
    assert!(!has());
}

#[test]
fn a_git_directory_that_lies_in_the_folder_is_in_no_store() {
    let repo = plain();
    repo.git(["init", "-q", "--bare", ".bare"]);
    repo.write(".git", "gitdir: ./.bare\n");
    let ran = repo.edio(["init", "--store", "--agents", "none"]);
    assert!(ran.fails(3).stderr.contains("lies in it"), "{ran}");
    assert_eq!(listed(&repo), [""; 0]);
}

/// What is meant for a store goes nowhere else, also when that can't be read.
#[test]
fn p1_a_store_that_can_not_be_read_is_no_reason_to_write_into_the_repository() {
    let repo = repository(&[("a", "1\n")]);
    repo.edio(["init", "--store", "--agents", "none"]).ok();
    let before = repo.everything_in(".git");
    let folder = store(&repo).join("folder");
    fs::remove_file(&folder).unwrap();
    // What can't be read, whoever asks: it is no file.
    fs::create_dir(&folder).unwrap();
    repo.write("a", "2\n");
    let _ = repo.edio(["snapshot"]);
    assert_eq!(repo.everything_in(".git"), before);
}

/// What was recorded after it was found unused says that it was used since.
#[test]
fn the_last_use_of_a_store_counts() {
    let repo = stored();
    snapshot(&repo, "first");
    repo.edio(["init", "--store", "--remove"]).ok();
    let unused = store(&repo).join("unused");
    fs::write(&unused, (NOW - 20 * DAY).to_string()).unwrap();
    let kept = repo.edio(["gc"]);
    assert!(kept.ok().stdout.contains("kept for now"), "{kept}");
    let gone = repo.edio(["gc", "-d", "0"]);
    assert!(gone.ok().stdout.contains("put away"), "{gone}");
    assert_eq!(listed(&repo), [""; 0]);
}

/// What git can't read may still be of use to somebody.
#[test]
fn a_store_that_is_broken_stays_and_is_named() {
    let repo = stored();
    snapshot(&repo, "first");
    repo.edio(["init", "--store", "--remove"]).ok();
    fs::remove_file(store(&repo).join("git/HEAD")).unwrap();
    repo.git(["init", "-q"]);
    let told = repo.edio_later(20 * DAY, &["gc"]);
    assert!(
        told.ok().stderr.contains("git can't read the store"),
        "{told}"
    );
    store(&repo);
}

/// A gc in any repository sweeps, by 10 days at least: what is set in that one is not meant for the stores.
#[test]
fn a_gc_elsewhere_sweeps_too() {
    let repo = stored();
    snapshot(&repo, "first");
    repo.edio(["init", "--store", "--remove"]).ok();
    let other = repo.outside().join("other");
    repo.git_in(&repo.outside(), ["init", "-q", "other"]);
    repo.git_in(&other, ["config", "edio.retentionDays", "1"]);
    let gc = |days: i64| {
        let mut command = repo.command(["gc"]);
        let later = (NOW + days * DAY).to_string();
        repo.ran(command.current_dir(&other).env("EDIO_NOW", later))
    };
    assert!(gc(9).ok().stdout.contains("kept for now"));
    fs::create_dir_all(stores(&repo).join(".new-killed/git")).unwrap();
    fs::create_dir_all(stores(&repo).join(".gone-killed/git")).unwrap();
    assert!(gc(100).ok().stdout.contains(": removed: "));
    assert_eq!(listed(&repo), [""; 0]);
}

/// Nobody else ever collects what is in a store.
#[test]
fn a_gc_frees_what_was_pruned() {
    let repo = stored();
    repo.write("big", "x".repeat(100_000));
    snapshot(&repo, "first");
    repo.remove("big");
    let objects = store(&repo).join("git/objects");
    let has_big = || {
        let git_dir = store(&repo).join("git");
        let words = ["--git-dir", git_dir.to_str().unwrap(), "cat-file"];
        let listed = repo.git(
            words
                .iter()
                .chain(&["--batch-all-objects", "--batch-check"]),
        );
        listed.contains("blob 100000")
    };
    // To git, what is new may still be in use.
    let let_age = || {
        let mut find = Command::new("find");
        find.arg(&objects).args([
            "-type",
            "f",
            "-exec",
            "touch",
            "-d",
            "20 days ago",
            "{}",
            "+",
        ]);
        assert!(find.status().unwrap().success());
    };
    let_age();
    repo.edio(["gc"]).ok();
    assert!(has_big());
    repo.edio(["sessions", "--close"]).ok();
    let_age();
    let pruned = repo.edio_later(11 * DAY, &["gc"]);
    assert!(!pruned.ok().stderr.contains("git gc"), "{pruned}");
    assert!(!has_big());
}

/// Has Claude Code's hook called, as it works in this folder.
fn claude(repo: &Folder, cwd: &Path, event: &str, more: Value) {
    let payload = payload("s1", cwd, event, more);
    let mut command = repo.command(["hook", "claude"]);
    let output = fed(&mut command, payload.to_string());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
}

fn has_claude_write(repo: &Folder, cwd: &Path, prompt: &str, path: &str) {
    claude(repo, cwd, "UserPromptSubmit", json!({"prompt": prompt}));
    fs::write(cwd.join(path), prompt).unwrap();
    let input = json!({"file_path": cwd.join(path)});
    claude(
        repo,
        cwd,
        "PostToolUse",
        json!({"tool_name": "Write", "tool_input": input, "tool_use_id": path}),
    );
    claude(repo, cwd, "Stop", json!({"stop_hook_active": false}));
}

#[test]
fn hooks_find_the_store() {
    let repo = stored();
    fs::create_dir(repo.path("sub")).unwrap();
    has_claude_write(&repo, &repo.top, "At the top", "b");
    has_claude_write(&repo, &repo.path("sub"), "Below", "c");
    let link = repo.outside().join("link");
    symlink(&repo.top, &link).unwrap();
    has_claude_write(&repo, &link, "By another way", "d");
    assert_eq!(turns(&repo), ["At the top", "Below", "By another way"]);
    let steps = repo.edio(["log", "--steps", "--json"]).ok().json();
    assert!(
        steps.iter().any(|step| step["message"] == "sub/c"),
        "{steps:?}"
    );
    // An agent that stands above finds it, too; where there is no store nothing happens.
    has_claude_write(&repo, &repo.outside(), "From above", "repo/e");
    assert_eq!(turns(&repo).last().unwrap(), "From above");
    let other = repo.outside().join("other");
    fs::create_dir(&other).unwrap();
    has_claude_write(&repo, &other, "Elsewhere", "f");
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
    assert_eq!(listed(&repo).len(), 1);
}

#[test]
fn hooks_of_a_repository_with_a_store_write_to_the_store() {
    let repo = repository(&[("a", "one\n")]);
    repo.edio(["init", "--store", "--agents", "none"]).ok();
    let before = repo.everything_in(".git");
    has_claude_write(&repo, &repo.top, "Do", "b");
    assert_eq!(turns(&repo), ["Do"]);
    assert_eq!(repo.everything_in(".git"), before);
}

#[test]
fn p6_many_at_once_lose_nothing() {
    let repo = plain();
    let start = |words: &[String]| {
        let mut command = repo.command(words);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let begun: Vec<_> = (0..4)
        .map(|_| start(&words("init --store --agents none")))
        .collect();
    for mut child in begun {
        assert!(child.wait().unwrap().success());
    }
    store(&repo);
    let begun: Vec<_> = (0..6)
        .map(|n| start(&words(&format!("snapshot -m {n}"))))
        .collect();
    for mut child in begun {
        assert!(child.wait().unwrap().success());
    }
    let mut said = turns(&repo);
    said.sort();
    assert_eq!(said, ["0", "1", "2", "3", "4", "5"]);
}

#[test]
fn the_nearest_of_store_and_repository_counts() {
    let repo = stored();
    snapshot(&repo, "first");
    let nested = repo.path("nested");
    fs::create_dir_all(nested.join("sub")).unwrap();
    repo.git_in(&nested, ["init", "-q"]);
    fs::write(nested.join("x"), "x").unwrap();
    assert_eq!(store_seen_in(&repo, "nested/sub"), Value::Null);
    assert!(store_seen_in(&repo, ".").is_string());
    // The nested repository is none of the store's: that is said.
    let taken = repo.edio(["snapshot", "-m", "second"]);
    assert!(taken.ok().stderr.contains("nested"), "{taken}");
    // A store at its top wins over it, from below, too.
    repo.edio_in("nested/sub", ["init", "--store", "--agents", "none"])
        .ok();
    assert!(store_seen_in(&repo, "nested/sub").is_string());
    assert_ne!(store_seen_in(&repo, "nested"), store_seen_in(&repo, "."));
    assert!(!nested.join(".git/edio").exists());
}

#[test]
fn git_dir_wins_over_a_store() {
    let repo = repository(&[("a", "one\n")]);
    repo.edio(["init", "--store", "--agents", "none"]).ok();
    let mut command = repo.command(["snapshot", "-m", "in the repository"]);
    repo.ran(command.env("GIT_DIR", repo.path(".git"))).ok();
    assert_eq!(repo.turns(), 1);
    repo.edio(["log"]).fails(1);
    let mut command = repo.command(["init", "--store"]);
    repo.ran(command.env("GIT_DIR", repo.path(".git"))).fails(1);
}

/// That is how the turns of a folder that was moved are got at.
#[test]
fn a_store_can_be_named() {
    let mut repo = stored();
    snapshot(&repo, "first");
    let git_dir = store(&repo).join("git");
    let moved = repo.outside().join("moved");
    fs::rename(&repo.top, &moved).unwrap();
    repo.0.top = moved;
    repo.edio(["log"]).fails(4);
    let bundle = repo.outside().join("bundle");
    let words = [
        OsStr::new("export"),
        OsStr::new("--bundle"),
        bundle.as_ref(),
    ];
    let mut command = repo.command(words);
    repo.ran(command.env("GIT_DIR", &git_dir).env("GIT_WORK_TREE", "."))
        .ok();
    repo.edio(["init", "--store", "--agents", "none"]).ok();
    repo.edio([OsStr::new("import"), bundle.as_ref()]).ok();
    let sessions = repo.edio(["sessions", "--json"]).ok().json();
    let id = sessions[0]["session"].as_str().unwrap();
    repo.write("a", "changed\n");
    repo.edio(["--session", id, "restore", "1"]).ok();
    assert_eq!(repo.read("a"), "one\n");
}

#[test]
fn a_linked_work_tree_has_a_store_of_its_own() {
    let repo = repository(&[("a", "one\n"), ("sub/b", "b\n")]);
    let linked = repo.outside().join("linked");
    repo.git(["worktree", "add", "-q", linked.to_str().unwrap()]);
    let before = repo.everything_in(".git");
    repo.edio_in(linked.join("sub"), ["init", "--store", "--agents", "none"])
        .ok();
    repo.edio_in(linked.join("sub"), ["snapshot", "-m", "linked"])
        .ok();
    assert_eq!(turns_in(&repo, &linked), ["linked"]);
    assert_eq!(store_seen_in(&repo, &repo.top), Value::Null);
    fs::write(linked.join("a"), "two\n").unwrap();
    repo.edio_in(linked.join("sub"), ["restore", "1"]).ok();
    assert_eq!(fs::read(linked.join("a")).unwrap(), b"one\n");
    assert_eq!(repo.everything_in(".git"), before);
}

#[test]
fn the_way_to_a_folder_does_not_matter() {
    let repo = plain();
    let link = repo.outside().join("link");
    symlink(&repo.top, &link).unwrap();
    repo.edio_in(&link, ["init", "--store", "--agents", "none"])
        .ok();
    repo.edio_in(&link, ["snapshot", "-m", "by the link"]).ok();
    snapshot(&repo, "straight");
    assert_eq!(turns_in(&repo, &link), ["by the link", "straight"]);
    store(&repo);
}

#[test]
fn a_folder_may_have_any_name() {
    for name in [&b"caf\xe9"[..], b"a\nb", b" x "] {
        let repo = plain();
        let folder = repo.outside().join(OsStr::from_bytes(name));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("a"), "one\n").unwrap();
        repo.edio_in(&folder, ["init", "--store", "--agents", "none"])
            .ok();
        repo.edio_in(&folder, ["snapshot", "-m", "first"]).ok();
        fs::write(folder.join("a"), "two\n").unwrap();
        repo.edio_in(&folder, ["restore", "1"]).ok();
        assert_eq!(fs::read(folder.join("a")).unwrap(), b"one\n");
        assert_eq!(
            fs::read(store(&repo).join("folder")).unwrap(),
            folder.as_os_str().as_bytes()
        );
    }
}

#[test]
fn stores_lie_where_the_person_keeps_data() {
    let repo = plain();
    let make = |data: &Path| -> Ran {
        let mut command = repo.command(["init", "--store", "--agents", "none", "--json"]);
        repo.ran(command.env("XDG_DATA_HOME", data))
    };
    let data = repo.outside().join("data");
    let made = make(&data).ok().json();
    assert!(Path::new(made[0]["store"].as_str().unwrap()).starts_with(data.join("edio/stores")));
    repo.edio(["log"]).fails(4);
    // By the standard, a relative one counts as none.
    for none in ["relative", ""] {
        let made = make(Path::new(none)).ok().json();
        assert!(Path::new(made[0]["store"].as_str().unwrap()).starts_with(stores(&repo)));
    }
    assert!(!repo.has("relative"));
}

#[test]
fn what_is_hardly_meant_is_refused() {
    let repo = plain();
    let init = |folder: &Path| repo.edio_in(folder, ["init", "--store", "--agents", "none"]);
    let home = repo.outside().join("home");
    for folder in [Path::new("/"), &home] {
        init(folder).fails(3);
    }
    // Whatever is said.
    let ran = repo.edio_in(&home, ["init", "--store", "--force"]);
    assert!(ran.fails(3).stderr.contains("home folder"), "{ran}");
    // The stores themselves lie in it.
    fs::create_dir_all(home.join(".local/share/x")).unwrap();
    let ran = init(&home.join(".local"));
    assert!(ran.fails(3).stderr.contains("in each other"), "{ran}");
    init(&home.join(".local/share/x")).ok();
    init(&stores(&repo)).fails(3);
    // Neither below a folder that has one, nor above.
    init(&repo.top).ok();
    fs::create_dir(repo.path("sub")).unwrap();
    let ran = init(&repo.path("sub"));
    assert!(ran.fails(3).stderr.contains("has a store"), "{ran}");
    let (outer, inner) = (repo.outside().join("x"), repo.outside().join("x/y"));
    fs::create_dir_all(&inner).unwrap();
    init(&inner).ok();
    let ran = init(&outer);
    assert!(ran.fails(3).stderr.contains("has a store"), "{ran}");
    // A home folder that is a repository is not what is meant in a folder below it.
    repo.git_in(&home, ["init", "-q"]);
    fs::create_dir(home.join("notes")).unwrap();
    init(&home.join("notes")).ok();
    assert!(store_seen_in(&repo, home.join("notes")).is_string());
    repo.git_in(&repo.outside(), ["init", "-q", "--bare", "bare.git"]);
    let ran = init(&repo.outside().join("bare.git"));
    assert!(ran.fails(3).stderr.contains("git directory"), "{ran}");
}

/// A store that was copied along with something else serves nobody.
#[test]
fn a_store_serves_the_folder_that_it_names() {
    let repo = stored();
    snapshot(&repo, "first");
    fs::write(store(&repo).join("folder"), "/elsewhere").unwrap();
    repo.edio(["log"]).fails(4);
}

/// The search costs no process, with or without stores.
#[test]
fn p7_a_store_costs_no_more_processes() {
    let count = |repo: &Folder| {
        repo.write("a", "two\n");
        let mut command = repo.command(["-v", "snapshot", "-m", "counted"]);
        let ran = repo.ran(command.env_remove("GIT_CEILING_DIRECTORIES"));
        ran.ok()
            .stderr
            .lines()
            .filter(|line| line.contains("git "))
            .count()
    };
    let (with, without) = (stored(), Folder(Repo::unborn()));
    without.write("a", "one\n");
    for repo in [&with, &without] {
        snapshot(repo, "first");
    }
    assert!(count(&with) <= count(&without));
}

#[test]
fn the_server_works_in_a_store() {
    let repo = stored();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "snapshot", "arguments": {"message": "by the server"}}});
    let input = format!("{hello}\n{ready}\n{call}\n");
    let output = fed(&mut repo.command(["mcp"]), input);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(turns(&repo), ["by the server"]);
}

/// A repository of somebody else's, whose git directory can't be written.
#[test]
fn a_repository_that_cannot_be_written_is_held() {
    let repo = repository(&[("a", "one\n")]);
    repo.give_away();
    let close = Command::new("chmod")
        .args(["-R", "a-w"])
        .arg(repo.path(".git"))
        .status();
    assert!(close.unwrap().success());
    repo.edio_without_rights(&["snapshot", "-m", "first"])
        .fails(1);
    repo.edio_without_rights(&["init", "--store", "--agents", "none"])
        .ok();
    repo.edio_without_rights(&["snapshot", "-m", "first"]).ok();
    repo.write("a", "two\n");
    repo.edio_without_rights(&["restore", "1"]).ok();
    assert_eq!(repo.read("a"), "one\n");
    let open = Command::new("chmod")
        .args(["-R", "u+w"])
        .arg(repo.path(".git"))
        .status();
    assert!(open.unwrap().success());
}

/// What such a repository tracks can't be asked for: that is said, and no file of it is changed.
#[test]
fn a_repository_that_git_does_not_trust_is_held_too() {
    let repo = repository(&[("a", "one\n"), (".mcp.json", "{}\n")]);
    repo.give_away();
    if !repo.is_root() {
        left_out("nothing can be given away here");
        return;
    }
    let config = repo.outside().join("gitconfig");
    let settings = fs::read_to_string(&config).unwrap();
    fs::write(&config, settings.replace("[safe]\n\tdirectory = *\n", "")).unwrap();
    let own = Command::new("chown")
        .args(["-R", "0:0"])
        .arg(repo.path(".git"))
        .status();
    assert!(own.unwrap().success());
    let before = repo.everything_in(".git");
    let made = repo.edio_without_rights(&["init", "--store", "--agents", "claude"]);
    assert!(
        made.ok().stderr.contains("does not trust the owner"),
        "{made}"
    );
    assert_eq!(repo.read(".mcp.json"), "{}\n");
    assert!(repo.has("EDIO.md"));
    repo.edio_without_rights(&["snapshot", "-m", "first"]).ok();
    repo.write("a", "two\n");
    repo.edio_without_rights(&["restore", "1"]).ok();
    assert_eq!(repo.read("a"), "one\n");
    repo.edio_without_rights(&["init", "--store", "--remove"])
        .ok();
    assert!(!repo.has("EDIO.md"));
    assert_eq!(repo.everything_in(".git"), before);
}

/// The store may lie on another disk than the folder.
#[test]
fn the_folder_may_lie_on_another_disk() {
    let repo = plain();
    let Ok(elsewhere) = tempfile::Builder::new()
        .prefix("edio-test-")
        .tempdir_in("/dev/shm")
    else {
        left_out("there is no second disk");
        return;
    };
    let folder = elsewhere.path().canonicalize().unwrap();
    fs::write(folder.join(".gitattributes"), "*.txt text eol=crlf\n").unwrap();
    fs::write(folder.join("a.txt"), "one\r\n").unwrap();
    repo.edio_in(&folder, ["init", "--store", "--agents", "none"])
        .ok();
    repo.edio_in(&folder, ["snapshot", "-m", "first"]).ok();
    fs::write(folder.join("a.txt"), "two\r\n").unwrap();
    fs::write(folder.join("b"), "b").unwrap();
    repo.edio_in(&folder, ["restore", "1"]).ok();
    assert_eq!(fs::read(folder.join("a.txt")).unwrap(), b"one\r\n");
    assert!(!folder.join("b").exists());
    repo.edio_in(&folder, ["undo"]).ok();
    assert_eq!(fs::read(folder.join("a.txt")).unwrap(), b"two\r\n");
}

/// The guard works there as in a repository.
#[test]
fn the_guard_finds_the_store() {
    let repo = stored();
    repo.edio(["guard", "on"]).ok();
    claude(
        &repo,
        &repo.top,
        "UserPromptSubmit",
        json!({"prompt": "Do"}),
    );
    let more = json!({"tool_name": "Write", "tool_input": {"file_path": repo.path("a"), "content": "two"}, "tool_use_id": "1"});
    let payload = payload("s1", &repo.top, "PreToolUse", more);
    let output = fed(&mut repo.command(["hook", "claude"]), payload.to_string());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("deny"), "{said}");
}
