//! Which turn was the first to fail? A binary search along a line of turns, which asks ahead where it may ask several
//! questions at a time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::error::{Error, Result};

use super::session::Session;
use super::turn::{Kind, Turn};
use super::workspace::Workspace;

/// Which snapshots are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// The numbered turns.
    Turns,
    /// The steps inside them, too.
    Steps,
}

/// The snapshots from one that is good to one that is bad, both included, the oldest first.
///
/// # Errors
///
/// The first is not on the line to the second, or git failed.
pub fn line(
    workspace: &Workspace,
    session: &Session,
    good: &Turn,
    bad: &Turn,
    grain: Grain,
) -> Result<Vec<Turn>> {
    if good.commit == bad.commit {
        let number = good.number();
        return Err(
            Error::cannot(format!("turn {number} can't be good and bad at once"))
                .hint("name two turns: edio bisect --good TURN --bad TURN -- CMD"),
        );
    }
    let mut line = vec![bad.clone()];
    let mut last = bad.clone();
    for turn in session.snapshots_before(workspace, bad) {
        let turn = turn?;
        last.clone_from(&turn);
        let is_good = turn.commit == good.commit;
        if is_good || turn.note.kind != Kind::Step || grain == Grain::Steps {
            line.push(turn);
        }
        if is_good {
            line.reverse();
            return Ok(line);
        }
    }
    if last.note.kind != Kind::Baseline {
        return Err(session.lost_before(&last));
    }
    let (good, bad) = (good.number(), bad.number());
    Err(
        Error::cannot(format!("turn {bad} did not grow out of turn {good}"))
            .hint("which turn grew out of which: edio log --graph"),
    )
}

/// What came of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It succeeds there.
    Good,
    /// It fails there.
    Bad,
    /// It can't be told there.
    Skip,
    /// It does not run as it should: whatever comes of others, nothing follows from it.
    Broken,
}

/// A search along a line, of which the first is good and the last is bad.
#[derive(Clone, Debug)]
pub struct Search {
    last: usize,
    verdicts: BTreeMap<usize, Verdict>,
}

/// How far a search has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Here is to be looked next. The first of these it needs; the others it may need.
    Look(Vec<usize>),
    /// This is the first bad one.
    Found(usize),
    /// It is one of these: all but the last were skipped.
    Among(Vec<usize>),
    /// It came to one where it does not run as it should.
    Broken(usize),
}

/// What is known at some point: all up to `good` are good, all from `bad` on are bad.
#[derive(Clone)]
struct Known {
    good: usize,
    bad: usize,
    skipped: BTreeSet<usize>,
}

impl Known {
    /// The nearest to the middle that was not skipped.
    fn next(&self) -> Option<usize> {
        let middle = self.good + (self.bad - self.good) / 2;
        let open = (self.good + 1..self.bad).filter(|at| !self.skipped.contains(at));
        open.min_by_key(|at| (at.abs_diff(middle), *at))
    }

    fn with(mut self, at: usize, verdict: Verdict) -> Self {
        match verdict {
            Verdict::Good => self.good = at,
            Verdict::Bad => self.bad = at,
            Verdict::Skip | Verdict::Broken => drop(self.skipped.insert(at)),
        }
        self
    }
}

impl Search {
    /// A search along so many, two at least.
    pub fn along(count: usize) -> Self {
        Self {
            last: count.saturating_sub(1).max(1),
            verdicts: BTreeMap::new(),
        }
    }

    /// Notes what came of a probe.
    pub fn note(&mut self, at: usize, verdict: Verdict) {
        self.verdicts.insert(at, verdict);
    }

    /// What was skipped, of all that was asked.
    pub fn skipped(&self) -> impl Iterator<Item = usize> + '_ {
        let skipped = self.verdicts.iter();
        skipped
            .filter(|(_, verdict)| **verdict == Verdict::Skip)
            .map(|(at, _)| *at)
    }

    /// How far it has come, where so many can be looked at at once.
    ///
    /// The way is the same however many those are: those that are looked at ahead are the ones that it would come to next,
    /// whatever comes of the first. So the answer is the same, too, also where what fails once does not fail ever after.
    pub fn progress(&self, at_once: usize) -> Progress {
        let mut known = Known {
            good: 0,
            bad: self.last,
            skipped: BTreeSet::new(),
        };
        while let Some(at) = known.next() {
            match self.verdicts.get(&at) {
                None => return Progress::Look(self.ahead(known, at_once)),
                Some(Verdict::Broken) => return Progress::Broken(at),
                Some(verdict) => known = known.with(at, *verdict),
            }
        }
        match known.bad - known.good {
            1 => Progress::Found(known.bad),
            _ => Progress::Among((known.good + 1..=known.bad).collect()),
        }
    }

    /// Those that are not looked at yet, among what may be asked from here on, the nearest questions first.
    fn ahead(&self, from: Known, at_once: usize) -> Vec<usize> {
        let mut wanted = Vec::new();
        let mut ways = VecDeque::from([from]);
        while let Some(known) = ways.pop_front().filter(|_| wanted.len() < at_once.max(1)) {
            let Some(at) = known.next() else { continue };
            match self.verdicts.get(&at) {
                Some(verdict) => ways.push_front(known.with(at, *verdict)),
                None => {
                    if !wanted.contains(&at) {
                        wanted.push(at);
                    }
                    ways.push_back(known.clone().with(at, Verdict::Bad));
                    ways.push_back(known.with(at, Verdict::Good));
                }
            }
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Searches to the end. Returns what came of it, and in how many rounds.
    fn search(verdicts: &[Verdict], at_once: usize) -> (Progress, usize) {
        let mut search = Search::along(verdicts.len());
        for round in 0.. {
            match search.progress(at_once) {
                Progress::Look(wanted) => {
                    assert!(!wanted.is_empty() && wanted.len() <= at_once);
                    for at in wanted {
                        assert!(at > 0 && at + 1 < verdicts.len());
                        assert!(!search.verdicts.contains_key(&at), "asked twice");
                        search.note(at, verdicts[at]);
                    }
                }
                end => return (end, round),
            }
        }
        unreachable!()
    }

    fn verdict() -> impl Strategy<Value = Verdict> {
        prop_oneof![
            6 => Just(Verdict::Good),
            6 => Just(Verdict::Bad),
            3 => Just(Verdict::Skip),
            1 => Just(Verdict::Broken),
        ]
    }

    proptest! {
        #[test]
        fn several_at_once_come_to_the_same(
            verdicts in prop::collection::vec(verdict(), 2..40),
            at_once in 2_usize..9,
        ) {
            prop_assert_eq!(search(&verdicts, at_once).0, search(&verdicts, 1).0);
        }

        #[test]
        fn the_first_that_fails_is_found(
            count in 2_usize..60,
            first in any::<prop::sample::Index>(),
            skips in prop::collection::btree_set(0_usize..60, 0..20),
            at_once in 1_usize..9,
        ) {
            let first = 1 + first.index(count - 1);
            let is_skipped = |at: usize| at > 0 && at + 1 < count && skips.contains(&at);
            let verdicts: Vec<Verdict> = (0..count)
                .map(|at| match (is_skipped(at), at < first) {
                    (true, _) => Verdict::Skip,
                    (false, true) => Verdict::Good,
                    (false, false) => Verdict::Bad,
                })
                .collect();
            let bad = (first..count).find(|at| !is_skipped(*at)).unwrap();
            let good = (0..first).rev().find(|at| !is_skipped(*at)).unwrap();
            let expected = match bad - good {
                1 => Progress::Found(bad),
                _ => Progress::Among((good + 1..=bad).collect()),
            };
            prop_assert_eq!(search(&verdicts, at_once).0, expected);
        }
    }

    #[test]
    fn a_long_line_takes_few_rounds_and_fewer_with_several_at_once() {
        let verdicts: Vec<Verdict> = (0..1025)
            .map(|at| match at < 700 {
                true => Verdict::Good,
                false => Verdict::Bad,
            })
            .collect();
        assert_eq!(search(&verdicts, 1), (Progress::Found(700), 10));
        assert_eq!(search(&verdicts, 3), (Progress::Found(700), 5));
        assert!(search(&verdicts, 7).1 <= 4);
    }
}
