//! What is to happen to each file, found out before anything is written.

use bstr::ByteSlice;

use super::{Places, Scope, all_but, files_of};
use crate::agents::Agent;
use crate::agents::config::{Refusal, Standing};
use crate::agents::connection::{File, Purpose, Reach};
use crate::error::Error;
use crate::history::connected::{Connected, Excludes, Kind, Remembered, pattern_of};

/// What is asked of a plan.
pub struct Wish {
    /// For these agents.
    pub agents: Vec<Agent>,
    /// In whose files.
    pub reach: Reach,
    /// Files that git tracks may be changed, and new ones are to be seen by git.
    pub shared: bool,
    /// With the skill, or without.
    pub scope: Scope,
}

/// Whose a part of a file is, and what for. `None` is what belongs to no agent.
pub type Part = Option<(Agent, Purpose)>;

/// What is to happen to one file.
pub struct Edit {
    /// Its name, from the top of the work tree or from the home folder.
    pub path: &'static str,
    /// The parts that are in their place, or will be.
    pub parts: Vec<(Agent, Purpose)>,
    /// What it has; `None` where there is no file.
    pub present: Option<Vec<u8>>,
    /// What it is to have; `None` where there is to be no file.
    pub wanted: Option<Vec<u8>>,
    /// Is it read, or run?
    pub kind: Kind,
    /// Does any part of it go as it is asked?
    is_done: bool,
}

impl Wish {
    /// A file's name, as it is told: `~/` is the home folder.
    pub fn told(&self, path: &str) -> String {
        match self.reach {
            Reach::Project => path.to_owned(),
            Reach::User => format!("~/{path}"),
        }
    }
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
    pub part: Part,
    /// The file.
    pub path: &'static str,
    /// Why.
    pub why: String,
    /// What to add by hand, or nothing.
    pub add: String,
    /// It was tried, and could not be done.
    pub is_failure: bool,
}

/// Connect, or the way back?
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Connect,
    Remove,
}

/// What a plan is made from.
pub struct View<'a> {
    /// What stands there.
    pub places: &'a Places,
    /// What is remembered of it.
    pub connected: &'a Connected,
    /// What is kept out of git's sight, where that can be read.
    pub excludes: Option<&'a Excludes>,
    /// What is asked.
    pub wish: &'a Wish,
}

impl View<'_> {
    fn remembered(&self, path: &str) -> Option<&Remembered> {
        self.connected.file(path, self.places.ground)
    }

    /// Is a file just as edio wrote it?
    fn is_untouched(&self, path: &str) -> bool {
        let present = self.places.content(path);
        let remembered = self.remembered(path);
        remembered.is_some_and(|known| present.is_some_and(|text| known.is_untouched(text)))
    }

    /// Did edio make the file? Where nothing is remembered, what is kept out of git's sight tells.
    fn was_made(&self, file: &File, path: &str) -> bool {
        if let Some(remembered) = self.remembered(path) {
            return remembered.before().is_none();
        }
        let site = self.places.site(path).ok();
        let pattern = site.and_then(|site| pattern_of(site.path()));
        let is_hidden = pattern
            .is_some_and(|pattern| self.excludes.is_some_and(|excludes| excludes.has(&pattern)));
        // A file that is all edio's is never empty.
        file.config.is_whole_file() && !self.has_nothing(file, path) || is_hidden
    }

    /// Has the file nothing of what it is to have?
    fn has_nothing(&self, file: &File, path: &str) -> bool {
        self.places.standing(path, &file.config) == Standing::Nothing
    }

    /// May the file be changed, as far as git is concerned?
    fn may_change(&self, path: &str) -> bool {
        self.wish.shared || !self.places.is_tracked(path)
    }
}

/// What is to happen.
pub struct Plan {
    /// To which files.
    pub edits: Vec<Edit>,
    /// What is left to the person.
    pub left: Vec<Left>,
    /// Files that their agent ignores, and why.
    pub ignored: Vec<(&'static str, String)>,
    pub(super) direction: Direction,
}

impl Plan {
    /// Nothing is to happen.
    pub fn empty() -> Self {
        Self::new(Direction::Connect)
    }

    fn new(direction: Direction) -> Self {
        Self {
            edits: Vec::new(),
            left: Vec::new(),
            ignored: Vec::new(),
            direction,
        }
    }

    /// What connects the agents.
    pub fn connect(view: &View<'_>) -> Self {
        let mut plan = Self::new(Direction::Connect);
        for (agent, file) in files_of(&view.wish.agents, view.wish.reach, view.wish.scope) {
            let part = agent.map(|agent| (agent, file.purpose));
            let path = match view.wish.shared {
                true => view.places.chosen_as_shared(&file),
                false => view.places.chosen(&file),
            };
            if let Err(why) = plan.put(view, part, &file, path) {
                plan.leave(part, path, why, file.config.by_hand());
            }
            let present = view.places.content(path);
            let ignored = present.and_then(|text| file.config.ignored(text));
            plan.ignore(path, ignored);
        }
        plan.edits.retain(|edit| edit.is_done);
        plan
    }

    /// Puts a part into its file, or says why that can't be.
    fn put(
        &mut self,
        view: &View<'_>,
        part: Part,
        file: &File,
        path: &'static str,
    ) -> Result<(), String> {
        let site = view.places.site(path).map_err(ToString::to_string)?;
        let edit = self.edit(path, site.content.as_deref());
        if file.config.is_program() && edit.present.is_some() && view.has_nothing(file, path) {
            return Err("an empty file stands there".to_owned());
        }
        // What an older edio wrote, and nobody has touched since, is written anew.
        let is_old = file.config.is_whole_file() && view.is_untouched(path);
        let base = edit.wanted.as_deref().unwrap_or_default();
        let put = match file.config.put(base) {
            Err(_) if is_old => file.config.put(b""),
            put => put,
        };
        let put = put.map_err(|refusal| refusal.to_string())?;
        if edit.present.as_ref() != Some(&put) && !view.may_change(path) {
            let how = match view.wish.scope {
                Scope::Guard => "edio guard on --shared",
                _ => "edio init --shared",
            };
            return Err(format!("git tracks it ({how} would change it)"));
        }
        edit.wanted = Some(put);
        edit.parts.extend(part);
        if file.config.is_program() {
            edit.kind = Kind::Program;
        }
        edit.is_done = true;
        Ok(())
    }

    /// What takes the connection of the agents back.
    pub fn remove(view: &View<'_>) -> Self {
        let (agents, reach) = (&view.wish.agents, view.wish.reach);
        let mut plan = Self::new(Direction::Remove);
        let others = all_but(agents).into_iter();
        let others: Vec<_> = others
            .filter(|agent| view.places.knows(*agent, reach))
            .collect();
        // `EDIO.md` goes with the last of them.
        let kept = files_of(&others, reach, Scope::All);
        let is_kept =
            |file: &File, path: &str| kept.iter().any(|(_, kept)| file.shares(kept, path));
        // What takes the guard out leaves the rest.
        let scope = match view.wish.scope {
            Scope::Guard => Scope::Guard,
            _ => Scope::All,
        };
        for (agent, file) in files_of(agents, reach, scope) {
            let part = agent.map(|agent| (agent, file.purpose));
            let places = file.places().into_iter();
            for path in places.filter(|path| !is_kept(&file, path)) {
                if let Err(why) = plan.take(view, part, &file, path) {
                    plan.leave(part, path, why, String::new());
                }
            }
        }
        plan.edits.retain(|edit| !edit.is_idle());
        plan
    }

    /// Takes a part out of a file, or says why that can't be.
    fn take(
        &mut self,
        view: &View<'_>,
        part: Part,
        file: &File,
        path: &'static str,
    ) -> Result<(), String> {
        let Some(present) = view.places.content(path) else {
            return Ok(());
        };
        let remembered = view.remembered(path);
        let edit = self.edit(path, Some(present));
        let is_all = view.wish.scope != Scope::Guard;
        let mut left = None;
        let rest = match is_all && view.is_untouched(path) {
            true => remembered.and_then(Remembered::before),
            false => {
                let before = remembered.map(Remembered::text_before);
                let text = edit.wanted.as_deref().unwrap_or_default();
                match file.config.take_out(text, before.as_deref()) {
                    Ok(rest) if rest.is_empty && view.was_made(file, path) => None,
                    Ok(rest) => {
                        left = rest.left;
                        Some(rest.bytes)
                    }
                    // It can't be read, and has nothing of edio's.
                    Err(_) if remembered.is_none() && present.find("edio").is_none() => {
                        return Ok(());
                    }
                    Err(refusal) => return Err(refusal.to_string()),
                }
            }
        };
        let left = left.map(|left| left.to_string());
        if rest.as_deref() == Some(present) {
            return left.map_or(Ok(()), Err);
        }
        if !view.may_change(path) {
            let how = match view.wish.scope {
                Scope::Guard => "edio guard off --shared",
                _ => "edio init --remove --shared",
            };
            return Err(format!("git tracks it: {how} takes it out"));
        }
        edit.wanted = rest;
        edit.parts.extend(part);
        left.map_or(Ok(()), Err)
    }

    fn edit(&mut self, path: &'static str, present: Option<&[u8]>) -> &mut Edit {
        let at = self.edits.iter().position(|edit| edit.path == path);
        let at = at.unwrap_or_else(|| {
            self.edits.push(Edit {
                path,
                parts: Vec::new(),
                present: present.map(<[u8]>::to_vec),
                wanted: present.map(<[u8]>::to_vec),
                kind: Kind::Text,
                is_done: false,
            });
            self.edits.len() - 1
        });
        &mut self.edits[at]
    }

    fn leave(&mut self, part: Part, path: &'static str, why: String, add: String) {
        self.left.push(Left {
            part,
            path,
            why,
            add,
            is_failure: false,
        });
    }

    /// Leaves a file that can't be written as it is: for each agent that has a part in it.
    pub(super) fn give_up(&mut self, path: &'static str, error: &Error) {
        let Some(at) = self.edits.iter().position(|edit| edit.path == path) else {
            return;
        };
        let parts = self.edits.remove(at).parts.into_iter().map(Some);
        let mut parts: Vec<Part> = parts.collect();
        parts.dedup_by_key(|part| part.map(|(agent, _)| agent));
        if parts.is_empty() {
            parts.push(None);
        }
        let why = [error.to_string()].into_iter().chain(error.causes());
        let why = why.collect::<Vec<_>>().join(": ");
        self.left.extend(parts.into_iter().map(|part| Left {
            part,
            path,
            why: why.clone(),
            add: String::new(),
            is_failure: true,
        }));
    }

    /// Was there a file that could not be written?
    pub fn has_failed(&self) -> bool {
        self.left.iter().any(|left| left.is_failure)
    }

    fn ignore(&mut self, path: &'static str, why: Option<Refusal>) {
        let is_known = self.ignored.iter().any(|(known, _)| *known == path);
        let why = why.filter(|_| !is_known);
        self.ignored.extend(why.map(|why| (path, why.to_string())));
    }
}
