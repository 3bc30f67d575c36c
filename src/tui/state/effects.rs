//! What the keys ask for beyond the screen: a job that changes something, a copy, an editor.

use super::State;
use crate::history::git::RepoPath;
use crate::history::undo::Direction;
use crate::tui::event::{Asked, Effect, Job, Restore, Told};
use crate::tui::timeline::Row;

impl State {
    /// The keys that change something.
    pub(super) fn change(&mut self, key: char) -> Vec<Effect> {
        if !"rfuUas".contains(key) {
            return Vec::new();
        }
        if self.busy.is_some() {
            return Vec::new();
        }
        if "uUas".contains(key) && !self.is_own() {
            self.fail(
                "this is not the session under way here",
                "S: choose that one",
            );
            return Vec::new();
        }
        let job = match key {
            'r' => self.restore(Vec::new(), Asked::IfUnsaved),
            'f' => self.restore_file(),
            'u' => Some(Job::Undo(Direction::Undo)),
            'U' => Some(Job::Undo(Direction::Redo)),
            'a' => Some(Job::Prepare),
            _ => Some(Job::Snapshot),
        };
        job.map(|job| self.begin(job)).into_iter().collect()
    }

    pub(super) fn begin(&mut self, job: Job) -> Effect {
        self.busy = Some(match &job {
            Job::Look { .. } => "looking",
            Job::Restore(_, Asked::Always) | Job::Prepare => "planning",
            Job::Restore(..) => "restoring",
            Job::Undo(Direction::Undo) => "undoing",
            Job::Undo(Direction::Redo) => "redoing",
            Job::Snapshot => "taking a turn",
            Job::Accept(..) => "committing",
        });
        self.told = None;
        Effect::Work(job)
    }

    fn restore(&mut self, paths: Vec<RepoPath>, asked: Asked) -> Option<Job> {
        let book = self.book.as_ref()?;
        if self.row() == Some(Row::Now) {
            self.fail(
                "that is what is on disk now",
                "r on a turn brings that turn back",
            );
            return None;
        }
        let turn = book.snapshot(self.row()?)?;
        let restore = Restore {
            session: book.session.id.clone(),
            number: turn.number(),
            commit: turn.commit.clone(),
            paths,
        };
        Some(Job::Restore(restore, asked))
    }

    fn restore_file(&mut self) -> Option<Job> {
        let Some(file) = self.file() else {
            self.fail("no file is chosen", "[ and ] choose one");
            return None;
        };
        let path = self.patch()?.files.get(file)?.path.clone();
        self.restore(vec![path], Asked::Always)
    }

    pub(super) fn copy(&mut self) -> Vec<Effect> {
        let Some(turn) = self.snapshot() else {
            return Vec::new();
        };
        let (number, commit) = (turn.number(), turn.commit.as_str().to_owned());
        self.told = Some(Told {
            text: format!(
                "copied the id of turn {number}: {}",
                &commit[..10.min(commit.len())]
            ),
            ..Told::default()
        });
        vec![Effect::Copy(commit)]
    }

    pub(super) fn open(&mut self) -> Vec<Effect> {
        let found = self.patch().and_then(|patch| {
            let file = patch.files.get(self.file()?)?;
            let number = patch.number_at(self.line).unwrap_or(1);
            Some(Effect::Open(file.path.clone(), number.max(1)))
        });
        match found {
            Some(open) => vec![open],
            None => {
                self.fail("no file is chosen", "[ and ] choose one");
                Vec::new()
            }
        }
    }

    pub(super) fn fail(&mut self, text: &str, hint: &str) {
        self.told = Some(Told {
            text: text.to_owned(),
            hint: Some(hint.to_owned()),
            failed: true,
        });
    }

    pub(super) fn left_alone(&mut self) {
        self.told = Some(Told {
            text: "nothing was changed".to_owned(),
            ..Told::default()
        });
    }
}
