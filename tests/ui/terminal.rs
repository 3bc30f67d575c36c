//! The terminal is given back, however the UI ends.

use super::tmux::Tmux;
use crate::common::Repo;

const SIZE: (u16, u16) = (100, 24);

fn repo() -> Repo {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("a", "one\n");
    repo.edio(["snapshot", "-m", "the only one"]).ok();
    repo
}

/// Ends the UI in this way. The terminal must be as it was before.
#[track_caller]
fn is_given_back(end: impl Fn(&Tmux<'_>), told: &str) {
    let repo = repo();
    let Some(shell) = Tmux::start(&repo, SIZE.0, SIZE.1) else {
        return;
    };
    let before = shell.settings("before");
    shell.run_ui("");
    shell.until("? keys");
    assert_eq!(shell.modes(), "110");
    end(&shell);
    let screen = shell.until(told);
    assert!(!screen.contains("? keys"), "{screen}");
    assert_eq!(shell.modes(), "001");
    assert_eq!(shell.settings("after"), before);
}

#[test]
fn when_it_is_left() {
    is_given_back(|ui| ui.keys(&["q"]), "left 0.");
    is_given_back(|ui| ui.keys(&["Escape"]), "left 0.");
}

#[test]
fn when_it_is_interrupted() {
    is_given_back(|ui| ui.keys(&["C-c"]), "left 130.");
    is_given_back(|ui| ui.signal("INT"), "left 130.");
}

#[test]
fn when_it_is_ended() {
    is_given_back(|ui| ui.signal("TERM"), "left 143.");
    is_given_back(|ui| ui.signal("HUP"), "left 129.");
}

/// The tests' own program, in a terminal: a panic while something is drawn.
#[test]
fn when_it_panics() {
    if std::env::var_os("EDIO_TEST_PANIC").is_some() {
        let mut screen = edio::term::screen::Screen::open().unwrap();
        let _ = screen.draw(|_| panic!("at the worst time"));
    }
    let repo = repo();
    let Some(shell) = Tmux::start(&repo, SIZE.0, SIZE.1) else {
        return;
    };
    let before = shell.settings("before");
    let tests = std::env::current_exe().unwrap();
    shell.line(&format!(
        "clear; EDIO_TEST_PANIC=1 {} --exact ui::terminal::when_it_panics --nocapture; echo left $?.",
        tests.display()
    ));
    shell.until("left 101.");
    assert_eq!(shell.modes(), "001");
    assert_eq!(shell.settings("after"), before);
}

#[test]
fn for_a_while() {
    let repo = repo();
    let Some(shell) = Tmux::start(&repo, SIZE.0, SIZE.1) else {
        return;
    };
    let before = shell.settings("before");
    shell.run_ui("");
    shell.until("? keys");
    for _ in 0..2 {
        shell.keys(&["C-z"]);
        let screen = shell.until("Stopped");
        assert!(!screen.contains("? keys"), "{screen}");
        assert_eq!(shell.settings("after"), before);
        shell.line("clear; fg; echo back $?.");
        shell.until("? keys");
        shell.until("the only one");
    }
    shell.keys(&["?"]);
    shell.until("the other pane");
    shell.keys(&["q", "q"]);
    shell.until("back 0.");
}

#[test]
fn it_follows_the_size_of_the_screen() {
    let repo = repo();
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.until("│ turn 1");
    ui.run(&["resize-window", "-x", "40", "-y", "12"]);
    ui.until_so("one pane", |screen| {
        !screen.contains("│ turn 1") && screen.contains("the only one")
    });
    ui.keys(&["Tab"]);
    ui.until_so("the other pane", |screen| screen.starts_with(" turn 1"));
    ui.run(&["resize-window", "-x", "120", "-y", "40"]);
    let screen = ui.until_so("two panes", |screen| screen.contains("│ turn 1"));
    assert!(screen.lines().count() >= 39, "{screen}");
}

#[test]
fn without_colours_there_are_none() {
    for (variables, wanted) in [("NO_COLOR=1", false), ("", true)] {
        let repo = repo();
        let Some(ui) = Tmux::ui(&repo, SIZE, variables) else {
            return;
        };
        ui.until("+one");
        let screen = ui.run(&["capture-pane", "-p", "-e"]);
        let mut codes = screen.split("\x1b[").skip(1);
        let has = codes.any(|code| {
            let code = code.split('m').next().unwrap();
            code.split(';')
                .any(|code| matches!(code, "38" | "48" | "31" | "32" | "33" | "36"))
        });
        assert_eq!(has, wanted, "{screen:?}");
    }
}

#[test]
fn where_there_is_no_terminal_it_names_the_log() {
    let repo = repo();
    let ran = repo.edio(["ui"]);
    ran.fails(1);
    assert!(ran.stderr.contains("edio log"), "{ran}");
    let ran = repo.edio(["tui"]);
    assert!(ran.fails(1).stderr.contains("edio log"), "{ran}");
    let ran = repo.edio(["ui", "--json"]);
    assert!(ran.fails(2).stderr.contains("edio log --json"), "{ran}");
    let ran = repo.on_a_terminal_with(
        "env",
        [
            "TERM=dumb",
            crate::common::edio_binary().to_str().unwrap(),
            "ui",
        ],
        "",
    );
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(
        ran.stdout.contains("hint: the turns as text: edio log"),
        "{ran}"
    );
}

#[test]
fn where_there_is_no_repository_the_screen_is_not_taken() {
    let repo = repo();
    let outside = repo.outside();
    let ran = repo.on_a_terminal(["-C", outside.to_str().unwrap(), "ui"], "");
    assert_eq!(ran.code, Some(4), "{ran}");
    assert!(!ran.stdout.contains("\x1b[?1049h"), "{ran}");
    let ran = repo.on_a_terminal(["ui", "--session", "sess_1_00000000"], "");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(!ran.stdout.contains("\x1b[?1049h"), "{ran}");
}
