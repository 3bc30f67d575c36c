//! The gate: each path that a scan found is looked at before git is asked to take it in.
//!
//! git ends a whole run over one path that it can't read, and would follow a FIFO for ever. So each path is opened
//! here first, and what can't be held is named instead.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::gitengine::{Changed, Mode, RepoPath, Status, is_repository};

use super::super::limits::Limits;
use super::super::restore::disk::is_executable;
use super::super::skipped::{NotHeld, Skipped, Why};
use super::base::Base;

/// What a scan found, to be judged.
pub struct Found<'a> {
    /// What git says of the work tree.
    pub status: &'a Status,
    /// What the scan started from.
    pub base: &'a Base,
    /// Paths that git takes for unchanged and that are not.
    pub unseen: &'a [RepoPath],
    /// Those of its extras that the ignore rules match, and nothing includes.
    pub ignored: BTreeSet<RepoPath>,
    /// Files that are to be held though they may be ignored.
    pub included: &'a BTreeSet<RepoPath>,
    /// Those that are not to be held, among all that the index lacks.
    pub excluded: &'a BTreeSet<RepoPath>,
    /// How large a file may be that the user's index lacks.
    pub limits: &'a Limits,
}

impl Found<'_> {
    fn is_too_large_an_extra(&self, path: &RepoPath, bytes: u64) -> bool {
        self.limits.is_too_large(bytes) && self.base.is_extra(path)
    }
}

/// What the gate made of a scan.
#[derive(Debug, Default)]
pub struct Passed {
    /// What git is to take in: first what is gone, then attribute files, then the rest.
    pub taken: Vec<RepoPath>,
    /// Paths that must leave the index whatever is on disk.
    pub dropped: Vec<RepoPath>,
    /// Those among the taken that git must read though it takes them for unchanged.
    pub anew: Vec<RepoPath>,
    /// Paths that can't be held, of which the index has what was there before.
    pub kept: Vec<RepoPath>,
    /// Folders of which the same is true.
    pub closed: Vec<RepoPath>,
    /// Those of these files that the user's index lacks, and that a copy of it has from the snapshot before.
    pub carried: BTreeSet<RepoPath>,
    /// Those among all of them that the index will have lost.
    pub gone: BTreeSet<RepoPath>,
    /// Those that the index will have gained, with their sizes.
    pub added: BTreeMap<RepoPath, u64>,
    /// What can't be held.
    pub skipped: Vec<Skipped>,
    /// What a killed restore left behind. No turn takes it.
    pub leftovers: Vec<RepoPath>,
}

/// What the names begin with that a restore gives to files for a moment. 16 hexadecimal digits follow.
pub const TEMPORARY: &str = ".edio-tmp-";

/// Is it such a name?
pub fn is_temporary(name: &[u8]) -> bool {
    let digits = name.strip_prefix(TEMPORARY.as_bytes());
    digits.is_some_and(|digits| digits.len() == 16 && digits.iter().all(u8::is_ascii_hexdigit))
}

impl Passed {
    /// Is the index the work tree already?
    pub fn is_nothing(&self) -> bool {
        self.taken.is_empty() && self.dropped.is_empty()
    }
}

/// What is judged so far.
#[derive(Default)]
struct Judged {
    passed: Passed,
    /// What git is to take in that is gone.
    gone: Vec<RepoPath>,
    /// What else git is to take in.
    rest: Vec<RepoPath>,
}

/// What stands at a path on disk.
enum Standing {
    /// A file or link that can be read, of this size.
    Fit(u64),
    Gone,
    /// Nothing can stand there: the way to it leads through a file or a link.
    Cut,
    /// A folder.
    Folder,
    Unfit(Why),
}

/// The gate, with what it already knows of folders.
pub struct Gate<'a> {
    top: &'a Path,
    folders: HashMap<RepoPath, Way>,
}

/// Where a folder leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Through,
    /// It is no folder, or a link to one.
    Nowhere,
    IntoRepository,
}

impl<'a> Gate<'a> {
    /// A gate for the work tree with this top.
    pub fn new(top: &'a Path) -> Self {
        Self {
            top,
            folders: HashMap::new(),
        }
    }

    /// Judges everything that differs between the index and the work tree.
    pub fn judge(mut self, found: Found<'_>) -> Passed {
        let mut judged = Judged::default();
        self.judge_changed(&found, &mut judged);
        self.judge_new(&found, &mut judged);
        self.judge_unseen(&found, &mut judged);
        let Judged {
            mut passed,
            gone,
            mut rest,
        } = judged;
        let Found { status, base, .. } = found;
        passed.dropped.extend(found.ignored);
        let swallowed = self.swallowed(base);
        let is_ours = |path: &RepoPath| !swallowed.iter().any(|folder| path.is_within(folder));
        rest.retain(is_ours);
        passed.anew.retain(is_ours);
        self.name_repositories(status, base, &mut passed);
        self.leave_to(&swallowed, &mut passed);
        name_unreadable(status, &mut passed);
        // What takes the place of a folder takes along what the index has in it, absent as that may be.
        let replaced = base.flagged.iter();
        let replaced =
            replaced.filter(|path| path.ancestors().any(|f| passed.added.contains_key(&f)));
        let replaced: Vec<RepoPath> = replaced.cloned().collect();
        passed.order(gone, rest);
        passed.gone.extend(replaced);
        passed
    }

    /// What the index has, and git sees changed.
    fn judge_changed(&mut self, found: &Found<'_>, judged: &mut Judged) {
        let Judged { passed, gone, rest } = judged;
        let changed = found.status.changed.iter();
        for changed in changed.filter(|changed| !found.ignored.contains(&changed.path)) {
            let path = &changed.path;
            match self.look(path) {
                Standing::Fit(bytes) if found.is_too_large_an_extra(path, bytes) => {
                    passed.keep(path, Why::TooLarge(bytes));
                }
                Standing::Fit(_) => rest.push(path.clone()),
                Standing::Gone => gone.push(path.clone()),
                Standing::Folder if is_submodule(changed) => rest.push(path.clone()),
                // git lists it only when it has forgotten the file.
                Standing::Folder if self.way(path) == Way::IntoRepository => {
                    passed.let_go(path, Why::Nested);
                }
                // A file became a folder: what is in there is listed by itself.
                Standing::Folder | Standing::Cut => passed.dropped.push(path.clone()),
                Standing::Unfit(Why::Special) => passed.let_go(path, Why::Special),
                Standing::Unfit(why) => passed.keep(path, why),
            }
        }
    }

    /// What the index lacks. What the user's own tracks counts whether an ignore rule matches it or not.
    fn judge_new(&mut self, found: &Found<'_>, judged: &mut Judged) {
        let Judged { passed, rest, .. } = judged;
        let base = found.base;
        let new = found.status.untracked.iter().chain(&base.dropped);
        let new: BTreeSet<&RepoPath> = new.chain(found.included).collect();
        for path in new {
            let is_tracked = base.dropped.binary_search(path).is_ok();
            if found.excluded.contains(path) && !is_temporary(path.name()) {
                // What is not tracked is as if it were ignored. What is tracked must not be taken for deleted.
                if is_tracked {
                    passed.skip(path, Why::Excluded);
                }
                continue;
            }
            match self.look(path) {
                Standing::Fit(_) if is_temporary(path.name()) => {
                    passed.leftovers.push(path.clone());
                }
                Standing::Fit(bytes) if found.limits.is_too_large(bytes) && !is_tracked => {
                    passed.skip(path, Why::TooLarge(bytes));
                }
                Standing::Fit(bytes) => {
                    passed.added.insert(path.clone(), bytes);
                    rest.push(path.clone());
                }
                Standing::Gone | Standing::Cut | Standing::Folder => {}
                Standing::Unfit(why) => passed.skip(path, why),
            }
        }
    }

    /// What the index has, and git takes for unchanged or has without its filter.
    fn judge_unseen(&mut self, found: &Found<'_>, judged: &mut Judged) {
        let Judged { passed, rest, .. } = judged;
        let base = found.base;
        let anew: BTreeSet<&RepoPath> = base.doubtful.iter().chain(found.unseen).collect();
        let named = passed.skipped.iter().map(|skipped| &skipped.path);
        let known = rest.iter().chain(&passed.dropped).chain(named);
        let known: BTreeSet<RepoPath> = known.cloned().collect();
        let is_open = |path: &RepoPath| !known.contains(path) && !found.ignored.contains(path);
        for path in anew.into_iter().filter(|p| is_open(p) && base.has(p)) {
            match self.look(path) {
                Standing::Fit(bytes) if found.is_too_large_an_extra(path, bytes) => {
                    passed.keep(path, Why::TooLarge(bytes));
                }
                Standing::Fit(_) => {
                    passed.anew.push(path.clone());
                    rest.push(path.clone());
                }
                Standing::Unfit(Why::Special) => passed.let_go(path, Why::Special),
                Standing::Unfit(why) => passed.keep(path, why),
                // git sees for itself that no file is there.
                Standing::Gone | Standing::Cut | Standing::Folder => {}
            }
        }
    }

    /// The folders with untracked files in the index that have become repositories of their own. git does not tell: to it,
    /// files that an index has are tracked.
    fn swallowed(&mut self, base: &Base) -> BTreeSet<RepoPath> {
        let folders: BTreeSet<RepoPath> = base.extras.iter().filter_map(RepoPath::parent).collect();
        let mut swallowed = BTreeSet::new();
        for folder in folders {
            let way = folder.ancestors().chain([folder.clone()]);
            let repository = way.into_iter().find(|f| self.way(f) == Way::IntoRepository);
            swallowed.extend(repository);
        }
        swallowed
    }

    /// Leaves what is in these folders to the repositories that they are.
    fn leave_to(&self, swallowed: &BTreeSet<RepoPath>, passed: &mut Passed) {
        passed.closed.extend(swallowed.iter().cloned());
        for folder in swallowed {
            passed
                .skipped
                .retain(|skipped| !skipped.path.is_within(folder));
            passed.skip(folder, Why::Nested);
        }
    }

    fn name_repositories(&mut self, status: &Status, base: &Base, passed: &mut Passed) {
        let nested = status
            .nested
            .iter()
            .filter(|path| !base.submodules.contains(path));
        let named = nested.map(|path| Skipped::new(path.clone(), Why::Nested));
        passed.skipped.extend(named);
        // A file that stands in the place of one is no submodule's.
        let submodules = base.submodules.iter();
        let submodules = submodules.filter(|path| !matches!(self.look(path), Standing::Fit(_)));
        let named = submodules.map(|path| Skipped::new(path.clone(), Why::Submodule));
        passed.skipped.extend(named);
    }

    /// Looks at a path without following links.
    fn look(&mut self, path: &RepoPath) -> Standing {
        for folder in path.ancestors() {
            match self.way(&folder) {
                Way::Through => {}
                Way::Nowhere => return Standing::Cut,
                Way::IntoRepository => return Standing::Unfit(Why::InNested),
            }
        }
        let file = path.below(self.top);
        match fs::symlink_metadata(&file) {
            Err(error) if is_gone(&error) => Standing::Gone,
            Err(_) => Standing::Unfit(Why::Unreadable),
            Ok(meta) if meta.is_symlink() => Standing::Fit(0),
            Ok(meta) if meta.is_dir() => Standing::Folder,
            Ok(meta) if !meta.is_file() => Standing::Unfit(Why::Special),
            Ok(meta) => match open_without_following(&file) {
                Ok(_) => Standing::Fit(meta.len()),
                Err(error) if is_gone(&error) => Standing::Gone,
                Err(_) => Standing::Unfit(Why::Unreadable),
            },
        }
    }

    /// What is at a path where nothing is out of the ordinary: its mode and size, or nothing at all. `None` elsewhere: a
    /// folder, a link on the way to it, another repository, something that can't be read.
    pub fn simply(&mut self, path: &RepoPath) -> Option<Option<(Mode, u64)>> {
        let file = path.below(self.top);
        match self.look(path) {
            Standing::Gone => Some(None),
            Standing::Fit(_) if file.is_symlink() => Some(Some((Mode::Symlink, 0))),
            Standing::Fit(bytes) => plain_file(&file).map(|mode| Some((mode, bytes))),
            Standing::Folder | Standing::Cut | Standing::Unfit(_) => None,
        }
    }

    fn way(&mut self, folder: &RepoPath) -> Way {
        if let Some(way) = self.folders.get(folder) {
            return *way;
        }
        let on_disk = folder.below(self.top);
        let way = match fs::symlink_metadata(&on_disk) {
            Ok(meta) if !meta.is_dir() => Way::Nowhere,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Way::Nowhere,
            // Nothing there, or nothing that may be seen: the path itself will tell.
            Err(_) => Way::Through,
            Ok(_) if is_repository(&on_disk) => Way::IntoRepository,
            Ok(_) => Way::Through,
        };
        self.folders.insert(folder.clone(), way);
        way
    }
}

fn is_submodule(changed: &Changed) -> bool {
    let before = changed.index.as_ref();
    before.is_some_and(|entry| entry.mode == Mode::Gitlink)
}

impl Passed {
    /// Has the index lose a path where something else stands now, which can't be held.
    fn let_go(&mut self, path: &RepoPath, why: Why) {
        self.dropped.push(path.clone());
        self.skip(path, why);
    }

    /// Has the index keep what it has of a path that can't be held: to lose it would tell of a file that was deleted.
    fn keep(&mut self, path: &RepoPath, why: Why) {
        self.kept.push(path.clone());
        self.skip(path, why);
    }

    /// Names a path that is not held, or not as it should be.
    pub fn skip(&mut self, path: &RepoPath, why: Why) {
        self.skipped.push(Skipped::new(path.clone(), why));
    }

    /// Takes in all the same what was skipped for its size: a snapshot holds it already, as it is.
    pub fn take_large(&mut self, path: RepoPath, base: &Base) {
        let is_it = |skipped: &Skipped| skipped.path == path;
        let Some(at) = self.skipped.iter().position(is_it) else {
            return;
        };
        let skipped = self.skipped.remove(at);
        self.kept.retain(|other| other != &path);
        if let (Why::TooLarge(bytes), false) = (skipped.why, base.is_extra(&path)) {
            self.added.insert(path.clone(), bytes);
        }
        self.taken.push(path);
    }

    /// What is new to the user's index and to the cache, with the sizes.
    pub fn new_files(&self, base: &Base) -> BTreeMap<&RepoPath, u64> {
        let added = self.added.iter();
        added
            .filter(|(path, _)| base.dropped.binary_search(path).is_err())
            .map(|(path, bytes)| (path, *bytes))
            .collect()
    }

    /// Puts what git takes in into the order that it needs: `f/in` before `f` is gone would fail, and a file before the
    /// attributes that rule it would be stored by others.
    fn order(&mut self, gone: Vec<RepoPath>, rest: Vec<RepoPath>) {
        let (attributes, others): (Vec<_>, Vec<_>) = rest
            .into_iter()
            .partition(|path| path.name() == b".gitattributes");
        self.gone = gone.iter().chain(&self.dropped).cloned().collect();
        self.taken = gone;
        self.taken.extend(attributes);
        self.taken.extend(others);
    }
}

/// Names the folders that can't be read, and in place of what lies in them: nobody knows whether it is there.
fn name_unreadable(status: &Status, passed: &mut Passed) {
    let folders: NotHeld = status.unreadable.iter().cloned().collect();
    passed.kept.retain(|path| !folders.covers(path));
    passed
        .skipped
        .retain(|skipped| skipped.why != Why::Unreadable || !folders.covers(&skipped.path));
    passed.closed.extend(status.unreadable.iter().cloned());
    let folders = status.unreadable.iter();
    let folders = folders.map(|folder| Skipped::new(folder.clone(), Why::Unreadable));
    let names = status.unholdable.iter();
    let names = names.map(|name| Skipped::new(RepoPath::of_unholdable(name), Why::Rejected));
    passed.skipped.extend(folders.chain(names));
}

/// Is there an attribute file beside one of these paths, or above it? Also one that is ignored, and so in no index.
pub fn are_ruled<'a>(top: &Path, paths: impl Iterator<Item = &'a RepoPath>) -> bool {
    let folders: BTreeSet<RepoPath> = paths.flat_map(RepoPath::ancestors).collect();
    let folders = folders.iter().map(|folder| folder.below(top));
    let mut files = folders
        .chain([top.to_owned()])
        .map(|folder| folder.join(".gitattributes"));
    files.any(|file| file.symlink_metadata().is_ok())
}

/// The paths that can be reached without going through a link, a file or another repository.
pub fn without_detours(top: &Path, paths: &[RepoPath]) -> Vec<RepoPath> {
    let mut gate = Gate::new(top);
    let reachable = |path: &&RepoPath| {
        path.ancestors()
            .all(|folder| gate.way(&folder) == Way::Through)
    };
    paths.iter().filter(reachable).cloned().collect()
}

/// Is it a file that can be read? Its mode.
pub fn plain_file(file: &PathBuf) -> Option<Mode> {
    open_plain_file(file).map(|(mode, _)| mode)
}

fn open_plain_file(file: &PathBuf) -> Option<(Mode, fs::File)> {
    // What is opened is looked at first: to open a FIFO would have whoever waits for that go on.
    fs::symlink_metadata(file)
        .ok()
        .filter(fs::Metadata::is_file)?;
    let open = open_without_following(file).ok()?;
    let meta = open.metadata().ok().filter(fs::Metadata::is_file)?;
    let mode = match is_executable(&meta) {
        true => Mode::Executable,
        false => Mode::File,
    };
    Some((mode, open))
}

/// The mode and content of a file that can be read and is no larger than this.
pub fn read_plain_file(file: &PathBuf, limit: u64) -> Option<(Mode, Vec<u8>)> {
    let (mode, open) = open_plain_file(file)?;
    let mut content = Vec::new();
    open.take(limit + 1).read_to_end(&mut content).ok()?;
    (content.len() as u64 <= limit).then_some((mode, content))
}

pub(super) fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Opens a file for reading. A link put in its place meanwhile is not followed, a FIFO does not block.
#[cfg(unix)]
fn open_without_following(file: &PathBuf) -> io::Result<fs::File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(open(file, flags, Mode::empty())?.into())
}

/// Opens a file for reading.
#[cfg(not(unix))]
fn open_without_following(file: &PathBuf) -> io::Result<fs::File> {
    fs::File::open(file)
}
