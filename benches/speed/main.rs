//! How fast edio is, as ratios: each step of a session beside what git itself takes, and beside what others do.
//!
//! All is measured in one run, one after the other by turns, on repositories that are made for it. A figure is a median.
//! `cargo bench` measures; `cargo bench -- --help` says what can be chosen.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs,
    reason = "a program of its own, which ends where something is not as it must be"
)]

mod contestants;
mod project;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;

use contestants::{Edio, Kept, Reference, git, program};
use project::{Edit, Project};
use table::Table;

/// Measures edio beside git, and beside what other tools do.
#[derive(Parser)]
#[command(name = "cargo bench --")]
struct Args {
    /// How many files the repositories have.
    #[arg(long, value_delimiter = ',', default_values_t = [300, 5_000, 20_000, 100_000])]
    files: Vec<usize>,
    /// How often each step is measured.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Only see that it works: few files, two rounds.
    #[arg(long)]
    quick: bool,
    /// Where the figures go, as JSON.
    #[arg(long, default_value = concat!(env!("CARGO_TARGET_TMPDIR"), "/speed.json"))]
    json: PathBuf,
    /// Given by cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    let mut args = Args::parse();
    if args.quick {
        (args.files, args.rounds) = (vec![300], 2);
    }
    let mut tables = Vec::new();
    for files in args.files {
        eprintln!("{files} files: making them");
        let folder = tempfile::tempdir().unwrap();
        let mut table = Table::new(files);
        let project = Project::make(&folder.path().join("plain"), files);
        session(&mut table, folder.path(), &project, args.rounds);
        hooks(&mut table, folder.path(), &project, args.rounds);
        long_session(&mut table, folder.path(), &project, args.rounds);
        println!("{table}");
        tables.push(table.json());
    }
    fs::write(&args.json, serde_json::to_vec_pretty(&tables).unwrap()).unwrap();
    eprintln!("written to {}", args.json.display());
}

/// The steps of a session, again and again, each contestant in a copy of the same project.
fn session(table: &mut Table, folder: &Path, plain: &Project, rounds: usize) {
    let mut reference = Reference::new(plain.copy(&folder.join("reference")));
    let mut kept = Kept::new(plain.copy(&folder.join("kept")));
    let edio = Edio::new(plain.copy(&folder.join("edio")));

    // How it begins is measured a few times only: each needs a fresh start.
    for _ in 0..rounds.min(3) {
        edio.forget_everything();
        table.time("edio, first snapshot", || edio.run(&["snapshot"]));
    }
    reference.snapshot();
    kept.snapshot();

    for round in 0..rounds {
        table.time("true", || program("true"));
        table.time("git rev-parse HEAD", || git(plain, &["rev-parse", "HEAD"]));
        table.time("edio --version", || edio.run(&["--version"]));

        let status = ["status", "--porcelain", "-uall"];
        table.time("git status -uall", || git(plain, &status));
        table.time("reference, nothing changed", || reference.snapshot());
        table.time("kept index, nothing changed", || kept.snapshot());
        table.time("edio, nothing changed since a restore", || {
            edio.run(&["snapshot", "--if-changed"]);
        });
        table.time("edio, nothing changed", || {
            edio.run(&["snapshot", "--if-changed"])
        });
        table.time("edio status", || edio.run(&["status"]));

        for (edit, name) in [(Edit::One, "1 file"), (Edit::Hundred, "100 files")] {
            for project in [plain, &reference.project, &kept.project, &edio.project] {
                project.edit(edit, round);
            }
            table.time(&format!("git status -uall, {name} changed"), || {
                git(plain, &status)
            });
            table.time(&format!("reference, {name} changed"), || {
                reference.snapshot()
            });
            table.time(&format!("kept index, {name} changed"), || kept.snapshot());
            table.time(&format!("edio, {name} changed"), || edio.run(&["snapshot"]));
            table.time(&format!("reference, restore of {name}"), || {
                reference.restore()
            });
            table.time(&format!("edio, restore of {name}"), || {
                edio.run(&["restore", "@-1"])
            });
            table.time(&format!("edio, undo of {name}"), || edio.run(&["undo"]));
            plain.as_committed();
        }
        edio.project.edit(Edit::One, round + rounds);
        edio.run(&["snapshot"]);
        let path = edio.project.edited(round + rounds);
        let words = ["restore", "@-1", "-f", &path];
        table.time("edio, restore of one file by name", || edio.run(&words));
        if round % 5 == 0 {
            table.time("edio, accept", || {
                edio.run(&["accept", "--no-verify", "measured"])
            });
            edio.run(&["snapshot"]);
        }
    }
    table.memory(
        "edio, nothing changed",
        edio.peak_memory(&["snapshot", "--if-changed"]),
    );
    edio.project.edit(Edit::Hundred, 2 * rounds);
    table.memory("edio, 100 files changed", edio.peak_memory(&["snapshot"]));
    table.memory(
        "edio, restore of 100 files",
        edio.peak_memory(&["restore", "@-1"]),
    );
}

/// What an agent waits for: a prompt, a tool that names its file, one that names none, the end of its turn.
fn hooks(table: &mut Table, folder: &Path, plain: &Project, rounds: usize) {
    let edio = Edio::new(plain.copy(&folder.join("hooks")));
    edio.hook("UserPromptSubmit", "");
    for round in 0..rounds {
        table.time("git status -uall, beside hooks", || {
            git(&edio.project, &["status", "--porcelain", "-uall"])
        });
        table.time("edio, prompt", || edio.hook("UserPromptSubmit", ""));
        edio.project.edit(Edit::One, 2 * round);
        let path = edio.project.edited(2 * round);
        table.time("edio, path known", || edio.hook("PostToolUse", &path));
        edio.project.edit(Edit::One, 2 * round + 1);
        table.time("edio, tool that may touch anything", || {
            edio.hook("PostToolUse", "")
        });
        table.time("edio, end of a turn", || edio.hook("Stop", ""));
    }
}

/// What many turns cost: their list, and their room on disk.
fn long_session(table: &mut Table, folder: &Path, plain: &Project, rounds: usize) {
    let edio = Edio::new(plain.copy(&folder.join("long")));
    edio.run(&["snapshot"]);
    let before = edio.project.room_of_git();
    for turn in 0..100 {
        edio.project.edit(Edit::One, turn);
        edio.run(&["snapshot"]);
    }
    let after = edio.project.room_of_git();
    table.room(
        (after.bytes - before.bytes) / 100,
        (after.files as f64 - before.files as f64) / 100.0,
    );
    for turn in 100..200 {
        edio.project.edit(Edit::One, turn);
        edio.run(&["snapshot"]);
    }
    for _ in 0..rounds {
        table.time("git rev-parse HEAD, 200 turns", || {
            git(&edio.project, &["rev-parse", "HEAD"])
        });
        table.time("edio log, 200 turns", || edio.run(&["log"]));
        table.time("edio log --json, 200 turns", || {
            edio.run(&["log", "--json"])
        });
        table.time("edio, nothing changed, 200 turns", || {
            edio.run(&["snapshot", "--if-changed"])
        });
    }
}
