//! Keys that are pressed in a real terminal, and what is on disk then.

use std::fs;

use super::tmux::Tmux;
use crate::common::Repo;

const SIZE: (u16, u16) = (110, 30);

/// Two turns: `a` is changed and `b` is new in the second.
fn two_turns() -> Repo {
    let repo = Repo::with(&[("a", "base\n")]);
    repo.write("a", "one\n");
    repo.edio(["snapshot", "-m", "the first"]).ok();
    repo.write("a", "two\n");
    repo.write("b", "new\n");
    repo.edio(["snapshot", "-m", "the second"]).ok();
    repo
}

#[test]
fn a_turn_is_restored_with_one_key_and_taken_back_with_another() {
    let repo = two_turns();
    let before = repo.git_state();
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.until("the first");
    ui.keys(&["j", "r"]);
    ui.until("restored turn 1: 1 file written, 1 removed");
    assert_eq!(repo.read("a"), "one\n");
    assert!(!repo.has("b"));
    ui.keys(&["u"]);
    ui.until("undone: restore 1");
    assert_eq!(
        (repo.read("a"), repo.read("b")),
        ("two\n".into(), "new\n".into())
    );
    assert_eq!(repo.git_state(), before);
    ui.keys(&["U"]);
    ui.until("redone");
    assert!(!repo.has("b"));
    repo.fsck();
}

#[test]
fn what_is_unsaved_is_seen_and_asked_for() {
    let repo = two_turns();
    repo.write("a", "unsaved\n");
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.until("now: 1 file changed");
    ui.keys(&["j", "r"]);
    let screen = ui.until("Restore turn 1?");
    assert!(
        screen.contains("remove b") && screen.contains("write  a"),
        "{screen}"
    );
    ui.keys(&["n"]);
    ui.until("nothing was changed");
    assert_eq!((repo.read("a"), repo.turns()), ("unsaved\n".into(), 2));
    ui.keys(&["r"]);
    ui.until("Restore turn 1?");
    ui.keys(&["y"]);
    ui.until("your unsaved work is turn 3");
    assert_eq!(repo.read("a"), "one\n");
    assert_eq!(repo.in_turn(3, "a").unwrap(), "unsaved\n");
    ui.keys(&["u"]);
    ui.until("undone");
    assert_eq!(repo.read("a"), "unsaved\n");
}

#[test]
fn only_the_chosen_file_is_restored() {
    let repo = two_turns();
    repo.remove("b");
    repo.write("a", "three\n");
    repo.edio(["snapshot", "-m", "the third"]).ok();
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.keys(&["j"]);
    ui.until("A b +1 -0");
    ui.keys(&["]", "f"]);
    let screen = ui.until("Restore b from turn 2?");
    assert!(screen.contains("1 file written"), "{screen}");
    ui.keys(&["x"]);
    ui.until("nothing was changed");
    assert!(!repo.has("b"));
    ui.keys(&["f"]);
    ui.until("Restore b from turn 2?");
    ui.keys(&["y"]);
    ui.until("restored from turn 2: 1 file written (now turn 4)");
    assert_eq!(
        (repo.read("a"), repo.read("b")),
        ("three\n".into(), "new\n".into())
    );
}

#[test]
fn the_work_is_accepted_with_a_message_and_that_is_taken_back() {
    let repo = two_turns();
    let before = repo.git_state();
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.keys(&["a"]);
    let screen = ui.until("Accept: one commit on main");
    assert!(
        screen.contains("change a") && screen.contains("add    b"),
        "{screen}"
    );
    ui.keys(&["Escape"]);
    ui.until("nothing was changed");
    assert_eq!(repo.git_state(), before);
    ui.keys(&["a"]);
    ui.until("Message:");
    ui.text("feat: two turns");
    ui.keys(&["C-j", "C-j"]);
    ui.text("With a body.");
    ui.until("With a body.");
    ui.keys(&["Enter"]);
    ui.until("accepted:");
    let message = repo.git(["log", "-1", "--format=%B"]);
    assert_eq!(message.trim(), "feat: two turns\n\nWith a body.");
    ui.until("No session is under way here.");
    ui.keys(&["u"]);
    ui.until("undone: accept feat: two turns");
    assert_eq!(repo.git(["log", "-1", "--format=%s"]), "base");
    ui.until("the second");
}

#[test]
fn what_came_after_the_plan_of_an_accept_is_shown_before_it_is_committed() {
    let repo = two_turns();
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.keys(&["a"]);
    ui.until("Message:");
    ui.text("feat: two turns");
    repo.write("late", "of an agent\n");
    ui.keys(&["Enter"]);
    let screen = ui.until("It has changed since you were asked");
    assert!(screen.contains("add    late"), "{screen}");
    assert!(screen.contains("feat: two turns"), "{screen}");
    assert_eq!(repo.git(["log", "-1", "--format=%s"]), "base");
    ui.keys(&["Enter"]);
    ui.until("accepted:");
    assert_eq!(repo.git(["show", "HEAD:late"]), "of an agent");
}

#[test]
fn hooks_have_the_terminal_while_it_is_accepted() {
    let repo = two_turns();
    repo.hook("pre-commit", "echo the hook speaks >&2");
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.keys(&["a"]);
    ui.until("Message:");
    ui.text("feat: with a hook");
    ui.keys(&["Enter"]);
    let screen = ui.until("accepted:");
    assert!(!screen.contains("the hook speaks"), "{screen}");
    ui.keys(&["q"]);
    let screen = ui.until("left 0.");
    assert!(screen.contains("the hook speaks"), "{screen}");
}

#[test]
fn new_turns_appear_and_the_choice_stays() {
    let repo = two_turns();
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.keys(&["j"]);
    ui.until_so("turn 1", |screen| screen.contains("│ turn 1 "));
    repo.write("c", "c\n");
    repo.edio(["snapshot", "-m", "by another edio"]).ok();
    let screen = ui.until("by another edio");
    assert!(screen.contains("│ turn 1 "), "{screen}");
    repo.write("c", "changed\n");
    let screen = ui.until("now: 1 file changed");
    assert!(screen.contains("│ turn 1 "), "{screen}");
    ui.keys(&["g"]);
    ui.until_so("what is not saved", |screen| {
        screen.contains("│ not saved yet") && screen.contains("+changed")
    });
    ui.keys(&["s"]);
    ui.until("turn 4: ");
    assert_eq!(repo.in_turn(4, "c").unwrap(), "changed\n");
}

#[test]
fn the_steps_of_a_turn_unfold_with_what_each_did() {
    let repo = two_turns();
    repo.write("a", "a step\n");
    repo.step("3.1");
    repo.write("a", "another step\n");
    repo.step("3.2");
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.until("▸2 under way");
    ui.keys(&["Right", "j"]);
    ui.until_so("the second step", |screen| {
        screen.contains("│ turn 3.2")
            && screen.contains("-a step")
            && screen.contains("+another step")
    });
    ui.keys(&["j", "r"]);
    ui.until("restored turn 3.1: 1 file written");
    assert_eq!(repo.read("a"), "a step\n");
    // What was under way is a turn now, with its steps.
    ui.until_so("the turn", |screen| {
        !screen.contains("under way") && screen.contains("▾")
    });
    ui.keys(&["u"]);
    ui.until("undone: restore 3.1");
    assert_eq!(repo.read("a"), "another step\n");
}

#[test]
fn turns_are_filtered_and_compared() {
    let repo = two_turns();
    repo.write("a", "on disk\n");
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.until("now: 1 file changed");
    ui.keys(&["/"]);
    ui.text("file:b");
    ui.until_so("the turn that has b", |screen| {
        screen.contains("the second") && !screen.contains("the first")
    });
    ui.keys(&["Enter", "d"]);
    ui.until_so("the disk", |screen| {
        screen.contains("│ turn 2 → now") && screen.contains("+on disk")
    });
    ui.keys(&["d"]);
    ui.until_so("HEAD", |screen| {
        screen.contains("│ HEAD → turn 2") && screen.contains("-base")
    });
    ui.keys(&["d", "Escape"]);
    ui.until("the first");
    ui.keys(&["m", "j", "m"]);
    ui.until_so("the marked turns", |screen| {
        screen.contains("│ turn 1 → turn 2") && screen.contains("A b +1 -0")
    });
}

/// The repository goes away meanwhile: that is told, and nothing is tried over and over.
#[test]
fn what_can_not_be_read_any_more_is_told() {
    let repo = two_turns();
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.until("the first");
    fs::rename(repo.path(".git"), repo.outside().join("gone")).unwrap();
    ui.until("✗");
    ui.keys(&["u"]);
    ui.until("✗");
    fs::rename(repo.outside().join("gone"), repo.path(".git")).unwrap();
    ui.keys(&["u"]);
    ui.until("undone: turn 2");
    assert_eq!(repo.read("a"), "one\n");
}

#[test]
fn another_session_is_looked_at_and_restored_from() {
    let repo = two_turns();
    repo.edio(["accept", "feat: the first session"]).ok();
    repo.write("a", "later\n");
    repo.edio_later(60, ["snapshot", "-m", "the second session"])
        .ok();
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.until("the second session");
    ui.keys(&["S"]);
    ui.until("Sessions");
    ui.keys(&["j", "Enter"]);
    ui.until("(archived)");
    ui.until("the first");
    ui.keys(&["G", "k", "r"]);
    ui.until("restored turn 1");
    assert_eq!(repo.read("a"), "one\n");
    ui.keys(&["u"]);
    ui.until("this is not the session under way here");
    ui.keys(&["S"]);
    ui.until("Sessions");
    ui.keys(&["g", "Enter"]);
    ui.until_so("the session under way", |screen| {
        !screen.contains("(archived)") && !screen.contains("Sessions")
    });
    ui.keys(&["u"]);
    ui.until("undone");
    assert_eq!(repo.read("a"), "later\n");
}

#[test]
fn the_chosen_file_is_opened_in_the_editor() {
    let repo = two_turns();
    let editor = repo.outside().join("vi");
    let told = repo.outside().join("told");
    fs::write(
        &editor,
        format!(
            "#!/bin/sh\necho \"$@\" >{}\necho in the editor; read line\n",
            told.display()
        ),
    )
    .unwrap();
    repo.chmod(&editor, 0o755);
    let variables = format!("GIT_EDITOR={}", editor.display());
    let Some(ui) = Tmux::ui(&repo, SIZE, &variables) else {
        return;
    };
    ui.until("A b +1 -0");
    ui.keys(&["]", "o"]);
    let screen = ui.until("in the editor");
    assert!(!screen.contains("? keys"), "{screen}");
    let file = repo.path("b");
    assert_eq!(
        fs::read_to_string(told).unwrap(),
        format!("+1 {}\n", file.display())
    );
    // Its keys are its own: this one would restore.
    ui.text("r");
    ui.keys(&["Enter"]);
    ui.until("? keys");
    assert_eq!(repo.turns(), 2);
}

#[test]
fn the_id_of_a_turn_is_copied() {
    let repo = two_turns();
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.keys(&["y"]);
    ui.until("copied the id of turn 2");
    let commit = repo.git(["rev-parse", &repo.turn_ref(2)]);
    ui.until_so("the clipboard", |_| {
        ui.run(&["list-buffers"]).contains(&commit[..20])
    });
}

#[test]
fn a_difference_of_ten_megabytes_freezes_nothing() {
    let repo = two_turns();
    let line = "a line that is as long as lines in a file are, most of the time\n";
    repo.write("large", line.repeat(160_000));
    repo.edio(["snapshot", "-m", "large"]).ok();
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.until("+a line that is as long");
    ui.keys(&["Tab", "G"]);
    ui.until_so("the end", |screen| {
        screen.contains("160000 +a line") || {
            ui.keys(&["G"]);
            false
        }
    });
    ui.keys(&["Tab", "j"]);
    ui.until("+two");
    ui.keys(&["k", "q"]);
    ui.until("left 0.");
}

#[test]
fn text_from_files_and_messages_does_not_drive_the_terminal() {
    let repo = two_turns();
    repo.write("a", "\x1b[31mred\x1b]0;owned\x07\n");
    repo.edio(["snapshot", "-m", "clear \x1b[2J it"]).ok();
    let Some(ui) = Tmux::ui(&repo, SIZE, "") else {
        return;
    };
    ui.until("\\x1b[31mred\\x1b]0;owned\\x07");
    ui.until("clear \\x1b[2J it");
    assert!(
        !ui.run(&["display-message", "-p", "#{pane_title}"])
            .contains("owned")
    );
}
