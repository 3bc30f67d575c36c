//! A repository for one test, and the binary run in it.
//!
//! Every process gets a cleared environment: no configuration of the person who runs the tests, fixed dates, a home of
//! its own. What is not `#[must_use]`d here is either asserted or shown.

mod hostile;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

/// The time at which every test happens.
pub const NOW: i64 = 1_800_000_000;

/// The binary under test.
pub fn edio_binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_edio"))
}

/// Where the streams of a process go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Streams {
    Captured,
    Terminal,
}

/// Runs a command that reads this. It may end without having read all of it.
pub fn fed(command: &mut Command, input: impl AsRef<[u8]>) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_ref().to_vec();
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// Makes a folder a copy of another, whatever stood there.
pub fn copy(from: &Path, to: &Path) {
    if to.exists() {
        fs::remove_dir_all(to).unwrap();
    }
    let copied = Command::new("cp").arg("-a").args([from, to]).status();
    assert!(copied.unwrap().success());
}

/// What an agent tells its hook of an event, in the words of Claude Code: more of them, and that it says this beside.
pub fn payload(session: &str, cwd: &Path, event: &str, more: Value) -> Value {
    let mut payload = json!({"session_id": session, "cwd": cwd, "hook_event_name": event});
    let more = more.as_object().unwrap().clone();
    payload.as_object_mut().unwrap().extend(more);
    payload
}

/// Is this point of many tried in this run? All are where `EDIO_FAULTS` is set, else one in three, other ones each time.
pub fn is_tried(point: usize) -> bool {
    static FIRST: OnceLock<u8> = OnceLock::new();
    let all = std::env::var_os("EDIO_FAULTS").is_some();
    all || point % 3 == usize::from(FIRST.get_or_init(rand::random) % 3)
}

/// A folder for one test, with a repository in it.
pub struct Repo {
    /// The folder: home, config and repository lie in it. Removed at the end.
    scratch: TempDir,
    /// The top of the work tree.
    pub top: PathBuf,
}

impl Repo {
    /// A repository without a commit, on the branch `main`.
    pub fn unborn() -> Self {
        let scratch = tempfile::Builder::new()
            .prefix("edio-test-")
            .tempdir()
            .unwrap();
        let real = scratch.path().canonicalize().unwrap();
        let top = real.join("repo");
        fs::create_dir_all(real.join("home")).unwrap();
        fs::create_dir(&top).unwrap();
        fs::write(
            real.join("gitconfig"),
            "[user]\n\tname = A Person\n\temail = person@example.com\n[init]\n\tdefaultBranch = main\n\
             [advice]\n\tdetachedHead = false\n[protocol \"file\"]\n\tallow = always\n",
        )
        .unwrap();
        let repo = Self { scratch, top };
        if hostile::is_on() {
            repo.world().make();
        }
        repo.git(["init", "-q"]);
        repo
    }

    /// A repository with these files in one commit.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let repo = Self::unborn();
        for (path, content) in files {
            repo.write(path, content);
        }
        repo.commit("base");
        repo
    }

    /// The folder around the repository, for what must lie outside it.
    pub fn outside(&self) -> PathBuf {
        self.scratch.path().canonicalize().unwrap()
    }

    /// Where a path lies that is named from the top.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.top.join(path)
    }

    /// Writes a file, and the folders that it needs.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Reads a file as text.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.path(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Is there something at this path, be it a dangling link?
    pub fn has(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).symlink_metadata().is_ok()
    }

    /// How many packs there are.
    pub fn packs(&self) -> usize {
        let files = fs::read_dir(self.path(".git/objects/pack")).unwrap();
        let names = files.map(|file| file.unwrap().path());
        names
            .filter(|name| name.extension().is_some_and(|end| end == "pack"))
            .count()
    }

    /// Removes a file or a folder.
    pub fn remove(&self, path: impl AsRef<Path>) {
        let path = self.path(path);
        match path.symlink_metadata().unwrap().is_dir() {
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
    }

    /// Makes a symbolic link.
    pub fn link(&self, path: impl AsRef<Path>, target: &str) {
        std::os::unix::fs::symlink(target, self.path(path)).unwrap();
    }

    /// Makes a FIFO, and the folders above it.
    pub fn fifo(&self, path: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    /// Sets the permission bits of a path.
    pub fn chmod(&self, path: impl AsRef<Path>, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Commits the whole work tree with the user's own git.
    pub fn commit(&self, message: &str) {
        self.git(["add", "-A"]);
        self.git(["commit", "-q", "-m", message]);
    }

    /// Runs git at the top, which must succeed. Returns what it printed, without the last line break.
    pub fn git<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> String {
        self.git_in(&self.top, words)
    }

    /// Runs git in another folder.
    pub fn git_in<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        words: impl IntoIterator<Item = W>,
    ) -> String {
        let output = self.run_in(folder, "git", words);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "git failed: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        text.strip_suffix('\n').unwrap_or(&text).to_owned()
    }

    /// Asks git something that may have "no" for an answer.
    pub fn git_says<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> bool {
        self.run_in(&self.top, "git", words).status.success()
    }

    fn run_in<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        program: &str,
        words: impl IntoIterator<Item = W>,
    ) -> Output {
        let mut command = Command::new(program);
        self.surround(&mut command);
        command.current_dir(folder).args(words);
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// Gives a process the surroundings of this test and no others.
    pub fn surround(&self, command: &mut Command) {
        let around = self.scratch.path();
        signals_as_usual();
        command
            .env_clear()
            .env("PATH", path())
            .env("HOME", around.join("home"))
            .env("TMPDIR", around)
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env("COLUMNS", "100")
            .env("GIT_CONFIG_GLOBAL", around.join("gitconfig"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            // Where TMPDIR is a disk of its own, git says so.
            .env("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1")
            .env("GIT_AUTHOR_DATE", format!("@{NOW} +0000"))
            .env("GIT_COMMITTER_DATE", format!("@{NOW} +0000"))
            .env("EDIO_HOOK_WAIT", "60000")
            .env("EDIO_NOW", NOW.to_string());
    }

    /// edio at the top, ready to be given more before it is run.
    pub fn command<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Command {
        let words = owned(words);
        let mut command = self.like_edio(edio_binary(), &words);
        command.args(words);
        command
    }

    /// Another program in the surroundings in which edio is run with these words.
    pub fn like_edio<W: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        words: impl IntoIterator<Item = W>,
    ) -> Command {
        let mut command = match hostile::is_on() {
            false => Command::new(program),
            true => hostile::guarded(program.as_ref()),
        };
        self.surround_edio(&mut command, words, Streams::Captured);
        command.current_dir(&self.top).stdin(Stdio::null());
        command
    }

    /// Gives an edio with these words its surroundings: they may be [hostile](hostile). Returns the words.
    fn surround_edio<W: AsRef<OsStr>>(
        &self,
        command: &mut Command,
        words: impl IntoIterator<Item = W>,
        streams: Streams,
    ) -> Vec<OsString> {
        let words = owned(words);
        self.surround(command);
        if hostile::is_on() {
            self.world().surround(command, &words, streams);
        }
        words
    }

    fn world(&self) -> hostile::World {
        hostile::World::around(&self.outside())
    }

    /// Runs edio at the top.
    pub fn edio<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Ran {
        self.ran(&mut self.command(words))
    }

    /// Runs edio in another folder.
    pub fn edio_in<W: AsRef<OsStr>>(
        &self,
        folder: impl AsRef<Path>,
        words: impl IntoIterator<Item = W>,
    ) -> Ran {
        let mut command = self.command(words);
        command.current_dir(self.path(folder));
        self.ran(&mut command)
    }

    /// Runs edio at the top, with this on its standard input.
    pub fn edio_fed<W: AsRef<OsStr>>(
        &self,
        words: impl IntoIterator<Item = W>,
        input: impl AsRef<[u8]>,
    ) -> Ran {
        let output = fed(&mut self.command(words), input);
        self.outcome(&output)
    }

    /// Runs a command to its end.
    pub fn ran(&self, command: &mut Command) -> Ran {
        let output = command.output().unwrap();
        self.outcome(&output)
    }

    /// Has the hook of Claude Code called as it works at the top. It must end well, and in silence (P8).
    #[track_caller]
    pub fn claude_says(&self, event: &str, more: Value) {
        let ran = self.edio_fed(
            ["hook", "claude"],
            payload("s1", &self.top, event, more).to_string(),
        );
        assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (Some(0), "", ""));
    }

    /// Runs edio, which must say no with this code and these words, and change nothing of the user's.
    #[track_caller]
    pub fn says_no<W: AsRef<OsStr>>(
        &self,
        words: impl IntoIterator<Item = W>,
        code: i32,
        said: &[&str],
    ) -> Ran {
        let (state, files) = (self.git_state(), self.manifest());
        let ran = self.edio(words);
        ran.fails_with(code, said);
        assert_eq!(self.git_state(), state, "{ran}");
        assert_eq!(self.manifest(), files, "{ran}");
        assert!(!self.has(".git/index.lock"), "{ran}");
        ran
    }

    /// Has a script for the shell stand in for git; the real one is `"$GIT"` in it. Returns the `PATH` for whom it is to be
    /// so.
    pub fn git_instead(&self, script: &str) -> String {
        let git = self.outside().join("bin/git");
        self.write(&git, format!("#!/bin/sh\nGIT='{}'\n{script}", real_git()));
        self.chmod(&git, 0o755);
        format!("{}:{}", self.outside().join("bin").display(), path())
    }

    /// Runs edio, which is killed by the first git of its that has these words in its own, before that one does anything.
    #[track_caller]
    pub fn killed_at(&self, call: &str, words: &[&str]) {
        let path = self.git_instead(&format!(
            "case \"$*\" in *'{call}'*) kill -9 $PPID; exit 1 ;; esac\nexec \"$GIT\" \"$@\"\n"
        ));
        let ran = self.ran(self.command(words).env("PATH", path));
        assert_eq!(ran.code, None, "{ran}");
    }

    fn outcome(&self, output: &Output) -> Ran {
        self.world().is_unharmed();
        Ran {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
            around: self.outside().to_string_lossy().into_owned(),
        }
    }

    /// A program of this name that holds what edio's children inherit in a scratch folder, until its input ends.
    pub fn holder(&self, name: &str, scratch: &Path) -> std::process::Child {
        let program = self.outside().join(name);
        // Not a copy: while another test starts a process, that would still be open for writing there, and could not be run.
        std::os::unix::fs::symlink("/bin/cat", &program).unwrap();
        let file = fs::File::create(scratch.join("children")).unwrap();
        file.lock().unwrap();
        let mut command = Command::new(program);
        command.stdin(Stdio::piped());
        // It is inherited as its standard output.
        command.stdout(file).spawn().unwrap()
    }

    /// The name of turn N's ref, in whatever session is under way here.
    pub fn turn_ref(&self, number: u32) -> String {
        let refs = self.git(["for-each-ref", "--format=%(refname)", "refs/edio/active"]);
        let found = refs
            .lines()
            .find(|name| name.ends_with(&format!("/{number}")));
        found
            .unwrap_or_else(|| panic!("no turn {number} in:\n{refs}"))
            .to_owned()
    }

    /// How many turns there are.
    pub fn turns(&self) -> usize {
        let refs = self.git(["for-each-ref", "--format=%(refname)", "refs/edio/active"]);
        let is_turn = |name: &&str| name.rsplit('/').next().unwrap().parse::<u32>().is_ok();
        refs.lines().filter(is_turn).count()
    }

    /// What a turn has at a path; `None` where it has nothing.
    pub fn in_turn(&self, number: u32, path: &str) -> Option<String> {
        let name = format!("{}:{path}", self.turn_ref(number));
        self.git_says(["cat-file", "-e", &name])
            .then(|| self.git_raw(["cat-file", "blob", &name]))
    }

    /// Runs git, and returns what it printed to the last byte.
    pub fn git_raw<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> String {
        let output = self.run_in(&self.top, "git", words);
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Every file and link outside the git directories: kind, executable bit, content.
    pub fn manifest(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(&self.top, &self.top, &mut found);
        found.sort();
        found
    }

    /// What of git a snapshot must leave as it is (P1): the index to the last byte and its time, HEAD, all refs but
    /// edio's, reflogs, stash, config, and what `git status` says.
    pub fn git_state(&self) -> Vec<String> {
        let git_dir = self.path(".git");
        let mut state = Vec::new();
        for name in [
            "index",
            "HEAD",
            "config",
            "info/exclude",
            "logs/HEAD",
            "logs/refs/stash",
        ] {
            let content = fs::read(git_dir.join(name)).unwrap_or_default();
            state.push(format!("{name} {:?}", String::from_utf8_lossy(&content)));
        }
        if let Ok(meta) = fs::metadata(git_dir.join("index")) {
            state.push(format!("index {:?}", meta.modified().unwrap()));
        }
        let refs = self.git(["for-each-ref"]);
        state.extend(
            refs.lines()
                .filter(|line| !line.contains("refs/edio/"))
                .map(str::to_owned),
        );
        state.push(self.git([
            "--no-optional-locks",
            "status",
            "--porcelain=v2",
            "--branch",
        ]));
        state
    }

    /// Is this content reachable from a ref (P4)?
    pub fn is_kept(&self, content: &str) -> bool {
        let file = self.outside().join("content");
        fs::write(&file, content).unwrap();
        let oid = self.git(["hash-object", "--no-filters", file.to_str().unwrap()]);
        self.git(["rev-list", "--objects", "--all"]).contains(&oid)
    }

    /// Is the repository sound (P10)?
    pub fn fsck(&self) {
        self.git(["fsck", "--strict", "--no-progress"]);
        for line in self
            .git(["for-each-ref", "--format=%(objecttype)", "refs/edio"])
            .lines()
        {
            assert_eq!(line, "commit");
        }
    }

    /// Every file and link in another folder, as [`Repo::manifest`] lists them.
    pub fn manifest_of(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let folder = self.path(folder);
        let mut found = Vec::new();
        list(&folder, &folder, &mut found);
        found.sort();
        found
    }

    /// What a commit's tree holds, in the words of [`Repo::manifest`], but for submodules.
    pub fn manifest_in(&self, commit: &str) -> Vec<String> {
        use std::os::unix::ffi::OsStrExt;
        let listing = ["ls-tree", "-r", "-z", "--full-tree", commit];
        let listing = self.run_in(&self.top, "git", listing);
        assert!(listing.status.success());
        let mut entries = Vec::new();
        for entry in listing
            .stdout
            .split(|&byte| byte == 0)
            .filter(|entry| !entry.is_empty())
        {
            let tab = entry.iter().position(|&byte| byte == b'\t').unwrap();
            let head = String::from_utf8(entry[..tab].to_vec()).unwrap();
            let fields: Vec<&str> = head.split(' ').collect();
            if fields[1] == "blob" {
                entries.push((
                    fields[0].to_owned(),
                    fields[2].to_owned(),
                    entry[tab + 1..].to_vec(),
                ));
            }
        }
        let blobs = self.blobs(entries.iter().map(|(_, oid, _)| oid.as_str()));
        let line = |((mode, _, name), blob): (&(String, String, Vec<u8>), Vec<u8>)| {
            let name = OsStr::from_bytes(name);
            match mode.as_str() {
                "120000" => format!("link {name:?} -> {:?}", OsStr::from_bytes(&blob)),
                "100755" => format!("run {name:?} {blob:?}"),
                _ => format!("file {name:?} {blob:?}"),
            }
        };
        let mut found: Vec<String> = entries.iter().zip(blobs).map(line).collect();
        found.sort();
        found
    }

    /// The contents of these blobs, few enough for their names to fit into a pipe.
    fn blobs<'a>(&self, oids: impl Iterator<Item = &'a str>) -> Vec<Vec<u8>> {
        use std::io::Write;
        let oids: Vec<&str> = oids.collect();
        let mut command = Command::new("git");
        self.surround(&mut command);
        command
            .current_dir(&self.top)
            .args(["cat-file", "--batch", "--buffer"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all((oids.join("\n") + "\n").as_bytes())
            .unwrap();
        let mut rest = child.wait_with_output().unwrap().stdout;
        let blob = |_| {
            let end = rest.iter().position(|&byte| byte == b'\n').unwrap();
            let head = String::from_utf8(rest.drain(..=end).collect()).unwrap();
            let length: usize = head.trim_end().rsplit(' ').next().unwrap().parse().unwrap();
            let blob = rest.drain(..length).collect();
            rest.remove(0);
            blob
        };
        oids.iter().map(blob).collect()
    }

    /// Every file below a folder, git directories included: kind, permissions, time, content.
    pub fn everything_in(&self, folder: impl AsRef<Path>) -> Vec<String> {
        use std::os::unix::fs::MetadataExt;
        let folder = self.path(folder);
        let (mut found, mut folders) = (Vec::new(), vec![folder.clone()]);
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                let meta = path.symlink_metadata().unwrap();
                let name = path.strip_prefix(&folder).unwrap();
                let content = match (meta.is_symlink(), meta.is_file()) {
                    (true, _) => fs::read_link(&path)
                        .unwrap()
                        .into_os_string()
                        .into_encoded_bytes(),
                    (_, true) => fs::read(&path).unwrap(),
                    _ => Vec::new(),
                };
                let content = String::from_utf8_lossy(&content);
                match meta.is_dir() {
                    true => folders.push(path),
                    false => found.push(format!(
                        "{name:?} {:o} {}.{:09} {content}",
                        meta.mode(),
                        meta.mtime(),
                        meta.mtime_nsec(),
                    )),
                }
            }
        }
        found.sort();
        found
    }

    /// Everything of git's that edio must leave as it is, to the last file: whatever lies in the git directory, linked
    /// work trees and submodules included, but objects and what is edio's own. The refs are listed, not compared as files.
    pub fn git_files(&self) -> Vec<String> {
        self.git_files_in(&self.git(["rev-parse", "--path-format=absolute", "--git-common-dir"]))
    }

    /// The same for the git directory at this place.
    pub fn git_files_in(&self, git_dir: &str) -> Vec<String> {
        let ours = |line: &String| {
            let name = line[1..].split('"').next().unwrap();
            let parts = ["edio", "objects", "reftable", "packed-refs"];
            name.split('/').any(|part| parts.contains(&part))
        };
        let mut found = self.everything_in(git_dir);
        found.retain(|line| !ours(line));
        // Reading a split index tells git that its shared part is still in use, by the time of that file.
        for line in found
            .iter_mut()
            .filter(|line| line.starts_with("\"sharedindex."))
        {
            *line = line
                .splitn(4, ' ')
                .enumerate()
                .filter(|(at, _)| *at != 2)
                .map(|(_, part)| part)
                .collect();
        }
        let refs = self.git(["--git-dir", git_dir, "for-each-ref"]);
        found.extend(
            refs.lines()
                .filter(|line| !line.contains("refs/edio/"))
                .map(str::to_owned),
        );
        found
    }

    /// edio's own refs, and what they point to.
    pub fn edio_refs(&self) -> String {
        self.git([
            "for-each-ref",
            "--format=%(refname) %(objectname)",
            "refs/edio",
        ])
    }

    /// Gives everything here to a user without rights, whose permission bits count. The tests may run as root.
    pub fn give_away(&self) {
        let config = self.outside().join("gitconfig");
        let settings = fs::read_to_string(&config).unwrap();
        fs::write(&config, settings + "[safe]\n\tdirectory = *\n").unwrap();
        // By another process: a file that is open for writing here is so in what other tests start, too, and can't be run.
        let mut copy = Command::new("cp");
        let copied = copy.arg(edio_binary()).arg(self.outside().join("edio"));
        assert!(copied.status().unwrap().success());
        if self.is_root() {
            let outside = self.outside();
            let given = Command::new("chown")
                .args(["-R", "65534:65534"])
                .arg(&outside)
                .status();
            assert!(given.unwrap().success());
        }
    }

    /// Runs edio as the user to whom [`Repo::give_away`] gave everything.
    pub fn edio_without_rights<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Ran {
        self.ran(&mut self.command_without_rights(words))
    }

    /// The same, not yet run.
    pub fn command_without_rights<W: AsRef<OsStr>>(
        &self,
        words: impl IntoIterator<Item = W>,
    ) -> Command {
        let edio = self.outside().join("edio");
        let mut command = match self.is_root() {
            false => Command::new(edio),
            true => {
                let mut command = Command::new("setpriv");
                command
                    .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
                    .arg(edio);
                command
            }
        };
        let words = self.surround_edio(&mut command, words, Streams::Captured);
        command
            .current_dir(&self.top)
            .args(words)
            .stdin(Stdio::null());
        command
    }

    /// Runs edio on a terminal of its own, as the leader of its session. What it and its children print there, stderr
    /// included, is in `stdout`.
    ///
    /// `then` is Python, for what happens at the terminal meanwhile: `until(b"text")` waits for it to appear,
    /// `os.write(fd, b"keys")` types, `hang_up()` closes the terminal, `pid` is edio.
    pub fn on_a_terminal<'a>(&self, words: impl IntoIterator<Item = &'a str>, then: &str) -> Ran {
        self.on_a_terminal_with(edio_binary().to_str().unwrap(), words, then)
    }

    /// Runs any program on a terminal of its own.
    pub fn on_a_terminal_with<'a>(
        &self,
        program: &str,
        words: impl IntoIterator<Item = &'a str>,
        then: &str,
    ) -> Ran {
        self.ran(&mut self.terminal_command(program, words, then))
    }

    /// The command that runs a program on a terminal of its own, ready to be given more.
    pub fn terminal_command<'a>(
        &self,
        program: &str,
        words: impl IntoIterator<Item = &'a str>,
        then: &str,
    ) -> Command {
        let mut command = Command::new(python());
        let words = match Path::new(program) == edio_binary() {
            true => self.surround_edio(&mut command, words, Streams::Terminal),
            false => {
                self.surround(&mut command);
                owned(words)
            }
        };
        command
            .args(["-I", "-S", "-c", TERMINAL, then, program])
            .args(words);
        command
            .env("TERM", "xterm")
            .current_dir(&self.top)
            .stdin(Stdio::null());
        command
    }

    /// Do the tests run as root?
    pub fn is_root(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        fs::metadata("/proc/self").unwrap().uid() == 0
    }

    /// Runs edio at the top, so many seconds after the time at which every test happens.
    pub fn edio_later<W: AsRef<OsStr>>(
        &self,
        seconds: i64,
        words: impl IntoIterator<Item = W>,
    ) -> Ran {
        let mut command = self.command(words);
        self.ran(command.env("EDIO_NOW", (NOW + seconds).to_string()))
    }

    /// Gives the user a hook: a script for the shell.
    pub fn hook(&self, name: &str, script: &str) {
        let hook = self.path(".git/hooks").join(name);
        self.write(&hook, format!("#!/bin/sh\n{script}\n"));
        self.chmod(&hook, 0o755);
        if hostile::is_on() {
            let folder = hook.parent().unwrap().to_str().unwrap();
            self.git(["config", "core.hooksPath", folder]);
        }
    }

    /// Has patches look as git makes them by itself: a user's settings count otherwise.
    pub fn plain_patches(&self) {
        let settings =
            "core.abbrev=10 diff.algorithm=myers diff.mnemonicPrefix=false diff.noprefix=false";
        if hostile::is_on() {
            for setting in settings.split(' ') {
                let (name, value) = setting.split_once('=').unwrap();
                self.git(["config", name, value]);
            }
        }
    }

    /// The ids of the sessions on this shelf, `active` or `archive`.
    pub fn sessions(&self, shelf: &str) -> Vec<String> {
        let refs = self.git([
            "for-each-ref",
            "--format=%(refname:lstrip=3)",
            &format!("refs/edio/{shelf}"),
        ]);
        let mut ids: Vec<String> = refs
            .lines()
            .map(|name| name.split('/').next().unwrap().to_owned())
            .collect();
        ids.dedup();
        ids
    }

    /// Takes a step of the work tree as it is, as a hook or a watch takes it. It is open until a turn is taken.
    pub fn step(&self, number: &str) {
        let current = format!("refs/edio/active/{}/current", self.sessions("active")[0]);
        let (index, message) = (self.outside().join("step"), self.outside().join("message"));
        let script = "git add -A && git write-tree && rm \"$GIT_INDEX_FILE\"";
        let mut stage = Command::new("sh");
        self.surround(&mut stage);
        let stage = stage.current_dir(&self.top).args(["-c", script]);
        let written = stage.env("GIT_INDEX_FILE", &index).output().unwrap();
        let tree = String::from_utf8(written.stdout).unwrap();
        let commit = self.git_raw(["cat-file", "commit", &current]);
        let said =
            commit
                .split_once("\n\n")
                .unwrap()
                .1
                .lines()
                .map(|line| match line.split_once(": ") {
                    Some(("Edio-Turn", _)) => format!("Edio-Turn: {number}\n"),
                    Some(("Edio-Kind", _)) => "Edio-Kind: step\n".to_owned(),
                    _ => format!("{line}\n"),
                });
        fs::write(&message, said.collect::<String>()).unwrap();
        let file = message.to_str().unwrap();
        let step = self.git(["commit-tree", tree.trim(), "-p", &current, "-F", file]);
        self.git(["update-ref", &current, &step]);
    }
}

fn owned<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Vec<OsString> {
    let words = words.into_iter();
    words.map(|word| word.as_ref().to_owned()).collect()
}

fn list(top: &Path, folder: &Path, found: &mut Vec<String>) {
    use std::os::unix::fs::PermissionsExt;
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        if entry.file_name() == ".git" {
            continue;
        }
        let meta = path.symlink_metadata().unwrap();
        let name = path.strip_prefix(top).unwrap();
        if meta.is_symlink() {
            found.push(format!(
                "link {name:?} -> {:?}",
                fs::read_link(&path).unwrap()
            ));
        } else if meta.is_dir() {
            list(top, &path, found);
        } else if meta.is_file() {
            let mode = if meta.permissions().mode() & 0o100 == 0 {
                "file"
            } else {
                "run"
            };
            found.push(format!("{mode} {name:?} {:?}", fs::read(&path).unwrap()));
        } else {
            found.push(format!("special {name:?}"));
        }
    }
}

/// Tells past the harness, which shows nothing of a test that passes, that this one had to be left out here, and why.
pub fn left_out(why: &str) {
    use std::io::Write;
    let test = std::thread::current();
    let test = test.name().unwrap_or("a test");
    let words = format!("{test}: left out, {why}\n");
    std::io::stderr().write_all(words.as_bytes()).unwrap();
}

/// The git that is tried, by its full path: for a program of that name that calls it.
pub fn real_git() -> String {
    let mut found = path().split(':').map(|folder| format!("{folder}/git"));
    found.find(|git| fs::metadata(git).is_ok()).unwrap()
}

/// Where programs are looked for: first the git that `EDIO_TEST_GIT` names, where it names one.
pub fn path() -> &'static str {
    static FOUND: OnceLock<String> = OnceLock::new();
    FOUND.get_or_init(|| {
        let path = std::env::var("PATH").unwrap();
        let Some(git) = std::env::var_os("EDIO_TEST_GIT") else {
            return path;
        };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("git");
        fs::create_dir_all(&folder).unwrap();
        let link = tempfile::Builder::new()
            .make_in(&folder, |name| std::os::unix::fs::symlink(&git, name))
            .unwrap();
        link.persist(folder.join("git")).unwrap();
        format!("{}:{path}", folder.display())
    })
}

/// Has what the tests start find the usual signals, also where the tests were started to ignore some (`nohup`).
///
/// A handler, unlike an ignored signal, isn't inherited; and what was ignored before changes nothing in this process.
fn signals_as_usual() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2] {
            if ignored & (1 << (signal - 1)) != 0 {
                signal_hook::flag::register(signal, std::sync::Arc::default()).unwrap();
            }
        }
    });
}

/// The Python that `python3` stands for: a wrapper around it may take longer than all the rest.
pub fn python() -> &'static str {
    static FOUND: OnceLock<String> = OnceLock::new();
    FOUND.get_or_init(|| {
        let script = "import sys; print(sys.executable)";
        let found = Command::new("python3")
            .args(["-c", script])
            .output()
            .unwrap();
        String::from_utf8(found.stdout).unwrap().trim().to_owned()
    })
}

/// Runs a program on a pseudo-terminal, prints what appeared there, and ends with its exit code.
const TERMINAL: &str = r#"
import fcntl, os, pty, select, struct, sys, termios, time
seen = b""
def until(text):
    global seen
    end = time.time() + 30
    while text is None or text not in seen:
        if not select.select([fd], [], [], max(0, end - time.time()))[0]:
            os.killpg(pid, 9)
            sys.exit("it did not come: %r; but %r" % (text, seen))
        try:
            more = os.read(fd, 65536)
        except OSError:
            more = b""
        if not more:
            return
        seen += more
def hang_up():
    global fd
    os.close(fd)
    fd = -1
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
exec(sys.argv[1])
if fd >= 0:
    until(None)
_, status = os.waitpid(pid, 0)
sys.stdout.flush()
sys.stdout.buffer.write(seen)
sys.stdout.flush()
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
"#;

/// What a run of edio came to.
#[must_use = "assert how it ended, or show it"]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    /// The exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    around: String,
}

impl Ran {
    /// It must have succeeded.
    #[track_caller]
    pub fn ok(&self) -> &Self {
        assert_eq!(self.code, Some(0), "{self}");
        self
    }

    /// It must have ended with this exit code, and said why on stderr.
    #[track_caller]
    pub fn fails(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self}");
        assert!(!self.stderr.is_empty(), "it failed without a word");
        assert!(!self.stderr.contains("panicked"), "{self}");
        self
    }

    /// It must have ended with this exit code, and said why in these words, among others.
    #[track_caller]
    pub fn fails_with(&self, code: i32, said: &[&str]) -> &Self {
        self.fails(code);
        for word in said {
            assert!(self.stderr.contains(word), "no word of {word:?}: {self}");
        }
        self
    }

    /// Each line of stdout, as JSON.
    pub fn json(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Everything that it came to, with what differs from run to run replaced: ids, sessions, folders.
impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self
            .code
            .map_or("a signal".to_owned(), |code| code.to_string());
        let text = format!(
            "{}[stdout ends]\n{}[stderr ends]\nexit code {code}\n",
            self.stdout, self.stderr
        );
        f.write_str(&without_ids(&text.replace(&self.around, "[AROUND]")))
    }
}

/// Replaces object ids (10 hex digits or more) and session ids.
fn without_ids(text: &str) -> String {
    let mut shown = String::new();
    let mut word = String::new();
    for c in text.chars().chain(std::iter::once('\0')) {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if word.starts_with("sess_") {
            shown.push_str("[SESSION]");
        } else if word.len() >= 7
            && word.bytes().all(hex)
            && word.bytes().any(|b| b.is_ascii_digit())
        {
            shown.push_str("[ID]");
        } else {
            shown.push_str(&word);
        }
        word.clear();
        if c != '\0' {
            shown.push(c);
        }
    }
    shown
}
