//! `edio init --store`: a private store is made, fetched back, or put away.

use crate::clock;
use crate::commands::{Context, gc};
use crate::error::{Error, Result};
use crate::history::git::git_bytes;
use crate::history::limits::TooMuch;
use crate::history::store::{Draft, Ground, Store, Stores, ground, limit};
use crate::history::workspace::{Locked, Place, Workspace};
use crate::term::{Term, text};

/// What became of the store, or would.
pub struct Keeping {
    what: What,
    /// Where the store is, or would be.
    store: Store,
    /// It is thrown away in the end: nothing was to change.
    _draft: Option<Draft>,
}

enum What {
    /// It was there.
    Stays,
    /// It had been put away.
    FetchedBack,
    /// It was made.
    Made(Unheld),
}

/// What a new store does not hold.
struct Unheld {
    /// Folders of these names.
    names: Vec<&'static str>,
    /// What the repository beside it may track of them is not known.
    is_blind: bool,
}

impl Unheld {
    fn of(draft: &Draft) -> Self {
        Self {
            names: draft.ignored.clone(),
            is_blind: draft.is_blind,
        }
    }
}

/// Makes the store, or finds it.
///
/// # Errors
///
/// The folder can't have one, or it can't be written.
pub fn make(context: &Context, too_much: TooMuch) -> Result<Keeping> {
    let place = &context.place;
    let (what, store) = match ground(place)? {
        Ground::Taken(store) => {
            if too_much == TooMuch::Take {
                limit(&Workspace::open(place)?, too_much)?;
            }
            (What::Stays, store)
        }
        Ground::Away(store) => {
            store.fetch_back()?;
            (What::FetchedBack, store)
        }
        Ground::Free(store) => {
            let draft = draft(place, store, too_much)?;
            (What::Made(Unheld::of(&draft)), draft.keep()?)
        }
    };
    Ok(Keeping {
        what,
        store,
        _draft: None,
    })
}

/// Looks what making the store would come to. Until the end of it, the context stands on that store.
///
/// # Errors
///
/// As for [`make`].
pub fn try_out(context: &mut Context, too_much: TooMuch) -> Result<Keeping> {
    let place = &mut context.place;
    let (what, store, draft) = match ground(place)? {
        Ground::Taken(store) => (What::Stays, store, None),
        Ground::Away(store) => {
            place.stores = Stores::Only(store.away());
            (What::FetchedBack, store, None)
        }
        Ground::Free(store) => {
            let draft = draft(place, store.clone(), too_much)?;
            place.stores = Stores::Only(draft.store());
            (What::Made(Unheld::of(&draft)), store, Some(draft))
        }
    };
    Ok(Keeping {
        what,
        store,
        _draft: draft,
    })
}

fn draft(place: &Place, store: Store, too_much: TooMuch) -> Result<Draft> {
    let draft = Draft::begin(store, place.trace.as_ref())?;
    let there = Place {
        stores: Stores::Only(draft.store()),
        ..place.clone()
    };
    limit(&Workspace::open(&there)?, too_much)?;
    Ok(draft)
}

impl Keeping {
    /// Where the store is, or would be.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Says where the turns are.
    pub fn tell(&self, term: &mut Term) {
        tell_where(&self.store, term);
        match &self.what {
            What::Stays => {}
            What::FetchedBack => term.told("  it had been put away, and has the turns from before"),
            What::Made(unheld) => {
                let names = unheld.names.join(", ");
                term.told(format!("  not held, wherever they are: {names}"));
                let excludes = text::plain(&git_bytes(&self.store.excludes()));
                term.told(format!("  to choose otherwise: {excludes}"));
                if unheld.is_blind {
                    term.warn(
                        "git does not trust the owner of this repository: what it tracks in such \
                         folders, or although a rule ignores it, is not held",
                    );
                }
            }
        }
    }
}

/// Says where the turns are.
pub fn tell_where(store: &Store, term: &mut Term) {
    let home = text::plain(&git_bytes(&store.home));
    term.told(format!("the turns are in a private store: {home}"));
}

/// The store that a workspace is kept in.
///
/// # Errors
///
/// It is kept in a repository.
pub fn of(workspace: &Workspace) -> Result<&Store> {
    workspace.store.as_ref().ok_or_else(|| {
        Error::cannot("there is no store here: the turns are in the repository")
            .hint("take out what init has put in: edio init --remove")
    })
}

/// Puts the store away, and says where it is now.
///
/// # Errors
///
/// The folder of the stores can't be written.
pub fn put_away(context: &mut Context, workspace: &Locked) -> Result<()> {
    let away = of(workspace)?.put_away(workspace, clock::now())?;
    let home = text::plain(&git_bytes(&away.home));
    let days = gc::days_kept(workspace)?;
    let term = &mut context.term;
    term.told(format!("the store is put away, with all turns: {home}"));
    term.told(format!(
        "  edio init --store fetches it back; edio gc removes it after {days} days"
    ));
    Ok(())
}
