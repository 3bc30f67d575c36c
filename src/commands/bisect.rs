//! `edio bisect`: which turn was the first on which a command fails?

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::mpsc;
use std::thread;

use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;

use super::arguments::checkout::{self, Missing, Site};
use super::shown::record::{TurnRecord, difference};
use super::{Context, Printed, completions, show};
use crate::error::{Error, Result, While};
use crate::history::address::Address;
use crate::history::bisect::{Grain, Progress, Search, Verdict, line};
use crate::history::checkout::Checkout;
use crate::history::compare::{Sides, beside_of, differences, hidden_by};
use crate::history::git::{PatchStyle, RepoPath};
use crate::history::session::Session;
use crate::history::turn::Turn;
use crate::history::workspace::Workspace;
use crate::term::text::plural;
use crate::term::{self, style, text};

/// Find the first turn on which a command fails, by running it on the files of a few turns.
///
/// CMD succeeds with exit code 0, and fails with any other up to 124. With 125 it says that this turn can't be told: it is
/// skipped. 126, 127, 128 and more, and a signal, end the search: something else is wrong then.
///
/// Each run is in a folder of its own, as with `edio exec`: your work tree stays as it is. The same folder goes from turn
/// to turn, with what CMD has built there. It is no git repository, and ignored files are not there. CMD has no input,
/// and what it leaves running is ended. Only turns are looked at: what you have not saved is in none.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  edio bisect -- make test\n  edio bisect --good 3 --bad 12 --link node_modules -- npm test\n  edio bisect -j 4 --steps -- sh -c '! grep -rq TODO src'"
)]
pub struct Args {
    /// A turn on which CMD succeeds; you are believed. Without, turn 0, which is tried.
    #[arg(long, value_name = "TURN", add = ArgValueCompleter::new(completions::turns))]
    good: Option<Address>,
    /// A later turn on which CMD fails; you are believed. Without, the current one, which is tried.
    #[arg(long, value_name = "TURN", add = ArgValueCompleter::new(completions::turns))]
    bad: Option<Address>,
    /// Look at the steps inside the turns, too.
    #[arg(long)]
    steps: bool,
    /// Run CMD on so many turns at once. What it prints is hidden then, but for -v.
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u8).range(1..=64))]
    jobs: u8,
    #[command(flatten)]
    place: checkout::Args,
    /// The command and its own words.
    #[arg(
        value_name = "CMD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

#[derive(Serialize)]
struct Record {
    turn: Option<show::Record>,
    probes: Vec<ProbeRecord>,
    skipped: Vec<NumberRecord>,
    remaining: Vec<NumberRecord>,
}

#[derive(Serialize)]
struct NumberRecord {
    turn: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
}

#[derive(Serialize)]
struct ProbeRecord {
    #[serde(flatten)]
    number: NumberRecord,
    exit: u8,
    result: &'static str,
}

/// Runs it.
///
/// # Errors
///
/// There is no such turn, CMD does not do what it should, or it can't be told which turn it is.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    let workspace = context.open()?;
    let session = Session::wanted(&workspace, context.session.as_ref())?;
    let line = line_meant(&workspace, &session, args)?;
    let site = Site::make(context, &workspace, &args.place)?;
    let checkouts = (1..=usize::from(args.jobs).min(line.len())).map(|n| site.room.checkout(n));
    let mut bisection = Bisection {
        trial: Trial {
            site: &site,
            workspace: &workspace,
            command: &args.command,
            line: &line,
            output: output(context, args),
        },
        checkouts: checkouts.collect::<Result<_>>()?,
        probes: Vec::new(),
        missing: Missing::default(),
    };
    bisection.try_ends(context, args)?;
    let mut search = Search::along(line.len());
    let end = loop {
        match search.progress(bisection.checkouts.len()) {
            Progress::Look(wanted) => {
                for (at, verdict) in bisection.probe(context, &wanted)? {
                    search.note(at, verdict);
                }
            }
            end => break end,
        }
    };
    let probes = std::mem::take(&mut bisection.probes);
    drop(bisection);
    drop(site);
    let report = Report {
        workspace: &workspace,
        session: &session,
        line: &line,
        skipped: search.skipped().map(|at| number(&line[at])).collect(),
        probes: probes.iter().map(|probe| probe.record(&line)).collect(),
    };
    match end {
        Progress::Found(at) => report.found(context, at),
        Progress::Broken(at) => {
            let broken = probes.into_iter().find(|probe| probe.at == at);
            Err(broken.map_or_else(
                || Error::bug("a probe is lost"),
                |probe| probe.not_as_it_should(&line[at]),
            ))
        }
        Progress::Among(these) => report.among(context, &these),
        Progress::Look(_) => Err(Error::bug("the search did not end")),
    }
}

fn line_meant(workspace: &Workspace, session: &Session, args: &Args) -> Result<Vec<Turn>> {
    let find = |address: &Address| address.find(workspace, session);
    let good = match &args.good {
        Some(address) => find(address)?,
        None => session.find_baseline(workspace)?,
    };
    let bad = match &args.bad {
        Some(address) => find(address)?,
        None => session.current()?.clone(),
    };
    let grain = match args.steps {
        true => Grain::Steps,
        false => Grain::Turns,
    };
    line(workspace, session, &good, &bad, grain)
}

/// What becomes of what the command prints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    /// It goes to stderr, while it comes.
    Shown,
    /// It is kept until the probe is told of.
    Gathered,
}

fn output(context: &Context, args: &Args) -> Output {
    match args.jobs == 1 && !context.term.is_quiet() && !context.term.is_json() {
        true => Output::Shown,
        false => Output::Gathered,
    }
}

/// One command on a line of turns.
#[derive(Clone, Copy)]
struct Trial<'a> {
    site: &'a Site<'a>,
    workspace: &'a Workspace,
    command: &'a [OsString],
    line: &'a [Turn],
    output: Output,
}

/// All runs of it.
struct Bisection<'a> {
    trial: Trial<'a>,
    checkouts: Vec<Checkout<'a>>,
    probes: Vec<Probe>,
    missing: Missing,
}

/// A run of the command on a turn.
struct Probe {
    at: usize,
    exit: u8,
    /// Why it was not started.
    not_started: Option<io::Error>,
    printed: Vec<u8>,
    submodules: Vec<RepoPath>,
}

impl Bisection<'_> {
    /// Sees whether the ends are as they are taken to be, where the person has not said that they are.
    fn try_ends(&mut self, context: &mut Context, args: &Args) -> Result<()> {
        let last = self.trial.line.len() - 1;
        let untold = [
            (args.bad.is_none(), last, Verdict::Bad),
            (args.good.is_none(), 0, Verdict::Good),
        ];
        let ends = untold.into_iter().filter(|(is_untold, ..)| *is_untold);
        let ends: Vec<(usize, Verdict)> = ends.map(|(_, at, verdict)| (at, verdict)).collect();
        for now in ends.chunks(self.checkouts.len()) {
            let wanted: Vec<usize> = now.iter().map(|(at, _)| *at).collect();
            let verdicts = self.probe(context, &wanted)?;
            for (at, expected) in now {
                let verdict = verdicts.get(at).copied();
                if verdict != Some(*expected) {
                    return Err(self.not_as_taken(*at, verdict));
                }
            }
        }
        Ok(())
    }

    fn not_as_taken(&self, at: usize, verdict: Option<Verdict>) -> Error {
        let turn = &self.trial.line[at];
        let number = turn.number();
        match verdict {
            Some(Verdict::Good) => {
                Error::cannot(format!("the command does not fail on turn {number}"))
                    .hint("name a turn on which it does: --bad TURN")
                    .hint("what you have not saved is in no turn: edio snapshot")
            }
            Some(Verdict::Bad) => {
                Error::cannot(format!("the command fails on turn {number} already"))
                    .hint("name a later turn on which it succeeds: --good TURN")
                    .hint("what it needs may be ignored, and so in no turn: --link NAME")
            }
            Some(Verdict::Skip) => Error::cannot(format!(
                "the command can't tell of turn {number} (exit 125)"
            ))
            .hint("name turns of which you know: --good TURN --bad TURN"),
            _ => {
                let probe = self.probes.iter().find(|probe| probe.at == at);
                probe.map_or_else(
                    || Error::bug("a probe is lost"),
                    |probe| probe.not_as_it_should(turn),
                )
            }
        }
    }

    /// Runs the command on these turns, at once.
    fn probe(
        &mut self,
        context: &mut Context,
        wanted: &[usize],
    ) -> Result<BTreeMap<usize, Verdict>> {
        let begun = self.probes.len();
        let trial = self.trial;
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            for (checkout, &at) in self.checkouts.iter_mut().zip(wanted) {
                let tell = tell.clone();
                scope.spawn(move || tell.send(trial.run(checkout, at)));
            }
            drop(tell);
            for probe in told {
                let probe = trial.site.unless_interrupted(probe)?;
                let turn = &trial.line[probe.at];
                self.missing.name(context, turn, &probe.submodules);
                probe.tell(context, turn, trial.output);
                self.probes.push(probe);
            }
            Ok::<(), Error>(())
        })?;
        // In the order in which they were wanted: which ends first is chance.
        let place = |probe: &Probe| wanted.iter().position(|at| *at == probe.at);
        self.probes[begun..].sort_by_key(place);
        let verdicts = self.probes[begun..].iter();
        Ok(verdicts.map(|probe| (probe.at, probe.verdict())).collect())
    }
}

impl Trial<'_> {
    /// Runs the command on one of the turns, to its end.
    fn run(&self, checkout: &mut Checkout<'_>, at: usize) -> Result<Probe> {
        let turn = &self.line[at];
        let interruption = &self.site.interruption;
        checkout.go_to(turn, &|| interruption.came())?;
        let (program, words) = checkout::program(self.command)?;
        let command = checkout::command(program, words, self.workspace, checkout, turn);
        let file = match self.output {
            Output::Shown => term::messages(),
            Output::Gathered => tempfile::tempfile(),
        };
        let mut file = file.or_cannot(|| "can't take what the command prints".to_owned())?;
        let (exit, not_started) = match command.run_apart(&file, interruption) {
            Ok(status) => (status.shell_code(), None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (127, Some(error)),
            Err(error) => (126, Some(error)),
        };
        let printed = match self.output {
            Output::Shown => Vec::new(),
            Output::Gathered => gathered(&mut file)
                .or_cannot(|| "can't read what the command has printed".to_owned())?,
        };
        Ok(Probe {
            at,
            exit,
            not_started,
            printed,
            submodules: checkout.submodules().cloned().collect(),
        })
    }
}

fn gathered(file: &mut File) -> io::Result<Vec<u8>> {
    let mut printed = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut printed)?;
    Ok(printed)
}

impl Probe {
    fn verdict(&self) -> Verdict {
        match self.exit {
            0 => Verdict::Good,
            125 => Verdict::Skip,
            1..=124 => Verdict::Bad,
            _ => Verdict::Broken,
        }
    }

    fn tell(&self, context: &mut Context, turn: &Turn, output: Output) {
        let number = style::turn(turn.number());
        let exit = self.exit;
        let what = match self.verdict() {
            Verdict::Good => "ok".to_owned(),
            Verdict::Bad => format!("failed (exit {exit})"),
            Verdict::Skip => format!("skipped (exit {exit})"),
            Verdict::Broken => format!("broken (exit {exit})"),
        };
        context.term.told(format!("turn {number}: {what}"));
        let is_wanted = context.place.trace.is_some() || self.verdict() == Verdict::Broken;
        if output == Output::Gathered && is_wanted && !self.printed.is_empty() {
            let printed = self.printed.trim_ascii_end();
            context.term.told(text::plain_lines(printed));
        }
    }

    /// The command does not run there as a test should.
    fn not_as_it_should(&self, turn: &Turn) -> Error {
        let (number, exit) = (turn.number(), self.exit);
        let error = Error::cannot(format!(
            "on turn {number} the command ended with exit code {exit}, which is no test's answer"
        ));
        match (&self.not_started, exit) {
            (Some(cause), _) => error
                .because(io::Error::new(cause.kind(), cause.to_string()))
                .hint("a script that is in no turn is found by its full path"),
            (None, 126 | 127) => error.hint("a shell says so of a command that it can't run"),
            (None, _) => error
                .hint("where that is a failure like others: edio bisect -- sh -c 'CMD || exit 1'"),
        }
    }

    fn record(&self, line: &[Turn]) -> ProbeRecord {
        ProbeRecord {
            number: number(&line[self.at]),
            exit: self.exit,
            result: match self.verdict() {
                Verdict::Good => "ok",
                Verdict::Bad => "failed",
                Verdict::Skip => "skipped",
                Verdict::Broken => "broken",
            },
        }
    }
}

fn number(turn: &Turn) -> NumberRecord {
    let number = turn.number();
    NumberRecord {
        turn: number.turn,
        step: number.as_step(),
    }
}

/// What is told at the end.
struct Report<'a> {
    workspace: &'a Workspace,
    session: &'a Session,
    line: &'a [Turn],
    probes: Vec<ProbeRecord>,
    skipped: Vec<NumberRecord>,
}

impl Report<'_> {
    fn found(self, context: &mut Context, at: usize) -> Result<u8> {
        let (turn, before) = (&self.line[at], &self.line[at - 1]);
        let sides = Sides {
            old: before.tree.clone(),
            new: turn.tree.clone(),
        };
        let (mut changes, _) = differences(self.workspace, &sides, &[])?;
        let hidden = match turn.number().as_step() {
            Some(_) => Vec::new(),
            None => hidden_by(self.workspace, self.session, turn)?,
        };
        let beside = beside_of(self.workspace, self.session, turn)?;
        if context.term.is_json() {
            changes.extend(hidden);
            let current = self.session.current.as_ref().map(|turn| &turn.commit);
            let turn = show::Record {
                turn: TurnRecord::new(turn, current),
                changes: changes.iter().map(difference).collect(),
                beside: show::names(&beside),
                said: show::Said::of(self.workspace, self.session, turn)?,
            };
            let record = Record {
                turn: Some(turn),
                probes: self.probes,
                skipped: self.skipped,
                remaining: Vec::new(),
            };
            context.term.record(&record).printed()?;
            return Ok(0);
        }
        let (number, good) = (turn.number(), before.number());
        context.term.told(format!(
            "turn {} is the first on which it fails",
            style::turn(number)
        ));
        context.page(self.workspace);
        show::head(context, self.session, turn)?;
        let said = show::Said::of(self.workspace, self.session, turn)?;
        show::words(context, turn, &said)?;
        show::files(context, &changes, &hidden, &beside)?;
        let style = PatchStyle {
            color: context.term.styles_out(),
        };
        let patch = self
            .workspace
            .git
            .patch(&sides.old, &sides.new, &[], &style)?;
        context.print_patch(patch)?;
        let back = format!("go back to before it: edio restore {good}");
        context.term.hint(match number.as_step() {
            Some(_) => back,
            None => format!("{back}; take back only it: edio revert {number}"),
        });
        Ok(0)
    }

    fn among(self, context: &mut Context, these: &[usize]) -> Result<u8> {
        let named: Vec<String> = these
            .iter()
            .map(|at| self.line[*at].number().to_string())
            .collect();
        if context.term.is_json() {
            let record = Record {
                turn: None,
                probes: self.probes,
                skipped: self.skipped,
                remaining: these.iter().map(|at| number(&self.line[*at])).collect(),
            };
            context.term.record(&record).printed()?;
        }
        let skipped = plural(these.len() - 1, "turn");
        Err(Error::cannot(format!(
            "it is one of the turns {}: {skipped} among them can't be told",
            named.join(", ")
        ))
        .hint("see what each did: edio log -p"))
    }
}
