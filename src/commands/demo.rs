//! `edio demo`: the whole story, played in a scratch repository.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Context, Printed};
use crate::env;
use crate::error::{Error, Result, While};
use crate::history::git::LOCAL_VARIABLES;
use crate::process::{Command, Status};
use crate::term::style;

/// Play the story of a session in a scratch repository: seven turns, a bad one, restore, accept.
///
/// Each command is shown, run, and followed by what it printed. Nothing outside the scratch repository is touched.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  edio demo\n  edio demo --keep /tmp/edio-demo")]
pub struct Args {
    /// Play it in this folder, which must not exist, and keep it.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Whose commits they are, and when: in the story it is `You`, and now.
const IDENTITY: [&str; 6] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
];

/// What the agent of the story does in each turn: file and content.
const TURNS: [(&str, &[(&str, &str)]); 7] = [
    (
        "models",
        &[("src/models.py", "class User:\n    name: str\n")],
    ),
    (
        "routes",
        &[("src/routes.py", "def index():\n    return \"hello\"\n")],
    ),
    (
        "auth",
        &[
            (
                "src/auth.py",
                "def login(user, password):\n    return check(user, password)\n",
            ),
            (
                "src/routes.py",
                "from auth import login\n\ndef index():\n    return \"hello\"\n",
            ),
        ],
    ),
    (
        "tests",
        &[(
            "tests/test_auth.py",
            "def test_login():\n    assert login(\"a\", \"b\")\n",
        )],
    ),
    ("docs", &[("README.md", "# shop\n\nLog in, then buy.\n")]),
    (
        "style",
        &[(
            "src/models.py",
            "class User:\n    name: str\n    email: str\n",
        )],
    ),
    (
        "simplify everything",
        &[
            ("src/auth.py", "def login(*anything):\n    return True\n"),
            (
                "src/logout.py",
                "def logout(user):\n    user.session.end()\n",
            ),
        ],
    ),
];

/// Runs it.
///
/// # Errors
///
/// The scratch repository can't be made, or a command of the story fails.
pub fn run(context: &mut Context, args: &Args) -> Result<u8> {
    if context.term.is_json() {
        return Err(Error::usage("the demo tells a story, which is no JSON"));
    }
    let scratch = Scratch::make(args.keep.as_deref())?;
    let mut story = Story {
        context,
        folder: scratch.folder.clone(),
        edio: env::this_program().or_cannot(|| "can't find this program".to_owned())?,
    };
    story.play()?;
    if args.keep.is_some() {
        let shown = scratch.folder.display();
        context
            .term
            .line(format!("The repository is kept in {shown}."))
            .printed()?;
    }
    Ok(0)
}

/// The folder of the story; removed at the end unless it is kept.
struct Scratch {
    folder: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl Scratch {
    fn make(keep: Option<&Path>) -> Result<Self> {
        let Some(folder) = keep else {
            let temporary = tempfile::Builder::new().prefix("edio-demo-").tempdir();
            let temporary = temporary.or_cannot(|| "can't make a scratch folder".to_owned())?;
            return Ok(Self {
                folder: temporary.path().to_owned(),
                _temporary: Some(temporary),
            });
        };
        if folder.exists() {
            return Err(
                Error::cannot(format!("{} exists already", folder.display()))
                    .hint("name a folder that does not exist yet"),
            );
        }
        fs::create_dir_all(folder).or_cannot(|| format!("can't make {}", folder.display()))?;
        Ok(Self {
            folder: folder.to_owned(),
            _temporary: None,
        })
    }
}

struct Story<'a> {
    context: &'a mut Context,
    folder: PathBuf,
    edio: PathBuf,
}

impl Story<'_> {
    fn play(&mut self) -> Result<()> {
        self.tell("A small project, in git:")?;
        self.write(".gitignore", "*.log\n")?;
        self.git_quietly(&["init", "-q", "-b", "main"])?;
        self.git_quietly(&["config", "user.name", "You"])?;
        self.git_quietly(&["config", "user.email", "you@example.com"])?;
        self.git_quietly(&["add", "-A"])?;
        self.git_quietly(&["commit", "-q", "-m", "start"])?;
        self.git(&["log", "--oneline"])?;
        self.edio(&["init"])?;

        self.tell("An agent works, and each of its turns is taken:")?;
        for (message, files) in TURNS {
            for (file, content) in files {
                self.write(file, content)?;
            }
            self.edio(&["snapshot", "-m", message])?;
        }
        self.edio(&["log"])?;

        self.tell("The last turn is bad: login lets everyone in. What did it do?")?;
        self.edio(&["show", "7"])?;

        self.tell("Back to turn 6, exactly as it was:")?;
        self.edio(&["restore", "6"])?;
        self.edio(&["diff", "--workspace"])?;
        self.edio(&["status"])?;

        self.tell("One file of turn 7 was good after all? It is still there:")?;
        self.edio(&["restore", "7", "-f", "src/logout.py", "--dry-run"])?;

        self.tell("The work is good. One clean commit:")?;
        self.edio(&["accept", "feat: add auth"])?;
        self.git(&["log", "--oneline", "--stat"])?;
        self.git(&["status", "--short"])?;
        self.tell("That is all: seven turns, one bad, one commit, and nothing was lost.")
    }

    fn tell(&mut self, text: &str) -> Result<()> {
        self.context.term.line("").printed()?;
        self.context.term.line(style::heading(text)).printed()
    }

    fn write(&self, file: &str, content: &str) -> Result<()> {
        let path = self.folder.join(file);
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, content))
            .or_cannot(|| format!("can't write {}", path.display()))
    }

    fn edio(&mut self, words: &[&str]) -> Result<()> {
        let program = self.edio.clone().into_os_string();
        let words: Vec<&str> = ["--no-pager"].iter().chain(words).copied().collect();
        self.show("edio", &words[1..])?;
        self.run(program, &words)
    }

    fn git(&mut self, words: &[&str]) -> Result<()> {
        self.show("git", words)?;
        self.git_quietly(words)
    }

    fn git_quietly(&mut self, words: &[&str]) -> Result<()> {
        let words: Vec<&str> = ["--no-pager"].iter().chain(words).copied().collect();
        self.run("git".into(), &words)
    }

    fn show(&mut self, program: &str, words: &[&str]) -> Result<()> {
        let quoted = words.iter().map(|word| match word.contains(' ') {
            true => format!(" \"{word}\""),
            false => format!(" {word}"),
        });
        let line: String = quoted.collect();
        let line = format!("$ {program}{line}");
        self.context.term.line(style::turn(line)).printed()
    }

    /// Runs a command in the story's folder, in surroundings where only that repository counts: no hook, template or
    /// signing key of the person's is used.
    fn run(&mut self, program: OsString, words: &[&str]) -> Result<()> {
        self.context.term.data().flush().printed()?;
        let shown = program.to_string_lossy().into_owned();
        let mut command = Command::new(program)
            .args(words)
            .dir(&self.folder)
            .without_traces()
            .without_env("GIT_TEMPLATE_DIR")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for name in LOCAL_VARIABLES.iter().chain(&IDENTITY) {
            command = command.without_env(name);
        }
        let status: Status = command
            .hand_over()
            .or_cannot(|| format!("can't start {shown}"))?;
        const CLOSED_PIPE: i32 = 13;
        match status.success() {
            true => Ok(()),
            // Nobody reads the story any more.
            false if status.signal() == Some(CLOSED_PIPE) => {
                Err(Error::output(std::io::ErrorKind::BrokenPipe.into()))
            }
            false => Err(Error::cannot(format!("{shown} {} failed", words.join(" ")))),
        }
    }
}
