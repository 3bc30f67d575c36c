//! The kinds of repository: in each of them the same story is played, and ends the same.

mod files;
mod indexes;
mod names;
mod nested;
mod places;
mod rules;
mod settings;
mod sparse;
mod states;
mod stores;
mod worktrees;

use std::fs;
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
    /// The git directory of this work tree.
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
            git_dir: repo.git(["rev-parse", "--absolute-git-dir"]),
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
        let words = ["--git-dir", &self.git_dir, "--work-tree", "."]
            .into_iter()
            .chain(words.iter().copied());
        self.repo.git_in(&self.repo.top, words)
    }

    fn git_files(&self) -> Vec<String> {
        let common = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        self.repo.git_files_in(&self.git(&common))
    }

    /// What an accept changes, and its undo must bring back: HEAD, branches and tags, the index, the files.
    fn as_it_stands(&self) -> Vec<String> {
        let refs = self.git(&["for-each-ref"]);
        let refs = refs.lines().filter(|line| !line.contains("refs/edio/"));
        let index = self.git(&["ls-files", "-s", "-v"]);
        let status = [
            "--no-optional-locks",
            "status",
            "--porcelain=v2",
            "--branch",
        ];
        let said = [index, self.git(&status)].into_iter();
        let said = said.chain(refs.map(str::to_owned));
        said.chain(self.repo.manifest()).collect()
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

    /// The story's end where there is a branch, or at least a HEAD: accepted, taken back, and accepted again.
    fn accept(&self) {
        let before = self.as_it_stands();
        let ran = self.edio(&["accept", "feat: the story", "--json"]);
        let commit = ran.ok().json()[0]["commit"].as_str().unwrap().to_owned();
        let show = |what: &str| self.git(&["show", "-s", what, &commit]);
        assert_eq!(show("--format=%s%n%an"), "feat: the story\nA Person");
        assert_eq!(
            self.git(&["show", &format!("{commit}:story/deep/new")]),
            "new"
        );
        assert_eq!(self.git(&["show", &format!("{commit}:story/changed")]), "2");
        let accepted = self.as_it_stands();
        self.edio(&["undo"]).ok();
        assert_eq!(self.as_it_stands(), before);
        self.edio(&["redo"]).ok();
        assert_eq!(self.as_it_stands(), accepted);
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
