//! The kinds of repository: in each of them the same story is played, and ends the same.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Ran, Repo};

/// Where the story is played.
struct Stage<'a> {
    repo: &'a Repo,
    /// The folder that edio is started in.
    stand: PathBuf,
    /// What stands before the verb.
    flags: Vec<String>,
    /// More environment.
    env: Vec<(&'static str, String)>,
    /// The git directory with refs and objects.
    git_dir: String,
}

impl<'a> Stage<'a> {
    /// At the top of a repository.
    fn at_top(repo: &'a Repo) -> Self {
        Self {
            repo,
            stand: repo.top.clone(),
            flags: Vec::new(),
            env: Vec::new(),
            git_dir: repo.git(["rev-parse", "--path-format=absolute", "--git-common-dir"]),
        }
    }

    fn edio(&self, words: &[&str]) -> Ran {
        let words = self
            .flags
            .iter()
            .map(String::as_str)
            .chain(words.iter().copied());
        let mut command = self.repo.command(words);
        command
            .current_dir(&self.stand)
            .envs(self.env.iter().cloned());
        self.repo.ran(&mut command)
    }

    fn git(&self, words: &[&str]) -> String {
        let words = ["--git-dir", &self.git_dir]
            .into_iter()
            .chain(words.iter().copied());
        self.repo.git_in(&self.repo.top, words)
    }

    fn git_files(&self) -> Vec<String> {
        self.repo.git_files_in(&self.git_dir)
    }

    /// Turns 1 and 2, there and back, and what log, diff and status say of it. Ends as turn 2.
    fn play(&self) {
        let repo = self.repo;
        let untouched = self.git_files();
        self.edio(&["snapshot", "-m", "first"]).ok();
        let first = repo.manifest();
        repo.write("story/changed", "2\n");
        repo.write("story/deep/new", "new\n");
        self.edio(&["snapshot", "-m", "second"]).ok();
        let second = repo.manifest();
        repo.write("story/changed", "not saved\n");
        repo.remove("story/deep");

        let ran = self.edio(&["restore", "1", "--json"]);
        assert_eq!(ran.ok().json()[0]["safety_turn"], 3, "{ran}");
        assert_eq!(repo.manifest(), first);
        self.edio(&["restore", "2"]).ok();
        assert_eq!(repo.manifest(), second);

        let log = self.edio(&["log", "--json"]);
        let turns = log.ok().json();
        let row = |turn: &Value| (turn["turn"].as_u64().unwrap(), turn["current"] == true);
        let rows: Vec<_> = turns.iter().map(row).collect();
        assert_eq!(rows, [(3, false), (2, true), (1, false)]);
        assert_eq!(turns[1]["message"], "second");
        let changed = paths(&self.edio(&["diff", "2", "--json"]));
        assert_eq!(changed, ["story/changed", "story/deep/new"]);

        // A folder, and in it a file that goes and one that comes.
        repo.remove("story/deep/new");
        repo.write("story/deep/late", "late\n");
        let folder = repo.path("story/deep");
        self.edio(&["restore", "2", "-f", folder.to_str().unwrap()])
            .ok();
        assert_eq!(repo.manifest(), second);
        let status = self.edio(&["status"]);
        assert!(
            status.ok().stdout.contains("nothing changed since"),
            "{status}"
        );
        assert_eq!(self.git_files(), untouched);
        self.git(&["fsck", "--strict", "--no-progress"]);
    }

    /// The story's end where there is a branch, or at least a HEAD.
    fn accept(&self) {
        let ran = self.edio(&["accept", "feat: the story", "--json"]);
        let commit = ran.ok().json()[0]["commit"].as_str().unwrap().to_owned();
        let show = |what: &str| self.git(&["show", "-s", what, &commit]);
        assert_eq!(show("--format=%s%n%an"), "feat: the story\nA Person");
        assert_eq!(
            self.git(&["show", &format!("{commit}:story/deep/new")]),
            "new"
        );
        assert_eq!(self.git(&["show", &format!("{commit}:story/changed")]), "2");
        self.git(&["fsck", "--strict", "--no-progress"]);
        assert!(
            self.edio(&["log", "--all"])
                .ok()
                .stdout
                .contains("archived")
        );
    }
}

fn paths(ran: &Ran) -> Vec<String> {
    let text = |record: Value| record["path"].as_str().unwrap().to_owned();
    ran.ok().json().into_iter().map(text).collect()
}

/// A repository with the story's file in one commit.
fn stage_set() -> Repo {
    Repo::with(&[("story/changed", "1\n"), ("other", "o\n")])
}

fn is_clean(repo: &Repo) {
    assert_eq!(
        repo.git(["--no-optional-locks", "status", "--porcelain"]),
        ""
    );
}

/// A repository beside, with one commit.
fn another(repo: &Repo, name: &str) -> PathBuf {
    let folder = repo.outside().join(name);
    repo.git(["init", "-q", folder.to_str().unwrap()]);
    fs::write(folder.join("s"), "1\n").unwrap();
    commit_in(repo, &folder, "theirs");
    folder
}

fn commit_in(repo: &Repo, folder: &Path, message: &str) {
    repo.git_in(folder, ["add", "-A"]);
    repo.git_in(folder, ["commit", "-q", "-m", message]);
}

#[test]
fn plain() {
    let repo = stage_set();
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    is_clean(&repo);
}

#[test]
fn plain_where_no_variable_hides_the_folders_above() {
    let repo = stage_set();
    let quiet = |words: &[&str]| {
        let ran = repo.ran(repo.command(words).env_remove("GIT_CEILING_DIRECTORIES"));
        ran.ok();
        ran.stdout
    };
    quiet(&["snapshot"]);
    let first = repo.manifest();
    repo.write("story/changed", "2\n");
    quiet(&["snapshot"]);
    quiet(&["restore", "1"]);
    assert_eq!(repo.manifest(), first);
    assert!(quiet(&["status"]).contains("nothing changed since"));
    quiet(&["restore", "2"]);
    quiet(&["accept", "two"]);
    is_clean(&repo);
}

#[test]
fn no_commit_yet() {
    let repo = Repo::unborn();
    repo.write("story/changed", "1\n");
    let stage = Stage::at_top(&repo);
    stage.play();
    assert!(!repo.git_says(["rev-parse", "-q", "--verify", "HEAD"]));
    stage.edio(&["restore", "0"]).ok();
    assert_eq!(
        repo.manifest(),
        [""; 0],
        "turn 0 is HEAD, and that is nothing"
    );
    stage.edio(&["restore", "2"]).ok();
    stage.accept();
    assert_eq!(repo.git(["rev-list", "--count", "HEAD"]), "1");
    assert_eq!(repo.git(["symbolic-ref", "HEAD"]), "refs/heads/main");
    is_clean(&repo);
}

#[test]
fn no_commit_yet_and_something_staged() {
    let repo = Repo::unborn();
    repo.write("story/changed", "staged\n");
    repo.git(["add", "story"]);
    repo.write("story/changed", "1\n");
    Stage::at_top(&repo).play();
    assert_eq!(repo.git(["show", ":story/changed"]), "staged");
}

#[test]
fn nothing_in_it_at_all() {
    let repo = Repo::unborn();
    repo.edio(["snapshot"]).ok();
    repo.write("a", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.manifest(), [""; 0]);
    repo.edio(["restore", "2"]).ok();
    assert_eq!(repo.read("a"), "1\n");
    repo.fsck();
}

#[test]
fn a_detached_head() {
    let repo = stage_set();
    repo.git(["checkout", "-q", "--detach"]);
    let before = repo.git(["rev-parse", "main"]);
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    assert_eq!(repo.git(["rev-parse", "main"]), before);
    assert_eq!(repo.git(["rev-parse", "HEAD^"]), before);
    assert!(!repo.git_says(["symbolic-ref", "-q", "HEAD"]));
    is_clean(&repo);
}

#[test]
fn linked_work_trees_have_a_session_each() {
    let mut repo = stage_set();
    let (main, linked) = (repo.top.clone(), repo.outside().join("linked"));
    repo.git([
        "worktree",
        "add",
        "-q",
        "-b",
        "topic",
        linked.to_str().unwrap(),
    ]);
    Stage::at_top(&repo).play();
    let main_files = repo.manifest();
    repo.top = linked.clone();
    let stage = Stage::at_top(&repo);
    stage.play();
    assert_eq!(repo.manifest_of(&main), main_files);
    let sessions = repo.edio(["log", "--all", "--json"]);
    let worktrees: std::collections::BTreeSet<_> = sessions
        .ok()
        .json()
        .iter()
        .map(|turn| turn["worktree"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(worktrees.into_iter().collect::<Vec<_>>(), [".", "linked"]);
    // Each forgets, and each finds its own again.
    repo.remove(linked.join("../repo/.git/edio"));
    repo.remove(linked.join("../repo/.git/worktrees/linked/edio"));
    let session = |folder: &Path| {
        let status = repo.edio_in(folder, ["status", "--json"]);
        status.ok().json()[0]["session"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_ne!(session(&main), session(&linked));
    stage.accept();
    assert_eq!(
        repo.git(["log", "-1", "--format=%s", "topic"]),
        "feat: the story"
    );
    assert_eq!(repo.git(["log", "-1", "--format=%s", "main"]), "base");
    is_clean(&repo);
    // The other one goes on as if nothing had been.
    repo.edio_in(&main, ["restore", "1"]).ok();
    assert_eq!(
        fs::read_to_string(main.join("story/changed")).unwrap(),
        "1\n"
    );
    assert_eq!(repo.read("story/changed"), "2\n");
}

#[test]
fn a_turn_of_another_work_trees_session_comes_back_here_and_leaves_that_session_alone() {
    let mut repo = stage_set();
    let (main, linked) = (repo.top.clone(), repo.outside().join("linked"));
    repo.git([
        "worktree",
        "add",
        "-q",
        "-b",
        "topic",
        linked.to_str().unwrap(),
    ]);
    repo.write("other", "of main's turn 1\n");
    repo.edio(["snapshot"]).ok();
    let session = repo.turn_ref(1).split('/').nth(3).unwrap().to_owned();
    let refs_of_main = |repo: &Repo| {
        let refs = repo.edio_refs();
        refs.lines()
            .filter(|line| line.contains(&session))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let before = (
        refs_of_main(&repo),
        repo.everything_in("story"),
        repo.manifest(),
    );
    repo.top = linked;
    repo.write("mine", "never saved\n");
    repo.edio(["--session", &session, "restore", "1"]).ok();
    assert_eq!(repo.read("other"), "of main's turn 1\n");
    assert!(!repo.has("mine"));
    assert!(repo.is_kept("never saved\n"));
    repo.write("other", "own work\n");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "0"]).ok();
    assert_eq!(
        repo.read("mine"),
        "never saved\n",
        "turn 0 is where this session began"
    );
    repo.top = main;
    assert_eq!(
        (
            refs_of_main(&repo),
            repo.everything_in("story"),
            repo.manifest()
        ),
        before
    );
}

#[test]
fn a_linked_work_tree_inside_is_named_and_left_alone() {
    let repo = stage_set();
    repo.git(["worktree", "add", "-q", "inner/tree"]);
    repo.write("inner/tree/mine", "1\n");
    let ran = repo.edio(["snapshot"]);
    assert!(ran.ok().stderr.contains("inner/tree"), "{ran}");
    let before = repo.everything_in("inner");
    Stage::at_top(&repo).edio(&["restore", "0"]).ok();
    assert_eq!(repo.everything_in("inner"), before);
    repo.edio_in("inner/tree", ["snapshot"]).ok();
    repo.remove("inner/tree/mine");
    repo.edio_in("inner/tree", ["restore", "1"]).ok();
    assert_eq!(repo.read("inner/tree/mine"), "1\n");
}

#[test]
fn a_linked_work_tree_of_a_bare_repository() {
    let mut repo = stage_set();
    let bare = repo.outside().join("bare.git");
    repo.git(["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let linked = repo.outside().join("linked");
    repo.git_in(
        &bare,
        ["worktree", "add", "-q", linked.to_str().unwrap(), "main"],
    );
    repo.top = linked;
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    is_clean(&repo);
    repo.edio_in(&bare, ["snapshot"]).fails(4);
}

#[test]
fn from_a_subdirectory() {
    let repo = stage_set();
    repo.write("sub/dir/f", "f\n");
    repo.commit("sub");
    let stage = Stage {
        stand: repo.path("sub/dir"),
        ..Stage::at_top(&repo)
    };
    stage.play();
    stage.accept();
    is_clean(&repo);
}

#[test]
fn from_a_subdirectory_that_is_ignored() {
    let repo = stage_set();
    repo.write(".git/info/exclude", "target/\n");
    repo.write("target/debug/x", "x\n");
    let stage = Stage {
        stand: repo.path("target/debug"),
        ..Stage::at_top(&repo)
    };
    stage.play();
    assert_eq!(repo.read("target/debug/x"), "x\n");
}

#[test]
fn from_outside_with_a_flag() {
    let repo = stage_set();
    let flags = vec!["-C".to_owned(), "repo/story".to_owned()];
    let stage = Stage {
        stand: repo.outside(),
        flags,
        ..Stage::at_top(&repo)
    };
    stage.play();
    stage.accept();
    is_clean(&repo);
}

#[test]
fn through_a_symbolic_link() {
    let repo = stage_set();
    let door = repo.outside().join("door");
    std::os::unix::fs::symlink(&repo.top, &door).unwrap();
    let stage = Stage {
        stand: door.join("story"),
        ..Stage::at_top(&repo)
    };
    stage.play();
    stage.accept();
}

#[test]
fn a_git_directory_elsewhere() {
    let repo = Repo::unborn();
    let git_dir = repo.outside().join("store.git");
    repo.git([
        "init",
        "-q",
        "--separate-git-dir",
        git_dir.to_str().unwrap(),
    ]);
    repo.write("story/changed", "1\n");
    repo.commit("base");
    let stage = Stage {
        stand: repo.path("story"),
        ..Stage::at_top(&repo)
    };
    assert_eq!(Path::new(&stage.git_dir), git_dir);
    stage.play();
    stage.accept();
    is_clean(&repo);
    assert!(git_dir.join("edio").is_dir());
}

/// A work tree without any `.git`, whose git directory lies beside it.
fn told_by_variables(repo: &mut Repo) -> String {
    repo.write("story/changed", "1\n");
    repo.commit("base");
    let git_dir = repo.outside().join("dot files.git");
    fs::rename(repo.path(".git"), &git_dir).unwrap();
    git_dir.to_str().unwrap().to_owned()
}

#[test]
fn told_where_by_variables() {
    let mut repo = Repo::unborn();
    let git_dir = told_by_variables(&mut repo);
    let env = vec![
        ("GIT_DIR", git_dir.clone()),
        ("GIT_WORK_TREE", repo.top.to_str().unwrap().to_owned()),
    ];
    for stand in [repo.path("story"), repo.outside()] {
        let stage = Stage {
            repo: &repo,
            stand,
            flags: Vec::new(),
            env: env.clone(),
            git_dir: git_dir.clone(),
        };
        stage.play();
        stage.accept();
        repo.git([
            "--git-dir",
            &git_dir,
            "--work-tree",
            ".",
            "reset",
            "-q",
            "--hard",
            "HEAD^",
        ]);
    }
}

#[test]
fn told_where_by_variables_that_are_relative() {
    let mut repo = Repo::unborn();
    let git_dir = told_by_variables(&mut repo);
    let env = vec![
        ("GIT_DIR", "../../dot files.git".to_owned()),
        ("GIT_WORK_TREE", "..".to_owned()),
    ];
    let stage = Stage {
        repo: &repo,
        stand: repo.path("story"),
        flags: Vec::new(),
        env,
        git_dir,
    };
    stage.play();
}

#[test]
fn told_where_by_the_config() {
    let mut repo = Repo::unborn();
    let git_dir = told_by_variables(&mut repo);
    repo.git([
        "--git-dir",
        &git_dir,
        "config",
        "core.worktree",
        repo.top.to_str().unwrap(),
    ]);
    let env = vec![("GIT_DIR", git_dir.clone())];
    let stage = Stage {
        repo: &repo,
        stand: repo.outside(),
        flags: Vec::new(),
        env,
        git_dir,
    };
    stage.play();
    stage.accept();
}

#[test]
fn variables_that_git_sets_for_its_hooks_and_aliases_do_no_harm() {
    let repo = stage_set();
    let elsewhere = repo
        .outside()
        .join("elsewhere")
        .to_str()
        .unwrap()
        .to_owned();
    let mut env: Vec<(&'static str, String)> = vec![("GIT_INDEX_FILE", elsewhere.clone())];
    for name in ["GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_FLUSH"] {
        env.push((name, "1".to_owned()));
    }
    env.push(("GIT_PREFIX", "story/".to_owned()));
    env.push(("GIT_EXTERNAL_DIFF", "false".to_owned()));
    env.push(("GIT_DIFF_OPTS", "-u0".to_owned()));
    env.push(("GIT_ATTR_SOURCE", "HEAD".to_owned()));
    env.push(("GIT_OPTIONAL_LOCKS", "0".to_owned()));
    env.push(("GIT_EDITOR", "false".to_owned()));
    env.push(("GIT_NAMESPACE", "ns".to_owned()));
    let stage = Stage {
        env,
        ..Stage::at_top(&repo)
    };
    stage.play();
    stage.accept();
    assert!(!Path::new(&elsewhere).exists());
    is_clean(&repo);
}

#[test]
fn settings_that_change_what_git_prints_do_no_harm() {
    let repo = stage_set();
    let settings = "color.ui=always core.quotePath=false status.relativePaths=true status.showUntrackedFiles=no \
                    status.branch=true status.short=true status.showStash=true status.renames=copies \
                    status.submoduleSummary=true diff.renames=copies diff.noprefix=true diff.mnemonicPrefix=true \
                    diff.external=false diff.ignoreSubmodules=all diff.wordRegex=. diff.orderFile=/nowhere \
                    diff.relative=true diff.statNameWidth=3 diff.colorMoved=zebra diff.algorithm=histogram \
                    core.abbrev=5 core.untrackedCache=false core.preloadIndex=false core.pager=false \
                    core.commentChar=e core.logAllRefUpdates=always core.warnAmbiguousRefs=false \
                    log.showSignature=true log.date=relative log.follow=true format.pretty=%s i18n.commitEncoding=latin1 \
                    i18n.logOutputEncoding=latin1 gc.auto=1 index.version=4 index.skipHash=true \
                    submodule.recurse=true transfer.hideRefs=refs/edio core.askPass=false core.editor=false \
                    commit.cleanup=verbatim commit.verbose=true merge.conflictStyle=diff3 merge.renames=false \
                    core.attributesFile=/nowhere core.sharedRepository=group core.createObject=rename \
                    core.compression=0 core.bigFileThreshold=1 pack.writeReverseIndex=false";
    for setting in settings.split_whitespace() {
        let (name, value) = setting.split_once('=').unwrap();
        repo.git(["config", name, value]);
    }
    repo.git(["config", "--unset", "diff.orderFile"]);
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    assert_eq!(
        repo.git([
            "-c",
            "status.showUntrackedFiles=all",
            "--no-optional-locks",
            "status",
            "--porcelain"
        ]),
        ""
    );
}

#[test]
fn an_index_of_every_format() {
    for settings in [
        &["index.version=4", "index.skipHash=true"][..],
        &["core.untrackedCache=true"],
        &["core.splitIndex=true"],
        &[
            "core.splitIndex=true",
            "splitIndex.maxPercentChange=0",
            "core.untrackedCache=true",
        ],
    ] {
        let repo = stage_set();
        for setting in settings {
            let (name, value) = setting.split_once('=').unwrap();
            repo.git(["config", name, value]);
        }
        repo.git(["update-index", "--force-write-index"]);
        repo.write("staged", "s\n");
        repo.git(["add", "staged"]);
        repo.git(["status"]);
        Stage::at_top(&repo).play();
        assert_eq!(repo.git(["diff", "--cached", "--name-only"]), "staged");
    }
}

#[test]
fn without_an_index_file() {
    let repo = stage_set();
    repo.remove(".git/index");
    Stage::at_top(&repo).play();
    assert!(!repo.has(".git/index"));
}

#[test]
fn staged_and_half_staged() {
    let repo = stage_set();
    for path in ["half", "staged", "removed", "renamed"] {
        repo.write(path, "1\n");
    }
    repo.commit("more");
    repo.write("half", "staged\n");
    repo.write("staged", "staged\n");
    repo.write("added", "staged\n");
    repo.git(["add", "half", "staged", "added"]);
    repo.write("half", "staged, and edited\n");
    repo.git(["rm", "-q", "removed"]);
    repo.git(["mv", "renamed", "other name"]);
    repo.write("intended", "i\n");
    repo.git(["add", "-N", "intended"]);
    let staged = repo.git(["ls-files", "-s", "--debug"]);
    let stage = Stage::at_top(&repo);
    stage.play();
    assert_eq!(repo.git(["ls-files", "-s", "--debug"]), staged);
    assert_eq!(
        repo.in_turn(1, "half").as_deref(),
        Some("staged, and edited\n")
    );
    stage.edio(&["restore", "0"]).ok();
    assert_eq!(
        repo.git(["ls-files", "-s", "--debug"]),
        staged,
        "turn 0 is HEAD, and the index is the person's"
    );
}

/// A merge that stops: changed on both sides, deleted here, deleted there, added twice.
fn conflict() -> Repo {
    let repo = stage_set();
    for path in ["both", "ours gone", "theirs gone", "swap/x"] {
        repo.write(path, "1\n");
    }
    repo.commit("more");
    repo.git(["switch", "-q", "-c", "theirs"]);
    repo.write("both", "theirs\n");
    repo.write("ours gone", "theirs\n");
    repo.remove("theirs gone");
    repo.write("added", "theirs\n");
    repo.commit("theirs");
    repo.git(["switch", "-q", "main"]);
    repo.write("both", "ours\n");
    repo.remove("ours gone");
    repo.write("theirs gone", "ours\n");
    repo.write("added", "ours\n");
    repo.commit("ours");
    assert!(!repo.git_says(["merge", "-q", "theirs"]));
    repo
}

#[test]
fn a_conflict_in_the_index() {
    let repo = conflict();
    let unmerged = repo.git(["ls-files", "-u"]);
    assert_eq!(
        repo.git(["diff", "--name-only", "--diff-filter=U"])
            .lines()
            .count(),
        4
    );
    let stage = Stage::at_top(&repo);
    stage.play();
    assert_eq!(repo.manifest_in(&repo.turn_ref(2)), repo.manifest());
    assert!(repo.in_turn(1, "both").unwrap().contains("<<<<<<<"));
    assert_eq!(repo.git(["ls-files", "-u"]), unmerged);
    let refused = stage.edio(&["accept", "no"]);
    assert!(refused.fails(3).stderr.contains("merge"), "{refused}");
    // Resolved on disk only, one by deleting it.
    repo.write("both", "resolved\n");
    repo.remove("ours gone");
    repo.remove("added");
    stage.edio(&["snapshot"]).ok();
    let last = repo.turns() as u32;
    assert_eq!(repo.manifest_in(&repo.turn_ref(last)), repo.manifest());
    stage.edio(&["restore", "1"]).ok();
    assert_eq!(repo.manifest_in(&repo.turn_ref(1)), repo.manifest());
    assert_eq!(repo.git(["ls-files", "-u"]), unmerged);
    assert!(repo.has(".git/MERGE_HEAD"));
    // Finished by the person: then the session can be accepted.
    stage.edio(&["restore", &last.to_string()]).ok();
    repo.commit("merged");
    repo.write("both", "after\n");
    stage.edio(&["accept", "after the merge", "--all"]).ok();
    assert_eq!(repo.git(["show", "HEAD:both"]), "after");
    repo.fsck();
}

#[test]
fn a_conflict_between_a_file_and_a_folder() {
    let repo = stage_set();
    repo.git(["switch", "-q", "-c", "theirs"]);
    repo.write("p", "a file\n");
    repo.commit("theirs");
    repo.git(["switch", "-q", "main"]);
    repo.write("p/x", "a folder\n");
    repo.commit("ours");
    assert!(!repo.git_says(["merge", "-q", "theirs"]));
    let stage = Stage::at_top(&repo);
    stage.play();
    assert_eq!(repo.manifest_in(&repo.turn_ref(2)), repo.manifest());
}

#[test]
fn in_the_middle_of_a_rebase() {
    let repo = conflict();
    repo.git(["merge", "--abort"]);
    assert!(!repo.git_says(["rebase", "-q", "theirs"]));
    let stage = Stage::at_top(&repo);
    stage.play();
    let refused = stage.edio(&["accept", "no"]);
    assert!(refused.fails(3).stderr.contains("rebase"), "{refused}");
    assert!(repo.has(".git/rebase-merge"));
    repo.git(["rebase", "--abort"]);
}

#[test]
fn a_nested_repository_is_named_and_left_alone() {
    for with_commit in [true, false] {
        let repo = stage_set();
        repo.git(["init", "-q", "lib/nested"]);
        repo.write("lib/nested/x", "theirs\n");
        if with_commit {
            commit_in(&repo, &repo.path("lib/nested"), "theirs");
        }
        repo.write("lib/mine", "mine\n");
        let ran = repo.edio(["snapshot", "--json"]);
        let skipped = ran.ok().json()[0]["skipped"].clone();
        assert_eq!(skipped[0]["path"], "lib/nested", "{ran}");
        repo.edio(["restore", "0"]).ok();
        assert!(!repo.has("lib/mine"));
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.in_turn(1, "lib/mine").as_deref(), Some("mine\n"));
        let before = repo.everything_in("lib/nested");
        repo.write("story/changed", "2\n");
        let said = repo.edio(["snapshot"]);
        assert!(said.ok().stderr.contains("lib/nested"), "{said}");
        for turn in ["0", "1", "2"] {
            repo.edio(["restore", turn]).ok();
            assert_eq!(
                repo.everything_in("lib/nested"),
                before,
                "turn {turn}, with commit: {with_commit}"
            );
        }
        assert_eq!(
            repo.git(["ls-tree", "-r", "--name-only", &repo.turn_ref(2)]),
            "lib/mine\nother\nstory/changed"
        );
        repo.edio(["accept", "done"]).ok();
        assert_eq!(repo.everything_in("lib/nested"), before);
        assert_eq!(repo.git(["ls-files", "lib"]), "lib/mine");
    }
}

#[test]
fn a_folder_that_becomes_a_repository_is_named_and_left_alone() {
    let repo = stage_set();
    repo.write("lib/x", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.git(["init", "-q", "lib"]);
    let ran = repo.edio(["snapshot"]);
    assert!(ran.ok().stderr.contains("lib"), "{ran}");
    let tree = |turn| repo.git(["rev-parse", &format!("{}^{{tree}}", repo.turn_ref(turn))]);
    repo.remove(".git/edio");
    let again = repo.edio(["snapshot"]);
    assert!(again.ok().stderr.contains("lib"), "{again}");
    assert_eq!(
        tree(3),
        tree(2),
        "the same work tree, whatever edio remembers of it"
    );
    let before = repo.everything_in("lib");
    repo.edio(["restore", "0"]).ok();
    assert_eq!(
        repo.everything_in("lib"),
        before,
        "a repository is left alone"
    );
    repo.write("lib/x", "theirs now\n");
    repo.edio(["restore", "1"]).fails(3);
    assert_eq!(repo.read("lib/x"), "theirs now\n");
}

#[test]
fn a_tracked_folder_that_becomes_a_repository_is_left_alone() {
    let repo = stage_set();
    repo.write("lib/x", "1\n");
    repo.write("lib/y", "1\n");
    repo.commit("lib");
    repo.edio(["snapshot"]).ok();
    repo.git(["init", "-q", "lib"]);
    repo.write("lib/x", "theirs now\n");
    repo.write("lib/new", "theirs\n");
    let ran = repo.edio(["snapshot"]);
    assert!(ran.ok().stderr.contains("lib"), "{ran}");
    let before = repo.everything_in("lib");
    repo.edio(["restore", "1"]).fails(3);
    assert_eq!(repo.everything_in("lib"), before);
    repo.edio(["restore", "2"]).ok();
    assert_eq!(repo.everything_in("lib"), before);
}

#[test]
fn a_nested_repository_that_lost_its_git_directory_is_not_removed() {
    let repo = stage_set();
    repo.git(["init", "-q", "lib"]);
    repo.write("lib/x", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.remove("lib/.git");
    repo.edio(["snapshot"]).ok();
    assert_eq!(repo.in_turn(2, "lib/x").as_deref(), Some("1\n"));
    let ran = repo.edio(["restore", "1"]);
    assert!(ran.ok().stderr.contains("lib/x"), "{ran}");
    assert_eq!(repo.read("lib/x"), "1\n", "turn 1 named it as not held");
}

#[test]
fn a_submodule_is_named_and_left_alone() {
    let repo = stage_set();
    let other = another(&repo, "library");
    repo.git(["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
    repo.commit("sub");
    let ran = repo.edio(["snapshot", "--json"]);
    assert_eq!(ran.ok().json()[0]["skipped"][0]["path"], "sub", "{ran}");
    repo.write("sub/s", "edited in the submodule\n");
    repo.write("sub/new", "new in the submodule\n");
    repo.edio(["snapshot"]).ok();
    let commit = |turn| repo.git(["rev-parse", &format!("{}:sub", repo.turn_ref(turn))]);
    assert_eq!(commit(1), commit(2));
    commit_in(&repo, &repo.path("sub"), "moved on");
    repo.write("story/changed", "2\n");
    repo.edio(["snapshot"]).ok();
    assert_ne!(
        commit(3),
        commit(1),
        "a turn holds which commit it stands on"
    );
    let (files, git) = (repo.everything_in("sub"), repo.git_files());
    for turn in ["1", "2", "0", "3"] {
        let ran = repo.edio(["restore", turn]);
        ran.ok();
        assert_eq!(
            (repo.everything_in("sub"), repo.git_files()),
            (files.clone(), git.clone()),
            "turn {turn}"
        );
        if turn == "1" {
            assert!(
                ran.stderr.contains("sub") && ran.stderr.contains("submodule"),
                "{ran}"
            );
        }
    }
    assert_eq!(repo.read("story/changed"), "2\n");
    repo.edio(["accept", "moved"]).ok();
    assert_eq!(repo.everything_in("sub"), files);
    repo.fsck();
}

#[test]
fn a_submodule_that_is_not_there() {
    let mut repo = stage_set();
    let other = another(&repo, "library");
    repo.git(["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
    repo.commit("sub");
    let clone = repo.outside().join("clone");
    repo.git(["clone", "-q", ".", clone.to_str().unwrap()]);
    repo.top = clone;
    let stage = Stage::at_top(&repo);
    stage.play();
    assert!(repo.has("sub") && fs::read_dir(repo.path("sub")).unwrap().count() == 0);
    assert!(repo.git_says([
        "rev-parse",
        "-q",
        "--verify",
        &format!("{}:sub", repo.turn_ref(2))
    ]));
    stage.accept();
    is_clean(&repo);
    // Its folder goes, and comes back as it can.
    repo.remove("sub");
    repo.edio(["snapshot"]).ok();
    repo.edio(["restore", "0"]).ok();
    repo.edio(["restore", "1"]).ok();
    repo.fsck();
}

#[test]
fn inside_a_submodule_it_is_a_repository_like_others() {
    let mut repo = stage_set();
    let other = another(&repo, "library");
    fs::create_dir(other.join("story")).unwrap();
    fs::write(other.join("story/changed"), "1\n").unwrap();
    commit_in(&repo, &other, "story");
    repo.git(["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
    repo.commit("sub");
    repo.edio(["snapshot"]).ok();
    let outer = repo.edio_refs();
    let above = repo.top.clone();
    repo.top = repo.path("sub");
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    is_clean(&repo);
    repo.top = above;
    assert_eq!(repo.edio_refs(), outer);
}

#[test]
fn a_submodule_where_a_turn_has_files_refuses() {
    let repo = stage_set();
    repo.write("sub/x", "1\n");
    repo.edio(["snapshot"]).ok();
    repo.remove("sub");
    let other = another(&repo, "library");
    repo.git(["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
    repo.edio(["snapshot"]).ok();
    let before = repo.everything_in("sub");
    let ran = repo.edio(["restore", "1"]);
    assert!(ran.fails(3).stderr.contains("sub"), "{ran}");
    assert_eq!(repo.everything_in("sub"), before);
    // Without a path of that turn in there, it stays where it is.
    repo.edio(["restore", "0"]).ok();
    assert_eq!(repo.everything_in("sub"), before);
}

/// A repository with two folders, of which only one is checked out.
fn sparse(flags: &[&str]) -> Repo {
    let repo = stage_set();
    repo.write("away/far/x", "1\n");
    repo.write("away/y", "1\n");
    repo.write("story/kept", "k\n");
    repo.commit("more");
    set_sparse(&repo, flags);
    assert!(!repo.has("away"));
    repo
}

fn set_sparse(repo: &Repo, flags: &[&str]) {
    let words = ["sparse-checkout", "set"].iter().chain(flags).copied();
    let cone = !flags.contains(&"--no-cone");
    repo.git(words.chain([if cone { "story" } else { "/story/" }]));
}

const SPARSE: [&[&str]; 3] = [&["--cone"], &["--no-cone"], &["--cone", "--sparse-index"]];

#[test]
fn a_sparse_checkout() {
    for flags in SPARSE {
        let repo = sparse(flags);
        let stage = Stage::at_top(&repo);
        stage.play();
        assert_eq!(
            repo.in_turn(2, "away/far/x").as_deref(),
            Some("1\n"),
            "absent is not deleted: {flags:?}"
        );
        assert!(!repo.has("away"), "{flags:?}");
        stage.edio(&["restore", "0"]).ok();
        assert!(!repo.has("away"), "{flags:?}");
        stage.edio(&["restore", "2"]).ok();
        stage.accept();
        assert_eq!(repo.git(["show", "HEAD:away/far/x"]), "1", "{flags:?}");
        is_clean(&repo);
        assert!(!repo.has("away"), "{flags:?}");
    }
}

#[test]
fn a_file_where_a_sparse_checkout_has_none() {
    for flags in SPARSE {
        let repo = sparse(flags);
        repo.edio(["snapshot"]).ok();
        repo.write("away/y", "written anyhow\n");
        repo.write("away/far/new", "new\n");
        repo.edio(["snapshot"]).ok();
        assert_eq!(
            repo.in_turn(2, "away/y").as_deref(),
            Some("written anyhow\n"),
            "{flags:?}"
        );
        assert_eq!(
            repo.in_turn(2, "away/far/new").as_deref(),
            Some("new\n"),
            "{flags:?}"
        );
        assert_eq!(
            repo.in_turn(2, "away/far/x").as_deref(),
            Some("1\n"),
            "{flags:?}"
        );
        let held = repo.manifest();
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.read("away/y"), "1\n", "{flags:?}");
        assert!(!repo.has("away/far/new"), "{flags:?}");
        repo.edio(["restore", "2"]).ok();
        assert_eq!(repo.manifest(), held, "{flags:?}");
        repo.edio(["restore", "1", "-f", "away"]).ok();
        assert!(!repo.has("away/far/new"), "{flags:?}");
        repo.fsck();
    }
}

#[test]
fn what_came_and_went_where_a_sparse_checkout_has_nothing_leaves_no_trace() {
    let repo = sparse(SPARSE[1]);
    let tree = |turn| repo.git(["rev-parse", &format!("{}^{{tree}}", repo.turn_ref(turn))]);
    repo.edio(["snapshot"]).ok();
    let before = repo.manifest();
    repo.write("away/y", "written, then removed\n");
    repo.edio(["snapshot"]).ok();
    repo.remove("away");
    repo.link("away", "other");
    repo.edio(["snapshot"]).ok();
    repo.remove("away");
    assert_eq!(repo.manifest(), before);
    repo.edio(["snapshot"]).ok();
    assert_eq!(tree(4), tree(1), "the same work tree is the same tree");
    repo.remove(".git/edio");
    repo.edio(["snapshot"]).ok();
    assert_eq!(tree(5), tree(1));
}

#[test]
fn a_sparse_checkout_that_changes_between_turns() {
    for flags in SPARSE {
        let repo = sparse(flags);
        let tree = |turn| repo.git(["rev-parse", &format!("{}^{{tree}}", repo.turn_ref(turn))]);
        repo.edio(["snapshot"]).ok();
        repo.git(["sparse-checkout", "disable"]);
        repo.edio(["snapshot"]).ok();
        assert_eq!(tree(2), tree(1), "{flags:?}");
        repo.write("away/y", "2\n");
        repo.remove("away/far");
        repo.edio(["snapshot"]).ok();
        assert_eq!(
            repo.manifest_in(&repo.turn_ref(3)),
            repo.manifest(),
            "{flags:?}"
        );
        repo.edio(["restore", "1"]).ok();
        assert_eq!(repo.read("away/far/x"), "1\n");
        set_sparse(&repo, flags);
        repo.edio(["snapshot"]).ok();
        assert_eq!(tree(4), tree(1), "{flags:?}");
        repo.edio(["restore", "3"]).ok();
        assert_eq!(
            repo.read("away/y"),
            "2\n",
            "another content than the index's is written: {flags:?}"
        );
        repo.edio(["restore", "4"]).ok();
        repo.fsck();
    }
}

#[test]
fn sha256() {
    let mut repo = Repo::unborn();
    repo.top = repo.outside().join("long ids");
    fs::create_dir(&repo.top).unwrap();
    repo.git(["init", "-q", "--object-format=sha256"]);
    repo.write("story/changed", "1\n");
    repo.write("story/removed", "1\n");
    repo.commit("base");
    let stage = Stage::at_top(&repo);
    stage.play();
    assert_eq!(repo.git(["rev-parse", &repo.turn_ref(1)]).len(), 64);
    repo.remove("story/removed");
    stage.accept();
    assert!(!repo.git_says(["cat-file", "-e", "HEAD:story/removed"]));
    is_clean(&repo);
}

#[test]
fn reftable() {
    let mut repo = Repo::unborn();
    repo.top = repo.outside().join("tables");
    fs::create_dir(&repo.top).unwrap();
    // Older gits know no other format than files.
    if !repo.git_says(["init", "-q", "--ref-format=reftable"]) {
        return;
    }
    repo.write("story/changed", "1\n");
    repo.commit("base");
    assert!(repo.has(".git/reftable"));
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    is_clean(&repo);
    let linked = repo.outside().join("linked");
    repo.git(["worktree", "add", "-q", linked.to_str().unwrap()]);
    repo.top = linked;
    Stage::at_top(&repo).edio(&["snapshot"]).ok();
}

#[test]
fn a_shallow_clone() {
    let mut repo = stage_set();
    repo.write("other", "2\n");
    repo.commit("second");
    let clone = repo.outside().join("shallow");
    let from = format!("file://{}", repo.top.display());
    repo.git(["clone", "-q", "--depth=1", &from, clone.to_str().unwrap()]);
    repo.top = clone;
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    is_clean(&repo);
}

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
fn where_there_is_no_work_tree() {
    let repo = stage_set();
    let bare = repo.outside().join("bare.git");
    repo.git(["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let nowhere = repo.outside().join("nowhere");
    fs::create_dir(&nowhere).unwrap();
    for folder in [
        bare.as_path(),
        &repo.path(".git"),
        &repo.path(".git/refs"),
        &nowhere,
    ] {
        for words in [
            &["snapshot"][..],
            &["restore", "1"],
            &["log"],
            &["status"],
            &["accept", "x"],
        ] {
            repo.edio_in(folder, words).fails(4);
        }
        assert!(!folder.join("edio").exists());
    }
    assert!(!repo.has(".git/edio"));
    assert_eq!(repo.edio_refs(), "");
}
