//! The one builder of git commands: what every git process of edio's has in common.

use std::ffi::{OsStr, OsString};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use crate::process::Group;
use crate::process::{Command, Finished, Reading, Status, Trace};

use super::ahead::Ahead;
use super::error::{GitError, Result};
use super::objects::ObjectFormat;
use super::paths::os_path;

/// The variables that tie a git process to a repository (`git rev-parse --local-env-vars`), and some more that change
/// what paths, diffs and refs mean. They count when the repository is found; no process after that inherits them.
pub const LOCAL_VARIABLES: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_QUARANTINE_PATH",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_ATTR_SOURCE",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
];

/// git, speaking English and of nothing but what it is asked.
pub(super) fn plain_git() -> Command {
    Command::new("git").in_english().without_traces()
}

/// What holds for every git process. The empty hooks path keeps the user's `post-index-change` and
/// `reference-transaction` from being run; the rest keeps git from work that nobody asked for.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.splitIndex=false",
    // All that is known of a file counts: an edit that keeps size and time is still another file to the system.
    "core.trustctime=true",
    "core.checkStat=default",
    // Else what is written into an index counts as unchanged from then on.
    "core.ignoreStat=false",
    // May name a file of the work tree that is gone, which ends git.
    "diff.orderFile=/dev/null",
    "core.logAllRefUpdates=false",
    "core.filesRefLockTimeout=5000",
    "core.packedRefsTimeout=5000",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// How git is asked in one work tree.
#[derive(Clone)]
pub struct Git {
    /// The git directory of this work tree.
    pub git_dir: PathBuf,
    /// The git directory that all work trees of the repository share.
    pub common_dir: PathBuf,
    /// The top of the work tree.
    pub work_tree: PathBuf,
    /// The hash function that names objects.
    pub format: ObjectFormat,
    /// Told of each process.
    pub trace: Option<Trace>,
    /// Where processes stand when the terminal sends a signal.
    pub group: Group,
    /// What objects and refs survive once they are written.
    pub survives: Survives,
    /// Whether the user's `core.ignoreCase` is true of the disk.
    pub case: Case,
    /// The checkout is sparse: files of the index, attribute files among them, may not be on disk.
    pub is_sparse: bool,
    /// Where new objects are written before they are given to the repository.
    pub quarantine: Option<PathBuf>,
    /// The scratch folder of the edio that is at work, as what it starts is told: an edio that a filter calls must not
    /// wait for one that waits for the filter.
    pub at_work: Option<PathBuf>,
    /// Processes that were started ahead.
    pub ahead: Ahead,
}

/// What git is told of names that differ only in case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// What the user has set.
    AsSet,
    /// They are two names: the setting came along from another machine, and would hide one of them.
    Counts,
}

/// What new objects and refs outlive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survives {
    /// The end of any process.
    Kill,
    /// Also a power cut: they are synced to disk.
    PowerCut,
}

/// May git, or what it starts, ask the person something: a password, or whether a host is known?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompts {
    /// Somebody sits at a terminal.
    OnTerminal,
    /// Nobody would answer.
    Never,
}

impl Git {
    /// How git is asked in this work tree, if the git directory is its own and the rest as it is nearly everywhere.
    pub fn at(git_dir: PathBuf, work_tree: PathBuf, trace: Option<&Trace>) -> Self {
        Self {
            common_dir: git_dir.clone(),
            git_dir,
            work_tree,
            format: ObjectFormat::Sha1,
            trace: trace.cloned(),
            group: Group::Shared,
            survives: Survives::Kill,
            case: Case::AsSet,
            is_sparse: false,
            quarantine: None,
            at_work: None,
            ahead: Ahead::default(),
        }
    }

    /// The same, with everything that is written synced to disk.
    #[must_use]
    pub fn synced(&self) -> Self {
        Self {
            survives: Survives::PowerCut,
            ..self.clone()
        }
    }

    /// The user's pager, as git chooses it; `None` where git does not say.
    pub fn pager(&self) -> Option<OsString> {
        let output = self.ask("var").arg("GIT_PAGER").run().ok()?;
        let line = output.strip_suffix(b"\n").unwrap_or(&output);
        Some(os_path(line).to_owned().into())
    }

    /// Begins a question: the git command of this name.
    pub fn ask(&self, verb: &str) -> Ask {
        self.begin(verb, LOCAL_VARIABLES)
            .env("GIT_TERMINAL_PROMPT", "0")
            // An older git does not know that it is not to fetch what it lacks. No protocol is allowed, so it can't.
            .env("GIT_ALLOW_PROTOCOL", "")
            // A turn is what was on disk, whatever the user has put in the place of its objects since.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
    }

    /// Begins a question that another repository answers. What the user has set for such counts: protocols, proxies,
    /// ssh, credentials, also in variables.
    pub(super) fn ask_elsewhere(&self, verb: &str, prompts: Prompts) -> Ask {
        let kept = |name: &&&str| !name.starts_with("GIT_CONFIG_");
        let dropped: Vec<&str> = LOCAL_VARIABLES.iter().filter(kept).copied().collect();
        let ask = self.begin(verb, &dropped);
        match prompts {
            Prompts::OnTerminal => ask,
            // An empty name is that of no program: no window opens.
            Prompts::Never => ask.env("GIT_TERMINAL_PROMPT", "0").env("GIT_ASKPASS", ""),
        }
    }

    fn begin(&self, verb: &str, dropped: &[&str]) -> Ask {
        let mut command = plain_git().dir(&self.work_tree).group(self.group);
        for name in dropped {
            command = command.without_env(name);
        }
        let command = command
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_WORK_TREE", &self.work_tree)
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_OPTIONAL_LOCKS", "0");
        let command = match &self.at_work {
            Some(scratch) => command.env("EDIO_AT_WORK", scratch),
            None => command,
        };
        let command = self
            .quarantine_variables()
            .into_iter()
            .flatten()
            .fold(command, |command, (name, value)| {
                command.env(name, os_path(&value))
            });
        let mut settings: Vec<OsString> = SETTINGS.iter().map(|&setting| setting.into()).collect();
        if self.case == Case::Counts {
            settings.push("core.ignoreCase=false".into());
        }
        if self.survives == Survives::PowerCut {
            settings.push("core.fsync=loose-object,reference".into());
            settings.push("core.fsyncMethod=batch".into());
        }
        Ask {
            command,
            settings,
            words: vec![verb.into()],
            input: Vec::new(),
            trace: self.trace.clone(),
            pathspecs: Pathspecs::Literal,
            ahead: self.ahead.clone(),
        }
    }
}

/// A question to git: a command on its way to be run.
pub struct Ask {
    command: Command,
    settings: Vec<OsString>,
    words: Vec<OsString>,
    input: Vec<u8>,
    trace: Option<Trace>,
    pathspecs: Pathspecs,
    ahead: Ahead,
}

/// How git reads paths among its arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pathspecs {
    Literal,
    Untold,
}

impl Ask {
    /// Adds a word.
    #[must_use]
    pub fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.words.push(word.as_ref().to_owned());
        self
    }

    /// Adds words.
    #[must_use]
    pub fn args<W: AsRef<OsStr>>(self, words: impl IntoIterator<Item = W>) -> Self {
        words.into_iter().fold(self, Ask::arg)
    }

    /// Adds a setting for this process, `key=value`.
    #[must_use]
    pub fn setting(mut self, setting: impl Into<OsString>) -> Self {
        self.settings.push(setting.into());
        self
    }

    /// Lets the user's reflogs and hooks work as they do under the user's own git: for the branch that `accept` moves.
    ///
    /// None of edio's settings is left: git hands them on, and a hook that calls git would not find its own pathspecs.
    #[must_use]
    pub fn on_the_users_refs(mut self) -> Self {
        self.settings
            .retain(|setting| setting.to_string_lossy().starts_with("core.fsync"));
        for name in [
            "GIT_OBJECT_DIRECTORY",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            "GIT_NO_REPLACE_OBJECTS",
        ] {
            self.command = self.command.without_env(name);
        }
        self.without_pathspec_rules()
    }

    /// Does not tell git to take paths literally: for commands that refuse to be told.
    #[must_use]
    pub fn without_pathspec_rules(mut self) -> Self {
        self.pathspecs = Pathspecs::Untold;
        self
    }

    /// Works on this index file instead of the user's.
    #[must_use]
    pub fn index(self, file: &Path) -> Self {
        self.env("GIT_INDEX_FILE", file)
    }

    /// Works in this folder as its work tree instead of the user's.
    #[must_use]
    pub fn work_tree(mut self, folder: &Path) -> Self {
        self.command = self.command.dir(folder);
        self.env("GIT_WORK_TREE", folder)
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command = self.command.env(name, value);
        self
    }

    /// Gives these bytes as input.
    #[must_use]
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    /// Gives these items as input, each ended by a NUL.
    #[must_use]
    pub fn nul_input<I: AsRef<[u8]>>(self, items: impl IntoIterator<Item = I>) -> Self {
        let mut bytes = Vec::new();
        for item in items {
            bytes.extend_from_slice(item.as_ref());
            bytes.push(0);
        }
        self.input(bytes)
    }

    /// Gives up where it says nothing for so long: it waits for a person, or for ever.
    #[must_use]
    pub(super) fn patience(mut self, limit: Duration) -> Self {
        self.command = self.command.patience(limit);
        self
    }

    /// Runs it to its end and returns what it printed.
    ///
    /// # Errors
    ///
    /// It could not be started, or did not end with exit code 0.
    pub fn run(self) -> Result<Vec<u8>> {
        self.start()?.succeed()
    }

    /// Runs it to its end, where it has nothing to print: what prints something has not done what it was asked.
    ///
    /// # Errors
    ///
    /// It could not be started, did not end with exit code 0, or printed something.
    pub fn run_silently(self) -> Result<()> {
        let asked = self.start()?;
        let command = asked.text.clone();
        let printed = asked.succeed()?;
        match printed.is_empty() {
            true => Ok(()),
            false => Err(GitError::unexpected_bytes(command, &printed)),
        }
    }

    /// Runs it to its end, whatever the exit code.
    ///
    /// # Errors
    ///
    /// It could not be started, or its pipes broke.
    pub fn outcome(self) -> Result<Finished> {
        self.start()?.finish()
    }

    /// Starts it, to do something else meanwhile. What it prints is read when it is waited for: where that is much, it waits,
    /// too.
    ///
    /// # Errors
    ///
    /// It could not be started.
    pub fn start(self) -> Result<Asked> {
        let (reading, text) = self.set_off()?;
        Ok(Asked { reading, text })
    }

    /// Starts it, to read what it prints while it comes.
    ///
    /// # Errors
    ///
    /// It could not be started.
    pub fn read(self) -> Result<Answer> {
        let (reading, text) = self.set_off()?;
        Ok(Answer {
            reader: BufReader::with_capacity(1 << 16, reading),
            text,
        })
    }

    /// Starts it before its input is known, unless so many of the same wait already: the next question like it is asked of
    /// that process.
    pub(super) fn stand_by(self, most: usize) {
        let ahead = self.ahead.clone();
        let (command, _) = self.built();
        ahead.add(command, most);
    }

    fn set_off(self) -> Result<(Reading, String)> {
        let ahead = self.ahead.clone();
        let (command, text) = self.built();
        let reading = match ahead.take(&command) {
            Some(process) => process.begin(command),
            None => command.start().map_err(GitError::Start)?,
        };
        Ok((reading, text))
    }

    fn built(self) -> (Command, String) {
        let shown: Vec<OsString> = [OsString::from("git")]
            .into_iter()
            .chain(self.words.clone())
            .collect();
        let text = as_typed(&shown);
        let mut command = self.command;
        for setting in self.settings {
            command = command.arg("-c").arg(setting);
        }
        if self.pathspecs == Pathspecs::Literal {
            command = command.arg("--literal-pathspecs");
        }
        let command = command
            .args(self.words)
            .shown_as(shown)
            .input(self.input)
            .trace(self.trace.as_ref());
        (command, text)
    }
}

/// The command as one would type it, without the settings that all have in common.
fn as_typed(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// A question under way.
pub struct Asked {
    reading: Reading,
    text: String,
}

impl Asked {
    /// Waits, and returns what git printed.
    ///
    /// # Errors
    ///
    /// It did not end with exit code 0, or its pipes broke.
    pub fn succeed(self) -> Result<Vec<u8>> {
        Ok(self.succeed_whole()?.stdout)
    }

    /// Waits, and returns all that git printed, also beside its answer.
    ///
    /// # Errors
    ///
    /// It did not end with exit code 0, or its pipes broke.
    pub fn succeed_whole(self) -> Result<Finished> {
        let command = self.text.clone();
        let finished = self.finish()?;
        check(command, finished.status, &finished.stderr)?;
        Ok(finished)
    }

    /// Waits, and returns what git printed before it ended, also where it gave up.
    ///
    /// # Errors
    ///
    /// It was killed, or its pipes broke.
    pub fn unless_killed(self) -> Result<Vec<u8>> {
        let command = self.text.clone();
        let finished = self.finish()?;
        if finished.status.signal().is_some() {
            check(command, finished.status, &finished.stderr)?;
        }
        Ok(finished.stdout)
    }

    /// Waits, and returns how it ended and what it printed.
    ///
    /// # Errors
    ///
    /// Its pipes broke.
    pub fn finish(self) -> Result<Finished> {
        let Asked { reading, text } = self;
        reading.finish().map_err(|error| broken(&text, error))
    }
}

/// A question whose answer is read while it comes.
pub struct Answer {
    /// What git prints.
    pub reader: BufReader<Reading>,
    text: String,
}

impl Answer {
    /// Reads a record that ends with this byte, which is not part of it; `None` at the end.
    ///
    /// # Errors
    ///
    /// The pipe broke, or the last record is cut off.
    pub fn record(&mut self, end: u8) -> Result<Option<Vec<u8>>> {
        use std::io::BufRead;
        let mut record = Vec::new();
        let read = self.reader.read_until(end, &mut record);
        read.map_err(|error| self.broken(error))?;
        match record.pop() {
            None => Ok(None),
            Some(last) if last == end => Ok(Some(record)),
            Some(_) => Err(self.unexpected("the output is cut off")),
        }
    }

    /// Reads exactly so many bytes.
    ///
    /// # Errors
    ///
    /// The pipe broke, or there are fewer.
    pub fn exactly(&mut self, length: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(length).read_to_end(&mut bytes);
        let read = read.map_err(|error| self.broken(error))?;
        if read as u64 == length {
            Ok(bytes)
        } else {
            Err(self.unexpected("the output is cut off"))
        }
    }

    /// Waits for the end.
    ///
    /// # Errors
    ///
    /// It did not end with exit code 0, or its pipes broke.
    pub fn close(self) -> Result<()> {
        self.close_with_stderr().map(drop)
    }

    /// Waits for the end, and returns what git said beside its answer.
    ///
    /// # Errors
    ///
    /// It did not end with exit code 0, or its pipes broke.
    pub fn close_with_stderr(self) -> Result<Vec<u8>> {
        let Answer { reader, text } = self;
        let closed = reader.into_inner().close();
        let (status, stderr) = closed.map_err(|error| broken(&text, error))?;
        check(text, status, &stderr)?;
        Ok(stderr)
    }

    /// An answer that can't be understood.
    pub fn unexpected(&self, what: impl Into<String>) -> GitError {
        GitError::unexpected(self.text.clone(), what)
    }

    /// A pipe that failed.
    pub fn broken(&self, error: std::io::Error) -> GitError {
        GitError::file(format!("reading from `{}`", self.text), error)
    }
}

fn broken(text: &str, error: std::io::Error) -> GitError {
    GitError::file(format!("talking to `{text}`"), error)
}

fn check(command: String, status: Status, stderr: &[u8]) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    Err(GitError::Exit {
        command,
        status,
        stderr: stderr.to_owned(),
    })
}
