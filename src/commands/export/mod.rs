//! `edio export`: a session for others.

mod markdown;
mod trace;

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::{Context, Printed};
use crate::error::Result;
use crate::history::compare::Comparison;
use crate::history::export::{Reach, Stretch, bundle, patches};
use crate::history::git::{Oid, git_bytes};
use crate::history::session::Session;
use crate::history::shared::SideCommits;
use crate::shell;
use crate::term::text::plural;
use crate::term::{json, text};

/// Write a session for others: as patches, as a text to read, as who wrote which lines, or as a bundle.
///
/// The turns are those from the start to where the session stands; one TURN, or those after A up to B, can be named. Turns
/// that a restore left behind are not among them, but in a bundle, which has all of the session.
///
/// Secrets in prompts and closing words were taken out when they were stored. Patches, diffs and bundles have what is in
/// files as it is: look before you send them.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio export --patches ../series\n  edio export --markdown > review.md\n  edio export --markdown --no-diff 2..5\n  edio export --trace > trace.json\n  edio export --bundle ../work.bundle --session ID\nTo take patches in: git am --keep-cr ../series/*.patch\nTo take a bundle in: edio import ../work.bundle"
)]
#[command(group(clap::ArgGroup::new("form").required(true)))]
pub struct Args {
    /// One turn (7), or those after one up to another (3..6).
    #[arg(value_name = "TURN | A..B")]
    turns: Option<Comparison>,
    /// Write a patch for each turn into this folder, which must be new or empty.
    #[arg(long, value_name = "DIR", group = "form")]
    patches: Option<PathBuf>,
    /// Print the turns as Markdown: what was asked, what came of it, and the diffs.
    #[arg(long, group = "form")]
    markdown: bool,
    /// Leave the diffs out of the Markdown.
    #[arg(long, requires = "markdown", conflicts_with_all = ["patches", "trace", "bundle"])]
    no_diff: bool,
    /// Print who wrote which lines, as an Agent Trace record (https://agent-trace.dev), in JSON.
    #[arg(long, group = "form")]
    trace: bool,
    /// Write the whole session into this file, as a git bundle for `edio import`.
    #[arg(long, value_name = "FILE", group = "form", conflicts_with = "turns")]
    bundle: Option<PathBuf>,
    /// Put into the bundle also the commits that the session rests on: it can be imported anywhere.
    #[arg(long, requires = "bundle", conflicts_with_all = ["patches", "trace", "markdown"])]
    self_contained: bool,
    /// Put into the bundle also conversations, ignored files that were saved, and what was staged.
    #[arg(long, requires = "bundle", conflicts_with_all = ["patches", "trace", "markdown"])]
    with_side: bool,
}

#[derive(Serialize)]
struct PatchesRecord {
    session: String,
    patches: Value,
    head: Option<String>,
    uncommitted: bool,
    unchanged: Vec<u32>,
    left: Vec<u32>,
}

#[derive(Serialize)]
struct BundleRecord {
    session: String,
    bundle: Value,
    turns: usize,
    prerequisites: Vec<String>,
}

/// Runs it.
///
/// # Errors
///
/// There is no such turn, what is to be written is there already, or git failed.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let folder = context.place.folder.clone();
    match (&args.patches, &args.bundle) {
        (Some(to), _) => write_patches(context, args.turns.as_ref(), to, &folder.join(to)),
        (_, Some(to)) => write_bundle(context, args, to, &folder.join(to)),
        _ if args.trace => trace::print(context, args.turns.as_ref()),
        _ => markdown::print(context, args.turns.as_ref(), args.no_diff),
    }?;
    Ok(0)
}

fn write_patches(
    context: &mut Context,
    meant: Option<&Comparison>,
    typed: &Path,
    to: &Path,
) -> Result<()> {
    let workspace = context.open_locked()?;
    let session = Session::wanted(&workspace, context.session.as_ref())?;
    let stretch = Stretch::of(&workspace, &session, meant)?.not_empty()?;
    let written = patches(&workspace, &stretch, to)?;
    if context.term.is_json() {
        let files = written.files.iter().map(|file| git_bytes(file));
        let record = PatchesRecord {
            session: session.id.to_string(),
            patches: json::path_list(files),
            head: written.head.as_ref().map(ToString::to_string),
            uncommitted: written.is_uncommitted,
            unchanged: written.unchanged,
            left: stretch.left,
        };
        return context.term.record(&record).printed();
    }
    let count = match written.files.len() {
        1 => "1 patch".to_owned(),
        count => format!("{count} patches"),
    };
    let shown = shown(typed);
    context.term.told(format!("{count} written to {shown}"));
    for turn in &written.unchanged {
        context
            .term
            .told(format!("  turn {turn} changed nothing: it has none"));
    }
    name_left(context, &stretch);
    let folder = shell::word(&git_bytes(typed));
    let head = written.head.as_ref().map_or("the empty tree", Oid::short);
    match written.is_uncommitted && stretch.base.number().turn == 0 {
        true => context.term.warn(format!(
            "when the session began, something lay uncommitted: the patches may not apply to {head} alone"
        )),
        false if stretch.base.number().turn > 0 => context.term.hint(format!(
            "they apply to turn {}; to take them in: git am --keep-cr {folder}/*.patch",
            stretch.base.number()
        )),
        false => context.term.hint(format!(
            "they apply to {head}; to take them in: git am --keep-cr {folder}/*.patch"
        )),
    }
    Ok(())
}

fn name_left(context: &mut Context, stretch: &Stretch) {
    if !stretch.left.is_empty() {
        let left: Vec<String> = stretch.left.iter().map(ToString::to_string).collect();
        context
            .term
            .told(format!("  left behind by a restore: {}", left.join(", ")));
    }
}

fn shown(path: &Path) -> String {
    text::path(&git_bytes(path))
}

fn write_bundle(context: &mut Context, args: &Args, typed: &Path, to: &Path) -> Result<()> {
    let workspace = context.open_locked()?;
    let session = Session::wanted(&workspace, context.session.as_ref())?;
    let reach = match args.self_contained {
        true => Reach::Everything,
        false => Reach::Session,
    };
    let sides = match args.with_side {
        true => SideCommits::All,
        false => SideCommits::Copies,
    };
    let written = bundle(&workspace, &session, to, reach, sides)?;
    if context.term.is_json() {
        let prerequisites = written.prerequisites.iter().map(ToString::to_string);
        let record = BundleRecord {
            session: session.id.to_string(),
            bundle: json::path(&git_bytes(to)),
            turns: written.turns,
            prerequisites: prerequisites.collect(),
        };
        return context.term.record(&record).printed();
    }
    context.term.told(format!(
        "{} with {} written to {}",
        session.id,
        plural(written.turns, "turn"),
        shown(typed)
    ));
    for oid in &written.prerequisites {
        context.term.told(format!(
            "  who imports it must have the commit {}",
            oid.short()
        ));
    }
    context.term.hint(format!(
        "to take it in elsewhere: edio import {}",
        shell::word(&git_bytes(typed))
    ));
    Ok(())
}
