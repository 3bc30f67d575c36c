//! `edio init`: prepare the repository, and connect agents.

mod keeping;

use std::collections::BTreeSet;

use clap::builder::PossibleValuesParser;
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

use self::keeping::Keeping;
use super::connection::{Edit, Left, Places, Plan, Scope, View, Wish, all, usual};
use super::{Context, Printed, guard};
use crate::agents::Agent;
use crate::agents::connection::Reach;
use crate::env;
use crate::error::{Error, Result};
use crate::history::connected::{Connected, Excludes};
use crate::history::git::{RepoPath, git_bytes};
use crate::history::guard::{Guard, Guarded};
use crate::history::limits::TooMuch;
use crate::history::refnames;
use crate::history::store::Store;
use crate::history::workspace::Workspace;
use crate::term::{json, style, text};

/// Prepare the repository, and connect the agents.
///
/// It makes edio's scratch folder in the git directory, and writes what agents need to call edio: hooks, a server, and
/// EDIO.md, which tells them how to work with it. Files that it makes are kept out of git's sight; of yours it keeps every
/// byte that is not edio's. Running it again changes nothing. It is not needed before the first snapshot.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio init\n  edio init --agents claude,codex\n  edio init --skill\n  edio init --store\n  edio init --dry-run\n  edio init --remove"
)]
pub struct Args {
    /// Agents to connect, separated by commas; or all, or none. Without this: claude, cursor, gemini, vscode, and any other
    /// that is found on this machine or in the project.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = names())]
    agents: Vec<String>,
    /// Write the skill, too, where agents look for skills: they read it when something has to be recovered.
    #[arg(long, conflicts_with = "remove")]
    skill: bool,
    /// Let git see the files, to be committed for everyone, and change files that git tracks.
    #[arg(long, conflicts_with = "user")]
    shared: bool,
    /// Write your own files in the home folder instead of the project's: for all your projects.
    #[arg(long)]
    user: bool,
    /// Print what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Keep the turns in a private store in your data folder: of a folder that is no repository, or of a repository that is
    /// not to be written to. All verbs but accept work there. With --remove, put the store away: edio doesn't find it any
    /// more, until it is fetched back the same way, or removed by a gc after 10 days.
    #[arg(long)]
    store: bool,
    /// Make the store also where the folder has more than 20,000 files, or 500 MB.
    #[arg(long, requires = "store", conflicts_with = "remove")]
    force: bool,
    /// Turn the guard on, too: see edio guard.
    #[arg(long, conflicts_with_all = ["remove", "user"])]
    guard: bool,
    /// Keep git log from printing the names of edio's refs beside commits: log.excludeDecoration, in this repository.
    #[arg(long, conflicts_with_all = ["remove", "user"])]
    exclude_decoration: bool,
    /// Take out again exactly what was put in.
    #[arg(long)]
    remove: bool,
}

fn names() -> PossibleValuesParser {
    let agents = Agent::ALL.into_iter().map(|(_, name)| name);
    PossibleValuesParser::new(agents.chain(["all", "none"]))
}

#[derive(Serialize)]
struct Record {
    work_tree: Value,
    scratch: Value,
    store: Option<Value>,
    agents: Vec<String>,
    files: Vec<FileRecord>,
    left: Vec<LeftRecord>,
    ignored: Vec<IgnoredRecord>,
    approve: Vec<ApproveRecord>,
    dry_run: bool,
}

#[derive(Serialize)]
struct FileRecord {
    path: String,
    action: &'static str,
    agents: Vec<String>,
    purposes: Vec<&'static str>,
    diff: Option<String>,
}

#[derive(Serialize)]
struct LeftRecord {
    path: String,
    agent: Option<String>,
    purpose: Option<&'static str>,
    why: String,
    add: String,
}

#[derive(Serialize)]
struct IgnoredRecord {
    path: String,
    why: String,
}

#[derive(Serialize)]
struct ApproveRecord {
    agent: String,
    step: &'static str,
}

/// Runs it.
///
/// # Errors
///
/// There is no repository, or something can't be written.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let keeping = match (args.store && !args.remove, args.dry_run) {
        (false, _) => None,
        (true, false) => Some(keeping::make(context, args.too_much())?),
        (true, true) => Some(keeping::try_out(context, args.too_much())?),
    };
    if args.dry_run {
        let workspace = context.open()?;
        let wish = wish(args, &workspace)?;
        let (plan, _) = plan(args, &workspace, &wish)?;
        return Report::of(args, &workspace, &wish, &plan, keeping.as_ref()).tell(context);
    }
    let workspace = context.open_to_change()?;
    workspace.state.save(&workspace.scratch())?;
    let wish = wish(args, &workspace)?;
    let (mut plan, places) = plan(args, &workspace, &wish)?;
    let in_sight = match &places {
        Some(places) => plan.carry_out(&workspace, places, &wish)?,
        None => Vec::new(),
    };
    set_decoration(context, args, &workspace)?;
    let code = Report::of(args, &workspace, &wish, &plan, keeping.as_ref()).tell(context)?;
    if !in_sight.is_empty() {
        warn_of_sight(context, &in_sight);
    }
    if args.store && args.remove {
        keeping::put_away(context, &workspace)?;
        return Ok(code);
    }
    if args.guard {
        let parts = &Guarded::ALL;
        let guarded = guard::turn(context, &workspace, parts, guard::Switch::On, args.shared)?;
        return Ok(code.max(guarded));
    }
    // Who is connected later is guarded, too.
    let guard = Guard::of(&workspace.settings);
    if !guard.is_off() && !args.remove && !args.user {
        let guarded = guard::connect(context, &workspace, &guard, args.shared)?;
        return Ok(code.max(guarded));
    }
    Ok(code)
}

/// Names new files that a `.gitignore` leaves in git's sight: turns hold them, and so does what an accept commits.
fn warn_of_sight(context: &mut Context, paths: &[RepoPath]) {
    let named: Vec<String> = paths
        .iter()
        .map(|path| text::path(path.as_bytes()))
        .collect();
    let (named, are) = (
        named.join(", "),
        if paths.len() == 1 { "is" } else { "are" },
    );
    context.term.warn(format!(
        "{named} {are} not kept out of git's sight: a .gitignore says not to ignore it"
    ));
    let term = &mut context.term;
    term.hint("see which: git check-ignore -v --no-index FILE");
    term.hint("keep it out of turns: git config --add edio.exclude FILE");
}

impl Args {
    fn too_much(&self) -> TooMuch {
        match self.force {
            true => TooMuch::Take,
            false => TooMuch::Refuse,
        }
    }
}

/// The setting of git's that says beside which commits the names of refs are not printed.
const DECORATION: &str = "log.excludeDecoration";

fn set_decoration(context: &mut Context, args: &Args, workspace: &Workspace) -> Result<()> {
    let is_set = || {
        let set = workspace.settings.all("log.excludedecoration");
        set.contains(&refnames::ALL.as_bytes())
    };
    match (args.exclude_decoration, args.remove) {
        (true, _) if !is_set() => {
            let value = refnames::ALL;
            workspace.git.add_setting(DECORATION, value.as_bytes())?;
            context.term.told(format!("{DECORATION} is set to {value}"));
        }
        (_, true) if is_set() && !args.user && args.agents.is_empty() => {
            workspace.git.take_out_setting(DECORATION, refnames::ALL)?;
        }
        _ => {}
    }
    Ok(())
}

fn wish(args: &Args, workspace: &Workspace) -> Result<Wish> {
    if args.store && args.remove {
        keeping::of(workspace)?;
        if !args.agents.is_empty() {
            return Err(Error::usage("a store is put away for all agents")
                .hint("leave --agents away, or --store"));
        }
    }
    let is_named = |name: &str| args.agents.iter().any(|word| word == name);
    let named = args.agents.iter().filter_map(|name| name.parse().ok());
    let mut agents = match args.agents.as_slice() {
        [] if args.remove => all(),
        [] => usual(workspace),
        [_] if is_named("all") => all(),
        [_] if is_named("none") => Vec::new(),
        _ if is_named("all") || is_named("none") => {
            return Err(Error::usage("all and none stand alone in --agents")
                .hint("name the agents, or leave --agents away"));
        }
        _ => named.collect(),
    };
    agents.sort_unstable();
    agents.dedup();
    Ok(Wish {
        agents,
        reach: match args.user {
            true => Reach::User,
            false => Reach::Project,
        },
        shared: args.shared,
        scope: match args.skill {
            true => Scope::WithSkill,
            false => Scope::Usual,
        },
    })
}

/// What is to be done, and where. Without agents, nothing is even looked at.
fn plan(args: &Args, workspace: &Workspace, wish: &Wish) -> Result<(Plan, Option<Places>)> {
    if wish.agents.is_empty() {
        return Ok((Plan::empty(), None));
    }
    let places = Places::look(workspace, wish.reach)?;
    let excludes = Excludes::read(&workspace.git).ok();
    let view = View {
        places: &places,
        connected: &Connected::load(&workspace.scratch())?,
        excludes: excludes.as_ref(),
        wish,
    };
    let plan = match args.remove {
        false => Plan::connect(&view),
        true => Plan::remove(&view),
    };
    Ok((plan, Some(places)))
}

/// What there is to tell.
struct Report<'a> {
    args: &'a Args,
    workspace: &'a Workspace,
    wish: &'a Wish,
    plan: &'a Plan,
    keeping: Option<&'a Keeping>,
}

impl<'a> Report<'a> {
    fn of(
        args: &'a Args,
        workspace: &'a Workspace,
        wish: &'a Wish,
        plan: &'a Plan,
        keeping: Option<&'a Keeping>,
    ) -> Self {
        Self {
            args,
            workspace,
            wish,
            plan,
            keeping,
        }
    }

    /// The store that the turns are in, or would be.
    fn store(&self) -> Option<&Store> {
        let found = self.workspace.store.as_ref();
        self.keeping.map(Keeping::store).or(found)
    }

    fn tell(&self, context: &mut Context) -> Result<u8> {
        if context.term.is_json() {
            context.term.record(&self.record()?).printed()?;
            return Ok(u8::from(self.plan.has_failed()));
        }
        if self.args.dry_run {
            self.print_diff(context)?;
        }
        match self.args.remove {
            true => self.tell_removed(context),
            false => self.tell_connected(context),
        }
        self.tell_left(context);
        if self.plan.has_failed() {
            context.term.hint("mend that, then run it again");
        } else if !self.args.remove && !self.args.dry_run {
            context
                .term
                .hint("take the first turn: edio snapshot -m \"start\"");
        }
        Ok(u8::from(self.plan.has_failed()))
    }

    fn print_diff(&self, context: &mut Context) -> Result<()> {
        for diff in self.plan.edits.iter().filter_map(|edit| self.diff(edit)) {
            for line in diff.lines() {
                let shown = coloured(&text::plain(line.as_bytes()));
                context.term.line(shown).printed()?;
            }
        }
        Ok(())
    }

    fn tell_connected(&self, context: &mut Context) {
        let top = text::plain(&git_bytes(&self.workspace.git.work_tree));
        let is_dry = self.args.dry_run;
        context.term.told(match is_dry {
            true => "nothing was changed: this is what would be".to_owned(),
            false => format!("edio is ready in {top}"),
        });
        match (self.keeping, self.store()) {
            (Some(keeping), _) => keeping.tell(&mut context.term),
            (None, Some(store)) => keeping::tell_where(store, &mut context.term),
            (None, None) => {}
        }
        for agent in &self.wish.agents {
            let written = self.written_for(*agent);
            let has_part = |edit: &Edit| edit.parts.iter().any(|(part, _)| part == agent);
            let is_connected = self.plan.edits.iter().any(has_part);
            if !written.is_empty() {
                let (got, files) = (if is_dry { "would get" } else { "got" }, written.join(", "));
                context.term.told(format!("{agent}: {got} {files}"));
                context.term.told(format!("  to do: {}", agent.approval()));
            } else if is_connected {
                context.term.told(format!("{agent}: is connected"));
            }
        }
        if !self.wish.agents.is_empty() && env::find_program("edio").is_none() {
            context
                .term
                .hint("put the folder of edio into PATH: the agents look for it there");
        }
    }

    /// `.mcp.json (server)`, for each file of an agent that is written.
    fn written_for(&self, agent: Agent) -> Vec<String> {
        let edits = self.plan.edits.iter().filter(|edit| !edit.is_idle());
        let told = edits.filter_map(|edit| {
            let parts = edit.parts.iter().filter(|(part, _)| *part == agent);
            let purposes: Vec<_> = parts.map(|(_, purpose)| purpose.name()).collect();
            let path = self.wish.told(edit.path);
            (!purposes.is_empty()).then(|| format!("{path} ({})", purposes.join(", ")))
        });
        told.collect()
    }

    fn tell_removed(&self, context: &mut Context) {
        let would = if self.args.dry_run { "would be " } else { "" };
        for edit in &self.plan.edits {
            let what = match edit.wanted {
                Some(_) => "given back without edio's part",
                None => "removed",
            };
            let path = self.wish.told(edit.path);
            context.term.told(format!("{path}: {would}{what}"));
        }
        if self.plan.edits.is_empty() && self.plan.left.is_empty() && !self.args.store {
            context
                .term
                .told("nothing of edio's is there to be taken out");
        }
        match self.store() {
            Some(_) if self.args.store && self.args.dry_run => {
                context.term.told("the store would be put away");
            }
            // That it is put away is said when it is.
            Some(_) if self.args.store => {}
            Some(store) => {
                keeping::tell_where(store, &mut context.term);
                context
                    .term
                    .hint("it stays as it is; to put it away: edio init --store --remove");
            }
            None => {}
        }
    }

    /// Names what is left to the person, and what has no effect.
    fn tell_left(&self, context: &mut Context) {
        let mut told = BTreeSet::new();
        for left in &self.plan.left {
            let (path, why) = (self.wish.told(left.path), text::plain(left.why.as_bytes()));
            let mut edits = self.plan.edits.iter();
            let failed = left.part.filter(|_| left.is_failure);
            let whose = failed.map_or(String::new(), |(agent, _)| format!("{agent}: "));
            let warning = match edits.any(|edit| edit.path == left.path && !edit.is_idle()) {
                true => format!("a part of {path} is left as it is: {why}"),
                false => format!("{whose}{path} is left as it is: {why}"),
            };
            // Agents share files.
            if !told.insert((whose, left.path, &left.why, &left.add)) {
                continue;
            }
            context.term.warn(warning);
            if !left.add.is_empty() {
                context.term.told("  add by hand:");
            }
            for line in left.add.lines() {
                context.term.told(format!("    {line}"));
            }
        }
        for (path, why) in &self.plan.ignored {
            let (path, why) = (self.wish.told(path), text::plain(why.as_bytes()));
            context
                .term
                .warn(format!("the agent ignores all of {path}: {why}"));
        }
    }

    fn record(&self) -> Result<Record> {
        let (plan, wish) = (self.plan, self.wish);
        let scratch = self
            .store()
            .map_or_else(|| self.workspace.scratch(), Store::scratch);
        let written = |agent: &&Agent| !self.args.remove && !self.written_for(**agent).is_empty();
        let approve = |agent: &Agent| ApproveRecord {
            agent: agent.to_string(),
            step: agent.approval(),
        };
        let ignored = |(path, why): &(&str, String)| IgnoredRecord {
            path: wish.told(path),
            why: why.clone(),
        };
        Ok(Record {
            work_tree: json::path(&git_bytes(&self.workspace.git.work_tree)),
            scratch: json::path(&git_bytes(&scratch)),
            store: self
                .store()
                .map(|store| json::path(&git_bytes(&store.home))),
            agents: Connected::load(&scratch)?.agents.into_iter().collect(),
            files: plan.edits.iter().map(|edit| self.file(edit)).collect(),
            left: plan.left.iter().map(|left| self.left(left)).collect(),
            ignored: plan.ignored.iter().map(ignored).collect(),
            approve: wish.agents.iter().filter(written).map(approve).collect(),
            dry_run: self.args.dry_run,
        })
    }

    fn file(&self, edit: &Edit) -> FileRecord {
        let agents = edit.parts.iter().map(|(agent, _)| agent.to_string());
        let mut agents: Vec<_> = agents.collect();
        agents.dedup();
        let purposes = edit.parts.iter().map(|(_, purpose)| purpose.name());
        FileRecord {
            path: self.wish.told(edit.path),
            action: edit.action(),
            agents,
            purposes: purposes.collect(),
            diff: self.args.dry_run.then(|| self.diff(edit)).flatten(),
        }
    }

    fn left(&self, left: &Left) -> LeftRecord {
        LeftRecord {
            path: self.wish.told(left.path),
            agent: left.part.map(|(agent, _)| agent.to_string()),
            purpose: left.part.map(|(_, purpose)| purpose.name()),
            why: left.why.clone(),
            add: left.add.clone(),
        }
    }

    /// What differs, as a patch. `None` where nothing does.
    fn diff(&self, edit: &Edit) -> Option<String> {
        if edit.is_idle() {
            return None;
        }
        let path = self.wish.told(edit.path);
        let side = |content: &Option<Vec<u8>>, side: &str| match content {
            Some(content) => {
                let text = String::from_utf8_lossy(content).into_owned();
                (text, format!("{side}/{path}"))
            }
            None => (String::new(), "/dev/null".to_owned()),
        };
        let (old, old_name) = side(&edit.present, "a");
        let (new, new_name) = side(&edit.wanted, "b");
        let diff = TextDiff::from_lines(&old, &new);
        let mut diff = diff.unified_diff();
        Some(diff.header(&old_name, &new_name).to_string())
    }
}

fn coloured(line: &str) -> String {
    match line.as_bytes().first() {
        Some(b'+') => style::added(line).to_string(),
        Some(b'-') => style::removed(line).to_string(),
        _ => line.to_owned(),
    }
}
