//! The patches that were read, as far as there is room for them.

use std::collections::BTreeMap;

use crate::tui::event::Pair;
use crate::tui::patch::{End, Patch};

/// The patches that are there.
#[derive(Debug, Default)]
pub(super) struct Patches {
    pub(super) known: BTreeMap<Pair, Known>,
    clock: u64,
}

#[derive(Debug)]
pub(super) struct Known {
    pub(super) patch: Patch,
    pub(super) failed: Option<String>,
    used: u64,
}

/// All patches together take no more memory than this, but for the one that is shown.
const MOST_BYTES: usize = 96 << 20;

impl Patches {
    pub(super) fn get(&self, pair: &Pair) -> Option<&Known> {
        self.known.get(pair)
    }

    pub(super) fn is_whole(&self, pair: &Pair) -> bool {
        let known = self.known.get(pair);
        known.is_some_and(|known| known.failed.is_some() || known.patch.end != End::Open)
    }

    pub(super) fn put(&mut self, pair: Pair, patch: Patch, failed: Option<String>) {
        self.clock += 1;
        let used = self.clock;
        let known = Known {
            patch,
            failed,
            used,
        };
        self.known.insert(pair, known);
    }

    pub(super) fn touch(&mut self, pair: &Pair) {
        self.clock += 1;
        if let Some(known) = self.known.get_mut(pair) {
            known.used = self.clock;
        }
    }

    /// Forgets what was not looked at for the longest time.
    pub(super) fn trim(&mut self) {
        let size = |known: &Known| known.patch.size();
        let mut total: usize = self.known.values().map(size).sum();
        while total > MOST_BYTES && self.known.len() > 1 {
            let oldest = self.known.iter().min_by_key(|(_, known)| known.used);
            let Some(pair) = oldest.map(|(pair, _)| pair.clone()) else {
                return;
            };
            total -= self.known.remove(&pair).map_or(0, |known| size(&known));
        }
    }
}
