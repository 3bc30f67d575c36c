//! The user's hooks around the commit, and its message.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Error, Result, While};
use crate::gitengine::{Oid, PrivateIndex};
use crate::shell;

use super::super::credit;
use super::super::turn::Turn;
use super::super::workspace::Workspace;
use super::Prepared;

/// How the names of the folders begin that are made in the scratch folder for hooks and the editor.
pub const HOOKS_FOLDER: &str = "stage-accept-";

/// The file with what a person wrote, while it is not known what comes of it.
const WRITTEN: &str = "WRITTEN";
/// The file in the scratch folder that it stays in where nothing was committed: of the last accept that failed.
const KEPT: &str = "ACCEPT_EDITMSG";

/// Are the hooks asked that can say no?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Yes.
    Yes,
    /// No: `pre-commit` and `commit-msg` are left out.
    No,
}

/// Opens a file for a person to edit.
pub type Editor<'a> = &'a mut dyn FnMut(&Path) -> Result<()>;

/// Where the message comes from.
pub enum Message<'a> {
    /// It was given, and is taken to the letter.
    Given(String),
    /// A person writes it, in this editor.
    Edited(Editor<'a>),
}

/// The user's hooks, with what is passed to them: an index of just what is committed, and the message in a file.
pub struct Hooks {
    folder: PathBuf,
    verify: Verify,
    files: TempDir,
    index: PrivateIndex,
}

impl Hooks {
    /// Finds the user's hooks.
    ///
    /// # Errors
    ///
    /// git failed, or the git directory can't be written.
    pub fn of(workspace: &Workspace, verify: Verify) -> Result<Self> {
        // Two accepts may be at their hooks at the same time.
        let files = tempfile::Builder::new()
            .prefix(HOOKS_FOLDER)
            .tempdir_in(workspace.scratch())
            .or_cannot(|| format!("can't write in {}", workspace.scratch().display()))?;
        Ok(Self {
            folder: workspace.git.hooks_folder()?,
            verify,
            index: PrivateIndex::at(&workspace.git, files.path().join("index")),
            files,
        })
    }

    fn has(&self, name: &str) -> bool {
        self.folder.join(name).exists()
    }

    fn asks(&self, name: &str) -> bool {
        self.verify == Verify::Yes && self.has(name)
    }

    /// Runs `pre-commit`, which may change what is committed, and has the message made. Returns the tree and the message.
    ///
    /// The trailers that `edio.acceptTrailers` wants come last: a person need not see them in the editor, and `commit-msg`
    /// does.
    ///
    /// # Errors
    ///
    /// A hook said no, or the message is empty.
    pub fn ask(
        &self,
        workspace: &Workspace,
        prepared: &Prepared,
        message: Message<'_>,
    ) -> Result<(Oid, String)> {
        let trailers = match workspace.settings.is_true("edio.accepttrailers") {
            true => credit::trailers(&prepared.session.id, &prepared.turns),
            false => Vec::new(),
        };
        let message_hooks = self.has("prepare-commit-msg") || self.asks("commit-msg");
        if message_hooks || self.asks("pre-commit") {
            self.index.read_tree(&prepared.tree)?;
            self.index.refresh()?;
        }
        let mut tree = prepared.tree.clone();
        if self.asks("pre-commit") {
            self.run(workspace, "pre-commit", &[])?;
            tree = self.index.write_tree()?;
            // Nobody is kept from working here meanwhile, and from emptying the quarantine.
            workspace.git.give_objects()?;
        }
        let (text, source, editor) = match message {
            Message::Given(text) if !message_hooks => {
                let text = credit::with_trailers(workspace, &text, &trailers)?;
                return Ok((tree, text));
            }
            // A hook that appends a line must find the last one ended.
            Message::Given(text) => (with_end(&text), "message", None),
            Message::Edited(editor) => {
                (draft(workspace, &prepared.turns)?, "template", Some(editor))
            }
        };
        let message = self.edited(workspace, &text, source, editor, &trailers)?;
        Ok((tree, message))
    }

    fn edited(
        &self,
        workspace: &Workspace,
        text: &str,
        source: &str,
        editor: Option<Editor<'_>>,
        trailers: &[String],
    ) -> Result<String> {
        let file = self.files.path().join("COMMIT_EDITMSG");
        let write = |text: &str| {
            fs::write(&file, text).or_cannot(|| format!("can't write {}", file.display()))
        };
        let read = || read_message(&file);
        write(text)?;
        let name = file.to_string_lossy().into_owned();
        if self.has("prepare-commit-msg") {
            self.run(workspace, "prepare-commit-msg", &[&name, source])?;
        }
        let by_hand = editor.is_some();
        if let Some(editor) = editor {
            write(&self.written(workspace, &file, editor)?)?;
        }
        if !trailers.is_empty() {
            write(&credit::with_trailers(workspace, &read()?, trailers)?)?;
        }
        if self.asks("commit-msg") {
            self.run(workspace, "commit-msg", &[&name])?;
        }
        let text = read()?;
        match (text.trim().is_empty(), by_hand) {
            (false, _) => Ok(text),
            (true, true) => Err(Error::cannot("the message is empty: nothing was committed")),
            (true, false) => Err(Error::cannot(
                "the hooks left no message: nothing was committed",
            )),
        }
    }

    /// Has a person write the message in this file. Returns it as `commit.cleanup` wants it; the file beside it has it, too, and
    /// keeps it, whatever hooks make of the other.
    fn written(&self, workspace: &Workspace, file: &Path, editor: Editor<'_>) -> Result<String> {
        let written = self.files.path().join(WRITTEN);
        let draft = fs::read(file).ok();
        let edited = match editor(file) {
            // It was left on purpose, it may be, and nothing is written.
            Err(error) if fs::read(file).ok() == draft => return Err(error),
            edited => edited,
        };
        fs::copy(file, &written).or_cannot(|| cannot_keep(&written))?;
        let text = cleaned(workspace, &read_message(file)?)?;
        fs::write(&written, &text).or_cannot(|| cannot_keep(&written))?;
        edited.map(|()| text)
    }

    /// Nothing was committed, for this reason. What a person wrote stays in a file, and a hint names it.
    pub fn keep_written(&self, workspace: &Workspace, error: Error) -> Error {
        let written = self.files.path().join(WRITTEN);
        let is_something = fs::read(&written).is_ok_and(|text| !text.trim_ascii().is_empty());
        let kept = workspace.scratch().join(KEPT);
        if !is_something || fs::rename(&written, &kept).is_err() {
            return error;
        }
        let file = shell::word(kept.as_os_str().as_encoded_bytes());
        error.hint(format!(
            "what you wrote is kept; to use it: edio accept -m \"$(cat {file})\""
        ))
    }

    /// Tells `post-commit`. The commit is made: what the hook says of it changes nothing.
    pub fn post_commit(&self, workspace: &Workspace) {
        if self.has("post-commit") {
            let _ = workspace
                .git
                .run_hook("post-commit", &workspace.git.users_index(), &[]);
        }
    }

    fn run(&self, workspace: &Workspace, name: &str, words: &[&str]) -> Result<()> {
        let status = workspace.git.run_hook(name, &self.index.file, words)?;
        if status.success() {
            return Ok(());
        }
        Err(
            Error::cannot(format!("the {name} hook said no: nothing was committed"))
                .hint("mend what it names, or leave it out: edio accept --no-verify"),
        )
    }
}

/// Removes what an accept before this one has kept, if there is something.
pub fn remove_kept(workspace: &Workspace) {
    let _ = fs::remove_file(workspace.scratch().join(KEPT));
}

fn read_message(file: &Path) -> Result<String> {
    fs::read_to_string(file).or_cannot(|| format!("can't read the message in {}", file.display()))
}

fn cannot_keep(file: &Path) -> String {
    format!("can't write {}", file.display())
}

fn with_end(text: &str) -> String {
    format!("{}\n", text.trim_end_matches('\n'))
}

/// What the person finds in the editor: the template, then what the turns said.
fn draft(workspace: &Workspace, turns: &[Turn]) -> Result<String> {
    let mut draft = match workspace.settings.get("commit.template") {
        Some(_) => workspace.git.commit_template()?,
        None => String::new(),
    };
    match turns {
        [turn] => draft.push_str(&turn.note.message),
        turns => {
            for turn in turns {
                draft.push_str(&format!("- {}\n", turn.note.subject()));
            }
        }
    }
    // Where comments stay in the message, there are none.
    if matches!(cleanup(workspace), b"default" | b"strip") {
        let note = "The message of the commit that the session becomes.\n\
                    Lines like these are left out; an empty message stops it.\n";
        draft.push_str("\n\n");
        draft.push_str(&workspace.git.as_comment(note)?);
    }
    Ok(draft)
}

fn cleanup(workspace: &Workspace) -> &[u8] {
    workspace
        .settings
        .get("commit.cleanup")
        .unwrap_or(b"default")
}

/// The message as `commit.cleanup` wants what was edited.
fn cleaned(workspace: &Workspace, text: &str) -> Result<String> {
    Ok(match cleanup(workspace) {
        b"verbatim" => text.to_owned(),
        b"whitespace" => workspace.git.strip_space(text, &[])?,
        b"scissors" => {
            let is_cut = |line: &&str| line.contains("------------------------ >8 ");
            let kept: Vec<&str> = text.lines().take_while(|line| !is_cut(line)).collect();
            workspace.git.strip_space(&kept.join("\n"), &[])?
        }
        _ => workspace.git.strip_space(text, &["--strip-comments"])?,
    })
}
