//! A workspace: one work tree, with the git directory that it belongs to and edio's scratch folder inside that.

use std::fs;
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bstr::ByteSlice;

use crate::error::{Error, Result, While};
use crate::gitengine::{
    self, Ahead, Git, Group, Pointed, RepoPath, Search, Settings, git_bytes, os_path,
};
use crate::process::Trace;

use super::lock::{Lock, Patience};
use super::realpath::nearest;
use super::refnames::{self, Leaf, SessionId, Shelf};
use super::state::State;
use super::store::{Store, Stores};

/// The folder in the scratch folder in which new objects lie until they are needed.
pub const QUARANTINE: &str = "objects";

/// The folder in the common directory in which git keeps the git directories of the linked work trees.
const WORKTREES: &str = "worktrees";

/// Where a person stands, and what is known of the surroundings.
#[derive(Clone)]
pub struct Place {
    /// The folder.
    pub folder: PathBuf,
    /// The git directory is not simply the `.git` of a folder above: variables say where it is.
    pub told_elsewhere: bool,
    /// The person or the system has attribute files of their own.
    pub attributes_elsewhere: bool,
    /// The person's own folder.
    pub home: Option<PathBuf>,
    /// Which private stores there are.
    pub stores: Stores,
    /// The git that `PATH` finds.
    pub git: Option<PathBuf>,
    /// The scratch folder of an edio that waits for this one.
    pub waiting: Option<PathBuf>,
    /// How this one waits for another.
    pub patience: Patience,
    /// Told of each process.
    pub trace: Option<Trace>,
    /// Where git's processes stand when the terminal sends a signal.
    pub group: Group,
}

impl Place {
    /// An edio that works in this folder has started a filter or a hook, which has started this one: each would wait for
    /// the other.
    fn refuse_waiting(&self, scratch: &Path) -> Result<()> {
        match &self.waiting {
            Some(other) if same_folder(other, scratch) => Err(Error::cannot(
                "edio is at work here, and waits for what has called this one",
            )
            .hint("a filter of git's must not call edio in its own work tree")),
            _ => Ok(()),
        }
    }
}

/// Where a relative path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// In the folder that the person stands in.
    Here,
    /// At the top of the work tree.
    Top,
}

/// A workspace, to look at.
pub struct Workspace {
    /// How git is asked here.
    pub git: Git,
    /// What is set in the git config.
    pub settings: Settings,
    /// The person or the system has attribute files of their own.
    pub attributes_elsewhere: bool,
    /// The person's own folder.
    pub home: Option<PathBuf>,
    /// The private store that the git directory lies in, where it is none of a repository.
    pub store: Option<Store>,
    /// The name of this work tree among those of the repository: `.` is the main one.
    pub name: String,
    /// What is remembered from the last command.
    pub state: State,
    /// Where the remembered session stands now. `None` where it has no refs any more, or none is remembered.
    pub pointed: Option<Pointed>,
    /// The folder that the person stands in, from the top of the work tree; empty at the top.
    pub prefix: Vec<u8>,
}

/// A workspace, to work in: no other edio process does as long as this exists.
pub struct Locked {
    workspace: Workspace,
    lock: Option<Lock>,
    /// How the lock was waited for.
    pub(super) patience: Patience,
}

impl Locked {
    /// The time as the file system under the git directory tells it.
    ///
    /// It is compared with the times of files, so a clock of another machine, or one that was set back, must not matter.
    ///
    /// # Errors
    ///
    /// The git directory can't be written.
    pub fn time_of_file_system(&self) -> Result<SystemTime> {
        let file = self.scratch().join("now");
        let time = fs::write(&file, b"\n").and_then(|()| fs::metadata(&file)?.modified());
        time.or_cannot(|| format!("can't write in {}", self.scratch().display()))
    }

    /// Notes that something is begun whose end the next command must look for, before its first lock or ref.
    ///
    /// # Errors
    ///
    /// The git directory can't be written.
    pub fn begin(&mut self) -> Result<()> {
        self.state.unfinished = true;
        self.state.save(&self.scratch())
    }

    /// Notes that it has come to its end, after its last lock and ref.
    ///
    /// # Errors
    ///
    /// The git directory can't be written.
    pub fn end(&mut self) -> Result<()> {
        self.state.unfinished = false;
        self.state.save(&self.scratch())
    }

    /// Lets others work here meanwhile: the user's hooks may call edio, and an editor may be open for hours.
    ///
    /// What is remembered is read again after that. The session may stand elsewhere by then, or be gone.
    ///
    /// # Errors
    ///
    /// The work fails, or the workspace can't be locked again.
    pub fn while_free<T>(&mut self, work: impl FnOnce(&Workspace) -> Result<T>) -> Result<T> {
        let folder = self.scratch();
        self.state.save(&folder)?;
        // Whoever works here meanwhile empties the quarantine.
        self.git.give_objects()?;
        self.git.ahead.clear();
        self.lock = None;
        let at_work = self.git.at_work.take();
        let outcome = work(&self.workspace);
        self.lock = Some(Lock::take(&folder, &self.patience)?);
        self.git.at_work = at_work;
        self.workspace.read_again(&folder)?;
        outcome
    }
}

impl AsRef<Workspace> for Locked {
    fn as_ref(&self) -> &Workspace {
        self
    }
}

impl AsRef<Workspace> for Workspace {
    fn as_ref(&self) -> &Workspace {
        self
    }
}

impl Deref for Locked {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.workspace
    }
}

impl DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut Workspace {
        &mut self.workspace
    }
}

impl Workspace {
    /// Finds the workspace of a place.
    ///
    /// # Errors
    ///
    /// There is none, or git is missing, too old, or refuses.
    pub fn open(place: &Place) -> Result<Self> {
        Self::open_to(place, First::Anything)
    }

    /// The same, to list the turns of its session next: git is at it while the workspace is looked for.
    ///
    /// # Errors
    ///
    /// As for [`Workspace::open`].
    pub fn open_to_list(place: &Place) -> Result<Self> {
        Self::open_to(place, First::ListTurns)
    }

    fn open_to(place: &Place, first: First) -> Result<Self> {
        let store = place.stores.near(&place.folder);
        let guess = guess_scratch(place, store.as_ref());
        Self::find(place, store, guess.as_deref(), first)
    }

    /// Finds the workspace of a place, and waits until it is free.
    ///
    /// # Errors
    ///
    /// As for [`Workspace::open`]; also where the git directory can't be written, or it takes longer than the patience of
    /// the place lasts.
    pub fn open_locked(place: &Place) -> Result<Locked> {
        // What is found must be found under the lock. The folder of the lock is almost always where it is guessed.
        let store = place.stores.near(&place.folder);
        let guess = guess_scratch(place, store.as_ref());
        guess
            .as_deref()
            .map_or(Ok(()), |guess| place.refuse_waiting(guess))?;
        let take = |folder: &Path| Lock::take(folder, &place.patience);
        let early = guess.as_deref().map(take).transpose()?;
        let mut workspace = Self::find(place, store, guess.as_deref(), First::Work)?;
        let folder = workspace.make_scratch()?;
        place.refuse_waiting(&folder)?;
        let is_guessed = guess.is_some_and(|guess| workspace.is_scratch(&guess));
        let (lock, is_early) = match early.filter(|_| is_guessed) {
            Some(lock) => (lock, true),
            None => (take(&folder)?, false),
        };
        // A filter may call git, and move refs of its own: what it writes must not be kept back.
        if workspace
            .settings
            .filters()
            .iter()
            .all(|name| *name == "lfs")
        {
            workspace.git = workspace.git.in_quarantine(&folder.join(QUARANTINE))?;
        }
        let is_lost = workspace.state.session.is_some() && workspace.pointed.is_none();
        if !is_early || is_lost {
            workspace.read_again(&folder)?;
        }
        if let Some(store) = &workspace.store {
            store.serves()?;
        }
        workspace.git.at_work = Some(folder);
        if workspace.state.git.is_none() {
            workspace.state.git = place.git.as_deref().and_then(identity);
        }
        Ok(Locked {
            workspace,
            lock: Some(lock),
            patience: place.patience.clone(),
        })
    }

    fn find(
        place: &Place,
        store: Option<Store>,
        scratch: Option<&Path>,
        first: First,
    ) -> Result<Self> {
        let state = scratch.map(|scratch| first.load(scratch)).transpose()?;
        let mut state = state.unwrap_or_default();
        let git_now = place.git.as_deref().and_then(identity);
        if state.git.is_none() || state.git != git_now {
            gitengine::check_version(place.trace.as_ref())?;
            state.git = None;
        }
        let guess = state
            .session
            .as_ref()
            .map(|session| refnames::name(Shelf::Active, &session.id, Leaf::Current));
        let git_dir = store.as_ref().map(Store::git_dir);
        let search = Search {
            folder: store.as_ref().map_or(&place.folder, |store| &store.folder),
            git_dir: git_dir.as_deref(),
            trace: place.trace.as_ref(),
        };
        let ahead = match (first, &state.session) {
            (First::ListTurns, Some(session)) => {
                list_ahead(place, store.as_ref(), scratch, &session.id)
            }
            _ => None,
        };
        let found = gitengine::find(&search, guess.as_deref())?;
        let git = Git {
            group: place.group,
            ahead: ahead.unwrap_or_default(),
            ..found.git
        };
        if !scratch.is_some_and(|scratch| same_folder(scratch, &scratch_of(&git))) {
            refuse_file(&scratch_of(&git))?;
            state = State {
                git: state.git,
                ..first.load(&scratch_of(&git))?
            };
        }
        let workspace = Self {
            attributes_elsewhere: place.attributes_elsewhere,
            home: place.home.clone(),
            name: name_of(&git),
            prefix: prefix_of(&git, &place.folder)?,
            git,
            settings: found.settings,
            pointed: found.pointed,
            store,
            state,
        };
        workspace.refuse_inside_git()?;
        Ok(workspace)
    }

    /// A work tree whose git directory the person stands in: with `GIT_DIR` alone git takes any folder for the top.
    fn refuse_inside_git(&self) -> Result<()> {
        if self.git.work_tree.starts_with(&self.git.git_dir) {
            return Err(Error::no_repository(format!(
                "{} lies in a git directory",
                self.git.work_tree.display()
            ))
            .hint("go to the work tree, or set GIT_WORK_TREE"));
        }
        Ok(())
    }

    /// Looks again at what may have changed before the lock was taken.
    fn read_again(&mut self, folder: &Path) -> Result<()> {
        self.state = State {
            git: self.state.git.take(),
            ..State::load(folder)?
        };
        self.pointed = None;
        if let Some(session) = &self.state.session {
            let name = refnames::name(Shelf::Active, &session.id, Leaf::Current);
            let found = self.git.ref_commits(&[&name])?;
            if !found.damaged.is_empty() {
                // What the cached index stands on may be damaged, too.
                self.state.cache = None;
            }
            self.pointed = found.whole.into_iter().next().map(|found| Pointed {
                commit: found.commit.oid,
                tree: found.commit.tree,
            });
        }
        Ok(())
    }

    /// edio's scratch folder in the git directory of this work tree.
    pub fn scratch(&self) -> PathBuf {
        scratch_of(&self.git)
    }

    fn is_scratch(&self, folder: &Path) -> bool {
        same_folder(folder, &self.scratch())
    }

    /// The git directories of the linked work trees of the repository, also of those that are gone.
    ///
    /// # Errors
    ///
    /// They can't be listed: there may be some.
    pub fn linked(&self) -> Result<Vec<PathBuf>> {
        let folder = self.git.common_dir.join(WORKTREES);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries,
        };
        let paths = |entries: fs::ReadDir| entries.map(|entry| Ok(entry?.path())).collect();
        entries
            .and_then(paths)
            .or_cannot(|| format!("can't list the work trees in {}", folder.display()))
    }

    /// The scratch folders of the other work trees of the repository. Not all need exist.
    ///
    /// # Errors
    ///
    /// As for [`Workspace::linked`].
    pub fn scratch_elsewhere(&self) -> Result<Vec<PathBuf>> {
        let own = self.scratch();
        let git_dirs = self.linked()?.into_iter();
        let git_dirs = git_dirs.chain([self.git.common_dir.clone()]);
        let folders = git_dirs.map(|git_dir| git_dir.join("edio"));
        Ok(folders.filter(|folder| *folder != own).collect())
    }

    /// Makes the scratch folder. Returns its path.
    ///
    /// # Errors
    ///
    /// The git directory can't be written.
    pub fn make_scratch(&self) -> Result<PathBuf> {
        let folder = self.scratch();
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(error).or_cannot(|| format!("can't write in {}", self.git.git_dir.display()))
            }
            _ => Ok(folder),
        }
    }

    /// The paths that are meant by these arguments. The top itself means all of them, which is an empty list.
    ///
    /// # Errors
    ///
    /// As for [`Workspace::path_argument`].
    pub fn paths_meant(
        &self,
        arguments: &[impl AsRef<Path>],
        from: Start,
    ) -> Result<Vec<RepoPath>> {
        let mut paths = Vec::new();
        for argument in arguments {
            match self.path_argument(argument.as_ref(), from)? {
                Some(path) => paths.push(path),
                None => return Ok(Vec::new()),
            }
        }
        Ok(paths)
    }

    /// The path in the work tree that is meant by this argument. It need not exist. `None` is the top itself.
    ///
    /// Always literal: `*` is a star. Links among the folders above are followed where they lead into the work tree by
    /// another way.
    ///
    /// # Errors
    ///
    /// It lies outside, or in a git directory.
    pub fn path_argument(&self, argument: &Path, from: Start) -> Result<Option<RepoPath>> {
        let bytes = git_bytes(argument);
        let shown = bytes.to_str_lossy().into_owned();
        if bytes.is_empty() {
            return Err(Error::usage("an empty path").hint("name a file or a folder"));
        }
        let outside = || Error::usage(format!("{shown} lies outside the work tree"));
        let parts = if argument.is_absolute() {
            below(&self.git.work_tree, argument).ok_or_else(outside)?
        } else {
            match from {
                Start::Here => [self.prefix.as_slice(), b"/", &bytes].concat(),
                Start::Top => bytes,
            }
        };
        let mut path: Vec<&[u8]> = Vec::new();
        for part in parts.split_str("/") {
            match part {
                b"" | b"." => {}
                b".." => {
                    path.pop().ok_or_else(outside)?;
                }
                part => path.push(part),
            }
        }
        if path.is_empty() {
            return Ok(None);
        }
        let path = RepoPath::new(path.join(&b"/"[..]));
        let in_git = || Error::usage(format!("{shown} lies in a git directory"));
        path.map(Some).ok_or_else(in_git)
    }
}

fn scratch_of(git: &Git) -> PathBuf {
    git.git_dir.join("edio")
}

/// Something else stands where the scratch folder is to be.
fn refuse_file(scratch: &Path) -> Result<()> {
    if scratch.symlink_metadata().is_err() || scratch.is_dir() {
        return Ok(());
    }
    let shown = scratch.display();
    Err(
        Error::cannot(format!("what stands at {shown} is no folder")).hint(format!(
            "move it away, edio needs a folder there: mv {shown} {shown}.other"
        )),
    )
}

/// The name of the work tree.
fn name_of(git: &Git) -> String {
    let linked = git
        .git_dir
        .strip_prefix(git.common_dir.join(WORKTREES))
        .ok();
    linked.map_or_else(
        || ".".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

fn prefix_of(git: &Git, folder: &Path) -> Result<Vec<u8>> {
    let folder =
        fs::canonicalize(folder).or_cannot(|| format!("can't enter {}", folder.display()))?;
    // Outside, where GIT_WORK_TREE names another folder, paths count from the top.
    Ok(folder
        .strip_prefix(&git.work_tree)
        .map(git_bytes)
        .unwrap_or_default())
}

/// The part of an absolute path below the top. The path may be written through links, and may not exist.
fn below(top: &Path, path: &Path) -> Option<Vec<u8>> {
    if let Ok(rest) = path.strip_prefix(top) {
        return Some(git_bytes(rest));
    }
    // A link that is meant itself is not followed.
    let above = path.parent()?;
    let name = path.strip_prefix(above).ok()?;
    let (there, rest) = nearest(above)?;
    let inside = there.strip_prefix(top).ok()?;
    Some(git_bytes(&inside.join(rest).join(name)))
}

/// Where the scratch folder probably is: in the `.git` of the nearest folder above that has one.
///
/// Only a guess, to know the session and the lock before git is asked; git's answer is what counts.
fn guess_scratch(place: &Place, store: Option<&Store>) -> Option<PathBuf> {
    match store {
        Some(store) => scratch_in(store),
        None if place.told_elsewhere => None,
        None => scratch_in_repository(&place.folder),
    }
}

/// What a workspace is looked for to do first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Anything,
    ListTurns,
    /// What is remembered will be written anew.
    Work,
}

impl First {
    /// What is remembered in a scratch folder. Who only looks may do without.
    fn load(self, folder: &Path) -> Result<State> {
        match self {
            First::Work => State::load(folder),
            First::Anything | First::ListTurns => Ok(State::load(folder).unwrap_or_default()),
        }
    }
}

/// Has git list the turns of a session where the scratch folder is probably this one. `None` where git may refuse to work,
/// since it is somebody else's.
fn list_ahead(
    place: &Place,
    store: Option<&Store>,
    scratch: Option<&Path>,
    session: &SessionId,
) -> Option<Ahead> {
    let git_dir = scratch?.parent()?.to_owned();
    let top = store.map(|store| store.folder.clone());
    let top = top.or_else(|| top_of(&place.folder))?;
    let git = Git {
        group: place.group,
        ..Git::at(git_dir, top, place.trace.as_ref())
    };
    git.is_own().then(|| {
        git.ask_ref_commits_ahead(&[&refnames::folder(Shelf::Active, session)]);
        git.ahead
    })
}

/// edio's scratch folder of the work tree that a folder seems to lie in, if it is there.
pub fn scratch_near(folder: &Path, stores: &Stores) -> Option<PathBuf> {
    match stores.near(folder) {
        Some(store) => scratch_in(&store),
        None => scratch_in_repository(folder),
    }
}

/// The top of the work tree that a folder seems to lie in.
pub fn top_near(folder: &Path, stores: &Stores) -> Option<PathBuf> {
    match stores.near(folder) {
        Some(store) => Some(store.folder),
        None => top_of(folder),
    }
}

/// The nearest folder, from here upwards, that is the top of a repository.
pub(super) fn top_of(folder: &Path) -> Option<PathBuf> {
    let mut above = folder.ancestors();
    above
        .find(|folder| is_repository(folder))
        .map(Path::to_owned)
}

/// Is a folder the top of a repository? An empty `.git` makes none.
pub(super) fn is_repository(folder: &Path) -> bool {
    let git = folder.join(".git");
    git.is_file() || git.join("HEAD").symlink_metadata().is_ok()
}

fn scratch_in(store: &Store) -> Option<PathBuf> {
    Some(store.scratch()).filter(|scratch| scratch.is_dir())
}

fn scratch_in_repository(folder: &Path) -> Option<PathBuf> {
    let mut found = folder.ancestors().map(|folder| folder.join(".git"));
    let git = found.find(|git| git.symlink_metadata().is_ok())?;
    let git_dir = match fs::read(&git) {
        Ok(file) => {
            let target = file.strip_prefix(b"gitdir: ")?.trim_ascii_end();
            git.parent()?.join(os_path(target))
        }
        Err(_) => git,
    };
    let scratch = git_dir.join("edio");
    scratch.is_dir().then_some(scratch)
}

fn same_folder(one: &Path, other: &Path) -> bool {
    one == other
        || matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

/// Which very file a program is.
fn identity(program: &Path) -> Option<String> {
    let meta = fs::metadata(program).ok()?;
    let modified = meta.modified().ok()?;
    Some(format!("{} {} {modified:?}", program.display(), meta.len()))
}
