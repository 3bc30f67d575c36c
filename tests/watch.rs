//! `edio run --watch`: a step each time the files have settled. These tests take seconds: that is what they are about.

use serde_json::json;

use crate::common::Repo;

#[test]
fn each_time_the_files_have_settled_a_step_is_taken() {
    let repo = Repo::with(&[("a", "base\n"), ("b", "base\n")]);
    repo.write("a", "before\n");
    repo.edio(["snapshot", "-m", "before"]).ok();
    repo.write("b", "staged\n");
    repo.git(["add", "b"]);
    let state = repo.git_files();
    let edio = crate::common::edio_binary().display();
    // Waits for the step that follows each change; and looks at how it is while it is open.
    let script = format!(
        "step() {{ n=0; until {edio} show $1 > /dev/null 2>&1; do sleep 0.1; n=$((n+1)); test $n -lt 150 || exit 1; done; }}\n\
         echo 1 > a; step 3.1\n\
         echo 2 > a; echo 2 > new; step 3.2\n\
         {edio} status | head -2; {edio} log --steps --json > \"$HOME/open\"\n\
         echo 3 > a"
    );

    let ran = repo.edio(["run", "--watch=1", "--", "sh", "-c", &script]);

    ran.ok();
    assert!(ran.stderr.contains("edio: turn 3 "), "{ran}");
    assert_eq!(repo.git_files(), state);
    let open = std::fs::read_to_string(repo.outside().join("home/open")).unwrap();
    assert_eq!(
        open.lines().count(),
        4,
        "two steps, and the turns before them: {open}"
    );
    let turns = repo.edio(["log", "--steps", "--json"]).json();
    let known: Vec<(u64, Option<u64>, &str)> = turns
        .iter()
        .map(|turn| {
            (
                turn["turn"].as_u64().unwrap(),
                turn["step"].as_u64(),
                turn["kind"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        (3, None, "turn"),
        (3, Some(2), "step"),
        (3, Some(1), "step"),
        (2, None, "human"),
        (1, None, "turn"),
    ];
    assert_eq!(known, expected);
    assert_eq!(turns[1]["agent"], json!("sh"));
    // A turn counts all that it did, a step what it did itself.
    assert_eq!(
        (&turns[0]["files"], &turns[1]["files"], &turns[2]["files"]),
        (&json!(2), &json!(2), &json!(1))
    );
    assert!(repo.edio(["show", "3.1"]).ok().stdout.contains("\n+1\n"));
    assert!(
        repo.edio(["show", "3"])
            .ok()
            .stdout
            .contains("\n-before\n+3\n")
    );
    repo.edio(["restore", "3.1"]).ok();
    assert_eq!((repo.read("a"), repo.has("new")), ("1\n".to_owned(), false));
    repo.edio(["undo"]).ok();
    assert_eq!(
        (repo.read("a"), repo.read("new")),
        ("3\n".to_owned(), "2\n".to_owned())
    );
    repo.edio(["undo"]).ok();
    assert_eq!(repo.read("a"), "before\n");
    repo.fsck();
}

#[test]
fn while_files_change_or_nothing_does_no_step_is_taken() {
    let repo = Repo::with(&[("a", "base\n")]);
    let script = "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $n > a; sleep 0.25; done; exit 3";
    let ran = repo.edio(["run", "--watch=1", "--", "sh", "-c", script]);
    assert_eq!(ran.code, Some(3), "{ran}");
    let turns = repo.edio(["log", "--steps", "--json"]).json();
    assert_eq!(turns.len(), 1, "{turns:?}");
    assert_eq!(repo.in_turn(1, "a").unwrap(), "12\n");
    for seconds in ["0", "x", "-1", "1.5", "99999", ""] {
        let watch = format!("--watch={seconds}");
        repo.edio(["run", &watch, "--", "sh", "-c", "echo started > a"])
            .fails(2);
    }
    assert_eq!(repo.read("a"), "12\n");
}
