//! Making a store: first beside the others under a name of its own, and with its last step in its place.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use tempfile::TempDir;

use crate::error::{Error, Result, While};
use crate::gitengine::{self, Git, RepoPath, Search, git_bytes, os_path};
use crate::process::Trace;

use super::super::limits::{Flood, Limits, TooMuch, home_or_disk};
use super::super::realpath::real;
use super::super::scan::without_detours;
use super::super::workspace::{Place, Workspace, is_repository, top_of};
use super::{FOLDER, Store, Stores};

/// What the name of a store begins with that is being made.
pub(super) const NEW: &str = ".new-";

/// The most files and bytes that a folder may have.
const FILES: u64 = 20_000;
const BYTES: u64 = 500 << 20;

/// Folders that tools make again from what lies beside them. None is among them that a person might have written in: what
/// a store does not hold, it can't bring back.
const MADE_AGAIN: &[&str] = &[
    "node_modules",
    "bower_components",
    "target",
    "dist",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".cache",
];

/// What other version control systems keep: their history must not be taken back with the files.
const OTHERS: &[&str] = &[".hg", ".svn", ".jj", ".sl", ".bzr"];

/// What stands where the store of a folder would be.
pub enum Ground {
    /// It.
    Taken(Store),
    /// Nothing but one that was put away, with the turns that it holds.
    Away(Store),
    /// Nothing: this is where it would be.
    Free(Store),
}

/// Finds out which folder a store is to serve, and whether it can: in a repository its top, else the very folder.
///
/// # Errors
///
/// It can't.
pub fn ground(place: &Place) -> Result<Ground> {
    let Stores::In(stores) = &place.stores else {
        return Err(Error::cannot("there is no place for a store")
            .hint(
                "where GIT_DIR or GIT_WORK_TREE is set, git has been told where to work: unset it",
            )
            .hint("else set HOME, or XDG_DATA_HOME"));
    };
    let home = place.home.as_deref();
    // A home folder that is a repository is nobody's project: what lies in it is a folder of its own.
    let top = top_of(&place.folder).filter(|top| home_or_disk(top, home).is_none());
    let folder = top.unwrap_or_else(|| place.folder.clone());
    let store = Store::of(stores, &folder);
    if store.is_there() {
        return Ok(Ground::Taken(store));
    }
    let shown = folder.display();
    if let Some(what) = home_or_disk(&folder, home) {
        let error = Error::refused(format!("this is {what}: {shown}"));
        return Err(error.hint("go to a project"));
    }
    if is_git_directory(&folder) {
        let error = Error::refused(format!("this is a git directory: {shown}"));
        return Err(error.hint("go to a work tree"));
    }
    if let Some(git_dir) = git_directory_within(&folder) {
        // Turns would hold it, and a restore would take its branches back.
        let error = Error::refused(format!(
            "the git directory of {shown} lies in it, and not in .git"
        ));
        return Err(error
            .because(Error::refused(format!("it is {}", git_dir.display())))
            .hint("go to a work tree, or move it: git init --separate-git-dir"));
    }
    let real = real(stores).unwrap_or_else(|| stores.to_owned());
    if real.starts_with(&folder) || folder.starts_with(&real) {
        let error = Error::refused(format!("{shown} and the stores lie in each other"));
        return Err(error
            .because(Error::refused(format!(
                "the stores are in {}",
                real.display()
            )))
            .hint("go to a project, or have the stores elsewhere: XDG_DATA_HOME"));
    }
    refuse_overlap(&folder, &place.stores)?;
    match store.away().is_there() {
        true => Ok(Ground::Away(store)),
        false => Ok(Ground::Free(store)),
    }
}

/// The git directory to which a `.git` file leads, where that lies in the same folder.
fn git_directory_within(folder: &Path) -> Option<PathBuf> {
    let file = fs::read(folder.join(".git")).ok()?;
    let target = file.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    let target = fs::canonicalize(folder.join(os_path(target))).ok()?;
    target.starts_with(folder).then_some(target)
}

fn is_git_directory(folder: &Path) -> bool {
    let parts = ["HEAD", "objects", "refs"];
    parts.iter().all(|part| folder.join(part).exists())
}

/// Two stores would each take back what the other one holds.
fn refuse_overlap(folder: &Path, stores: &Stores) -> Result<()> {
    for other in stores.all().into_iter().filter(|store| !store.is_away()) {
        let there = other.folder.as_path();
        let error = || Error::refused(format!("{} has a store", there.display()));
        if folder.starts_with(there) && !is_parted(folder, there) {
            return Err(error().hint(format!(
                "{} is held by it already: go on without --store",
                folder.display()
            )));
        }
        if there.starts_with(folder) && there.is_dir() && !is_parted(there, folder) {
            return Err(error().hint(
                "both would hold it; to put that one away, there: edio init --store --remove",
            ));
        }
    }
    Ok(())
}

/// Is the inner folder in a repository that begins below the outer one? That is not held by the outer one's store.
fn is_parted(inner: &Path, outer: &Path) -> bool {
    let mut between = inner.ancestors().take_while(|folder| *folder != outer);
    between.any(is_repository)
}

/// A store that is being made. Where it is not kept, nothing is left of it.
pub struct Draft {
    home: TempDir,
    wanted: Store,
    /// The names of the folders that it does not hold.
    pub ignored: Vec<&'static str>,
    /// Beside it is a repository that git does not read, so nobody knows what that one tracks.
    pub is_blind: bool,
    _above: Above,
}

/// The folders that were made around a store. They go where nothing is in them.
struct Above(Vec<PathBuf>);

impl Drop for Above {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            // That it is not empty is as it should be.
            let _ = fs::remove_dir(folder);
        }
    }
}

impl Draft {
    /// Makes a store for a folder, where nobody finds it yet.
    ///
    /// # Errors
    ///
    /// The folder of the stores can't be written, or git failed.
    pub fn begin(wanted: Store, trace: Option<&Trace>) -> Result<Self> {
        let stores = wanted.home.parent().unwrap_or(&wanted.home).to_owned();
        let unwritable = || format!("can't write in {}", stores.display());
        let above = Above(make_private(&stores).or_cannot(unwritable)?);
        let mut name = tempfile::Builder::new();
        #[cfg(unix)]
        name.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let home = name.prefix(NEW).tempdir_in(&stores).or_cannot(unwritable)?;
        let mut draft = Self {
            home,
            wanted,
            ignored: [MADE_AGAIN, OTHERS].concat(),
            is_blind: false,
            _above: above,
        };
        let store = draft.store();
        gitengine::create(&store.git_dir(), trace)?;
        fs::write(store.home.join(FOLDER), git_bytes(&store.folder)).or_cannot(unwritable)?;
        let repository = store.repository(trace);
        draft.is_blind = repository.is_none() && store.is_beside_repository();
        let tracked = match repository {
            Some(repository) => repository.tracked_files()?,
            None => Vec::new(),
        };
        let folders: BTreeSet<&[u8]> = tracked.iter().flat_map(folders_of).collect();
        draft
            .ignored
            .retain(|name| !folders.contains(name.as_bytes()));
        draft.write_excludes().or_cannot(unwritable)?;
        draft.take_tracked(&tracked, trace)?;
        Ok(draft)
    }

    /// As which store it can be opened meanwhile.
    pub fn store(&self) -> Store {
        Store {
            folder: self.wanted.folder.clone(),
            home: self.home.path().to_owned(),
        }
    }

    fn write_excludes(&self) -> io::Result<()> {
        let file = self.store().excludes();
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let head = "# What tools make again, and what other version control systems keep, is not held here.\n\
                    # A line like !dist/ in a .gitignore has it held all the same.\n";
        let lines: String = self
            .ignored
            .iter()
            .map(|name| format!("{name}/\n"))
            .collect();
        fs::write(file, format!("{head}{lines}"))
    }

    /// What the repository tracks although rules ignore it would not be held: the store's own index names it.
    fn take_tracked(&self, tracked: &[RepoPath], trace: Option<&Trace>) -> Result<()> {
        if tracked.is_empty() {
            return Ok(());
        }
        let git = self.git(trace)?;
        let reachable = without_detours(&git.work_tree, tracked);
        let ignored = git.ask_ignored(&reachable)?.ignored()?;
        let is_file = |path: &RepoPath| {
            let file = path.below(&git.work_tree);
            let is_link = file.is_symlink();
            is_link || file.is_file() && fs::File::open(file).is_ok()
        };
        let files: Vec<RepoPath> = ignored.into_iter().filter(is_file).collect();
        Ok(git.track(&files)?)
    }

    fn git(&self, trace: Option<&Trace>) -> Result<Git> {
        let store = self.store();
        let search = Search {
            folder: &store.folder,
            git_dir: Some(&store.git_dir()),
            trace,
        };
        Ok(gitengine::find(&search, None)?.git)
    }

    /// Puts it in its place.
    ///
    /// # Errors
    ///
    /// The folder of the stores can't be written.
    pub fn keep(self) -> Result<Store> {
        let Self { home, wanted, .. } = &self;
        match fs::rename(home.path(), &wanted.home) {
            // Another was quicker: that one is as good.
            Err(_) if wanted.is_there() => {}
            renamed => {
                renamed.or_cannot(|| format!("can't make {}", wanted.home.display()))?;
            }
        }
        Ok(wanted.clone())
    }
}

impl Store {
    /// Fetches back what was put away. Returns it in its place.
    ///
    /// # Errors
    ///
    /// The folder of the stores can't be written.
    pub fn fetch_back(&self) -> Result<()> {
        match self.away().rename(self) {
            // Another was quicker.
            Err(_) if self.is_there() => {}
            renamed => renamed?,
        }
        self.note_unused(None)
    }
}

/// Looks how much a folder has, and sets what its store takes unasked: so much more than there is now.
///
/// # Errors
///
/// It has too much, and that is not to be taken. Or git failed.
pub fn limit(workspace: &Workspace, too_much: TooMuch) -> Result<()> {
    let git = &workspace.git;
    let limits = Limits::of(&workspace.settings)?;
    let files = git.all_files()?;
    let sizes = files.iter().filter_map(|path| {
        let bytes = path.below(&git.work_tree).symlink_metadata().ok()?.len();
        (!limits.is_too_large(bytes)).then_some((path, bytes))
    });
    let flood = Flood::of(&sizes.collect(), &[]);
    let (mut most_files, mut most_bytes) = (FILES, BYTES);
    if flood.files() > FILES || flood.bytes() > BYTES {
        if too_much == TooMuch::Refuse {
            return Err(too_large(&git.work_tree, &flood));
        }
        most_files += flood.files();
        most_bytes += flood.bytes();
    }
    git.set_setting("edio.maxnewfiles", &most_files.to_string())?;
    git.set_setting("edio.maxnewbytes", &most_bytes.to_string())?;
    Ok(())
}

fn too_large(folder: &Path, flood: &Flood) -> Error {
    Error::refused(format!(
        "{} has {}: more than a store takes unasked",
        folder.display(),
        flood.in_words()
    ))
    .because(flood.named())
    .hint(flood.way_out())
    .hint("or have all of it held: edio init --store --force")
}

/// The names of the folders that a path leads through.
fn folders_of(path: &RepoPath) -> impl Iterator<Item = &[u8]> {
    let bytes = path.as_bytes();
    let end = bytes.rfind_byte(b'/').unwrap_or(0);
    bytes[..end].split_str("/")
}

/// Makes a folder and those above it, for nobody else to look into. Returns those that were made.
fn make_private(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let missing = folder.ancestors().take_while(|folder| !folder.exists());
    let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    missing.reverse();
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)?;
    Ok(missing)
}
