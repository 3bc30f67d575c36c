//! The files that connect agents, as they are and as they are to be: what `init` writes, and what `doctor` looks at.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use bstr::ByteSlice;

use crate::agents::Agent;
use crate::agents::config::{Config, Rest, Standing};
use crate::agents::connection::{File, Instead, Purpose, Reach, edio_md};
use crate::env;
use crate::error::{Error, Result};
use crate::history::connected::{Barred, Connected, Excludes, Ground, Site, pattern_of};
use crate::history::git::RepoPath;
use crate::history::workspace::{Locked, Workspace};

/// Where the files of agents are looked for.
pub struct Places {
    folder: PathBuf,
    ground: Ground,
    sites: BTreeMap<&'static str, std::result::Result<Site, Barred>>,
    tracked: Vec<RepoPath>,
}

impl Places {
    /// Looks at all places of the files of all agents.
    ///
    /// # Errors
    ///
    /// There is no home folder, or git failed.
    pub fn look(workspace: &Workspace, reach: Reach) -> Result<Self> {
        let (folder, ground) = match reach {
            Reach::Project => (workspace.git.work_tree.clone(), Ground::Within),
            Reach::User => (home()?, Ground::From),
        };
        let files = files_of(&all(), reach);
        let paths: BTreeSet<_> = files.iter().flat_map(|(_, file)| file.places()).collect();
        let look = |path| (path, Site::look(&folder, path, ground));
        let sites: BTreeMap<_, _> = paths.into_iter().map(look).collect();
        let tracked = match reach {
            Reach::User => Vec::new(),
            Reach::Project => {
                let found = sites.values().flatten().map(|site| site.path().clone());
                workspace.git.tracked(&found.collect::<Vec<_>>())?
            }
        };
        Ok(Self {
            folder,
            ground,
            sites,
            tracked,
        })
    }

    /// The place at a path.
    pub fn site(&self, path: &str) -> std::result::Result<&Site, &Barred> {
        match self.sites.get(path) {
            Some(site) => site.as_ref(),
            None => Err(&Barred::LeadsNowhere),
        }
    }

    /// Does git track the file at a path?
    pub fn is_tracked(&self, path: &str) -> bool {
        let site = self.site(path).ok();
        site.is_some_and(|site| self.tracked.contains(site.path()))
    }

    fn content(&self, path: &str) -> Option<&[u8]> {
        self.site(path).ok()?.content.as_deref()
    }

    fn standing(&self, path: &str, config: &Config) -> Standing {
        let content = self.content(path);
        content
            .and_then(|content| config.standing(content).ok())
            .unwrap_or(Standing::Nothing)
    }

    /// Has any file of an agent something of edio's in it?
    pub fn knows(&self, agent: Agent, reach: Reach) -> bool {
        agent.files(reach).iter().any(|file| {
            let mut places = file.places().into_iter();
            places.any(|path| self.standing(path, &file.config) != Standing::Nothing)
        })
    }

    /// Which of its places a file takes.
    pub fn chosen(&self, file: &File, may_change_tracked: bool) -> &'static str {
        let is_whole = |path: &&'static str| self.standing(path, &file.config) == Standing::Whole;
        if let Some(there) = file.places().into_iter().find(is_whole) {
            return there;
        }
        match file.instead {
            Instead::OfTracked(other) if self.is_tracked(file.path) && !may_change_tracked => other,
            Instead::WhereThere(other) if self.content(other).is_some() => other,
            _ => file.path,
        }
    }
}

fn home() -> Result<PathBuf> {
    env::home().ok_or_else(|| Error::cannot("there is no home folder: HOME is not set"))
}

/// All agents.
pub fn all() -> Vec<Agent> {
    Agent::ALL.map(|(agent, _)| agent).to_vec()
}

/// The agents that are connected where none are named.
pub fn usual(workspace: &Workspace) -> Vec<Agent> {
    let wanted = |agent: &Agent| *agent != Agent::Codex || is_found(*agent, workspace);
    all().into_iter().filter(wanted).collect()
}

/// Is an agent on this machine, or in the project?
fn is_found(agent: Agent, workspace: &Workspace) -> bool {
    let (folder, _) = agent.traces();
    is_installed(agent) || workspace.git.work_tree.join(folder).is_dir()
}

/// Is an agent on this machine?
pub fn is_installed(agent: Agent) -> bool {
    let (folder, program) = agent.traces();
    let was_used = env::home().is_some_and(|home| home.join(folder).is_dir());
    was_used || env::find_program(program).is_some()
}

/// The files of these agents, each with its agent. `EDIO.md` is no agent's.
pub fn files_of(agents: &[Agent], reach: Reach) -> Vec<(Option<Agent>, File)> {
    let of = |agent: &Agent| {
        let agent = *agent;
        let files = agent.files(reach).into_iter();
        files.map(move |file| (Some(agent), file))
    };
    let shared = (reach == Reach::Project && !agents.is_empty()).then(|| (None, edio_md()));
    shared
        .into_iter()
        .chain(agents.iter().flat_map(of))
        .collect()
}

/// What is to happen to one file.
pub struct Edit {
    /// Its name, from the top of the work tree or from the home folder.
    pub path: &'static str,
    /// The agents whose it is, and what it is for.
    pub parts: Vec<(Agent, Purpose)>,
    /// What it has; `None` where there is no file.
    pub present: Option<Vec<u8>>,
    /// What it is to have; `None` where there is to be no file.
    pub wanted: Option<Vec<u8>>,
    /// Some part of it is in its place, or will be.
    is_in_place: bool,
}

impl Edit {
    /// Is there nothing to do?
    pub fn is_idle(&self) -> bool {
        self.present == self.wanted
    }

    /// The word for what is done.
    pub fn action(&self) -> &'static str {
        match (&self.present, &self.wanted) {
            (present, wanted) if present == wanted => "unchanged",
            (None, _) => "created",
            (_, None) => "removed",
            _ => "changed",
        }
    }
}

/// A part that is left to the person.
pub struct Left {
    /// Whose it is, and for what.
    pub part: Option<(Agent, Purpose)>,
    /// The file.
    pub path: &'static str,
    /// Why.
    pub why: String,
    /// What to add by hand, or nothing.
    pub add: String,
}

/// What is to happen.
#[derive(Default)]
pub struct Plan {
    /// To which files.
    pub edits: Vec<Edit>,
    /// What is left to the person.
    pub left: Vec<Left>,
    /// Files that their agent ignores, and why.
    pub ignored: Vec<(&'static str, String)>,
    /// Connect, or the way back?
    is_removal: bool,
}

/// What is asked of a plan.
pub struct Wish {
    /// For these agents.
    pub agents: Vec<Agent>,
    /// In whose files.
    pub reach: Reach,
    /// Files that git tracks may be changed, and new ones are to be seen by git.
    pub shared: bool,
}

impl Plan {
    /// What connects these agents.
    pub fn connect(places: &Places, connected: &Connected, wish: &Wish) -> Self {
        let mut plan = Self::default();
        for (agent, file) in files_of(&wish.agents, wish.reach) {
            let path = places.chosen(&file, wish.shared);
            let part = agent.map(|agent| (agent, file.purpose));
            let present = match places.site(path) {
                Ok(site) => site.content.clone(),
                Err(barred) => {
                    plan.leave(part, path, barred.to_string(), file.config.by_hand());
                    continue;
                }
            };
            let edit = plan.edit(path, present);
            let remembered = connected.file(path, places.ground);
            let is_ours = file.config.is_whole_file()
                && edit.present.as_deref().is_some_and(|present| {
                    remembered.is_some_and(|remembered| remembered.is_untouched(present))
                });
            let base = edit.wanted.as_deref().filter(|_| !is_ours);
            let put = file.config.put(base.unwrap_or_default());
            let is_new = edit.present.is_none();
            match put {
                Ok(put)
                    if edit.present.as_ref() != Some(&put)
                        && places.is_tracked(path)
                        && !wish.shared =>
                {
                    let why = "git tracks it (edio init --shared would change it)".to_owned();
                    plan.leave(part, path, why, file.config.by_hand());
                }
                Ok(put) => {
                    edit.wanted = Some(put);
                    edit.parts.extend(part);
                    edit.is_in_place = true;
                }
                Err(refusal) => plan.leave(part, path, refusal.to_string(), file.config.by_hand()),
            }
            if !is_new
                && let Some(ignored) = places.content(path).and_then(|c| file.config.ignored(c))
            {
                plan.ignore(path, ignored.to_string());
            }
        }
        plan.edits.retain(|edit| edit.is_in_place);
        plan
    }

    /// What takes the connection of these agents back.
    pub fn remove(
        places: &Places,
        connected: &Connected,
        excludes: Option<&Excludes>,
        wish: &Wish,
    ) -> Self {
        let mut plan = Self {
            is_removal: true,
            ..Self::default()
        };
        let others = all()
            .into_iter()
            .filter(|agent| !wish.agents.contains(agent));
        let is_last = !others
            .into_iter()
            .any(|agent| places.knows(agent, wish.reach));
        let files = files_of(&wish.agents, wish.reach).into_iter();
        for (agent, file) in files.filter(|(agent, _)| agent.is_some() || is_last) {
            let part = agent.map(|agent| (agent, file.purpose));
            for path in file.places() {
                let Some(present) = places.content(path) else {
                    continue;
                };
                let present = present.to_vec();
                let before = connected.file(path, places.ground);
                let was_made = match before {
                    Some(before) => before.before().is_none(),
                    None => places.site(path).is_ok_and(|site| {
                        let pattern = pattern_of(site.path()).unwrap_or_default();
                        file.config.is_whole_file()
                            || excludes.is_some_and(|excludes| excludes.has(&pattern))
                    }),
                };
                let edit = plan.edit(path, Some(present.clone()));
                let rest = match before.filter(|before| before.is_untouched(&present)) {
                    Some(before) => Ok(before.before()),
                    None => {
                        let rest = edit.wanted.as_deref().unwrap_or_default();
                        let before = before.and_then(|before| before.before());
                        let rest = file.config.take_out(rest, before.as_deref());
                        let left = |rest: Rest| (!rest.is_empty || !was_made).then_some(rest.bytes);
                        rest.map(left)
                    }
                };
                match rest {
                    Ok(rest) if rest.as_ref() == Some(&present) => {}
                    Ok(_) if places.is_tracked(path) && !wish.shared => {
                        let why =
                            "git tracks it: edio init --remove --shared takes it out".to_owned();
                        plan.leave(part, path, why, String::new());
                    }
                    Ok(rest) => {
                        edit.wanted = rest;
                        edit.parts.extend(part);
                    }
                    // It has nothing of edio's.
                    Err(_) if before.is_none() && present.find("edio").is_none() => {}
                    Err(refusal) => plan.leave(part, path, refusal.to_string(), String::new()),
                }
            }
        }
        plan.edits.retain(|edit| !edit.is_idle());
        plan
    }

    fn edit(&mut self, path: &'static str, present: Option<Vec<u8>>) -> &mut Edit {
        let at = self.edits.iter().position(|edit| edit.path == path);
        let at = at.unwrap_or_else(|| {
            self.edits.push(Edit {
                path,
                parts: Vec::new(),
                wanted: present.clone(),
                present,
                is_in_place: false,
            });
            self.edits.len() - 1
        });
        &mut self.edits[at]
    }

    fn leave(
        &mut self,
        part: Option<(Agent, Purpose)>,
        path: &'static str,
        why: String,
        add: String,
    ) {
        self.left.push(Left {
            part,
            path,
            why,
            add,
        });
    }

    fn ignore(&mut self, path: &'static str, why: String) {
        if !self.ignored.iter().any(|(known, _)| *known == path) {
            self.ignored.push((path, why));
        }
    }

    /// Does it: what is needed to take it back is written down before the first file is.
    ///
    /// # Errors
    ///
    /// Something can't be written. What was written until then can be taken back.
    pub fn carry_out(&self, workspace: &Locked, places: &Places, wish: &Wish) -> Result<()> {
        let mut connected = Connected::load(&workspace.scratch());
        match self.is_removal {
            false => self.write(workspace, places, wish, &mut connected),
            true => self.take_back(workspace, places, wish, &mut connected),
        }
    }

    fn write(
        &self,
        workspace: &Locked,
        places: &Places,
        wish: &Wish,
        connected: &mut Connected,
    ) -> Result<()> {
        let (mut added, mut dropped) = (BTreeSet::new(), BTreeSet::new());
        let is_forgotten = connected.agents.is_empty()
            && Excludes::read(&workspace.git)
                .is_ok_and(|excludes| excludes.paths().next().is_some());
        for edit in &self.edits {
            let Ok(site) = places.site(edit.path) else {
                continue;
            };
            if let (false, Some(wanted)) = (edit.is_idle(), &edit.wanted) {
                let before = self.without_edio(edit, places, connected, wish.reach, is_forgotten);
                connected.remember(edit.path, places.ground, site, before.as_deref(), wanted);
            }
            let is_known = connected.file(edit.path, places.ground).is_some();
            if let (Ground::Within, false, Some(found)) = (places.ground, is_known, &edit.present)
                && !is_forgotten
            {
                // The person has put it there: it is not taken out again.
                connected.remember(edit.path, places.ground, site, Some(found), found);
            }
            let pattern = pattern_of(site.path()).filter(|_| places.ground == Ground::Within);
            match (pattern, wish.shared) {
                (Some(pattern), true) => {
                    dropped.insert(pattern);
                    connected.exclude(edit.path, None);
                }
                (Some(pattern), false) if edit.present.is_none() => {
                    added.insert(pattern.clone());
                    connected.exclude(edit.path, Some(pattern));
                }
                _ => {}
            }
        }
        let agents = wish.agents.iter().map(Agent::to_string);
        connected.agents.extend(agents);
        connected.save(&workspace.scratch())?;
        if !added.is_empty() || !dropped.is_empty() {
            self.exclude(workspace, connected, added, &dropped)?;
        }
        for edit in self.edits.iter().filter(|edit| !edit.is_idle()) {
            if let (Ok(site), Some(wanted)) = (places.site(edit.path), &edit.wanted) {
                site.write(wanted)?;
            }
        }
        Ok(())
    }

    /// What a file would be without edio's part. `None` where there would be none.
    fn without_edio(
        &self,
        edit: &Edit,
        places: &Places,
        connected: &Connected,
        reach: Reach,
        is_forgotten: bool,
    ) -> Option<Vec<u8>> {
        let present = edit.present.as_deref()?;
        let remembered = connected.file(edit.path, places.ground);
        match remembered {
            None if !is_forgotten => return Some(present.to_vec()),
            Some(known) if known.is_untouched(present) => return known.before(),
            _ => {}
        }
        let before = remembered.and_then(|known| known.before());
        let files = edit.parts.iter().flat_map(|(agent, _)| agent.files(reach));
        let files = files.filter(|file| file.places().contains(&edit.path));
        let mut rest = present.to_vec();
        for file in files {
            if let Ok(without) = file.config.take_out(&rest, before.as_deref()) {
                rest = without.bytes;
            }
        }
        Some(rest)
    }

    fn take_back(
        &self,
        workspace: &Locked,
        places: &Places,
        wish: &Wish,
        connected: &mut Connected,
    ) -> Result<()> {
        for edit in &self.edits {
            let Ok(site) = places.site(edit.path) else {
                continue;
            };
            match &edit.wanted {
                Some(wanted) => site.write(wanted)?,
                None => {
                    site.remove()?;
                    connected.remove_folders(edit.path, places.ground, &places.folder, site);
                }
            }
        }
        let mut dropped = BTreeSet::new();
        let others = all()
            .into_iter()
            .filter(|agent| !wish.agents.contains(agent));
        let files = files_of(&wish.agents, wish.reach);
        let kept: Vec<_> = files_of(&others.collect::<Vec<_>>(), wish.reach);
        let is_kept = |path: &str| {
            let is_left = self.left.iter().any(|left| left.path == path);
            let is_there =
                self.edits.iter().all(|edit| edit.path != path) && places.content(path).is_some();
            let is_another = kept.iter().any(|(_, file)| file.places().contains(&path));
            is_left || is_another && is_there
        };
        for path in files.iter().flat_map(|(_, file)| file.places()) {
            if !is_kept(path) {
                dropped.extend(
                    places
                        .site(path)
                        .ok()
                        .and_then(|site| pattern_of(site.path())),
                );
                connected.forget(path, places.ground);
            }
        }
        let is_left = |name: &String| {
            let mut left = self.left.iter().filter_map(|left| left.part);
            left.any(|(agent, _)| agent.to_string() == *name)
        };
        let gone = wish.agents.iter().map(Agent::to_string);
        for name in gone.filter(|name| !is_left(name)) {
            connected.agents.remove(&name);
        }
        match places.ground {
            Ground::Within => self.exclude(workspace, connected, BTreeSet::new(), &dropped),
            Ground::From => connected.save(&workspace.scratch()),
        }
    }

    fn exclude(
        &self,
        workspace: &Locked,
        connected: &mut Connected,
        added: BTreeSet<String>,
        dropped: &BTreeSet<String>,
    ) -> Result<()> {
        let excludes = Excludes::read(&workspace.git).map_err(|barred| {
            Error::cannot("can't keep the new files out of git's sight")
                .because(Error::cannot(format!("info/exclude: {barred}")))
                .hint("edio init --shared leaves them in git's sight")
        })?;
        excludes.change(workspace, connected, added, dropped)?;
        connected.save(&workspace.scratch())
    }
}
