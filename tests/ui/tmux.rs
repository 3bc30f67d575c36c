//! A terminal in which keys are pressed, and what is on it then.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{Repo, edio_binary, left_out};

/// A shell in tmux, at the top of a repository.
pub struct Tmux<'a> {
    repo: &'a Repo,
}

impl<'a> Tmux<'a> {
    /// A shell on a screen of this size; `None`, which is told, where there is no tmux.
    pub fn start(repo: &'a Repo, columns: u16, lines: u16) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            left_out("for there is no tmux");
            return None;
        }
        let tmux = Self { repo };
        let (columns, lines) = (columns.to_string(), lines.to_string());
        let top = repo.top.to_str().unwrap();
        let settings = repo.outside().join("bashrc");
        std::fs::write(&settings, "PS1='ready% '\n").unwrap();
        let shell = format!("exec bash --noprofile --rcfile {}", settings.display());
        tmux.run(&[
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &lines,
            "-c",
            top,
            &shell,
            ";",
            "set-option",
            "-s",
            "set-clipboard",
            "on",
            ";",
            "set-option",
            "-s",
            "escape-time",
            "0",
        ]);
        tmux.until("ready%");
        Some(tmux)
    }

    /// The shell with the UI in it, with these variables. Its exit code is printed when it ends.
    pub fn ui(repo: &'a Repo, (columns, lines): (u16, u16), variables: &str) -> Option<Self> {
        let tmux = Self::start(repo, columns, lines)?;
        tmux.run_ui(variables);
        tmux.until("? keys");
        Some(tmux)
    }

    /// Types the command that starts the UI. Its number is in the file `pid`.
    pub fn run_ui(&self, variables: &str) {
        let (edio, pid) = (edio_binary().display(), self.pid_file());
        let pid = pid.display();
        self.line(&format!(
            "clear; {variables} sh -c 'echo $$ >{pid}; exec {edio} ui'; echo left $?."
        ));
    }

    fn pid_file(&self) -> PathBuf {
        self.repo.outside().join("pid")
    }

    /// Sends a signal to the UI.
    pub fn signal(&self, name: &str) {
        let pid = std::fs::read_to_string(self.pid_file()).unwrap();
        let sent = Command::new("kill").args(["-s", name, pid.trim()]).status();
        assert!(sent.unwrap().success());
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        self.repo.surround(&mut command);
        command
            .env_remove("COLUMNS")
            .env("TMUX_TMPDIR", self.repo.outside())
            .env("SHELL", "/bin/bash")
            .args(["-L", "ui", "-f", "/dev/null", "-u"])
            .args(words);
        command
    }

    /// Runs tmux. Returns what it printed.
    pub fn run(&self, words: &[&str]) -> String {
        let output = self.command(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Presses keys, by tmux's names.
    pub fn keys(&self, keys: &[&str]) {
        self.run(&[&["send-keys"], keys].concat());
    }

    /// Types a text.
    pub fn text(&self, text: &str) {
        self.run(&["send-keys", "-l", text]);
    }

    /// Types a line for the shell.
    pub fn line(&self, line: &str) {
        self.text(line);
        self.keys(&["Enter"]);
    }

    /// What is on the screen.
    pub fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    /// Waits for a text on the screen.
    #[track_caller]
    pub fn until(&self, text: &str) -> String {
        self.until_so(text, |screen| screen.contains(text))
    }

    /// Waits until the screen is as it should be.
    #[track_caller]
    pub fn until_so(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(Instant::now() < end, "it did not come: {what}\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Is the other screen shown, is the mouse told, and is there a cursor? Each 1 or 0.
    pub fn modes(&self) -> String {
        let modes = "#{alternate_on}#{mouse_any_flag}#{cursor_flag}";
        let told = self.run(&["display-message", "-p", modes]);
        told.trim().to_owned()
    }

    /// How the terminal is set, as `stty` tells it.
    pub fn settings(&self, name: &str) -> String {
        let file = self.repo.outside().join(name);
        self.line(&format!("clear; stty -a >{}; echo told", file.display()));
        self.until_so("the settings", |screen| {
            screen.lines().any(|line| line == "told")
        });
        std::fs::read_to_string(file).unwrap()
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).output();
    }
}
