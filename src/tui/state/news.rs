//! What the threads behind have found or done.

use super::{Awaited, Compared, Mode, State};
use crate::tui::event::{Does, Effect, Going, Job, News, Wanted};
use crate::tui::field::Field;
use crate::tui::patch::{End, Patch};
use crate::tui::timeline::Book;

impl State {
    pub(super) fn news(&mut self, news: News) -> Vec<Effect> {
        match news {
            News::Changed => {
                return vec![
                    Effect::Load(self.wanted.clone()),
                    Effect::Work(Job::Look { kept: self.is_kept }),
                ];
            }
            News::Session(book) => {
                let mut effects = Vec::new();
                if !self.is_read {
                    effects.push(Effect::Work(Job::Look { kept: false }));
                }
                self.is_read = true;
                effects.extend(self.take_book(Some(*book)));
                return effects;
            }
            News::NoSession => {
                self.is_read = true;
                return self.take_book(None);
            }
            News::Look(look) => {
                self.look = Some(look);
                self.arrange();
            }
            News::Files(pair, files) => {
                let mut patch = Patch::of(files);
                if patch.files.is_empty() {
                    patch.end = End::Whole;
                }
                self.patches.put(pair, patch, None);
            }
            News::Piece(pair, piece, going) => {
                if let Some(known) = self.patches.known.get_mut(&pair) {
                    known.patch.grow(piece);
                    known.patch.end = match going {
                        Going::On => End::Open,
                        Going::Ended => End::Whole,
                        Going::Cut => End::Cut,
                    };
                }
                self.patches.trim();
            }
            News::Dropped(pair) => {
                self.patches.known.remove(&pair);
                self.asked = Wanted::default();
                self.given_up.insert(pair);
            }
            News::Unread(pair, why) => self.patches.put(pair, Patch::default(), Some(why)),
            News::Names(names) => {
                self.names.extend(names);
                self.arrange();
            }
            News::Sessions(sessions) => {
                let here = self.book.as_ref().map(|book| &book.session.id);
                let at = sessions.iter().position(|line| Some(&line.id) == here);
                self.busy = None;
                self.mode = Mode::Sessions(sessions, at.unwrap_or(0));
            }
            News::Plan(plan) => {
                self.busy = None;
                self.told = None;
                self.mode = match &plan.does {
                    Does::Accept(commit) => {
                        let field = Field::with(commit.message.clone());
                        Mode::Message(plan, field, 0)
                    }
                    _ => Mode::Plan(plan, 0),
                };
            }
            News::Told(told) => self.told = Some(told),
            News::Done(told) => {
                self.busy = None;
                let worked = !told.failed;
                self.told = Some(told);
                if worked {
                    self.awaited = Some(Awaited::Current);
                }
                return vec![
                    Effect::Load(self.wanted.clone()),
                    Effect::Work(Job::Look { kept: self.is_kept }),
                ];
            }
        }
        Vec::new()
    }

    fn take_book(&mut self, book: Option<Book>) -> Vec<Effect> {
        let is_other = match (&self.book, &book) {
            (Some(old), Some(new)) => old.session.id != new.session.id,
            _ => true,
        };
        if is_other {
            self.unfolded.clear();
            self.marked.clear();
            self.compared = Compared::Before;
        }
        let choose_current = is_other || self.awaited.take().is_some();
        let kept = self.book.as_ref().and_then(|book| book.id(self.row()?));
        let kept = kept.filter(|_| !choose_current);
        self.book = book;
        let mut effects = Vec::new();
        if !self.filter.text().is_empty() {
            effects.extend(self.ask_names());
        }
        self.arrange_around(kept);
        effects
    }
}
