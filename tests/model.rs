//! P2, P3 and P4 against a model of the work tree, over random edits, snapshots and restores.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;

use crate::common::Repo;

/// Paths that get in each other's way, and some that git does not see.
const PATHS: [&str; 10] = [
    "a",
    "b",
    "d",
    "d/x",
    "d/y",
    "d/e",
    "d/e/z",
    "odd \n*",
    "sub dir/f",
    "d/e/z/deep",
];
const IGNORED: [&str; 3] = ["i.ign", "d/i.ign", "d/e/i.ign"];

#[derive(Clone, Debug, PartialEq)]
enum Node {
    File(u8),
    Run(u8),
    Link(&'static str),
}

#[derive(Clone, Debug)]
enum Edit {
    Put(&'static str, Node),
    Ignored(&'static str, u8),
    Delete(&'static str),
}

#[derive(Clone, Debug)]
enum Command {
    Snapshot,
    SnapshotIfChanged,
    Restore(usize),
    RestorePath(usize, &'static str),
    Stage,
    Commit,
    Forget,
}

type Tree = BTreeMap<String, Node>;

fn node() -> impl Strategy<Value = Node> {
    prop_oneof![
        4 => (0..3_u8).prop_map(Node::File),
        1 => (0..3_u8).prop_map(Node::Run),
        1 => prop::sample::select(vec!["a", "d", "../outside"]).prop_map(Node::Link),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let path = || prop::sample::select(PATHS.to_vec());
    prop_oneof![
        6 => (path(), node()).prop_map(|(path, node)| Edit::Put(path, node)),
        1 => (prop::sample::select(IGNORED.to_vec()), 0..3_u8).prop_map(|(path, byte)| Edit::Ignored(path, byte)),
        3 => path().prop_map(Edit::Delete),
    ]
}

fn step() -> impl Strategy<Value = (Vec<Edit>, Command)> {
    let path = prop::sample::select(PATHS.to_vec());
    let command = prop_oneof![
        4 => Just(Command::Snapshot),
        1 => Just(Command::SnapshotIfChanged),
        5 => (0..20_usize).prop_map(Command::Restore),
        2 => (0..20_usize, path).prop_map(|(turn, path)| Command::RestorePath(turn, path)),
        1 => Just(Command::Stage),
        1 => Just(Command::Commit),
        1 => Just(Command::Forget),
    ];
    (prop::collection::vec(edit(), 0..4), command)
}

fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What the work tree and the session must be.
struct Model {
    repo: Repo,
    disk: Tree,
    /// By number; turn 0 is what was committed when the session began.
    turns: Vec<Tree>,
    current: usize,
    head: Tree,
}

impl Model {
    fn new() -> Self {
        let repo = Repo::with(&[(".gitignore", "*.ign\n"), ("a", "0"), ("d/x", "0")]);
        let mut disk = Tree::new();
        disk.insert("a".to_owned(), Node::File(0));
        disk.insert("d/x".to_owned(), Node::File(0));
        Self {
            repo,
            head: disk.clone(),
            disk,
            turns: Vec::new(),
            current: 0,
        }
    }

    fn edit(&mut self, edit: &Edit) {
        match edit {
            Edit::Put(path, node) => self.put(path, node.clone()),
            Edit::Ignored(path, byte) => self.put(path, Node::File(*byte)),
            Edit::Delete(path) => self.delete(path),
        }
    }

    fn put(&mut self, path: &str, node: Node) {
        self.delete(path);
        for (end, _) in path.match_indices('/') {
            if self.disk.contains_key(&path[..end]) {
                self.delete(&path[..end]);
            }
        }
        match &node {
            Node::Link(target) => {
                fs::create_dir_all(self.repo.path(path).parent().unwrap()).unwrap();
                self.repo.link(path, target);
            }
            Node::File(byte) | Node::Run(byte) => {
                self.repo.write(path, byte.to_string());
                self.repo.chmod(
                    path,
                    if matches!(node, Node::Run(_)) {
                        0o755
                    } else {
                        0o644
                    },
                );
            }
        }
        self.disk.insert(path.to_owned(), node);
    }

    fn delete(&mut self, path: &str) {
        // Not through a link: what lies behind it is not this path.
        let through_file = path
            .match_indices('/')
            .any(|(end, _)| self.disk.contains_key(&path[..end]));
        if !through_file && self.repo.has(path) {
            self.repo.remove(path);
            self.disk.retain(|other, _| !is_within(other, path));
        }
    }

    fn held(&self) -> Tree {
        let seen = |(path, _): &(&String, &Node)| !path.ends_with(".ign");
        self.disk
            .iter()
            .filter(seen)
            .map(|(path, node)| (path.clone(), node.clone()))
            .collect()
    }

    fn index(&self) -> (Vec<u8>, std::time::SystemTime) {
        let file = self.repo.path(".git/index");
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        (fs::read(file).unwrap(), time)
    }

    fn run(&mut self, command: &Command) {
        match command {
            Command::Stage => drop(self.repo.git(["add", "-A"])),
            Command::Commit => {
                self.repo.git(["add", "-A"]);
                self.repo
                    .git(["commit", "-q", "--allow-empty", "-m", "more"]);
                if self.turns.is_empty() {
                    self.head = self.held();
                }
            }
            Command::Forget => drop(fs::remove_dir_all(self.repo.path(".git/edio"))),
            _ => {
                let before = self.index();
                self.run_edio(command);
                assert_eq!(self.index(), before, "the index is the person's");
            }
        }
    }

    fn run_edio(&mut self, command: &Command) {
        match command {
            Command::Snapshot => {
                self.repo.edio(["snapshot"]).ok();
                self.take(self.held());
            }
            Command::SnapshotIfChanged => {
                self.repo.edio(["snapshot", "--if-changed"]).ok();
                let known = self.turns.get(self.current).unwrap_or(&self.head);
                if &self.held() != known {
                    self.take(self.held());
                }
            }
            Command::Restore(turn) if !self.turns.is_empty() => {
                self.restore(turn % self.turns.len(), None)
            }
            Command::RestorePath(turn, path) if !self.turns.is_empty() => {
                self.restore(turn % self.turns.len(), Some(path))
            }
            _ => {}
        }
    }

    fn take(&mut self, tree: Tree) {
        if self.turns.is_empty() {
            self.turns.push(self.head.clone());
        }
        self.turns.push(tree);
        self.current = self.turns.len() - 1;
    }

    fn restore(&mut self, turn: usize, path: Option<&str>) {
        let concerns = |other: &str| path.is_none_or(|path| is_within(other, path));
        let wanted: Tree = self.turns[turn]
            .clone()
            .into_iter()
            .filter(|(path, _)| concerns(path))
            .collect();
        let (before, wanted_words) = (self.held(), turn.to_string());
        let words = ["restore", &wanted_words]
            .into_iter()
            .chain(path.iter().flat_map(|path| ["-f", *path]));
        let blocks = |(other, _): (&String, &Node)| {
            let hidden = other.ends_with(".ign");
            wanted.keys().any(|path| {
                other != path
                    && match hidden {
                        // An ignored file in a folder that is to be a file.
                        true => is_within(other, path),
                        // A file that is to be a folder, and that was not asked for.
                        false => is_within(path, other) && !concerns(other),
                    }
            })
        };
        if path.is_some() && wanted.is_empty() {
            self.repo.edio(words).fails(1);
        } else if self.disk.iter().any(blocks) {
            self.repo.edio(words).fails(3);
        } else {
            self.repo.edio(words).ok();
            if before != self.turns[self.current] {
                self.take(before.clone());
            }
            self.disk
                .retain(|other, _| other.ends_with(".ign") || !concerns(other));
            self.disk.extend(wanted);
            match path {
                None => self.current = turn,
                Some(_) if self.held() != before => self.take(self.held()),
                Some(_) => {}
            }
        }
    }

    /// The work tree on disk is the model's, and so is each turn.
    fn check(&self) {
        assert_eq!(self.repo.manifest(), lines(&self.disk));
        assert_eq!(self.repo.turns(), self.turns.len().saturating_sub(1));
    }

    fn check_turns(&self) {
        for (number, turn) in self.turns.iter().enumerate().skip(1) {
            assert_eq!(
                self.repo.manifest_in(&self.repo.turn_ref(number as u32)),
                lines(turn),
                "turn {number}"
            );
        }
        self.repo.fsck();
    }
}

/// A tree in the words of [`Repo::manifest`].
fn lines(tree: &Tree) -> Vec<String> {
    let line = |(path, node): (&String, &Node)| match node {
        Node::File(byte) => format!("file {path:?} {:?}", byte.to_string().as_bytes()),
        Node::Run(byte) => format!("run {path:?} {:?}", byte.to_string().as_bytes()),
        Node::Link(target) => format!("link {path:?} -> {target:?}"),
    };
    let rules = format!("file \".gitignore\" {:?}", b"*.ign\n");
    let mut lines: Vec<String> = tree.iter().map(line).chain([rules]).collect();
    lines.sort();
    lines
}

/// Few cases, unless `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = std::env::var_os("PROPTEST_CASES").map_or(24, |_| asked.cases);
    // A case that fails is printed in full: it becomes a test of its own.
    let failure_persistence = None;
    ProptestConfig {
        cases,
        failure_persistence,
        max_shrink_iters: 200,
        ..asked
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn p3_every_turn_comes_back_whatever_happens_between(steps in prop::collection::vec(step(), 8)) {
        let mut model = Model::new();
        for (edits, command) in &steps {
            for edit in edits {
                model.edit(edit);
            }
            model.run(command);
            model.check();
        }
        model.check_turns();
    }
}

/// Paths that ignore rules tell apart.
const NAMES: [&str; 9] = [
    "a",
    "x.log",
    "d",
    "d/a",
    "d/x.log",
    "d/e/x.log",
    "build",
    "build/o",
    "build/x.log",
];

#[derive(Clone, Debug)]
enum Deed {
    Write(&'static str, u8),
    Delete(&'static str),
    Link(&'static str),
    Ignore(&'static str, &'static str),
    Git(&'static [&'static str], Option<&'static str>),
    Lose(&'static str),
    Restore(u32),
}

fn deed() -> impl Strategy<Value = Deed> {
    let name = || prop::sample::select(NAMES.to_vec());
    let files = vec![".gitignore", "d/.gitignore", ".git/info/exclude"];
    let rules = vec![
        "",
        "*.log\n",
        "build/\n",
        "*.log\n!d/**/x.log\n",
        "d/\n",
        "!x.log\n",
        "*\n",
        "a\n",
    ];
    let with_path: Vec<&'static [&'static str]> = vec![
        &["add", "-A"],
        &["add", "-f"],
        &["add", "-N"],
        &["rm", "-rfq", "--cached"],
        &["mv", "-kf", "a"],
    ];
    let alone: Vec<&'static [&'static str]> = vec![
        &["add", "-A"],
        &["commit", "-qam", "more", "--allow-empty"],
        &["reset", "-q"],
        &["reset", "-q", "--hard"],
        &["stash", "-q", "-u"],
        &["stash", "pop", "-q"],
        &["checkout", "-q", "HEAD^"],
        &["status"],
    ];
    prop_oneof![
        8 => (name(), 0..3_u8).prop_map(|(name, byte)| Deed::Write(name, byte)),
        4 => name().prop_map(Deed::Delete),
        1 => name().prop_map(Deed::Link),
        3 => (prop::sample::select(files), prop::sample::select(rules)).prop_map(|(file, rule)| Deed::Ignore(file, rule)),
        3 => (prop::sample::select(with_path), name()).prop_map(|(words, name)| Deed::Git(words, Some(name))),
        3 => prop::sample::select(alone).prop_map(|words| Deed::Git(words, None)),
        1 => prop::sample::select(vec!["", "/index", "/state.json"]).prop_map(Deed::Lose),
        2 => (0..8_u32).prop_map(Deed::Restore),
    ]
}

fn does(repo: &Repo, deed: &Deed) {
    match deed {
        Deed::Write(name, byte) => {
            make_way(repo, name);
            repo.write(name, byte.to_string());
        }
        Deed::Link(name) => {
            make_way(repo, name);
            fs::create_dir_all(repo.path(name).parent().unwrap()).unwrap();
            // Not to itself: git takes what lies beyond such a link for there.
            repo.link(name, if *name == "d" { "nowhere" } else { "d" });
        }
        Deed::Delete(name) => {
            if repo.has(name) && !is_behind_a_file(repo, name) {
                repo.remove(name);
            }
        }
        Deed::Ignore(file, rule) => {
            make_way(repo, file);
            repo.write(file, rule);
        }
        Deed::Git(words, name) => {
            // Some can't be done at the moment.
            repo.git_says(words.iter().chain(name.iter()));
        }
        Deed::Lose(what) => {
            let path = repo.path(format!(".git/edio{what}"));
            let _ = if what.is_empty() {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            };
        }
        Deed::Restore(turn) => {
            let ran = repo.edio(["restore", &turn.to_string()]);
            assert!(matches!(ran.code, Some(0 | 1 | 3)), "{ran}");
        }
    }
}

fn is_behind_a_file(repo: &Repo, name: &str) -> bool {
    name.match_indices('/').any(|(end, _)| {
        let meta = repo.path(&name[..end]).symlink_metadata();
        meta.is_ok_and(|meta| !meta.is_dir())
    })
}

/// Removes what stands at a path, or in its way.
fn make_way(repo: &Repo, name: &str) {
    let ends = name
        .match_indices('/')
        .map(|(end, _)| end)
        .chain([name.len()]);
    for end in ends {
        let meta = repo.path(&name[..end]).symlink_metadata();
        if meta.is_ok_and(|meta| end == name.len() || !meta.is_dir()) {
            repo.remove(&name[..end]);
        }
    }
}

/// The tree that git itself would make of the work tree, from a copy of the person's index.
fn added_by_git(repo: &Repo) -> String {
    let copy = repo.outside().join("copy of the index");
    let _ = fs::remove_file(&copy);
    if fs::copy(repo.path(".git/index"), &copy).is_ok() {
        // As old as can be: git then believes no entry that it has, and reads every file.
        let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
        fs::File::options()
            .write(true)
            .open(&copy)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    }
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        repo.surround(&mut command);
        let ran = repo.ran(
            command
                .current_dir(&repo.top)
                .args(words)
                .env("GIT_INDEX_FILE", &copy),
        );
        ran.ok();
        ran.stdout.trim().to_owned()
    };
    git(&["add", "-A"]);
    git(&["write-tree"])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: config().cases / 3, ..config() })]

    #[test]
    fn p2_a_snapshot_holds_what_git_would_add(steps in prop::collection::vec(prop::collection::vec(deed(), 1..5), 5)) {
        let repo = Repo::with(&[("a", "0"), ("d/a", "0"), ("d/x.log", "0")]);
        for deeds in &steps {
            for deed in deeds {
                does(&repo, deed);
            }
            repo.edio(["snapshot"]).ok();
            let current = repo.git(["for-each-ref", "--format=%(tree)", "refs/edio/active/*/current"]);
            let expected = added_by_git(&repo);
            prop_assert_eq!(&current, &expected, "{}", repo.git(["diff", "--name-status", &current, &expected]));
        }
    }
}
