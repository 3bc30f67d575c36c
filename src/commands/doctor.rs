//! `edio doctor`: is edio well connected here, are its turns whole, and if not, what helps?

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::Serialize;

use super::connection::{Places, Scope, Sights, all, files_of, is_installed, trust_of};
use super::{Context, Printed};
use crate::agents::Agent;
use crate::agents::config::Standing;
use crate::agents::connection::{File, Purpose, Reach, Trust};
use crate::clock;
use crate::env;
use crate::error::Result;
use crate::history::accept::{has_locked, index_lock};
use crate::history::connected::Excludes;
use crate::history::conversation::Keep;
use crate::history::faults;
use crate::history::git::{check_version, git_bytes};
use crate::history::gitlock::GitLock;
use crate::history::guard::Guard;
use crate::history::hooklog;
use crate::history::lock::Lock;
use crate::history::refnames;
use crate::history::workspace::Workspace;
use crate::shell;
use crate::term::{style, text, time};

/// Find out whether agents are well connected here, and what helps if not.
///
/// It looks at the files that init writes, at what agents keep of trust, at the hooks that were heard, at what a push
/// would publish, whether all turns can be read, and at locks that stand in git's way. It changes nothing. The exit code
/// is 1 where something is wrong; a note is no fault.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio doctor\n  edio doctor --json")]
pub struct Args {}

/// How bad is it?
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Grade {
    Ok,
    Note,
    Wrong,
}

/// Something that was found.
#[derive(Serialize)]
struct Finding {
    grade: Grade,
    /// An agent, `edio`, `git`, `guard`, `repository`, `store`, or `turns`.
    about: String,
    what: String,
    remedy: Option<String>,
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn ok(&mut self, about: impl ToString, what: impl Into<String>) {
        self.add(Grade::Ok, about, what, None);
    }

    fn note(&mut self, about: impl ToString, what: impl Into<String>, remedy: Option<String>) {
        self.add(Grade::Note, about, what, remedy);
    }

    fn wrong(&mut self, about: impl ToString, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(Grade::Wrong, about, what, Some(remedy.into()));
    }

    fn add(
        &mut self,
        grade: Grade,
        about: impl ToString,
        what: impl Into<String>,
        remedy: Option<String>,
    ) {
        let (about, what) = (about.to_string(), what.into());
        let is_known = |found: &Finding| found.about == about && found.what == what;
        if !self.0.iter().any(is_known) {
            self.0.push(Finding {
                grade,
                about,
                what,
                remedy,
            });
        }
    }
}

/// Runs it.
///
/// # Errors
///
/// There is no repository, or git failed.
pub fn run(context: &mut Context, _: &Args) -> Result<u8> {
    let workspace = context.open()?;
    let mut findings = Findings::default();
    let (major, minor) = check_version(context.place.trace.as_ref())?;
    findings.ok("git", format!("git {major}.{minor} is new enough"));
    let sights = Sights::look(&workspace)?;
    let is_connected = |agent: &Agent| sights.is_connected(*agent);
    let (here, others): (Vec<Agent>, Vec<Agent>) = all().into_iter().partition(is_connected);
    let sights = sights.places;
    look_for_program(&mut findings, &here);
    for agent in &here {
        look_at_files(&mut findings, *agent, &sights);
        look_at_trust(&mut findings, *agent, &workspace);
        look_at_hooks(&mut findings, *agent, &workspace);
    }
    for agent in others.into_iter().filter(|agent| is_installed(*agent)) {
        let what = format!("{} is on this machine, and is not connected", agent.title());
        findings.note(agent, what, Some(connect(agent)));
    }
    look_at_guard(&mut findings, &workspace);
    look_at_transcripts(&mut findings, &workspace);
    look_at_log(&mut findings, &workspace);
    look_at_excludes(&mut findings, &workspace, &sights, &here);
    look_at_remotes(&mut findings, &workspace);
    look_at_store(&mut findings, &workspace);
    look_at_locks(&mut findings, context, &workspace)?;
    look_at_turns(&mut findings, &workspace)?;
    report(context, &findings)
}

fn connect(agent: Agent) -> String {
    format!("edio init --agents {agent}")
}

fn look_for_program(findings: &mut Findings, connected: &[Agent]) {
    let remedy = "put the folder of edio into PATH, also where your agents are started from";
    match (env::find_program("edio"), env::this_program()) {
        (None, _) if connected.is_empty() => {
            findings.note("edio", "edio is not in PATH", Some(remedy.to_owned()));
        }
        (None, _) => findings.wrong(
            "edio",
            "edio is not in PATH: the agents can't find it",
            remedy,
        ),
        (Some(found), Ok(ref this))
            if fs::canonicalize(&found).ok() != fs::canonicalize(this).ok() =>
        {
            let shown = text::path(&git_bytes(&found));
            let what = format!("the agents call another edio than this one: {shown}");
            findings.note("edio", what, None);
        }
        (Some(found), _) => {
            let shown = text::path(&git_bytes(&found));
            findings.ok("edio", format!("PATH finds {shown}"));
        }
    }
    if connected.is_empty() {
        let what = "no agent is connected here";
        findings.note("edio", what, Some("edio init".to_owned()));
    }
}

/// Do its files have what they are to have, the project's or the person's own?
fn look_at_files(findings: &mut Findings, agent: Agent, sights: &[(Reach, Places)]) {
    let (mut whole, mut broken) = (BTreeSet::new(), BTreeSet::new());
    let mut unreadable = BTreeSet::new();
    for (reach, places) in sights {
        let mut stands: BTreeMap<Purpose, Standing> = BTreeMap::new();
        for file in agent.files(*reach) {
            let Some(standing) = look_at_file(findings, agent, &file, places) else {
                unreadable.insert(file.purpose);
                continue;
            };
            let all = stands.entry(file.purpose).or_insert(standing);
            *all = all.and(standing);
        }
        for (purpose, standing) in stands {
            match standing {
                Standing::Whole => whole.insert(purpose),
                Standing::Half => broken.insert(purpose),
                Standing::Nothing => false,
            };
        }
    }
    let wanted: BTreeSet<Purpose> = agent
        .files(Reach::Project)
        .iter()
        .map(|f| f.purpose)
        .collect();
    let missing = wanted.difference(&whole);
    for purpose in missing.filter(|purpose| !unreadable.contains(purpose)) {
        let name = purpose.name();
        match purpose {
            _ if broken.contains(purpose) => {
                let what = format!("its {name}: only a part is there");
                findings.wrong(agent, what, connect(agent));
            }
            Purpose::Instructions => {
                let what = match wanted.contains(&Purpose::Server) {
                    true => "its model is told nothing of edio but by the server",
                    false => "its model is told nothing of edio",
                };
                findings.note(agent, what, Some(connect(agent)));
            }
            _ => findings.wrong(agent, format!("its {name}: not there"), connect(agent)),
        }
    }
    if !whole.is_empty() {
        let names: Vec<_> = whole.iter().map(|purpose| purpose.name()).collect();
        findings.ok(agent, format!("{}: there", names.join(", ")));
    }
}

/// How one of its files stands. `None` where that can't be told, which is a finding of its own.
fn look_at_file(
    findings: &mut Findings,
    agent: Agent,
    file: &File,
    places: &Places,
) -> Option<Standing> {
    let path = places.chosen(file);
    let site = match places.site(path) {
        Ok(site) => site,
        Err(barred) => {
            findings.note(agent, format!("{path}: {barred}"), None);
            return None;
        }
    };
    let Some(content) = &site.content else {
        return Some(Standing::Nothing);
    };
    if let Some(ignored) = file.config.ignored(content) {
        let what = format!("it ignores all of {path}: {ignored}");
        findings.wrong(agent, what, format!("take that out of {path}"));
    }
    if file.config.is_program() && !site.is_program() {
        let what = format!("it leaves out {path}, which can't be run");
        findings.wrong(agent, what, format!("chmod +x {path}"));
    }
    match file.config.standing(content) {
        Ok(standing) => Some(standing),
        Err(refusal) => {
            let what = format!("{path} can't be read: {refusal}");
            let remedy = format!("put {path} right, then {}", connect(agent));
            findings.wrong(agent, what, remedy);
            None
        }
    }
}

fn look_at_trust(findings: &mut Findings, agent: Agent, workspace: &Workspace) {
    for trust in trust_of(agent, workspace) {
        match trust {
            Trust::Given(what) => findings.ok(agent, what),
            Trust::Missing(what) => findings.wrong(agent, what, agent.approval()),
            Trust::Unknown(what) => findings.note(agent, what, Some(agent.approval().to_owned())),
        }
    }
    if agent.is_known_from_documents() {
        let what = "whether it takes heed of its files can't be seen from outside; their form is known from its documents only";
        findings.note(agent, what, Some(agent.approval().to_owned()));
    }
}

/// When was its last hook heard, and how did that end?
fn look_at_hooks(findings: &mut Findings, agent: Agent, workspace: &Workspace) {
    let has_hooks = |file: &File| file.purpose == Purpose::Hooks;
    if !agent.files(Reach::Project).iter().any(has_hooks) {
        return;
    }
    let Some(last) = workspace.state.heard.get(&agent.to_string()) else {
        let what = "no hook of it was heard yet";
        findings.note(agent, what, Some(agent.approval().to_owned()));
        return;
    };
    let ago = time::ago(clock::now(), *last);
    findings.ok(agent, format!("its last hook was heard {ago}"));
    // The log has a line for each that failed, with the time first.
    let log = hooklog::last(&workspace.scratch(), 1);
    let failed = log.iter().find(|line| {
        let mut words = line.split(' ');
        words.next() >= Some(&time::rfc3339(*last)) && words.next() == Some(&agent.to_string())
    });
    if let Some(line) = failed {
        findings.wrong(
            agent,
            format!("its last hook failed: {line}"),
            "edio status",
        );
    }
}

/// Is it clear what is guarded?
fn look_at_guard(findings: &mut Findings, workspace: &Workspace) {
    for key in Guard::not_understood(&workspace.settings) {
        findings.wrong(
            "guard",
            format!("{key} is set to something that it can't be, and counts as not set"),
            format!("git config --unset {key}, then edio guard"),
        );
    }
}

/// Is it clear how much of what is said is to be kept, and were transcripts left out?
fn look_at_transcripts(findings: &mut Findings, workspace: &Workspace) {
    if Keep::set(&workspace.settings).is_none() {
        findings.wrong(
            "edio",
            "edio.transcripts is neither full nor prompts nor off: nothing of what is said is kept",
            "git config edio.transcripts prompts",
        );
    }
    for (conversation, place) in &workspace.state.transcripts {
        if let Some(why) = &place.left_out {
            let what = format!("the transcript of {conversation} is left out of turns: {why}");
            findings.note("edio", what, None);
        }
    }
}

/// The last hooks that failed, and who keeps the others waiting.
fn look_at_log(findings: &mut Findings, workspace: &Workspace) {
    const NAMED: usize = 5;
    const RECENT: i64 = 7 * 24 * 60 * 60;
    let scratch = workspace.scratch();
    // Each begins with its time.
    let since = time::rfc3339(clock::now() - RECENT);
    let lines = hooklog::last(&scratch, NAMED).into_iter();
    for line in lines.filter(|line| *line >= since) {
        let remedy = "the next turn has what this one missed; to take it now: edio snapshot";
        findings.note(
            "edio",
            format!("a hook failed: {line}"),
            Some(remedy.to_owned()),
        );
    }
    if let Some(pid) = Lock::holder(&scratch) {
        let what =
            format!("process {pid} is at work in this work tree, and the others wait for it");
        let remedy = format!("if it hangs, in a filter of git's say: kill {pid}");
        findings.note("edio", what, Some(remedy));
    }
}

/// What is kept out of git's sight, and is gone, or has become somebody else's.
fn look_at_excludes(
    findings: &mut Findings,
    workspace: &Workspace,
    sights: &[(Reach, Places)],
    here: &[Agent],
) {
    let excludes = match Excludes::read(&workspace.git) {
        Ok(excludes) => excludes,
        Err(barred) => {
            findings.note("repository", format!("info/exclude: {barred}"), None);
            return;
        }
    };
    let elsewhere = Excludes::elsewhere(workspace).unwrap_or_else(|error| {
        findings.note("repository", error.to_string(), None);
        BTreeSet::new()
    });
    for path in excludes.paths().filter(|path| !elsewhere.contains(path)) {
        let file = workspace.git.work_tree.join(&path);
        if file.symlink_metadata().is_err() {
            let what = format!("{path} is kept out of git's sight, and is gone");
            findings.note(
                "repository",
                what,
                Some("edio init, or edio init --remove".to_owned()),
            );
        }
    }
    let project = sights.iter().filter(|(reach, _)| *reach == Reach::Project);
    for (_, places) in project {
        look_for_hidden(findings, &excludes, places, here);
    }
}

/// Files that edio made, that the person has written into since, and that git still doesn't see.
fn look_for_hidden(findings: &mut Findings, excludes: &Excludes, places: &Places, here: &[Agent]) {
    let mut hidden: BTreeSet<String> = excludes.paths().collect();
    for (agent, file) in files_of(here, Reach::Project, Scope::WithSkill) {
        // Several agents may have the same one.
        let is_hidden = hidden.remove(file.path) && !places.is_tracked(file.path);
        let site = places
            .site(file.path)
            .ok()
            .filter(|_| is_hidden && file.config.is_text());
        let Some(text) = site.and_then(|site| site.content.as_ref()) else {
            continue;
        };
        let rest = file.config.take_out(text, Some(b""));
        if rest.map_or(true, |rest| !rest.is_empty) {
            let about = agent.map_or("repository".to_owned(), |agent| agent.to_string());
            let what = format!(
                "{} has more than edio's part, and git doesn't see it",
                file.path
            );
            let remedy = format!("git add -f {}, or edio init --shared", file.path);
            findings.note(about, what, Some(remedy));
        }
    }
}

fn look_at_remotes(findings: &mut Findings, workspace: &Workspace) {
    for remote in workspace.settings.publishing_remotes(refnames::ALL) {
        let what = format!("a push to {remote} publishes the turns, and all files in them");
        let remedy = match workspace
            .settings
            .is_true(&format!("remote.{remote}.mirror"))
        {
            true => format!(
                "git config --unset remote.{remote}.mirror, then push '+refs/*:refs/*' '^{}*' there",
                refnames::ALL
            ),
            false => format!(
                "git config --add remote.{remote}.push '^{}*'",
                refnames::ALL
            ),
        };
        findings.wrong("repository", what, remedy);
    }
    for remote in workspace.settings.overwriting_remotes(refnames::ALL) {
        let what =
            format!("a fetch from {remote} writes over the turns, and with --prune deletes them");
        let remedy = format!(
            "git config --add remote.{remote}.fetch '^{}*'",
            refnames::ALL
        );
        findings.wrong("repository", what, remedy);
    }
}

fn look_at_store(findings: &mut Findings, workspace: &Workspace) {
    let Some(store) = &workspace.store else {
        return;
    };
    let home = text::plain(&git_bytes(&store.home));
    findings.ok("store", format!("the turns are in {home}"));
    if store.is_beside_repository() {
        let what = "this is a repository, too: edio knows nothing of its branches and commits";
        let remedy = "to work in the repository: edio init --store --remove";
        findings.note("store", what, Some(remedy.to_owned()));
    }
}

/// What git's own commands wait for: the index that a killed accept has locked, or somebody else has, and the like.
fn look_at_locks(findings: &mut Findings, context: &Context, workspace: &Workspace) -> Result<()> {
    // Under edio's own lock nobody is at work.
    let is_dead = match has_locked(workspace) {
        true => {
            let workspace = context.open_locked()?;
            has_locked(&workspace)
        }
        false => false,
    };
    if is_dead {
        findings.wrong(
            "git",
            "an accept was interrupted, and has left the index locked",
            "edio snapshot --if-changed",
        );
    }
    for lock in GitLock::all(workspace) {
        if is_dead && lock.file == index_lock(workspace) {
            continue;
        }
        let shown = text::path(&git_bytes(&lock.file));
        let ago = time::ago(clock::now(), lock.made());
        let typed = shell::word(&git_bytes(&lock.file));
        let remedy = format!("if no git is running: rm {typed}");
        findings.note("git", format!("{shown} was made {ago}"), Some(remedy));
    }
    Ok(())
}

/// Can all turns be read that have refs, and is all there that they hold?
fn look_at_turns(findings: &mut Findings, workspace: &Workspace) -> Result<()> {
    for fault in faults::all(workspace)? {
        let what = format!("{}: {}", fault.session, fault.what);
        findings.wrong("turns", what, fault.remedy);
    }
    Ok(())
}

fn report(context: &mut Context, findings: &Findings) -> Result<u8> {
    for finding in &findings.0 {
        if context.term.is_json() {
            context.term.record(finding).printed()?;
            continue;
        }
        let (about, what) = (&finding.about, text::plain(finding.what.as_bytes()));
        let line = match finding.grade {
            Grade::Ok => format!("ok: {about}: {what}"),
            Grade::Note => format!("note: {about}: {what}"),
            Grade::Wrong => format!("{} {about}: {what}", style::error("wrong:")),
        };
        context.term.line(line).printed()?;
        if let Some(remedy) = &finding.remedy {
            let remedy = text::plain(remedy.as_bytes());
            context.term.line(format!("  try: {remedy}")).printed()?;
        }
    }
    let is_wrong = findings
        .0
        .iter()
        .any(|finding| finding.grade == Grade::Wrong);
    Ok(u8::from(is_wrong))
}
