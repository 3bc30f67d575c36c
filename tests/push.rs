//! `edio push` and `edio fetch`: a session goes to a remote and is the same on another machine; nothing leaves that was not
//! asked for, nothing that comes is trusted (P9), and no turn is lost where several push (P6).

use std::fs;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::common::{NOW, Ran, Repo, left_out, python, real_git};

/// A repository with a remote, `origin`, which is a bare one beside it.
struct Shared {
    repo: Repo,
    bare: PathBuf,
}

impl Shared {
    fn of(repo: Repo) -> Self {
        let bare = repo.outside().join("shared.git");
        repo.git(["init", "-q", "--bare", bare.to_str().unwrap()]);
        repo.git(["remote", "add", "origin", bare.to_str().unwrap()]);
        repo.git(["push", "-q", "-u", "origin", "main"]);
        Self { repo, bare }
    }

    /// With a session of two turns.
    fn new() -> Self {
        let repo = Repo::with(&[("a", "0\n")]);
        repo.write("a", "1\n");
        repo.edio(["snapshot", "-m", "first"]).ok();
        repo.write("a", "2\n");
        repo.write("b", "b\n");
        repo.edio(["snapshot", "-m", "second"]).ok();
        Self::of(repo)
    }

    fn id(&self) -> String {
        self.repo.sessions("active").remove(0)
    }

    /// A clone with nothing of edio's: the other machine.
    fn clone(&self, name: &str) -> PathBuf {
        self.clone_with(name, &["--no-local", self.bare.to_str().unwrap()])
    }

    fn clone_with(&self, name: &str, words: &[&str]) -> PathBuf {
        let clone = self.repo.outside().join(name);
        let words = ["clone", "-q"].iter().chain(words);
        let words = words.copied().chain([clone.to_str().unwrap()]);
        self.repo.git(words);
        clone
    }

    fn there(&self, clone: &Path, words: &[&str]) -> Ran {
        self.repo.edio_in(clone, words)
    }

    /// edio's refs at the remote, without the beginning that all have.
    fn refs(&self) -> Vec<String> {
        self.refs_in(&self.bare)
    }

    fn refs_in(&self, folder: &Path) -> Vec<String> {
        let words = [
            "for-each-ref",
            "--format=%(refname) %(objectname)",
            "refs/edio",
        ];
        let refs = self.repo.git_in(folder, words);
        let lines = refs.lines();
        lines
            .map(|line| line.trim_start_matches("refs/edio/shared/").to_owned())
            .collect()
    }

    fn has(&self, folder: &Path, content: &str) -> bool {
        let file = self.repo.outside().join("content");
        fs::write(&file, content).unwrap();
        let file = file.to_str().unwrap();
        let oid = self.repo.git(["hash-object", "--no-filters", file]);
        let mut command = Command::new("git");
        self.repo.surround(&mut command);
        command.current_dir(folder).args(["cat-file", "-e", &oid]);
        command.output().unwrap().status.success()
    }
}

/// What a session has is the same in the repository and in another one.
fn is_the_same(shared: &Shared, clone: &Path, id: &str) {
    for words in [
        &["log", "--json"][..],
        &["show", "2", "--json"],
        &["diff", "1..2"],
        &["show", "0", "--json"],
    ] {
        let words: Vec<&str> = words.iter().copied().chain(["--session", id]).collect();
        let here = shared.repo.edio(&words);
        assert_eq!(shared.there(clone, &words).ok().stdout, here.ok().stdout);
    }
}

/// The whole way: pushed to this address, fetched by another machine, looked at, restored, gone on with, accepted.
fn goes_and_comes_back(shared: &Shared, address: &str) {
    let (repo, id) = (&shared.repo, shared.id());
    let files = repo.git_files();
    let ran = repo.edio(["push", address]);
    assert!(ran.ok().stderr.contains("(2 turns)"), "{ran}");
    // Nothing of the user's has changed, no branch of a remote either.
    assert_eq!(repo.git_files(), files);
    let names: Vec<String> = shared.refs();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0].starts_with(&format!("{id}/current ")), "{names:?}");

    let clone = shared.clone("there");
    let git_dir = clone.join(".git");
    let files = || repo.git_files_in(git_dir.to_str().unwrap());
    let before = files();
    let ran = shared.there(&clone, &["fetch", address, "--json"]);
    assert_eq!(files(), before);
    let record = &ran.ok().json()[0];
    assert_eq!(
        (&record["came"], &record["turns"]),
        (&json!("new"), &json!(2))
    );
    assert_eq!(repo.git_in(&clone, ["status", "--porcelain"]), "");
    is_the_same(shared, &clone, &id);
    let sessions = shared.there(&clone, &["sessions", "--json"]).json();
    assert_eq!(sessions[0]["state"], "fetched");
    let blame = shared.there(&clone, &["blame", "b", "--session", &id, "--json"]);
    assert_eq!(blame.ok().json()[0]["turn"], 2);
    let words = [
        "bisect",
        "--session",
        &id,
        "--json",
        "--",
        "test",
        "!",
        "-e",
        "b",
    ];
    let found = shared.there(&clone, &words);
    assert_eq!(found.ok().json()[0]["turn"]["turn"], 2, "{found}");

    shared
        .there(&clone, &["restore", "2", "--session", &id])
        .ok();
    let blame = shared.there(&clone, &["blame", "b", "--session", &id, "--json"]);
    assert_eq!(blame.ok().json()[0]["turn"], 2);
    assert_eq!(fs::read_to_string(clone.join("b")).unwrap(), "b\n");
    fs::write(clone.join("a"), "3\n").unwrap();
    shared.there(&clone, &["snapshot", "-m", "mine"]).ok();
    // What came of it here goes the same way.
    shared.there(&clone, &["push", address]).ok();
    let ran = repo.edio(["fetch", address, "--json"]);
    let came: Vec<Value> = ran.ok().json();
    let came = |id: &str| {
        let of = came.iter().find(|record| record["session"] == id);
        of.map(|record| record["came"].clone())
    };
    assert_eq!(came(&id), Some(json!("own")));
    let next = repo.sessions("shared");
    assert_eq!(next.len(), 1);
    assert_eq!(came(&next[0]), Some(json!("new")));
    shared.there(&clone, &["accept", "both"]).ok();
    assert_eq!(repo.git_in(&clone, ["show", "HEAD:a"]), "3");
    repo.git_in(&clone, ["fsck", "--strict", "--no-progress"]);
    repo.git_in(&shared.bare, ["fsck", "--strict", "--no-progress"]);
    repo.fsck();
}

#[test]
fn p10_a_session_goes_by_path() {
    let shared = Shared::new();
    goes_and_comes_back(&shared, shared.bare.to_str().unwrap());
}

/// git's own server, on a port of its own: for each connection one process.
fn daemon(shared: &Shared) -> Option<String> {
    let mut help = Command::new("git");
    shared.repo.surround(&mut help);
    let help = help.args(["daemon", "--help-me"]).output().unwrap();
    if String::from_utf8_lossy(&help.stderr).contains("not a git command") {
        left_out("this git has no daemon");
        return None;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let base = shared.repo.outside();
    let mut commands = Command::new("git");
    shared.repo.surround(&mut commands);
    let around: Vec<(std::ffi::OsString, std::ffi::OsString)> = commands
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    thread::spawn(move || {
        let mut serving: Vec<Child> = Vec::new();
        for stream in listener.incoming() {
            let stream = OwnedFd::from(stream.unwrap());
            let mut command = Command::new("git");
            command.env_clear().envs(around.clone());
            command.args(["daemon", "--inetd", "--export-all", "--enable=receive-pack"]);
            command
                .arg(format!("--base-path={}", base.display()))
                .arg(&base);
            command.stdin(Stdio::from(stream.try_clone().unwrap()));
            command.stdout(Stdio::from(stream)).stderr(Stdio::null());
            serving.push(command.spawn().unwrap());
            serving.retain_mut(|child| child.try_wait().unwrap().is_none());
        }
    });
    Some(format!("git://127.0.0.1:{port}/shared.git"))
}

#[test]
fn a_session_goes_over_git_daemon() {
    let shared = Shared::new();
    if let Some(address) = daemon(&shared) {
        goes_and_comes_back(&shared, &address);
    }
}

/// A web server that does nothing but call `git http-backend`.
const WEB: &str = r#"
import http.server, os, subprocess, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_):
        pass
    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while True:
            length = int(self.rfile.readline().strip(), 16)
            parts.append(self.rfile.read(length))
            self.rfile.readline()
            if length == 0:
                return b"".join(parts)
    def answer(self):
        path, _, query = self.path.partition("?")
        body = self.body()
        env = dict(os.environ, GIT_PROJECT_ROOT=sys.argv[1], GIT_HTTP_EXPORT_ALL="1", PATH_INFO=path,
            QUERY_STRING=query, REQUEST_METHOD=self.command, CONTENT_LENGTH=str(len(body)),
            CONTENT_TYPE=self.headers.get("Content-Type") or "", REMOTE_USER="somebody", REMOTE_ADDR="127.0.0.1",
            HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding") or "",
            GIT_PROTOCOL=self.headers.get("Git-Protocol") or "")
        done = subprocess.run(["git", "http-backend"], input=body, env=env, stdout=subprocess.PIPE)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")]
        status = [value for name, _, value in lines if name == "Status"]
        self.send_response(int(status[0].split()[0]) if status else 200)
        for name, _, value in lines:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
    do_GET = do_POST = answer
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

/// A server that ends with the test.
struct Web(Child, String);

impl Web {
    fn of(shared: &Shared) -> Option<Self> {
        let exec = shared.repo.git(["--exec-path"]);
        let is_there = |name: &str| Path::new(&exec).join(name).exists();
        if !is_there("git-http-backend") || !is_there("git-remote-http") {
            left_out("this git speaks no HTTP");
            return None;
        }
        shared
            .repo
            .git_in(&shared.bare, ["config", "http.receivepack", "true"]);
        let mut command = Command::new(python());
        shared.repo.surround(&mut command);
        command.args(["-I", "-c", WEB]).arg(shared.repo.outside());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut port = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut port).unwrap();
        let address = format!("http://127.0.0.1:{}/shared.git", port.trim());
        Some(Self(child, address))
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_session_goes_over_http() {
    let shared = Shared::new();
    if let Some(web) = Web::of(&shared) {
        goes_and_comes_back(&shared, &web.1);
    }
}

#[test]
fn p9_nothing_leaves_by_itself_or_when_it_is_only_looked_at() {
    let shared = Shared::new();
    let repo = &shared.repo;
    repo.write("c", "c\n");
    repo.edio(["run", "--", "true"]).ok();
    repo.edio(["restore", "1"]).ok();
    repo.git(["push", "-q", "--all"]);
    assert_eq!(shared.refs(), [""; 0]);
    let before = repo.everything_in(&shared.bare);
    let ran = repo.edio(["push", "--dry-run"]);
    for file in ["a", "b", "c"] {
        assert!(ran.ok().stdout.contains(&format!("\n  {file}\n")), "{ran}");
    }
    assert!(ran.stderr.contains("nothing was sent"), "{ran}");
    let ran = repo.edio(["push", "--dry-run", "--json"]);
    let record = &ran.ok().json()[0];
    assert_eq!(record["files"], json!(["a", "b", "c"]));
    assert_eq!(
        (&record["dry_run"], &record["went"]),
        (&json!(true), &json!("new"))
    );
    assert_eq!(record["commits"], json!([]));
    assert_eq!(repo.everything_in(&shared.bare), before);
}

#[test]
fn again_is_nothing_and_more_is_only_more() {
    let shared = Shared::new();
    let repo = &shared.repo;
    let went = |words: &[&str]| repo.edio(words).ok().json()[0].clone();
    assert_eq!(went(&["push", "--json"])["went"], "new");
    assert_eq!(went(&["push", "--json"])["went"], "known");
    repo.write("a", "3\n");
    repo.edio(["snapshot", "-m", "third"]).ok();
    let more = went(&["push", "--json"]);
    assert_eq!((&more["went"], &more["turns"]), (&json!("more"), &json!(3)));
    // A commit, a tree, a blob.
    assert_eq!(more["objects"], 3, "{more}");
    repo.edio(["restore", "1"]).ok();
    repo.write("d", "d\n");
    repo.edio(["snapshot", "-m", "another arm"]).ok();
    assert_eq!(went(&["push", "--json"])["went"], "more");
    let clone = shared.clone("there");
    shared.there(&clone, &["fetch"]).ok();
    is_the_same(&shared, &clone, &shared.id());
    // The arm that was left is behind the operations.
    let id = shared.id();
    assert_eq!(
        shared
            .there(&clone, &["log", "--session", &id, "--json"])
            .json()
            .len(),
        4
    );
    repo.edio(["undo"]).ok();
    repo.edio(["accept", "done"]).ok();
    repo.git(["push", "-q"]);
    repo.edio(["push", "--session", &id]).ok();
    let ran = shared.there(&clone, &["fetch", "--json"]);
    assert_eq!(ran.ok().json()[0]["came"], "more");
    is_the_same(&shared, &clone, &id);
    assert_eq!(
        shared.there(&clone, &["fetch", "--json"]).ok().json()[0]["came"],
        "known"
    );
}

#[test]
fn commits_of_the_users_that_go_along_are_named() {
    let shared = Shared::new();
    let repo = &shared.repo;
    repo.edio(["accept", "mine"]).ok();
    repo.write("a", "4\n");
    repo.edio(["snapshot", "-m", "on top"]).ok();
    let ran = repo.edio(["push"]);
    assert!(
        ran.ok().stderr.contains("1 commit of yours went along"),
        "{ran}"
    );
    assert_eq!(
        repo.git_in(&shared.bare, ["rev-parse", "main"]),
        repo.git(["rev-parse", "HEAD^"])
    );
}

#[test]
fn p9_what_looks_like_a_secret_is_refused_and_the_others_go() {
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n-----END OPENSSH PRIVATE KEY-----\n";
    let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    for (path, content, message, said) in [
        (".env", "A=1\n", "x", ".env (a file for secrets"),
        ("deploy/id_ed25519", "x", "x", "id_ed25519"),
        ("notes.txt", key, "x", "private key"),
        ("a", "5\n", token, "message"),
    ] {
        let shared = Shared::new();
        let repo = &shared.repo;
        let harmless = shared.id();
        repo.edio(["accept", "harmless"]).ok();
        repo.write(path, content);
        repo.edio(["snapshot", "-m", message]).ok();
        let ran = repo.edio(["push"]);
        assert!(ran.fails(3).stderr.contains(said), "{ran}");
        assert!(!ran.stderr.contains(token), "{ran}");
        // Of what is known by its name alone, no look at contents tells more.
        if let Some((_, rest)) = ran.stderr.split_once("edio redact --check --files ") {
            let session = rest
                .split_once("--session ")
                .unwrap()
                .1
                .lines()
                .next()
                .unwrap();
            let words = ["redact", "--check", "--files", "--session", session];
            assert_ne!(repo.edio(words).fails(1).stdout, "", "{ran}");
        }
        assert_eq!(shared.refs(), [""; 0]);
        let ran = repo.edio(["push", "--all"]);
        assert!(ran.fails(3).stderr.contains(said), "{ran}");
        assert!(shared.refs().iter().all(|name| name.starts_with(&harmless)));
        assert_eq!(shared.refs().len(), 2);
        repo.edio(["push", "--force"]).ok();
        assert_eq!(shared.refs().len(), 3);
    }
}

#[test]
fn p9_ignored_files_and_conversations_stay_unless_they_are_wanted() {
    let repo = Repo::with(&[(".gitattributes", "*.txt text\n"), ("a", "0\n")]);
    repo.claude_says(
        "UserPromptSubmit",
        json!({ "prompt": "mixed\n\nprivate words" }),
    );
    repo.write("w.txt", "one\r\ntwo\n");
    repo.write("notes", "harmless\n");
    repo.claude_says("Stop", json!({ "last_assistant_message": "closing words" }));
    repo.write("w.txt", "1\n2\n");
    repo.write(".gitignore", "notes\n");
    repo.edio(["snapshot", "-m", "plain"]).ok();
    repo.edio(["restore", "0"]).ok();
    repo.write(".gitignore", "notes\n");
    repo.write("notes", "ignored\n");
    repo.edio(["snapshot", "-m", "ignores"]).ok();
    repo.edio(["restore", "1"]).ok();
    let shared = Shared::of(repo);
    let (repo, id) = (&shared.repo, shared.id());
    let clone = shared.clone("there");
    for (flags, is_all) in [(&[][..], false), (&["--with-side"], true), (&[], true)] {
        repo.edio(["push"].iter().chain(flags)).ok();
        shared.there(&clone, &["fetch"]).ok();
        assert_eq!(shared.has(&shared.bare, "ignored\n"), is_all);
        assert_eq!(shared.has(&clone, "ignored\n"), is_all);
        let shown = shared.there(&clone, &["show", "1", "--session", &id, "--json"]);
        let reply = shown.ok().json()[0]["reply"].clone();
        assert_eq!(reply == "closing words", is_all, "{shown}");
        // What a restore needs goes in any case (P3).
        shared
            .there(&clone, &["restore", "1", "--session", &id])
            .ok();
        assert_eq!(fs::read(clone.join("w.txt")).unwrap(), b"one\r\ntwo\n");
        shared.there(&clone, &["undo"]).ok();
    }
    let ran = repo.edio(["push", "--with-side", "--dry-run", "../other.git"]);
    assert_eq!(ran.code, Some(1), "{ran}");
    repo.git(["init", "-q", "--bare", "../other.git"]);
    let ran = repo.edio(["push", "--with-side", "--dry-run", "../other.git"]);
    assert!(
        ran.ok().stdout.contains("\n  beside/ignored/notes\n"),
        "{ran}"
    );
}

/// The same repository once more, as a copy of the whole folder has it.
fn copied(shared: &Shared) -> PathBuf {
    let copy = shared.repo.outside().join("copy");
    let mut command = Command::new("cp");
    command.arg("-a").arg(&shared.repo.top).arg(&copy);
    assert!(command.status().unwrap().success());
    copy
}

#[test]
fn p6_two_that_went_on_with_one_session_lose_no_turn() {
    let shared = Shared::new();
    let repo = &shared.repo;
    let copy = copied(&shared);
    repo.write("a", "here\n");
    repo.edio(["snapshot", "-m", "here"]).ok();
    fs::write(copy.join("a"), "there\n").unwrap();
    shared.there(&copy, &["snapshot", "-m", "there"]).ok();
    repo.edio(["push"]).ok();
    let refs = shared.refs();
    let ran = shared.there(&copy, &["push"]);
    assert!(ran.fails(3).stderr.contains("with other turns: 3"), "{ran}");
    assert!(ran.stderr.contains("hint: "), "{ran}");
    assert_eq!(shared.refs(), refs);
    let ran = shared.there(&copy, &["fetch"]);
    assert!(ran.fails(3).stderr.contains("with other turns: 3"), "{ran}");
    // Who has less takes nothing away.
    let clone = shared.clone("there");
    shared.there(&clone, &["fetch"]).ok();
    repo.write("a", "more\n");
    repo.edio(["snapshot", "-m", "more"]).ok();
    repo.edio(["push"]).ok();
    let refs = shared.refs();
    let ran = shared.there(&clone, &["push", "--session", &shared.id(), "--json"]);
    assert_eq!(ran.ok().json()[0]["went"], "known");
    assert_eq!(shared.refs(), refs);
}

/// A `git` that lets somebody else push just before its own first push.
fn slow_git(shared: &Shared, other: &Path) -> PathBuf {
    let folder = shared.repo.outside().join("slow");
    fs::create_dir(&folder).unwrap();
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *' push '*) if mkdir '{0}/done' 2>/dev/null; then\n\
         (unset GIT_DIR GIT_WORK_TREE; PATH=\"$OLD_PATH\"; cd '{1}' && '{2}' push >&2) || exit 9\nfi;; esac\nexec '{3}' \"$@\"\n",
        folder.display(),
        other.display(),
        crate::common::edio_binary().display(),
        real_git(),
    );
    let git = folder.join("git");
    shared.repo.write(&git, script);
    shared.repo.chmod(&git, 0o755);
    folder
}

#[test]
fn p6_who_pushes_in_between_is_seen() {
    for (is_other, code) in [(false, 0), (true, 3)] {
        let shared = Shared::new();
        let repo = &shared.repo;
        repo.edio(["push"]).ok();
        let copy = copied(&shared);
        if is_other {
            fs::write(copy.join("a"), "there\n").unwrap();
            shared.there(&copy, &["snapshot", "-m", "there"]).ok();
        }
        repo.write("a", "here\n");
        repo.edio(["snapshot", "-m", "here"]).ok();
        let slow = slow_git(&shared, &copy);
        let mut command = repo.command(["push"]);
        let path = crate::common::path();
        command.env("OLD_PATH", path);
        command.env("PATH", format!("{}:{path}", slow.display()));
        let ran = repo.ran(&mut command);
        assert_eq!(ran.code, Some(code), "{ran}");
        assert!(slow.join("done").exists());
        let last = match is_other {
            true => repo.git_in(
                &copy,
                ["rev-parse", &format!("refs/edio/active/{}/3", shared.id())],
            ),
            false => repo.git(["rev-parse", &repo.turn_ref(3)]),
        };
        assert!(shared.refs()[0].ends_with(&last), "{ran}");
    }
}

#[test]
fn p6_many_push_at_the_same_time() {
    let shared = Shared::new();
    let repo = &shared.repo;
    let clones: Vec<PathBuf> = (0..4).map(|n| shared.clone(&format!("c{n}"))).collect();
    for clone in &clones {
        fs::write(clone.join("a"), "x\n").unwrap();
        shared.there(clone, &["snapshot", "-m", "x"]).ok();
    }
    thread::scope(|scope| {
        for clone in &clones {
            scope.spawn(|| shared.there(clone, &["push"]).ok().code);
        }
        scope.spawn(|| repo.edio(["push"]).ok().code);
    });
    assert_eq!(shared.refs().len(), 5);
    let ran = repo.edio(["fetch", "--json"]);
    assert_eq!(ran.ok().json().len(), 5);
}

#[test]
fn a_shallow_clone_fetches_and_pushes() {
    let shared = Shared::new();
    let (repo, id) = (&shared.repo, shared.id());
    repo.edio(["push"]).ok();
    for number in 0..3 {
        repo.git([
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            &format!("later {number}"),
        ]);
    }
    repo.git(["push", "-q"]);
    let address = format!("file://{}", shared.bare.display());
    let clone = shared.clone_with("there", &["--depth=1", &address]);
    shared.there(&clone, &["fetch"]).ok();
    is_the_same(&shared, &clone, &id);
    shared
        .there(&clone, &["restore", "2", "--session", &id])
        .ok();
    assert_eq!(fs::read_to_string(clone.join("a")).unwrap(), "2\n");
    fs::write(clone.join("a"), "3\n").unwrap();
    shared.there(&clone, &["snapshot", "-m", "shallow"]).ok();
    shared.there(&clone, &["push"]).ok();
    repo.edio(["fetch"]).ok();
    assert_eq!(repo.sessions("shared").len(), 1);
    repo.git_in(&shared.bare, ["fsck", "--strict", "--no-progress"]);
    // A remote that lacks what lies before the clone's beginning can't have it from there.
    repo.git(["init", "-q", "--bare", "../empty.git"]);
    let ran = shared.there(&clone, &["push", "../empty.git"]);
    assert!(ran.fails(1).stderr.contains("--unshallow"), "{ran}");
}

#[test]
fn a_partial_clone_fetches_all_of_it_and_pushes() {
    let shared = Shared::new();
    let (repo, id) = (&shared.repo, shared.id());
    repo.edio(["push"]).ok();
    repo.git_in(&shared.bare, ["config", "uploadpack.allowFilter", "true"]);
    let address = format!("file://{}", shared.bare.display());
    let clone = shared.clone_with("there", &["--filter=blob:none", &address]);
    shared.there(&clone, &["fetch"]).ok();
    // Without the remote, all is here that a restore needs.
    let away = repo.outside().join("away.git");
    fs::rename(&shared.bare, &away).unwrap();
    is_the_same(&shared, &clone, &id);
    shared
        .there(&clone, &["restore", "2", "--session", &id])
        .ok();
    assert_eq!(fs::read_to_string(clone.join("b")).unwrap(), "b\n");
    fs::write(clone.join("a"), "3\n").unwrap();
    shared.there(&clone, &["snapshot", "-m", "partial"]).ok();
    fs::rename(&away, &shared.bare).unwrap();
    shared.there(&clone, &["push"]).ok();
    repo.edio(["fetch"]).ok();
    assert_eq!(repo.sessions("shared").len(), 1);
}

#[test]
fn a_fetched_session_is_accepted_on_the_commit_that_it_began_on() {
    let shared = Shared::new();
    let (repo, id) = (&shared.repo, shared.id());
    repo.edio(["push"]).ok();
    let clone = shared.clone("there");
    shared.there(&clone, &["fetch"]).ok();
    shared
        .there(&clone, &["accept", "x", "--session", &id, "--dry-run"])
        .fails(1);
    shared
        .there(&clone, &["accept", "from elsewhere", "--session", &id])
        .ok();
    assert_eq!(
        repo.git_in(&clone, ["log", "--format=%s"]),
        "from elsewhere\nbase"
    );
    assert_eq!(repo.git_in(&clone, ["status", "--porcelain"]), "");
    assert_eq!(repo.git_in(&clone, ["show", "HEAD:b"]), "b");
    shared.there(&clone, &["undo"]).ok();
    shared.there(&clone, &["undo"]).ok();
    assert_eq!(repo.git_in(&clone, ["status", "--porcelain"]), "");
    repo.git_in(&clone, ["commit", "-q", "--allow-empty", "-m", "meanwhile"]);
    let ran = shared.there(&clone, &["accept", "x", "--session", &id]);
    assert!(
        ran.fails(3).stderr.contains("began on another commit"),
        "{ran}"
    );
    shared
        .there(&clone, &["accept", "x", "--session", "sess_1_00000000"])
        .fails(1);
}

/// Makes a session at the remote out of these refs, whatever they are.
fn planted(shared: &Shared, id: &str, refs: &[(&str, &str)]) {
    for (leaf, commit) in refs {
        let target = format!("{commit}:refs/edio/shared/{id}/{leaf}");
        shared
            .repo
            .git(["push", "-q", "--force", "origin", &target]);
    }
}

/// A commit with the message of turn N, changed.
fn forged(repo: &Repo, number: u32, parent: &str, change: &dyn Fn(&str) -> String) -> String {
    let turn = repo.turn_ref(number);
    let message = repo.git_raw(["log", "-1", "--format=%B", &turn]);
    let message = change(message.trim_end_matches('\n'));
    let file = repo.outside().join("message");
    fs::write(&file, message + "\n").unwrap();
    let tree = format!("{turn}^{{tree}}");
    let file = file.to_str().unwrap();
    repo.git(["commit-tree", &tree, "-p", parent, "-F", file])
}

#[test]
fn p9_nothing_that_comes_is_trusted_and_the_others_come() {
    let shared = Shared::new();
    let repo = &shared.repo;
    let id = shared.id();
    let turn = |number| repo.git(["rev-parse", &repo.turn_ref(number)]);
    let (one, two, head) = (turn(1), turn(2), repo.git(["rev-parse", "HEAD"]));
    repo.edio(["push"]).ok();
    let evil = "sess_1_00000000";
    let as_evil = |message: &str| message.replace(&id, evil);
    let numbered = |number: u32| {
        move |message: &str| {
            let message = message.replace("Edio-Turn: 2", &format!("Edio-Turn: {number}"));
            message.replace("Edio-Turn: 1", &format!("Edio-Turn: {number}"))
        }
    };
    let first = forged(repo, 1, &head, &|message| as_evil(message));
    let twice = forged(repo, 2, &first, &|message| as_evil(&numbered(1)(message)));
    let five = forged(repo, 1, &head, &|message| as_evil(&numbered(5)(message)));
    let lower = forged(repo, 2, &five, &|message| as_evil(message));
    // A tree that would write into a git directory.
    let blob = repo.git(["rev-parse", "HEAD:a"]);
    let mut tree = b"100644 .git\0".to_vec();
    let hex = |at: usize| u8::from_str_radix(&blob[2 * at..2 * at + 2], 16).unwrap();
    tree.extend((0..blob.len() / 2).map(hex));
    let file = repo.outside().join("tree");
    fs::write(&file, tree).unwrap();
    let file = file.to_str().unwrap();
    let tree = repo.git(["hash-object", "-t", "tree", "-w", "--literally", file]);
    let said = repo.git_raw(["cat-file", "commit", &first]);
    let said = said.replacen(said.lines().next().unwrap(), &format!("tree {tree}"), 1);
    let file = repo.outside().join("commit");
    fs::write(&file, said).unwrap();
    let words = ["hash-object", "-t", "commit", "-w", file.to_str().unwrap()];
    let harmful = repo.git(words);

    for (number, (refs, said)) in [
        (vec![("current", head.as_str())], "current of"),
        (vec![("1", two.as_str()), ("current", two.as_str())], "1 of"),
        (vec![("1", first.as_str())], "where the session"),
        (
            vec![("current", first.as_str()), ("ops", first.as_str())],
            "ops of",
        ),
        (vec![("current", twice.as_str())], "two turns 1"),
        (vec![("current", lower.as_str())], "after a later one"),
        (vec![("current", harmful.as_str())], "can't be taken in"),
    ]
    .into_iter()
    .enumerate()
    {
        planted(&shared, evil, &refs);
        // Names that are none of edio's are left where they are.
        planted(
            &shared,
            evil,
            &[("evil", one.as_str()), ("007", one.as_str())],
        );
        let clone = shared.clone(&format!("there{number}"));
        let ran = shared.there(&clone, &["fetch"]);
        assert!(ran.fails(3).stderr.contains(said), "{said}: {ran}");
        let refs = shared.refs_in(&clone);
        assert_eq!(refs.len(), 1, "{said}: {refs:?}");
        is_the_same(&shared, &clone, &id);
        // It keeps nobody from clearing up, and goes by name.
        shared.there(&clone, &["gc", "--remote", "origin"]).ok();
        let words = ["gc", "--remote", "origin", "--session", evil];
        shared.there(&clone, &words).ok();
        let left: Vec<_> = refs_of(&shared, evil).into_iter().collect();
        assert!(
            left.iter()
                .all(|(leaf, _)| !["current", "ops", "1"].contains(&leaf.as_str())),
            "{left:?}"
        );
        for (leaf, _) in &refs_of(&shared, evil) {
            let name = format!("refs/edio/shared/{evil}/{leaf}");
            repo.git_in(&shared.bare, ["update-ref", "-d", &name]);
        }
    }
}

fn refs_of(shared: &Shared, id: &str) -> Vec<(String, String)> {
    let refs = shared.refs().into_iter();
    let of = refs.filter_map(|line| {
        let (name, oid) = line.split_once(' ')?;
        let leaf = name.strip_prefix(&format!("{id}/"))?;
        Some((leaf.to_owned(), oid.to_owned()))
    });
    of.collect()
}

#[test]
fn p9_no_session_puts_a_turn_into_another_one() {
    let shared = Shared::new();
    let (repo, id) = (&shared.repo, shared.id());
    repo.edio(["push"]).ok();
    // A session of its own, whose history has a commit that says it is turn 3 of the other.
    let third = |message: &str| message.replace("Edio-Turn: 2", "Edio-Turn: 3");
    let current = repo.git(["rev-parse", &repo.turn_ref(2)]);
    let foreign = forged(repo, 2, &current, &third);
    let evil = "sess_1_00000000";
    let own = forged(repo, 2, &foreign, &|message| message.replace(&id, evil));
    planted(&shared, evil, &[("current", own.as_str())]);
    let clone = shared.clone("there");
    shared.there(&clone, &["fetch"]).ok();
    is_the_same(&shared, &clone, &id);
    let sessions = shared.there(&clone, &["sessions", "--json"]).json();
    let of = sessions
        .iter()
        .find(|session| session["session"] == id.as_str());
    assert_eq!(of.unwrap()["turns"], 2);
}

#[test]
fn no_hook_of_the_users_runs() {
    let shared = Shared::new();
    let (repo, clone) = (&shared.repo, shared.clone("there"));
    let ran = repo.outside().join("ran");
    let script = format!("echo \"$0\" >>'{}'; exit 1", ran.display());
    for name in [
        "pre-push",
        "reference-transaction",
        "post-checkout",
        "pre-auto-gc",
    ] {
        repo.hook(name, &script);
    }
    let hooks = clone.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for entry in fs::read_dir(repo.path(".git/hooks")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), hooks.join(entry.file_name())).unwrap();
    }
    repo.edio(["push"]).ok();
    shared.there(&clone, &["fetch"]).ok();
    assert!(!ran.exists(), "{}", fs::read_to_string(&ran).unwrap());
    repo.edio(["gc", "--remote", "--session", &shared.id()])
        .ok();
    assert!(!ran.exists());
}

#[test]
fn a_mirror_takes_a_session_and_nothing_else() {
    let shared = Shared::new();
    let repo = &shared.repo;
    repo.git(["config", "remote.origin.mirror", "true"]);
    repo.git(["config", "push.followTags", "true"]);
    repo.git(["tag", "-a", "-m", "x", "v1", "HEAD"]);
    repo.edio(["push", "origin"]).ok();
    let refs = repo.git_in(&shared.bare, ["for-each-ref", "--format=%(refname)"]);
    let id = shared.id();
    assert_eq!(
        refs,
        format!("refs/edio/shared/{id}/current\nrefs/heads/main")
    );
}

#[test]
fn a_remote_is_a_name_an_address_or_a_path_and_never_an_option() {
    let shared = Shared::new();
    let repo = &shared.repo;
    repo.write("sub/x", "x\n");
    for remote in ["../../shared.git", "origin"] {
        repo.edio_in("sub", ["push", remote]).ok();
    }
    for words in [
        &["push", "--upload-pack=touch x"][..],
        &["push", "--", "--exec=touch x"],
        &["fetch", "--", "-x"],
        &["gc", "--remote=--exec=touch x"],
        &["push", "--all", "--session", "sess_1_00000000"],
        &["push", ""],
    ] {
        repo.edio(words).fails(2);
    }
    for words in [
        &["push", "../nowhere.git"][..],
        &["fetch", "ext::touch x"],
        &["fetch", "--session", "sess_1_00000000"],
        &["push", "--session", "sess_1_00000000"],
    ] {
        let ran = repo.edio(words);
        assert!(ran.fails(1).stderr.starts_with("error: "), "{ran}");
    }
    assert!(!repo.has("x"));
    let outside = repo.outside();
    repo.edio_in(&outside, ["push", "shared.git"]).fails(4);
    repo.edio_in(&outside, ["fetch", "shared.git"]).fails(4);
    repo.git(["remote", "remove", "origin"]);
    let ran = repo.edio(["push"]);
    assert!(ran.fails(1).stderr.contains("there is no remote"), "{ran}");
    repo.git(["remote", "add", "one", "x"]);
    repo.git(["remote", "add", "two", "y"]);
    let ran = repo.edio(["push"]);
    assert!(ran.fails(2).stderr.contains("one, two"), "{ran}");
}

#[test]
fn gc_takes_old_sessions_off_the_remote() {
    let shared = Shared::new();
    let (repo, id) = (&shared.repo, shared.id());
    repo.edio(["push"]).ok();
    // Somebody else's, younger, and not known here.
    let clone = shared.clone("there");
    fs::write(clone.join("a"), "x\n").unwrap();
    let later = (NOW + 8 * 24 * 60 * 60).to_string();
    let mut command = repo.command(["snapshot", "-m", "later"]);
    repo.ran(command.current_dir(&clone).env("EDIO_NOW", later))
        .ok();
    shared.there(&clone, &["push"]).ok();
    let refs = shared.refs();
    assert_eq!(refs.len(), 2);
    let day = 24 * 60 * 60;
    let ran = repo.edio(["gc", "--remote"]);
    assert!(ran.ok().stderr.contains("nothing to prune"), "{ran}");
    let ran = repo.edio_later(
        11 * day,
        ["gc", "--remote", "origin", "--dry-run", "--json"],
    );
    assert_eq!(ran.ok().json().len(), 1, "{ran}");
    assert_eq!(shared.refs(), refs);
    let ran = repo.edio_later(11 * day, ["gc", "--remote", "origin"]);
    assert!(ran.ok().stdout.contains(&id), "{ran}");
    assert_eq!(shared.refs().len(), 1);
    assert!(!shared.refs()[0].contains(&id));
    // What is here stays.
    repo.edio(["log"]).ok();
    let ran = repo.edio_later(11 * day, ["gc", "--remote", "-d", "1", "--json"]);
    assert_eq!(ran.ok().json()[0]["turns"], 1);
    assert_eq!(shared.refs(), [""; 0]);
    repo.edio(["push"]).ok();
    repo.edio(["gc", "--remote", "--session", &id]).ok();
    assert_eq!(shared.refs(), [""; 0]);
    repo.edio(["gc", "--remote", "--session", &id]).fails(1);
}

#[test]
fn what_a_forget_has_written_anew_goes_once_the_old_is_gone_there() {
    let shared = Shared::new();
    let (repo, id) = (&shared.repo, shared.id());
    repo.edio(["push"]).ok();
    repo.edio(["forget", "-f", "b", "--yes"]).ok();
    let ran = repo.edio(["push"]);
    assert!(ran.fails(3).stderr.contains("gc --remote"), "{ran}");
    repo.edio(["gc", "--remote", "--session", &id]).ok();
    repo.edio(["push"]).ok();
    let clone = shared.clone("there");
    shared.there(&clone, &["fetch"]).ok();
    let shown = shared.there(&clone, &["show", "2", "--session", &id, "--json"]);
    assert!(!shown.ok().stdout.contains("\"b\""), "{shown}");
}

/// In CI an agent works under `edio run`, and its session is pushed; a person has a look at it at home.
#[test]
fn an_agent_in_ci_pushes_and_a_person_restores() {
    let shared = Shared::of(Repo::with(&[("a", "0\n")]));
    let repo = &shared.repo;
    let ci = shared.clone("ci");
    for number in 1..=5 {
        let work = format!("echo {number} >a; echo {number} >f{number}");
        shared.there(&ci, &["run", "--", "sh", "-c", &work]).ok();
    }
    shared.there(&ci, &["push", "origin"]).ok();
    repo.edio(["fetch"]).ok();
    let id = repo.sessions("shared").remove(0);
    repo.edio(["restore", "4", "--session", &id]).ok();
    assert_eq!(repo.read("a"), "4\n");
    assert!(repo.has("f4") && !repo.has("f5"));
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "0\n");
}

#[test]
fn a_session_that_came_back_is_not_listed_twice() {
    let shared = Shared::new();
    let repo = &shared.repo;
    repo.edio(["push"]).ok();
    repo.edio(["fetch"]).ok();
    assert_eq!(repo.sessions("shared"), [""; 0]);
    repo.git([
        "fetch",
        "-q",
        "origin",
        "refs/edio/shared/*:refs/edio/shared/*",
    ]);
    let sessions = repo.edio(["sessions", "--json"]).json();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0]["state"], "active");
}

#[test]
fn a_branch_at_a_turn_hides_none_of_a_fetched_session() {
    let shared = Shared::new();
    let (repo, id) = (&shared.repo, shared.id());
    repo.edio(["push"]).ok();
    let clone = shared.clone("there");
    shared.there(&clone, &["fetch"]).ok();
    let current = format!("refs/edio/shared/{id}/current");
    repo.git_in(&clone, ["branch", "kept", &current]);
    is_the_same(&shared, &clone, &id);
    shared
        .there(&clone, &["restore", "1", "--session", &id])
        .ok();
    assert_eq!(fs::read_to_string(clone.join("a")).unwrap(), "1\n");
}

/// Many sessions with many turns each, written by `git fast-import`. So many of each; a run in full has 100 of both.
fn many() -> usize {
    match std::env::var_os("EDIO_TEST_MANY") {
        Some(_) => 100,
        None => 12,
    }
}

#[test]
fn many_sessions_with_many_turns_go_and_come() {
    let many = many();
    let shared = Shared::of(Repo::with(&[("a", "0\n")]));
    let repo = &shared.repo;
    let head = repo.git(["rev-parse", "HEAD"]);
    let mut stream = String::new();
    for session in 0..many {
        let id = format!("sess_{NOW}_{session:08x}");
        let folder = format!("refs/edio/active/{id}");
        for turn in 0..=many {
            let kind = if turn == 0 { "baseline" } else { "turn" };
            let message = format!(
                "turn {turn}\n\nEdio-Session: {id}\nEdio-Turn: {turn}\nEdio-Kind: {kind}\nEdio-Head: {head}\n\
                 Edio-Branch: refs/heads/main\nEdio-Worktree: .\nEdio-Stat: 1 1 1\nEdio-Version: 1\n"
            );
            let content = format!("{session} {turn}\n");
            stream += &format!(
                "commit {folder}/current\ncommitter edio <edio@localhost> {NOW} +0000\ndata {}\n{message}",
                message.len()
            );
            if turn == 0 {
                stream += &format!("from {head}\n");
            }
            stream += &format!(
                "M 100644 inline f{session}\ndata {}\n{content}\n",
                content.len()
            );
            if turn > 0 {
                stream += &format!("reset {folder}/{turn}\nfrom {folder}/current\n\n");
            }
        }
    }
    let mut import = Command::new("git");
    repo.surround(&mut import);
    import
        .current_dir(&repo.top)
        .args(["fast-import", "--quiet"]);
    assert!(crate::common::fed(&mut import, stream).status.success());
    let ran = repo.edio(["push", "--all", "--json"]);
    assert_eq!(ran.ok().json().len(), many);
    assert_eq!(shared.refs().len(), many);
    let ran = repo.edio(["push", "--all", "--json"]);
    assert!(
        ran.ok()
            .json()
            .iter()
            .all(|record| record["went"] == "known")
    );
    let clone = shared.clone("there");
    let ran = shared.there(&clone, &["fetch", "--json"]);
    let records = ran.ok().json();
    assert_eq!(records.len(), many);
    assert!(records.iter().all(|record| record["turns"] == many));
    assert_eq!(shared.refs_in(&clone).len(), many);
    let id = format!("sess_{NOW}_{:08x}", many / 2);
    is_the_same(&shared, &clone, &id);
    shared
        .there(&clone, &["restore", "7", "--session", &id])
        .ok();
    let restored = fs::read_to_string(clone.join(format!("f{}", many / 2))).unwrap();
    assert_eq!(restored, format!("{} 7\n", many / 2));
    let sessions = shared.there(&clone, &["sessions", "--json"]).json();
    assert_eq!(sessions.len(), many + 1);
}

#[test]
fn a_remote_that_says_no_is_an_error_and_nothing_is_half_there() {
    let shared = Shared::new();
    let repo = &shared.repo;
    repo.edio(["push"]).ok();
    repo.edio(["restore", "1"]).ok();
    repo.write("c", "c\n");
    repo.edio(["snapshot", "-m", "third"]).ok();
    let refs = shared.refs();
    let hook = shared.bare.join("hooks/update");
    repo.write(
        &hook,
        "#!/bin/sh\ncase \"$1\" in */current) echo not here >&2; exit 1;; esac\n",
    );
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let ran = repo.edio(["push"]);
    assert!(ran.fails(1).stderr.contains("does not take it"), "{ran}");
    assert_eq!(shared.refs(), refs);
}

#[test]
fn a_remote_that_changes_refs_only_one_by_one_will_do() {
    let shared = Shared::new();
    let repo = &shared.repo;
    let words = ["config", "receive.advertiseAtomic", "false"];
    repo.git_in(&shared.bare, words);
    repo.edio(["restore", "1"]).ok();
    repo.edio(["push"]).ok();
    assert_eq!(shared.refs().len(), 2);
    let clone = shared.clone("there");
    shared.there(&clone, &["fetch"]).ok();
    is_the_same(&shared, &clone, &shared.id());
}

#[test]
fn doctor_and_init_guard_against_leaks_and_losses() {
    let shared = Shared::new();
    let repo = &shared.repo;
    let wrong = || {
        let found = repo.edio(["doctor", "--json"]).json().into_iter();
        let about = |it: &Value| it["about"] == "repository" && it["grade"] == "wrong";
        found.filter(about).collect::<Vec<Value>>()
    };
    // No way of pushing that is a default publishes them.
    for way in ["nothing", "current", "upstream", "simple", "matching"] {
        repo.git(["config", "push.default", way]);
        assert!(wrong().is_empty());
    }
    repo.git(["config", "remote.origin.fetch", "+refs/*:refs/*"]);
    let found = wrong();
    assert!(
        found[0]["what"].as_str().unwrap().contains("--prune"),
        "{found:?}"
    );
    let remedy = found[0]["remedy"].as_str().unwrap().to_owned();
    let remedy = remedy.replace('\'', "");
    repo.git(remedy.split(' ').skip(1));
    assert!(wrong().is_empty());
    // The remedy is one.
    repo.git(["checkout", "-q", "--detach"]);
    let refs = repo.edio_refs();
    repo.git(["fetch", "-q", "--prune"]);
    assert_eq!(repo.edio_refs(), refs);

    let config = repo.read(".git/config");
    repo.edio(["init", "--agents", "none", "--exclude-decoration"])
        .ok();
    let set = || repo.git(["config", "--local", "--get-all", "log.excludeDecoration"]);
    assert_eq!(set(), "refs/edio/");
    repo.edio(["init", "--agents", "none", "--exclude-decoration"])
        .ok();
    assert_eq!(set(), "refs/edio/");
    repo.edio(["init", "--remove"]).ok();
    assert_eq!(repo.read(".git/config"), config);
}

#[test]
fn p9_a_secret_is_refused_also_when_it_was_accepted() {
    let repo = Repo::with(&[("a", "0\n")]);
    repo.write(
        "notes.txt",
        "token: ghp_abcdefghijklmnopqrstuvwxyz0123456789\n",
    );
    repo.edio(["snapshot", "-m", "first"]).ok();
    let shared = Shared::of(repo);
    let id = shared.id();
    shared.repo.edio(["push"]).fails(3);
    shared.repo.edio(["accept", "feat"]).ok();
    let ran = shared.repo.edio(["push", "--session", &id]);
    ran.fails(3);
    assert!(ran.stderr.contains("notes.txt"), "{ran}");
    assert_eq!(shared.refs(), [""; 0]);
}

#[test]
fn p9_it_is_looked_at_where_it_is_pushed_to() {
    let shared = Shared::new();
    let public = shared.repo.outside().join("public.git");
    shared
        .repo
        .git(["init", "-q", "--bare", public.to_str().unwrap()]);
    shared.repo.git([
        "remote",
        "set-url",
        "--push",
        "origin",
        public.to_str().unwrap(),
    ]);
    let ran = shared.repo.edio(["push", "--dry-run"]);
    assert!(ran.ok().stderr.contains("1 commit of yours"), "{ran}");
    shared.repo.edio(["push"]).ok();
    assert_eq!(shared.refs(), [""; 0]);
    assert!(!shared.refs_in(&public).is_empty());
    shared.repo.write("a", "3\n");
    shared.repo.edio(["snapshot"]).ok();
    shared.repo.edio(["push"]).ok();
    let id = shared.id();
    shared
        .repo
        .edio(["gc", "--remote", "origin", "--session", &id])
        .ok();
    assert_eq!(shared.refs_in(&public), [""; 0]);
    let other = shared.repo.outside().join("other.git");
    shared.repo.git([
        "remote",
        "set-url",
        "--push",
        "--add",
        "origin",
        other.to_str().unwrap(),
    ]);
    shared.repo.edio(["push"]).fails(1);
}

#[test]
fn p1_what_is_here_stays_where_the_remotes_refs_are_mirrored_here() {
    let shared = Shared::new();
    shared.repo.edio(["push"]).ok();
    let clone = shared.clone("clone");
    shared.repo.git_in(
        &clone,
        [
            "config",
            "--add",
            "remote.origin.fetch",
            "+refs/edio/*:refs/edio/*",
        ],
    );
    shared.there(&clone, &["fetch"]).ok();
    let fetched = shared.refs_in(&clone);
    assert!(!fetched.is_empty());
    let id = shared.id();
    shared
        .there(&clone, &["gc", "--remote", "origin", "--session", &id])
        .ok();
    assert_eq!(shared.refs(), [""; 0]);
    assert_eq!(shared.refs_in(&clone), fetched);
}

/// What a filter takes out stays here; and what another repository says of the bytes behind a blob is not believed, for
/// no diff would show it.
#[test]
fn p9_bytes_that_differ_by_more_than_line_ends_neither_leave_nor_come() {
    let repo = Repo::with(&[
        (".gitattributes", "*.x filter=x\n*.t text=auto\n"),
        ("a.x", "0\n"),
    ]);
    repo.git(["config", "filter.x.clean", "sed /^OUT/d"]);
    repo.write("a.x", "1\nOUT hush\n");
    repo.write("a.t", "1\r\n");
    repo.edio(["snapshot", "-m", "first"]).ok();
    let shared = Shared::of(repo);
    let id = shared.id();
    shared.repo.edio(["push"]).ok();
    assert!(!shared.has(&shared.bare, "1\nOUT hush\n"));
    let clone = shared.clone("clone");
    shared.there(&clone, &["fetch"]).ok();
    shared
        .there(&clone, &["restore", "1", "--session", &id])
        .ok();
    assert_eq!(fs::read(clone.join("a.x")).unwrap(), b"1\n");
    assert_eq!(fs::read(clone.join("a.t")).unwrap(), b"1\r\n");
    // With all that is beside it, it comes, and is not put on disk.
    shared.repo.write("a.x", "2\nOUT hush\n");
    shared.repo.edio(["snapshot", "-m", "second"]).ok();
    shared.repo.edio(["push", "--with-side"]).ok();
    let clone = shared.clone("other");
    shared.there(&clone, &["fetch"]).ok();
    shared
        .there(&clone, &["restore", "2", "--session", &id])
        .ok();
    assert_eq!(fs::read(clone.join("a.x")).unwrap(), b"2\n");
    // Here it is as it was.
    shared.repo.edio(["restore", "1"]).ok();
    assert_eq!(shared.repo.read("a.x"), "1\nOUT hush\n");
}

#[test]
fn p5_what_a_killed_fetch_has_left_spoils_nothing() {
    let shared = Shared::new();
    shared.repo.edio(["push"]).ok();
    let id = shared.id();
    let clone = shared.clone("clone");
    shared.there(&clone, &["fetch"]).ok();
    let fetched = shared.refs_in(&clone);
    shared.repo.edio(["restore", "1"]).ok();
    shared.repo.edio(["push"]).ok();
    shared.there(&clone, &["fetch"]).ok();
    let name = format!("refs/edio/shared/{id}/current");
    shared.repo.git_in(&clone, ["update-ref", "-d", &name]);
    shared.there(&clone, &["fetch"]).ok();
    assert_ne!(shared.refs_in(&clone), fetched);
    is_the_same(&shared, &clone, &id);
}
