//! The plan of a restore: what will be done with each path that differs, and why. It changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::gitengine::{Difference, Entry, Mode, RepoPath};

use super::super::journal::Way;
use super::super::scan::is_temporary;
use super::super::skipped::{NotHeld, Skipped, Why};

/// What stands at a path on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisk {
    /// Nothing.
    Nothing,
    /// A file.
    File,
    /// A symbolic link.
    Link,
    /// A folder.
    Folder,
    /// A FIFO, a socket, a device.
    Special,
    /// Nobody knows: it lies in a folder that may not be entered.
    Closed,
}

/// The disk, as far as a plan must know it.
pub trait Look {
    /// What stands at this path? Nothing does where the way leads through a file or a link.
    fn at(&self, path: &RepoPath) -> OnDisk;
    /// Everything below this folder that is not itself a folder. `None` where it can't be read.
    fn below(&self, folder: &RepoPath) -> Option<Vec<RepoPath>>;
    /// Is this folder a repository of its own?
    fn is_repository(&self, folder: &RepoPath) -> bool;
    /// May files come and go in this folder, the top where there is none? Where the system does not tell, they may.
    fn may_change(&self, folder: Option<&RepoPath>) -> bool;
    /// Does this folder, the top where there is none, let only owners remove and replace what is in it? /tmp is such a one.
    fn is_sticky(&self, folder: Option<&RepoPath>) -> bool;
    /// Does what stands at this path, the top where there is none, belong to the user, as far as the system tells?
    fn is_own(&self, path: Option<&RepoPath>) -> bool;
}

/// What is done with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is written.
    Write {
        /// What the turn has.
        new: Entry,
        /// What the safety snapshot has: `None` where nothing, or an ignored file, stands there.
        old: Option<Entry>,
    },
    /// Only its executable bit changes.
    SetMode {
        /// What the turn has.
        new: Entry,
    },
    /// It appeared since, and is removed.
    Remove {
        /// What the safety snapshot has.
        old: Entry,
    },
    /// It is left as it is.
    Keep(Kept),
}

/// Why a path that differs is left as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The ignore rules of the turn protect it.
    Ignored,
    /// Those of now match it, and those of the turn do not.
    IgnoredUntilNow,
    /// The turn names it as not held.
    NotHeld,
    /// The person wants it left alone.
    Excluded,
    /// It is a submodule.
    Submodule,
    /// It lies in a repository of its own.
    InRepository,
    /// It is a file of the journal, and can't be read, or is too large to be saved first.
    Unkept,
    /// It is an ignored file that would come back, and something else stands in its way.
    Blocked,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kept::Ignored => "the turn's ignore rules protect it",
            Kept::IgnoredUntilNow => "it was ignored until now",
            Kept::NotHeld => "the turn does not hold it",
            Kept::Excluded => "edio.exclude leaves it out",
            Kept::Submodule => "a submodule's files are its own",
            Kept::InRepository => "it lies in a repository of its own",
            Kept::Unkept => "it can't be read, or is too large to be saved first",
            Kept::Blocked => "something else stands in its way",
        })
    }
}

/// Why a restore can't begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// What stands in the way.
    pub path: RepoPath,
    /// What it is.
    pub what: &'static str,
}

impl Obstacle {
    fn new(path: &RepoPath, what: &'static str) -> Self {
        let path = path.clone();
        Self { path, what }
    }
}

/// What a file is that the safety snapshot leaves out for its size.
pub const TOO_LARGE: &str = "too large to be saved first";

/// What a folder is that lets nobody look at what is in it.
pub const CLOSED: &str = "a folder that may not be entered";

/// What a folder is that does not say what is in it.
pub const UNREADABLE: &str = "a folder that can't be read";

/// What a file is that may not be replaced or removed.
pub const PROTECTED: &str = "in a folder that may not be changed";

/// What a file is that only its owner may give another mode, or replace where it is.
pub const ANOTHERS: &str = "another user's";

/// The plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// What is done with each path that differs, by path.
    pub actions: BTreeMap<RepoPath, Action>,
    /// Ignored files that are saved before they are replaced.
    pub saved: BTreeSet<RepoPath>,
    /// Ignored files among the actions that the goal's tree does not hold, and the journal does: with the permission bits
    /// that they had.
    pub beside: BTreeMap<RepoPath, Option<u32>>,
    /// The way of the journal's files.
    pub way: Way,
    /// What a killed restore has left in a folder that gives way to a file.
    pub leftovers: Vec<RepoPath>,
}

/// What a plan is made from.
pub struct Facts {
    /// What differs between the work tree and the turn.
    pub differences: Vec<Difference>,
    /// Paths with the same blob and other bytes.
    pub rewritten: Vec<Difference>,
    /// What the work tree has that the safety snapshot does not hold.
    pub unsaved: Unsaved,
    /// What the turn does not hold.
    pub not_held_then: NotHeld,
    /// Paths that the person wants left alone.
    pub excluded: BTreeSet<RepoPath>,
    /// Paths that would be removed, and that edio would not have looked at when the turn was taken.
    pub protected: BTreeSet<RepoPath>,
    /// Paths that no turn holds as they are, and that the rules of the turn do not match, unlike those of now.
    pub ignored_until_now: BTreeSet<RepoPath>,
    /// Those among the differences that no tree holds, and the journal does.
    pub beside: BTreeMap<RepoPath, Option<u32>>,
}

/// The paths among the differences that would be removed, were there no ignore rules.
pub fn candidates(differences: &[Difference]) -> Vec<RepoPath> {
    let removed = differences
        .iter()
        .filter(|difference| difference.new.is_none());
    removed.map(|difference| difference.path.clone()).collect()
}

/// Makes the plan.
///
/// # Errors
///
/// Something that can't be saved, or must not be touched, stands where the turn has a path.
pub fn plan(mut facts: Facts, disk: &dyn Look) -> Result<Plan, Vec<Obstacle>> {
    let mut plan = Plan::default();
    facts
        .differences
        .sort_by(|one, other| one.path.cmp(&other.path));
    for difference in &facts.differences {
        let action = facts.action(difference);
        plan.actions.insert(difference.path.clone(), action);
    }
    for Difference { path, old, new } in &facts.rewritten {
        if facts.excluded.contains(path) {
            plan.actions
                .insert(path.clone(), Action::Keep(Kept::Excluded));
        } else if let Some(new) = new.clone().filter(|_| !facts.not_held_then.covers(path)) {
            let old = old.clone();
            plan.actions
                .insert(path.clone(), Action::Write { new, old });
        }
    }
    for path in &facts.ignored_until_now {
        let kept = plan.actions.entry(path.clone());
        kept.or_insert(Action::Keep(Kept::IgnoredUntilNow));
    }
    plan.keep_in_repositories(disk);
    let mut obstacles = Vec::new();
    let written: Vec<RepoPath> = plan.written().cloned().collect();
    for path in &written {
        let before = obstacles.len();
        clear_the_way(&mut plan, path, &facts, disk, &mut obstacles);
        // A turn is worth more than what lies beside it.
        if obstacles.len() > before && facts.beside.contains_key(path) {
            obstacles.truncate(before);
            let blocked = Action::Keep(Kept::Blocked);
            plan.actions.insert(path.clone(), blocked);
        }
    }
    plan.beside = facts.beside;
    obstacles.dedup();
    let forbidden = plan.forbidden(disk).into_iter();
    let forbidden: Vec<_> = forbidden.filter(|it| !obstacles.contains(it)).collect();
    obstacles.extend(forbidden);
    match obstacles.is_empty() {
        true => Ok(plan),
        false => Err(obstacles),
    }
}

/// What can't be saved before it is replaced, and why. What lies below a path of it can't be either.
#[derive(Debug, Default)]
pub struct Unsaved(BTreeMap<RepoPath, Why>);

impl Unsaved {
    /// What it is among what a snapshot skips.
    pub fn of(skipped: &[Skipped]) -> Self {
        let unsaved = skipped.iter().filter(|it| it.why != Why::Unfiltered);
        Self(unsaved.map(|it| (it.path.clone(), it.why)).collect())
    }

    fn why(&self, path: &RepoPath) -> Option<Why> {
        let mut folders = path.ancestors();
        let of_folder = || folders.find_map(|folder| self.0.get(&folder));
        self.0.get(path).or_else(of_folder).copied()
    }
}

impl Facts {
    /// What the safety snapshot has at a path that differs. They are sorted by then.
    fn old_at(&self, path: &RepoPath) -> Option<Entry> {
        let found = self.differences.binary_search_by(|d| d.path.cmp(path));
        found.ok().and_then(|at| self.differences[at].old.clone())
    }

    fn action(&self, difference: &Difference) -> Action {
        let Difference { path, old, new } = difference;
        let is_submodule = |entry: &Option<Entry>| {
            entry
                .as_ref()
                .is_some_and(|entry| entry.mode == Mode::Gitlink)
        };
        match (old, new) {
            _ if self.excluded.contains(path) => Action::Keep(Kept::Excluded),
            _ if self.not_held_then.covers(path) => Action::Keep(Kept::NotHeld),
            (_, new) if is_submodule(new) => Action::Keep(Kept::Submodule),
            (old, None) if is_submodule(old) => Action::Keep(Kept::Submodule),
            (Some(_), None) if self.protected.contains(path) => Action::Keep(Kept::Ignored),
            (Some(old), None) => Action::Remove { old: old.clone() },
            (Some(old), Some(new)) if only_the_mode_differs(old, new) => {
                Action::SetMode { new: new.clone() }
            }
            (old, Some(new)) => Action::Write {
                new: new.clone(),
                old: old.clone().filter(|old| old.mode != Mode::Gitlink),
            },
            (None, None) => Action::Keep(Kept::NotHeld),
        }
    }
}

fn only_the_mode_differs(old: &Entry, new: &Entry) -> bool {
    old.oid == new.oid && old.mode.is_file() && new.mode.is_file()
}

impl Plan {
    /// What lies in a repository inside this one is that one's to remove.
    fn keep_in_repositories(&mut self, disk: &dyn Look) {
        let mut known: BTreeMap<RepoPath, bool> = BTreeMap::new();
        for (path, action) in &mut self.actions {
            let mut folders = path.ancestors();
            let inside = matches!(action, Action::Remove { .. })
                && folders.any(|folder| {
                    let is = known
                        .entry(folder)
                        .or_insert_with_key(|f| disk.is_repository(f));
                    *is
                });
            if inside {
                *action = Action::Keep(Kept::InRepository);
            }
        }
    }

    /// What would stop it midway: folders that may not be entered, one file of each where nothing may come or go, and the
    /// files of others that only those may change.
    fn forbidden(&self, disk: &dyn Look) -> Vec<Obstacle> {
        let mut forbidden = Vec::new();
        for ((folder, change), paths) in self.by_folder(disk) {
            let folder = folder.as_ref();
            if !disk.may_change(folder) {
                forbidden.extend(paths.first().and_then(|path| change.hindered(path, disk)));
            }
            if change == Change::Mode || disk.is_sticky(folder) && !disk.is_own(folder) {
                let others = paths.into_iter().filter(|path| !disk.is_own(Some(path)));
                forbidden.extend(others.map(|path| Obstacle::new(path, ANOTHERS)));
            }
        }
        forbidden.sort_by(|one, other| one.path.cmp(&other.path));
        forbidden
    }

    /// The paths that change, by the folder that must allow it.
    fn by_folder(&self, disk: &dyn Look) -> BTreeMap<(Option<RepoPath>, Change), Vec<&RepoPath>> {
        let mut by_folder: BTreeMap<_, Vec<&RepoPath>> = BTreeMap::new();
        for (path, action) in &self.actions {
            let place = match action {
                Action::Write { .. } => (folder_for(path, disk), Change::Name),
                Action::Remove { .. } => (path.parent(), Change::Name),
                Action::SetMode { .. } => (path.parent(), Change::Mode),
                Action::Keep(_) => continue,
            };
            by_folder.entry(place).or_default().push(path);
        }
        by_folder
    }

    /// With the way of the journal's files.
    #[must_use]
    pub fn with_way(mut self, way: &Way) -> Self {
        for path in way.unkept_within() {
            let unkept = Action::Keep(Kept::Unkept);
            self.actions.insert(path.clone(), unkept);
        }
        let way = way.clone();
        Self { way, ..self }
    }

    /// Puts back ignored files that an operation had replaced with what a turn holds. `now` is what the work tree has there.
    ///
    /// Where a folder stays, or the way leads through a file, they stay in the side commit. A file that stands there and
    /// that the work tree's tree does not hold is an ignored one, too: it is saved, so that the way back finds it.
    pub fn bring_back(
        &mut self,
        ignored: &[(RepoPath, Entry)],
        now: &[(RepoPath, Entry)],
        disk: &dyn Look,
    ) {
        let now: BTreeMap<_, _> = now.iter().map(|(path, entry)| (path, entry)).collect();
        for (path, new) in ignored {
            let through = |folder: RepoPath| {
                matches!(disk.at(&folder), OnDisk::Folder | OnDisk::Nothing)
                    || self.removes(&folder)
            };
            let there = disk.at(path);
            let is_taken = match there {
                OnDisk::Nothing | OnDisk::File | OnDisk::Link => false,
                OnDisk::Folder => !self.empties(path, disk),
                OnDisk::Special | OnDisk::Closed => true,
            };
            if is_taken || !path.ancestors().all(through) {
                let blocked = self.actions.entry(path.clone());
                blocked.or_insert(Action::Keep(Kept::Blocked));
                continue;
            }
            let old = now.get(path).map(|entry| (*entry).clone());
            if old.is_none() && matches!(there, OnDisk::File | OnDisk::Link) {
                self.saved.insert(path.clone());
            }
            let new = new.clone();
            self.actions
                .insert(path.clone(), Action::Write { new, old });
        }
    }

    /// Has those of these files saved that are removed.
    pub fn save_removed<'a>(&mut self, paths: impl Iterator<Item = &'a RepoPath>) {
        let removed: Vec<_> = paths.filter(|path| self.removes(path)).cloned().collect();
        self.saved.extend(removed);
    }

    /// The paths that are written.
    pub fn written(&self) -> impl Iterator<Item = &RepoPath> {
        let written = |action: &Action| matches!(action, Action::Write { .. });
        self.actions
            .iter()
            .filter(move |(_, action)| written(action))
            .map(|(path, _)| path)
    }

    /// What is written at a path.
    pub fn new_at(&self, path: &RepoPath) -> Option<&Entry> {
        match self.actions.get(path) {
            Some(Action::Write { new, .. }) => Some(new),
            _ => None,
        }
    }

    /// What is written, as differences of two trees.
    pub fn as_differences(&self) -> Vec<Difference> {
        let written = self
            .actions
            .iter()
            .filter_map(|(path, action)| match action {
                Action::Write { new, old } => Some(Difference {
                    path: path.clone(),
                    old: old.clone(),
                    new: Some(new.clone()),
                }),
                _ => None,
            });
        written.collect()
    }

    /// Does it leave everything as it is?
    pub fn is_nothing(&self) -> bool {
        let kept = |action: &Action| matches!(action, Action::Keep(_));
        self.way.beyond.is_empty() && self.actions.values().all(kept)
    }

    /// Does it leave this path alone, though it differs?
    pub fn keeps(&self, path: &RepoPath) -> bool {
        matches!(self.actions.get(path), Some(Action::Keep(_)))
    }

    /// Does the executable bit of a file change that was there before?
    pub fn changes_bits(&self) -> bool {
        self.actions.values().any(|action| match action {
            Action::SetMode { .. } => true,
            Action::Write { new, old } => old.as_ref().is_some_and(|old| old.mode != new.mode),
            Action::Remove { .. } | Action::Keep(_) => false,
        })
    }

    fn removes(&self, path: &RepoPath) -> bool {
        matches!(self.actions.get(path), Some(Action::Remove { .. }))
    }

    /// Is nothing left in a folder once all is removed that goes?
    fn empties(&self, folder: &RepoPath, disk: &dyn Look) -> bool {
        let below = disk.below(folder).filter(|_| !disk.is_repository(folder));
        below.is_some_and(|below| below.iter().all(|path| self.removes(path)))
    }
}

/// What changes of a path in its folder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// It comes, goes, or is replaced.
    Name,
    /// Its executable bit.
    Mode,
}

impl Change {
    /// What a folder is in the way of it that nobody may change.
    fn hindered(self, path: &RepoPath, disk: &dyn Look) -> Option<Obstacle> {
        match (closed_on_the_way(path, disk), self) {
            (Some(folder), _) => Some(Obstacle::new(&folder, CLOSED)),
            (None, Change::Name) => Some(Obstacle::new(path, PROTECTED)),
            (None, Change::Mode) => None,
        }
    }
}

/// The innermost folder on the way to a path that is there, the top where there is none.
fn folder_for(path: &RepoPath, disk: &dyn Look) -> Option<RepoPath> {
    let there = path.ancestors();
    let there = there.take_while(|folder| disk.at(folder) == OnDisk::Folder);
    there.last()
}

/// The outermost folder on the way to a path that may not be entered.
fn closed_on_the_way(path: &RepoPath, disk: &dyn Look) -> Option<RepoPath> {
    let mut way = path.ancestors().chain([path.clone()]);
    let hidden = way.find(|part| disk.at(part) == OnDisk::Closed)?;
    Some(hidden.parent().unwrap_or(hidden))
}

/// Sees to it that nothing stands where a path is to be written but what the safety snapshot holds, or an ignored file
/// that can be saved.
fn clear_the_way(
    plan: &mut Plan,
    path: &RepoPath,
    facts: &Facts,
    disk: &dyn Look,
    obstacles: &mut Vec<Obstacle>,
) {
    let mut obstacle = |path: &RepoPath, what| obstacles.push(Obstacle::new(path, what));
    for folder in path.ancestors() {
        match disk.at(&folder) {
            OnDisk::Folder if disk.is_repository(&folder) => {
                return obstacle(&folder, "a repository of its own");
            }
            OnDisk::Folder => {}
            OnDisk::Nothing => break,
            OnDisk::Closed => return obstacle(&folder.parent().unwrap_or(folder), CLOSED),
            // What the turn needs as a folder is now a file that it lacks: that one goes with the write.
            _ if plan.give_way(&folder, facts) => break,
            _ => return obstacle(&folder, "a file or link, where the turn has a folder"),
        }
    }
    match disk.at(path) {
        OnDisk::Nothing => {}
        OnDisk::Closed => obstacle(path.parent().as_ref().unwrap_or(path), CLOSED),
        OnDisk::Special => obstacle(path, "no file (a FIFO, a socket, a device)"),
        OnDisk::Folder if disk.is_repository(path) => obstacle(path, "a repository of its own"),
        OnDisk::Folder => match disk.below(path) {
            None => obstacle(path, UNREADABLE),
            Some(files) => {
                let files = files.into_iter().filter(|file| !plan.removes(file));
                let (leftovers, others): (Vec<_>, Vec<_>) =
                    files.partition(|file| is_temporary(file.name()));
                plan.leftovers.extend(leftovers);
                for file in &others {
                    obstacle(
                        file,
                        "an ignored file, in a folder where the turn has a file",
                    );
                }
            }
        },
        OnDisk::File | OnDisk::Link => {
            let held = matches!(
                plan.actions.get(path),
                Some(Action::Write { old: Some(_), .. })
            );
            match facts.unsaved.why(path) {
                Some(Why::TooLarge(_)) => obstacle(path, TOO_LARGE),
                Some(_) => obstacle(path, "something that can't be saved first"),
                None if !held => drop(plan.saved.insert(path.clone())),
                None => {}
            }
        }
    }
}

impl Plan {
    /// Removes a file that stands where the turn has a folder, if the safety snapshot holds it.
    fn give_way(&mut self, file: &RepoPath, facts: &Facts) -> bool {
        let Some(old) = facts.old_at(file) else {
            return false;
        };
        if old.mode == Mode::Gitlink {
            return false;
        }
        self.actions.insert(file.clone(), Action::Remove { old });
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::gitengine::Oid;

    use super::*;

    /// A disk made of names: `d/` is a folder, `r/.git` makes `r` a repository, `p|` is a FIFO, `l@` a link.
    struct Names(Vec<&'static str>);

    impl Look for Names {
        fn at(&self, path: &RepoPath) -> OnDisk {
            let path = path.to_string();
            for name in &self.0 {
                match name.strip_prefix(path.as_str()) {
                    Some("") => return OnDisk::File,
                    Some("|") => return OnDisk::Special,
                    Some("@") => return OnDisk::Link,
                    Some(rest) if rest.starts_with('/') => return OnDisk::Folder,
                    _ => {}
                }
            }
            OnDisk::Nothing
        }

        fn below(&self, folder: &RepoPath) -> Option<Vec<RepoPath>> {
            let inside = self.0.iter().filter_map(|name| RepoPath::new(*name));
            Some(inside.filter(|path| path.is_within(folder)).collect())
        }

        fn is_repository(&self, folder: &RepoPath) -> bool {
            self.0.iter().any(|name| *name == format!("{folder}/.git"))
        }

        fn may_change(&self, _: Option<&RepoPath>) -> bool {
            true
        }

        fn is_sticky(&self, _: Option<&RepoPath>) -> bool {
            false
        }

        fn is_own(&self, _: Option<&RepoPath>) -> bool {
            true
        }
    }

    fn path(name: &str) -> RepoPath {
        RepoPath::new(name).unwrap()
    }

    fn entry(mode: Mode, digit: char) -> Option<Entry> {
        let oid = Oid::new(digit.to_string().repeat(40)).unwrap();
        Some(Entry { mode, oid })
    }

    fn file(digit: char) -> Option<Entry> {
        entry(Mode::File, digit)
    }

    fn differs(name: &str, old: Option<Entry>, new: Option<Entry>) -> Difference {
        Difference {
            path: path(name),
            old,
            new,
        }
    }

    fn facts(differences: Vec<Difference>) -> Facts {
        Facts {
            differences,
            rewritten: Vec::new(),
            unsaved: Unsaved::default(),
            not_held_then: NotHeld::default(),
            excluded: BTreeSet::new(),
            protected: BTreeSet::new(),
            ignored_until_now: BTreeSet::new(),
            beside: BTreeMap::new(),
        }
    }

    fn blocked(facts: Facts, disk: &[&'static str]) -> Vec<String> {
        let obstacles = plan(facts, &Names(disk.to_vec())).unwrap_err();
        obstacles.iter().map(|o| o.path.to_string()).collect()
    }

    #[test]
    fn each_kind_of_difference() {
        let differences = vec![
            differs("changed", file('a'), file('b')),
            differs("deleted", None, file('b')),
            differs("later", file('a'), None),
            differs("run", file('a'), entry(Mode::Executable, 'a')),
            differs("link", file('a'), entry(Mode::Symlink, 'a')),
            differs("mod", entry(Mode::Gitlink, 'a'), entry(Mode::Gitlink, 'b')),
        ];
        let disk = Names(vec!["changed", "later", "run", "link", "mod/.git"]);
        let plan = plan(facts(differences), &disk).unwrap();
        let action = |name| &plan.actions[&path(name)];
        assert!(matches!(
            action("changed"),
            Action::Write { old: Some(_), .. }
        ));
        assert!(matches!(action("deleted"), Action::Write { old: None, .. }));
        assert!(matches!(action("later"), Action::Remove { .. }));
        assert!(matches!(action("run"), Action::SetMode { .. }));
        assert!(matches!(action("link"), Action::Write { .. }));
        assert_eq!(action("mod"), &Action::Keep(Kept::Submodule));
        assert!(plan.saved.is_empty());
    }

    #[test]
    fn what_the_turn_ignored_or_did_not_hold_stays() {
        let skipped = [Skipped::new(path("lib"), Why::Nested)];
        let facts = Facts {
            not_held_then: NotHeld::of(&skipped),
            protected: BTreeSet::from([path(".env")]),
            ..facts(vec![
                differs(".env", file('a'), None),
                differs("lib/x", file('a'), None),
                differs("lib2", file('a'), None),
            ])
        };
        let plan = plan(facts, &Names(vec![".env", "lib/x", "lib2"])).unwrap();
        assert_eq!(plan.actions[&path(".env")], Action::Keep(Kept::Ignored));
        assert_eq!(plan.actions[&path("lib/x")], Action::Keep(Kept::NotHeld));
        assert!(plan.removes(&path("lib2")));
    }

    #[test]
    fn what_is_excluded_a_submodules_or_in_a_repository_stays() {
        let facts = Facts {
            excluded: BTreeSet::from([path("mine"), path("mine too")]),
            rewritten: vec![
                differs("mine too", file('a'), file('a')),
                differs("line ends", file('a'), file('a')),
            ],
            ..facts(vec![
                differs("mine", file('a'), file('b')),
                differs("mod", entry(Mode::Gitlink, 'a'), None),
                differs("lib/x", file('a'), None),
            ])
        };
        let disk = Names(vec!["mine", "mine too", "line ends", "lib/.git", "lib/x"]);
        let plan = plan(facts, &disk).unwrap();
        let action = |name| &plan.actions[&path(name)];
        assert_eq!(action("mine"), &Action::Keep(Kept::Excluded));
        assert_eq!(action("mine too"), &Action::Keep(Kept::Excluded));
        assert_eq!(action("mod"), &Action::Keep(Kept::Submodule));
        assert_eq!(action("lib/x"), &Action::Keep(Kept::InRepository));
        assert!(!plan.is_nothing());
        let written = [differs("line ends", file('a'), file('a'))];
        assert_eq!(plan.as_differences(), written);
    }

    #[test]
    fn a_plan_that_keeps_all_is_nothing() {
        let kept = facts(vec![differs("mod", entry(Mode::Gitlink, 'a'), None)]);
        assert!(plan(kept, &Names(vec!["mod/.git"])).unwrap().is_nothing());
        assert!(Plan::default().is_nothing());
    }

    #[test]
    fn what_an_operation_replaced_is_put_back_where_there_is_room() {
        let ignored = ["free/env", "file/env", "folder", "fifo", "env"];
        let ignored = ignored.map(|name| (path(name), file('a').unwrap()));
        let disk = Names(vec!["file", "folder/x", "fifo|", "env"]);
        let mut plan = Plan::default();
        plan.bring_back(&ignored, &[(path("env"), file('b').unwrap())], &disk);
        let written = [
            differs("env", file('b'), file('a')),
            differs("free/env", None, file('a')),
        ];
        assert_eq!(plan.as_differences(), written);
        for blocked in ["fifo", "file/env", "folder"] {
            assert_eq!(plan.actions[&path(blocked)], Action::Keep(Kept::Blocked));
        }
    }

    #[test]
    fn what_was_replaced_comes_back_where_a_folder_is_emptied() {
        let mut plan = Plan::default();
        let old = file('b').unwrap();
        plan.actions.insert(path("q/r"), Action::Remove { old });
        let ignored = [(path("q"), file('a').unwrap())];
        plan.bring_back(&ignored, &[], &Names(vec!["q/r"]));
        assert_eq!(plan.as_differences(), [differs("q", None, file('a'))]);
        assert!(plan.saved.is_empty());
    }

    #[test]
    fn an_ignored_file_that_comes_back_saves_the_one_that_it_replaces() {
        let ignored = [(path("env"), file('a').unwrap())];
        let mut plan = Plan::default();
        plan.bring_back(&ignored, &[], &Names(vec!["env"]));
        assert_eq!(plan.saved, BTreeSet::from([path("env")]));
    }

    #[test]
    fn what_would_be_removed_is_a_candidate() {
        let differences = [
            differs("later", file('a'), None),
            differs("changed", file('a'), file('b')),
        ];
        assert_eq!(candidates(&differences), [path("later")]);
    }

    #[test]
    fn where_nothing_stands_nothing_is_in_the_way() {
        let wanted = vec![differs("a/b/c", None, file('b'))];
        assert!(plan(facts(wanted), &Names(vec!["x"])).is_ok());
    }

    #[test]
    fn what_is_held_as_it_is_or_lies_elsewhere_blocks_nothing() {
        let skipped = [
            Skipped::new(path("a.x"), Why::Unfiltered),
            Skipped::new(path("other"), Why::Unreadable),
        ];
        let facts = Facts {
            unsaved: Unsaved::of(&skipped),
            ..facts(vec![differs("a.x", file('a'), file('b'))])
        };
        assert!(plan(facts, &Names(vec!["a.x", "other"])).is_ok());
    }

    #[test]
    fn an_ignored_file_in_the_way_is_saved() {
        let plan = plan(
            facts(vec![differs(".env", None, file('b'))]),
            &Names(vec![".env"]),
        );
        assert_eq!(plan.unwrap().saved, BTreeSet::from([path(".env")]));
    }

    #[test]
    fn files_and_folders_change_places() {
        let there = vec![
            differs("p", file('a'), None),
            differs("p/x", None, file('b')),
        ];
        assert!(
            plan(facts(there), &Names(vec!["p"]))
                .unwrap()
                .removes(&path("p"))
        );
        let back = vec![
            differs("p", None, file('a')),
            differs("p/x", file('b'), None),
        ];
        assert!(plan(facts(back), &Names(vec!["p/x"])).is_ok());
    }

    #[test]
    fn a_file_that_is_needed_as_a_folder_goes_even_if_it_was_ignored() {
        let facts = Facts {
            protected: BTreeSet::from([path("p")]),
            ..facts(vec![
                differs("p", file('a'), None),
                differs("p/x", None, file('b')),
            ])
        };
        assert!(plan(facts, &Names(vec!["p"])).unwrap().removes(&path("p")));
    }

    #[test]
    fn what_must_not_be_touched_blocks() {
        let wanted = || facts(vec![differs("a/b", None, file('b'))]);
        assert_eq!(blocked(wanted(), &["a/.git", "a/x"]), ["a"]);
        assert_eq!(blocked(wanted(), &["a/b/.git"]), ["a/b"]);
        assert_eq!(blocked(wanted(), &["a/b/ignored"]), ["a/b/ignored"]);
        assert_eq!(blocked(wanted(), &["a/b|"]), ["a/b"]);
        assert_eq!(blocked(wanted(), &["a@"]), ["a"]);
        assert_eq!(blocked(wanted(), &["a"]), ["a"]);
        let unreadable = [Skipped::new(path("a/b"), Why::Unreadable)];
        let facts = Facts {
            unsaved: Unsaved::of(&unreadable),
            ..wanted()
        };
        assert_eq!(blocked(facts, &["a/b"]), ["a/b"]);
    }
}
