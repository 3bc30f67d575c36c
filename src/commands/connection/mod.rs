//! The files that connect agents, as they are and as they are to be: what `init` writes, and what `doctor` looks at.

mod perform;
mod plan;
mod sights;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::agents::Agent;
use crate::agents::config::{Config, Standing};
use crate::agents::connection::{File, Instead, Reach, Trust, edio_md};
use crate::env;
use crate::error::{Error, Result};
use crate::history::connected::{Barred, Connected, Ground, Site};
use crate::history::git::RepoPath;
use crate::history::workspace::Workspace;

pub use self::plan::{Edit, Left, Plan, View, Wish};
pub use self::sights::{Sights, trust_in_short};

/// Where the files of agents are looked for, and what stands there.
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
        let files = files_of(&all(), reach, Scope::All);
        let paths: BTreeSet<_> = files.iter().flat_map(|(_, file)| file.places()).collect();
        let look = |path| (path, Site::look(&folder, path, ground));
        let sites: BTreeMap<_, _> = paths.into_iter().map(look).collect();
        let tracked = match reach {
            Reach::User => Vec::new(),
            Reach::Project => tracked(workspace, &sites)?,
        };
        Ok(Self {
            folder,
            ground,
            sites,
            tracked,
        })
    }

    /// The place at a path.
    ///
    /// # Errors
    ///
    /// It must not be written, or can't be.
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

    /// Has any file of an agent something of edio's in it? What other agents have in the same place tells nothing.
    pub fn knows(&self, agent: Agent, reach: Reach) -> bool {
        let others = files_of(&all_but(&[agent]), reach, Scope::Usual);
        let is_own = |file: &File, path: &str| {
            let mut others = others.iter();
            !others.any(|(_, other)| file.shares(other, path))
        };
        agent.files(reach).iter().any(|file| {
            let mut places = file.places().into_iter();
            places.any(|path| {
                is_own(file, path) && self.standing(path, &file.config) != Standing::Nothing
            })
        })
    }

    /// Which of its places a file takes, where files that git tracks stay as they are.
    pub fn chosen(&self, file: &File) -> &'static str {
        match file.instead {
            Instead::OfTracked(other) if self.is_tracked(file.path) => {
                self.whole(file).unwrap_or(other)
            }
            _ => self.chosen_as_shared(file),
        }
    }

    /// The same, where they may be changed, too.
    pub fn chosen_as_shared(&self, file: &File) -> &'static str {
        let there = match file.instead {
            Instead::WhereThere(other) if self.content(other).is_some() => other,
            _ => file.path,
        };
        self.whole(file).unwrap_or(there)
    }

    /// The first of its places in which all of it stands.
    fn whole(&self, file: &File) -> Option<&'static str> {
        let is_whole = |path: &&'static str| self.standing(path, &file.config) == Standing::Whole;
        file.places().into_iter().find(is_whole)
    }
}

/// The files that git tracks. Beside a store it is the repository that tells; where git does not trust that one, each file
/// that edio has not written may be tracked.
fn tracked(
    workspace: &Workspace,
    sites: &BTreeMap<&'static str, std::result::Result<Site, Barred>>,
) -> Result<Vec<RepoPath>> {
    let paths = || sites.values().flatten().map(|site| site.path().clone());
    let store = workspace.store.as_ref();
    let Some(store) = store.filter(|store| store.is_beside_repository()) else {
        return Ok(workspace.git.tracked(&paths().collect::<Vec<_>>())?);
    };
    if let Some(repository) = store.repository(workspace.git.trace.as_ref()) {
        return Ok(repository.tracked(&paths().collect::<Vec<_>>())?);
    }
    let connected = Connected::load(&workspace.scratch())?;
    let found = sites.iter().filter_map(|(path, site)| {
        let site = site.as_ref().ok().filter(|site| site.content.is_some())?;
        let is_known = connected.file(path, Ground::Within).is_some();
        (!is_known).then(|| site.path().clone())
    });
    Ok(found.collect())
}

fn home() -> Result<PathBuf> {
    env::home().ok_or_else(|| Error::cannot("there is no home folder: HOME is not set"))
}

/// All agents.
pub fn all() -> Vec<Agent> {
    Agent::ALL.map(|(agent, _)| agent).to_vec()
}

/// All agents but these.
pub fn all_but(agents: &[Agent]) -> Vec<Agent> {
    let others = all().into_iter();
    others.filter(|agent| !agents.contains(agent)).collect()
}

/// The agents that are connected where none are named: the most usual ones, and those that are found.
pub fn usual(workspace: &Workspace) -> Vec<Agent> {
    const MOST: [Agent; 4] = [Agent::Claude, Agent::Cursor, Agent::Gemini, Agent::Vscode];
    let wanted = |agent: &Agent| MOST.contains(agent) || is_found(*agent, workspace);
    all().into_iter().filter(wanted).collect()
}

/// Is an agent on this machine, or used in this project?
fn is_found(agent: Agent, workspace: &Workspace) -> bool {
    let mut project = agent.traces().project.iter();
    is_installed(agent) || project.any(|path| workspace.git.work_tree.join(path).exists())
}

/// Is an agent on this machine?
pub fn is_installed(agent: Agent) -> bool {
    let traces = agent.traces();
    let was_used = env::home().is_some_and(|home| home.join(traces.home).exists());
    was_used || env::find_program(traces.program).is_some()
}

/// What the agent's own files say of trust.
pub fn trust_of(agent: Agent, workspace: &Workspace) -> Vec<Trust> {
    let top = &workspace.git.work_tree;
    let read = |reach: Reach, path: &str| -> Option<Vec<u8>> {
        let folder = match reach {
            Reach::Project => top.clone(),
            Reach::User => env::home()?,
        };
        fs::read(folder.join(path)).ok()
    };
    agent.trust(&top.to_string_lossy(), &read)
}

/// Which files of an agent are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Those that connect it.
    Usual,
    /// The skill, too.
    WithSkill,
    /// What the guard needs beside them, and only that.
    Guard,
    /// All that edio ever writes.
    All,
}

/// The files of these agents, each with its agent. `EDIO.md` is no agent's.
pub fn files_of(agents: &[Agent], reach: Reach, scope: Scope) -> Vec<(Option<Agent>, File)> {
    let of = |agent: &Agent| {
        let agent = *agent;
        let mut files = Vec::new();
        if scope != Scope::Guard {
            files.extend(agent.files(reach));
        }
        if matches!(scope, Scope::WithSkill | Scope::All) {
            files.extend(agent.skill());
        }
        if matches!(scope, Scope::Guard | Scope::All) {
            files.extend(agent.guard(reach).unwrap_or_default());
        }
        files.into_iter().map(move |file| (Some(agent), file))
    };
    let has_shared = reach == Reach::Project && scope != Scope::Guard && !agents.is_empty();
    let shared = has_shared.then(|| (None, edio_md()));
    shared
        .into_iter()
        .chain(agents.iter().flat_map(of))
        .collect()
}
