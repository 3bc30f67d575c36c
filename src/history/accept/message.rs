//! The user's hooks around the commit, and its message.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, While};
use crate::gitengine::{Oid, PrivateIndex};

use super::super::turn::Turn;
use super::super::workspace::Locked;

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

/// The user's hooks, and where the commit's message is passed to them.
pub struct Hooks {
    folder: PathBuf,
    verify: Verify,
    file: PathBuf,
}

impl Hooks {
    /// Finds the user's hooks.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn of(workspace: &Locked, verify: Verify) -> Result<Self> {
        Ok(Self {
            folder: workspace.git.hooks_folder()?,
            verify,
            file: workspace.scratch().join("COMMIT_EDITMSG"),
        })
    }

    fn has(&self, name: &str) -> bool {
        self.folder.join(name).exists()
    }

    /// Runs `pre-commit` over an index that holds just what is to be committed, and may change it.
    ///
    /// # Errors
    ///
    /// The hook said no.
    pub fn pre_commit(&self, workspace: &Locked, tree: &Oid) -> Result<Oid> {
        if self.verify == Verify::No || !self.has("pre-commit") {
            return Ok(tree.clone());
        }
        let index = PrivateIndex::at(&workspace.git, workspace.scratch().join("index.commit"));
        index.read_tree(tree)?;
        index.refresh()?;
        let ran = self.run(workspace, "pre-commit", &index, &[]);
        let tree = ran.and_then(|()| Ok(index.write_tree()?));
        index.remove()?;
        tree
    }

    /// The message, after the user's hooks and, where it is written now, the person.
    ///
    /// # Errors
    ///
    /// A hook said no, or the message is empty.
    pub fn message(
        &self,
        workspace: &Locked,
        message: Message<'_>,
        turns: &[Turn],
    ) -> Result<String> {
        let hooked = self.has("prepare-commit-msg") || self.asks("commit-msg");
        let (text, source, editor) = match message {
            Message::Given(text) if !hooked => return Ok(text),
            // A hook that appends a line must find the last one ended.
            Message::Given(text) => (
                format!("{}\n", text.trim_end_matches('\n')),
                "message",
                None,
            ),
            Message::Edited(editor) => (draft(workspace, turns)?, "template", Some(editor)),
        };
        let write = |text: &str| {
            fs::write(&self.file, text).or_cannot(|| format!("can't write {}", self.file.display()))
        };
        write(&text)?;
        let index = PrivateIndex::at(&workspace.git, workspace.git.users_index());
        let file = self.file.to_string_lossy().into_owned();
        if self.has("prepare-commit-msg") {
            self.run(workspace, "prepare-commit-msg", &index, &[&file, source])?;
        }
        let edited = editor.is_some();
        if let Some(editor) = editor {
            editor(&self.file)?;
            write(&cleaned(workspace, &self.read()?)?)?;
        }
        if self.asks("commit-msg") {
            self.run(workspace, "commit-msg", &index, &[&file])?;
        }
        let text = self.read()?;
        // Nothing is left of the file but the commit.
        let _ = fs::remove_file(&self.file);
        match text.trim().is_empty() {
            false => Ok(text),
            true if edited => Err(Error::cannot("the message is empty: nothing was committed")),
            true => Err(Error::cannot(
                "the hooks left no message: nothing was committed",
            )),
        }
    }

    fn asks(&self, name: &str) -> bool {
        self.verify == Verify::Yes && self.has(name)
    }

    fn read(&self) -> Result<String> {
        fs::read_to_string(&self.file)
            .or_cannot(|| format!("can't read the message in {}", self.file.display()))
    }

    /// Tells `post-commit`. The commit is made: what the hook says of it changes nothing.
    pub fn post_commit(&self, workspace: &Locked) {
        if self.has("post-commit") {
            let index = PrivateIndex::at(&workspace.git, workspace.git.users_index());
            let _ = self.run(workspace, "post-commit", &index, &[]);
        }
    }

    fn run(
        &self,
        workspace: &Locked,
        name: &str,
        index: &PrivateIndex,
        words: &[&str],
    ) -> Result<()> {
        let status = workspace.git.run_hook(name, &index.file, words)?;
        if status.success() {
            return Ok(());
        }
        Err(
            Error::cannot(format!("the {name} hook said no: nothing was committed"))
                .hint("mend what it names, or leave it out: edio accept --no-verify"),
        )
    }
}

/// What the person finds in the editor: the template, then what the turns said.
fn draft(workspace: &Locked, turns: &[Turn]) -> Result<String> {
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
    let note = "The message of the commit that the session becomes.\n\
                Lines like these are left out; an empty message stops it.\n";
    draft.push_str("\n\n");
    draft.push_str(&workspace.git.as_comment(note)?);
    Ok(draft)
}

/// The message as `commit.cleanup` wants what was edited.
fn cleaned(workspace: &Locked, text: &str) -> Result<String> {
    let mode = workspace
        .settings
        .get("commit.cleanup")
        .unwrap_or(b"default");
    Ok(match mode {
        b"verbatim" => text.to_owned(),
        b"whitespace" => workspace.git.strip_space(text, &[])?,
        b"scissors" => {
            let kept = text
                .split_once("------------------------ >8 ")
                .map(|(kept, _)| kept);
            let kept = kept
                .and_then(|kept| kept.rsplit_once('\n'))
                .map(|(kept, _)| kept);
            workspace.git.strip_space(kept.unwrap_or(text), &[])?
        }
        _ => workspace.git.strip_space(text, &["--strip-comments"])?,
    })
}
