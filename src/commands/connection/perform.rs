//! Does what is planned: what is needed to take it back is written down before the first file is.

use std::collections::BTreeSet;

use super::plan::{Direction, Edit, Plan, Wish};
use super::{Places, Scope, all_but, files_of};
use crate::agents::Agent;
use crate::error::{Error, Result};
use crate::history::connected::{Connected, Excludes, Ground, Remembered, Site, pattern_of};
use crate::history::git::RepoPath;
use crate::history::scan::without_detours;
use crate::history::workspace::Locked;

impl Plan {
    /// Does it. Returns the new files that git sees, though they were to be kept out of its sight.
    ///
    /// A file that can't be written is left as it is, and is no reason to leave the others: the plan says it then.
    ///
    /// # Errors
    ///
    /// The git directory can't be written. What was written until then can be taken back.
    pub fn carry_out(
        &mut self,
        workspace: &Locked,
        places: &Places,
        wish: &Wish,
    ) -> Result<Vec<RepoPath>> {
        let direction = self.direction;
        let mut work = Work {
            plan: self,
            workspace,
            places,
            wish,
        };
        let connected = Connected::load(&workspace.scratch())?;
        match direction {
            Direction::Connect => work.connect(connected),
            Direction::Remove => {
                match wish.scope {
                    Scope::Guard => work.remove_guard(connected),
                    _ => work.remove(connected),
                }?;
                Ok(Vec::new())
            }
        }
    }
}

/// Could all be written that was to be?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Whole,
    InPart,
}

struct Work<'a> {
    plan: &'a mut Plan,
    workspace: &'a Locked,
    places: &'a Places,
    wish: &'a Wish,
}

impl Work<'_> {
    fn connect(&mut self, mut connected: Connected) -> Result<Vec<RepoPath>> {
        let before = connected.clone();
        let (mut added, mut dropped) = (BTreeSet::new(), BTreeSet::new());
        let mut hidden = Vec::new();
        let is_forgotten = self.is_forgotten(&connected);
        for (edit, site) in self.sites() {
            self.remember(&mut connected, edit, is_forgotten);
            let is_within = self.places.ground == Ground::Within;
            let Some(pattern) = pattern_of(site.path()).filter(|_| is_within) else {
                continue;
            };
            if self.wish.shared {
                connected.exclude(edit.path, None);
                dropped.insert(pattern);
            } else if edit.present.is_none() {
                connected.exclude(edit.path, Some(pattern.clone()));
                added.insert(pattern);
                hidden.push(site.path().clone());
            }
        }
        let agents = self.wish.agents.iter().map(Agent::to_string);
        connected.agents.extend(agents);
        connected.save(&self.workspace.scratch())?;
        if !added.is_empty() || !dropped.is_empty() {
            self.exclude(&mut connected, &added, &dropped)?;
        }
        if self.write() == Written::InPart {
            let unwritten = self.take_back(&mut connected, &before)?;
            hidden.retain(|path| !unwritten.contains(path));
        }
        self.in_sight(&hidden)
    }

    /// Writes what is planned. The plan names the rest.
    fn write(&mut self) -> Written {
        let edits = self.sites().filter(|(edit, _)| !edit.is_idle());
        let failed = edits.filter_map(|(edit, site)| {
            let done = match &edit.wanted {
                Some(wanted) => site.write(wanted, edit.kind),
                None => site.remove(),
            };
            Some((edit.path, done.err()?))
        });
        let failed: Vec<_> = failed.collect();
        for (path, error) in &failed {
            self.plan.give_up(path, error);
        }
        match failed.is_empty() {
            true => Written::Whole,
            false => Written::InPart,
        }
    }

    /// Remembers of the files that could not be written what was remembered before. Returns those that are not there.
    fn take_back(&self, connected: &mut Connected, before: &Connected) -> Result<Vec<RepoPath>> {
        let ground = self.places.ground;
        let failed = self.plan.left.iter().filter(|left| left.is_failure);
        let failed: BTreeSet<&str> = failed.map(|left| left.path).collect();
        let mut unwritten = Vec::new();
        for path in failed {
            connected.remember_again(path, ground, before);
            let site = self.places.site(path).ok();
            let new = site.filter(|site| site.content.is_none() && ground == Ground::Within);
            unwritten.extend(new.map(|site| site.path().clone()));
        }
        let has_part = |agent: &Agent| {
            let mut edits = self.plan.edits.iter();
            edits.any(|edit| edit.parts.iter().any(|(part, _)| part == agent))
        };
        for agent in self.wish.agents.iter().filter(|agent| !has_part(agent)) {
            let name = agent.to_string();
            if !before.agents.contains(&name) {
                connected.agents.remove(&name);
            }
        }
        let dropped: BTreeSet<String> = unwritten.iter().filter_map(pattern_of).collect();
        match dropped.is_empty() {
            true => connected.save(&self.workspace.scratch())?,
            false => self.exclude(connected, &BTreeSet::new(), &dropped)?,
        }
        Ok(unwritten)
    }

    /// Those of these paths that git sees all the same: a `.gitignore` that un-ignores them counts more than `info/exclude`.
    fn in_sight(&self, hidden: &[RepoPath]) -> Result<Vec<RepoPath>> {
        let git = &self.workspace.git;
        let mut paths = without_detours(&git.work_tree, hidden);
        let ignored = git.ask_ignored(&paths)?.ignored()?;
        paths.retain(|path| !ignored.contains(path));
        Ok(paths)
    }

    /// The planned files, with where they are.
    fn sites(&self) -> impl Iterator<Item = (&Edit, &Site)> {
        let edits = self.plan.edits.iter();
        edits.filter_map(|edit| Some((edit, self.places.site(edit.path).ok()?)))
    }

    /// Were agents connected here, and is what was remembered of it lost?
    fn is_forgotten(&self, connected: &Connected) -> bool {
        let excludes = Excludes::read(&self.workspace.git);
        connected.agents.is_empty()
            && excludes.is_ok_and(|excludes| excludes.paths().next().is_some())
    }

    /// Remembers what a file would be without edio's part.
    fn remember(&self, connected: &mut Connected, edit: &Edit, is_forgotten: bool) {
        let Some(wanted) = &edit.wanted else {
            return;
        };
        let ground = self.places.ground;
        let known = connected.file(edit.path, ground);
        let before = match (edit.present.as_deref(), known) {
            _ if edit.is_idle() && known.is_some() => return,
            // What has all of it already got it from the person, and keeps it.
            (Some(_), _) if edit.is_idle() && (is_forgotten || ground == Ground::From) => return,
            (None, _) => None,
            (Some(present), None) if !is_forgotten => Some(present.to_vec()),
            (Some(present), Some(known)) if known.is_untouched(present) => known.before(),
            (Some(present), known) => {
                let before = known.map(Remembered::text_before);
                Some(self.without_edio(edit, present, before.as_deref()))
            }
        };
        let folder = &self.places.folder;
        connected.remember(edit.path, ground, folder, before.as_deref(), wanted);
    }

    fn without_edio(&self, edit: &Edit, present: &[u8], before: Option<&[u8]>) -> Vec<u8> {
        let reach = self.wish.reach;
        let agents: Vec<_> = edit.parts.iter().map(|(agent, _)| *agent).collect();
        let files = files_of(&agents, reach, Scope::All).into_iter();
        let files = files.filter(|(_, file)| file.places().contains(&edit.path));
        files.fold(present.to_vec(), |rest, (_, file)| {
            let without = file.config.take_out(&rest, before);
            without.map_or(rest, |without| without.bytes)
        })
    }

    fn remove(&mut self, mut connected: Connected) -> Result<()> {
        let (ground, folder) = (self.places.ground, &self.places.folder);
        self.write();
        let mut dropped = BTreeSet::new();
        let given_up = self.files_given_up();
        connected.remove_folders(&given_up, ground, folder);
        for path in given_up {
            let site = self.places.site(path).ok();
            dropped.extend(site.and_then(|site| pattern_of(site.path())));
            connected.forget(path, ground);
        }
        for agent in &self.wish.agents {
            // What edio is not known to have written connects nobody.
            let mut left = self.plan.left.iter();
            let is_left = left.any(|left| {
                let is_its = left.part.is_some_and(|(other, _)| other == *agent);
                is_its && connected.file(left.path, ground).is_some()
            });
            if !is_left {
                connected.agents.remove(&agent.to_string());
            }
        }
        match ground {
            Ground::Within => self.exclude(&mut connected, &BTreeSet::new(), &dropped),
            Ground::From => connected.save(&self.workspace.scratch()),
        }
    }

    /// Takes out what the guard needs. The agents stay connected, and what is left in a file is edio's as before.
    fn remove_guard(&mut self, mut connected: Connected) -> Result<()> {
        let (ground, folder) = (self.places.ground, &self.places.folder);
        self.write();
        let mut dropped = BTreeSet::new();
        for (edit, site) in self.sites() {
            match &edit.wanted {
                Some(wanted) => {
                    // What the person has changed since edio wrote it is not edio's to take back as a whole.
                    let present = edit.present.as_deref().unwrap_or_default();
                    let known = connected.file(edit.path, ground);
                    let untouched = known.filter(|known| known.is_untouched(present));
                    let before = untouched.map(|known| known.before());
                    if let Some(before) = before {
                        connected.remember(edit.path, ground, folder, before.as_deref(), wanted);
                    }
                }
                None => {
                    dropped.extend(pattern_of(site.path()));
                    connected.forget(edit.path, ground);
                }
            }
        }
        connected.save(&self.workspace.scratch())?;
        match dropped.is_empty() {
            true => Ok(()),
            false => self.exclude(&mut connected, &BTreeSet::new(), &dropped),
        }
    }

    /// The files that have nothing of edio's any more, whoever took it out.
    fn files_given_up(&self) -> BTreeSet<&'static str> {
        let Wish { agents, reach, .. } = self.wish;
        let others = files_of(&all_but(agents), *reach, Scope::All);
        let is_kept = |path: &&'static str| {
            let is_left = self.plan.left.iter().any(|left| left.path == *path);
            let is_edited = self.plan.edits.iter().any(|edit| edit.path == *path);
            let is_there = !is_edited && self.places.content(path).is_some();
            let mut others = others.iter();
            is_left || is_there && others.any(|(_, file)| file.places().contains(path))
        };
        let files = files_of(agents, *reach, Scope::All);
        let paths = files.iter().flat_map(|(_, file)| file.places());
        paths.filter(|path| !is_kept(path)).collect()
    }

    /// Changes what is kept out of git's sight. Another worktree may do so at the same time.
    fn exclude(
        &self,
        connected: &mut Connected,
        added: &BTreeSet<String>,
        dropped: &BTreeSet<String>,
    ) -> Result<()> {
        const TRIES: usize = 20;
        let mut outcome = Ok(());
        for _ in 0..TRIES {
            let held = match Excludes::hold(&self.workspace.git) {
                Ok(held) => held,
                Err(error) => {
                    outcome = Err(error);
                    continue;
                }
            };
            let excludes = Excludes::read(&self.workspace.git).map_err(|barred| {
                Error::cannot("can't keep the new files out of git's sight")
                    .because(Error::cannot(format!("info/exclude: {barred}")))
                    .hint("edio init --shared leaves them in git's sight")
            })?;
            outcome = excludes.change(self.workspace, connected, added, dropped);
            drop(held);
            if outcome.is_ok() {
                break;
            }
        }
        outcome?;
        connected.save(&self.workspace.scratch())
    }
}
