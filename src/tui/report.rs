//! What was done, and what would be, in a person's words.

use super::event::{AtTerminal, Commit, Does, News, Plan, Restore, Told};
use crate::error::Error;
use crate::history::accept::{Accepted, Prepared, Uncommitted};
use crate::history::git::{Difference, RepoPath, Stat, short_branch};
use crate::history::restore::{self, Action, Performed, Restored, Wish};
use crate::history::snapshot::Taken;
use crate::history::turn::Turn;
use crate::history::undo::{Direction, Undone};
use crate::term::text::plural;

const UNDO: &str = "u: undo";

/// An error on one line.
pub fn in_words(error: &Error) -> String {
    let causes = error.causes().into_iter();
    let parts: Vec<String> = [error.to_string()].into_iter().chain(causes).collect();
    parts.join(": ")
}

/// Something could not be done.
pub fn failed(error: &Error) -> Told {
    Told {
        text: in_words(error),
        hint: error.hints().first().cloned(),
        failed: true,
    }
}

fn done(text: String, hint: &str) -> Told {
    Told {
        text,
        hint: Some(hint.to_owned()),
        failed: false,
    }
}

/// With what was finished before, which another edio had left behind.
pub fn with_settled(news: News, settled: Option<String>) -> News {
    match (news, settled) {
        (News::Done(told), Some(settled)) => News::Done(Told {
            text: format!("{}; {settled}", told.text),
            ..told
        }),
        (news, _) => news,
    }
}

fn counts(done: &Performed) -> String {
    match (done.written, done.removed) {
        (0, 0) => "nothing to do".to_owned(),
        (written, 0) => format!("{} written", plural(written, "file")),
        (0, removed) => format!("{} removed", plural(removed, "file")),
        (written, removed) => format!("{} written, {removed} removed", plural(written, "file")),
    }
}

fn with_safety(text: String, safety: Option<&Turn>) -> String {
    match safety {
        Some(safety) => format!("{text}; your unsaved work is turn {}", safety.number()),
        None => text,
    }
}

/// With what was left alone, replaced, or changed meanwhile.
fn with_kept(mut text: String, plan: &restore::Plan, done: &Performed) -> String {
    let is_kept = |action: &&Action| matches!(action, Action::Keep(_));
    let kept = plan.actions.values().filter(is_kept).count();
    if kept > 0 {
        text += &format!("; {kept} left alone");
    }
    if !plan.saved.is_empty() {
        let saved = plural(plan.saved.len(), "ignored file");
        text += &format!("; {saved} replaced, and saved");
    }
    let (changed, all) = (done.changed_beyond().count(), done.beyond.len());
    if changed > 0 {
        let outside = plural(changed, "file");
        text += &format!("; {outside} outside, from the journal");
    }
    if changed < all {
        text += &format!("; {} outside left alone", plural(all - changed, "file"));
    }
    if !done.displaced.is_empty() {
        let displaced = plural(done.displaced.len(), "file");
        text += &format!("; {displaced} changed meanwhile, and saved");
    }
    text
}

/// A restore was done.
pub fn restored(wish: &Wish, restored: &Restored) -> Told {
    let number = wish.target.number();
    let what = counts(&restored.done);
    let text = match &restored.done.turn {
        Some(turn) => format!(
            "restored from turn {number}: {what} (now turn {})",
            turn.number()
        ),
        None => format!("restored turn {number}: {what}"),
    };
    let text = with_safety(text, restored.safety.as_ref());
    let text = with_kept(text, &restored.plan, &restored.done);
    match restored.done.written + restored.done.removed + restored.done.changed_beyond().count() {
        0 => Told {
            text,
            ..Told::default()
        },
        _ => done(text, UNDO),
    }
}

/// An undo or a redo was done.
pub fn undone(direction: Direction, undone: &Undone) -> Told {
    let (word, back) = match direction {
        Direction::Undo => ("undone", "U: redo"),
        Direction::Redo => ("redone", UNDO),
    };
    let what = &undone.what;
    let text = match (&undone.target, &undone.branch) {
        (Some(target), _) => format!(
            "{word}: {what}; the work tree is as turn {} ({})",
            target.number(),
            counts(&undone.done)
        ),
        (None, Some((name, head))) => {
            let name = short_branch(name);
            let at = head.as_ref().map_or("no commit", |head| head.short());
            format!("{word}: {what}; {name} is at {at}")
        }
        (None, None) => format!("{word}: {what}"),
    };
    let text = with_safety(text, undone.safety.as_ref());
    done(with_kept(text, &undone.plan, &undone.done), back)
}

/// A snapshot was taken, or there was nothing to take.
pub fn taken(taken: &Taken) -> Told {
    let mut text = match (&taken.turn, &taken.standing) {
        (Some(turn), _) => {
            let stat = stat(&turn.note.stat);
            format!("turn {}: {} ({stat})", turn.number(), turn.note.subject())
        }
        (None, Some(standing)) => format!("nothing changed since turn {}", standing.number),
        (None, None) => "nothing changed since HEAD".to_owned(),
    };
    if !taken.skipped.is_empty() {
        text += &format!("; {} not in it", plural(taken.skipped.len(), "file"));
    }
    if let [first, others @ ..] = taken.secrets.as_slice() {
        text += &format!("; {first} is for secrets, by its name");
        if !others.is_empty() {
            text += &format!(", and {} more", others.len());
        }
    }
    if let Some(error) = &taken.not_packed {
        text += &format!(
            "; the turns before could not be packed: {}",
            in_words(error)
        );
    }
    match taken.turn {
        Some(_) => done(text, UNDO),
        None => Told {
            text,
            ..Told::default()
        },
    }
}

/// An accept was done.
pub fn accepted(accepted: &Accepted) -> Told {
    let branch = branch(accepted.branch.as_deref());
    let mut text = format!(
        "accepted: {} on {branch} ({})",
        accepted.commit.short(),
        stat(&accepted.stat)
    );
    if !accepted.uncommitted.is_empty() {
        let left = plural(accepted.uncommitted.len(), "file");
        text += &format!("; {left} stay uncommitted");
    }
    if let Some(error) = &accepted.unfinished {
        let why = in_words(error);
        text += &format!("; what follows the commit is not finished: {why}");
    }
    done(text, UNDO)
}

fn branch(branch: Option<&str>) -> &str {
    short_branch(branch.unwrap_or("HEAD"))
}

fn stat(stat: &Stat) -> String {
    let files = plural(usize::try_from(stat.files).unwrap_or(usize::MAX), "file");
    match (stat.added, stat.removed) {
        (0, 0) => files,
        (added, removed) => format!("{files} +{added} -{removed}"),
    }
}

/// What a restore would do; or that it would do nothing.
pub fn plan_of_restore(wanted: &Restore, wish: &Wish, plan: &restore::Plan) -> News {
    let number = wish.target.number();
    if plan.is_nothing() {
        let what = match wanted.paths.as_slice() {
            [] => "the work tree is".to_owned(),
            [path] => format!("{path} is"),
            paths => format!("{} are", plural(paths.len(), "path")),
        };
        return News::Done(Told {
            text: format!("nothing to do: {what} as in turn {number}"),
            ..Told::default()
        });
    }
    let mut counted = Performed::default();
    let mut notes = Vec::new();
    let mut paths = Vec::new();
    for (path, action) in &plan.actions {
        let (letter, why) = match action {
            Action::Write { .. } if plan.saved.contains(path) => {
                counted.written += 1;
                ('w', Some("an ignored file there is saved first".to_owned()))
            }
            Action::Write { .. } => {
                counted.written += 1;
                ('w', None)
            }
            Action::SetMode { .. } => {
                counted.written += 1;
                ('w', Some("its executable bit".to_owned()))
            }
            Action::Remove { .. } => {
                counted.removed += 1;
                ('-', None)
            }
            Action::Keep(kept) => (' ', Some(format!("left alone: {kept}"))),
        };
        paths.push((letter, path.clone(), why));
    }
    notes.push("What is not saved becomes a turn first.".to_owned());
    let title = match wanted.paths.as_slice() {
        [] => format!("Restore turn {number}?"),
        [path] => format!("Restore {path} from turn {number}?"),
        paths => format!(
            "Restore {} from turn {number}?",
            plural(paths.len(), "path")
        ),
    };
    News::Plan(Plan {
        title,
        summary: counts(&counted),
        paths,
        notes,
        does: Does::Restore(wanted.clone()),
    })
}

/// What an accept would commit.
pub fn plan_of_accept(
    prepared: &Prepared,
    left: &[(RepoPath, Uncommitted)],
    message: String,
    terminal: AtTerminal,
) -> Plan {
    let path = |change: &Difference| {
        let whole = prepared.whole.contains(&change.path);
        let whole = whole.then(|| "whole, with what was uncommitted there before".to_owned());
        (change.letter(), change.path.clone(), whole)
    };
    let left_alone = left
        .iter()
        .map(|(path, why)| (' ', path.clone(), Some(format!("stays uncommitted: {why}"))));
    Plan {
        title: format!(
            "Accept: one commit on {}",
            branch(prepared.head.branch.as_deref())
        ),
        summary: stat(&prepared.stat),
        paths: prepared
            .changes
            .iter()
            .map(path)
            .chain(left_alone)
            .collect(),
        notes: prepared
            .turns
            .iter()
            .rev()
            .take(3)
            .map(|turn| format!("turn {}: {}", turn.number(), turn.note.subject()))
            .collect(),
        does: Does::Accept(Commit {
            message,
            tree: prepared.tree.clone(),
            terminal,
        }),
    }
}
