//! How agents stand here: the project's files, the person's own, and what is remembered of both.

use super::{Places, trust_of};
use crate::agents::Agent;
use crate::agents::config::Standing;
use crate::agents::connection::{Purpose, Reach, Trust};
use crate::env;
use crate::error::Result;
use crate::history::connected::Connected;
use crate::history::workspace::Workspace;

/// All places where agents may be connected, as they are now.
pub struct Sights {
    /// The project's and, where there is a home folder, the person's own.
    pub places: Vec<(Reach, Places)>,
    connected: Connected,
}

impl Sights {
    /// Looks at all of them.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn look(workspace: &Workspace) -> Result<Self> {
        let mut places = vec![(Reach::Project, Places::look(workspace, Reach::Project)?)];
        if env::home().is_some() {
            places.push((Reach::User, Places::look(workspace, Reach::User)?));
        }
        Ok(Self {
            places,
            connected: Connected::load(&workspace.scratch())?,
        })
    }

    /// Is an agent connected, here or for all projects?
    pub fn is_connected(&self, agent: Agent) -> bool {
        let mut places = self.places.iter();
        self.connected.agents.contains(&agent.to_string())
            || places.any(|(reach, places)| places.knows(agent, *reach))
    }

    /// How far an agent has what it needs for a purpose, in the project or at home: where more of it is. `None` where it
    /// knows of no such thing.
    pub fn standing(&self, agent: Agent, purpose: Purpose) -> Option<Standing> {
        let places = self.places.iter();
        let found = places.filter_map(|(reach, places)| {
            let files = agent.files(*reach).into_iter();
            let files = files.filter(|file| file.purpose == purpose);
            let stands = files.map(|file| {
                let path = places.chosen(&file);
                places.standing(path, &file.config)
            });
            stands.reduce(Standing::and)
        });
        found.reduce(|one, other| match (one, other) {
            (Standing::Whole, _) | (_, Standing::Whole) => Standing::Whole,
            (Standing::Half, _) | (_, Standing::Half) => Standing::Half,
            _ => Standing::Nothing,
        })
    }
}

/// What the agent's own files say of trust, in one word: the worst of it. `None` where they say nothing of it.
pub fn trust_in_short(agent: Agent, workspace: &Workspace) -> Option<&'static str> {
    let told = trust_of(agent, workspace);
    let has = |is: fn(&Trust) -> bool| told.iter().any(is);
    match () {
        () if has(|trust| matches!(trust, Trust::Missing(_))) => Some("missing"),
        () if has(|trust| matches!(trust, Trust::Unknown(_))) => Some("unknown"),
        () if told.is_empty() => None,
        () => Some("given"),
    }
}
