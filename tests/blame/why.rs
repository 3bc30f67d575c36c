//! `edio why`: the story of one line.

use serde_json::{Value, json};

use super::story::{Story, owner};

/// A line of a commit, one of the person's, one of a turn's that took another turn's place, one that is shared, and one
/// that is in no snapshot yet.
fn told() -> Story {
    let story = Story::of(&[("f", "base\n"), ("sub/g", "sub\n")]);
    let claude = story.claude();
    claude.turn("first words", "f", "base\nfirst\n");
    story.writes("f", "base\nfirst\nperson\n");
    claude.told("second words");
    claude.writes("f", "base\nsecond\nperson\n");
    claude.says("Stop", json!({"last_assistant_message": "all done"}));
    claude.told("third words");
    story.writes("f", "base\nsecond\nperson\nwhose\n");
    claude.stops();
    story.writes("f", "base\nsecond\nperson\nwhose\nunsaved\n");
    story
}

fn record(story: &Story, line: &str) -> Value {
    let mut records = story.edio(&["--json", "why", line]).ok().json();
    assert_eq!(records.len(), 1);
    records.remove(0)
}

fn texts(values: &[&str]) -> Value {
    json!(values)
}

#[test]
fn each_kind_of_owner_has_its_story() {
    let story = told();
    let owners = (1..=5).map(|line| owner(&record(&story, &format!("f:{line}"))));
    assert_eq!(
        owners.collect::<Vec<_>>(),
        ["commit base", "3.1 claude", "human 2", "shared 4", "none"]
    );
}

#[test]
fn a_line_of_a_turn_says_what_for_and_what_it_replaced() {
    let story = told();
    let line = record(&story, "f:2");
    assert_eq!(line["prompt_text"], "second words");
    assert_eq!(line["reply"], "all done");
    assert_eq!(line["hunk"], texts(&["-first", "+second"]));
    let earlier = line["earlier"].as_array().unwrap();
    assert_eq!(earlier.len(), 1);
    assert_eq!(owner(&earlier[0]), "1.1 claude");
    assert_eq!(earlier[0]["text"], "first");
    let text = story.edio(&["why", "f:2"]);
    let said = &text.ok().stdout;
    for part in [
        "second\n",
        "turn 3.1",
        "by      claude",
        "for     second words",
        "tool    Write",
        "closing words",
        "    all done",
        "    -first",
        "    +second",
        "before that, at this place",
        "1.1  claude  first words",
    ] {
        assert!(said.contains(part), "{part}: {text}");
    }
}

#[test]
fn lines_of_others_say_whose_they_are() {
    let story = told();
    for (line, parts) in [
        ("f:1", &["base\n", "commit ", "by      Somebody Else"][..]),
        ("f:3", &["person\n", "turn 2", "by      you"]),
        ("f:4", &["whose\n", "turn 4", "by      claude, you"]),
        ("f:5", &["unsaved\n", "in no snapshot yet"]),
    ] {
        let text = story.edio(&["why", line]);
        for part in parts {
            assert!(text.ok().stdout.contains(part), "{part}: {text}");
        }
    }
    let line = record(&story, "f:1");
    assert_eq!(
        (&line["back"], &line["reply"]),
        (&json!(null), &json!(null))
    );
    let line = record(&story, "f:5");
    assert_eq!(line["commit"], json!(null));
    assert_eq!(line["back"], texts(&["edio", "restore", "@", "-f", "f"]));
}

/// The command that is told goes back to before the line.
#[test]
fn the_way_back_leads_to_before_the_line() {
    for (line, before) in [
        ("f:2", "base\nfirst\nperson\n"),
        ("f:3", "base\nfirst\n"),
        ("f:4", "base\nsecond\nperson\n"),
        ("f:5", "base\nsecond\nperson\nwhose\n"),
    ] {
        let story = told();
        let back = record(&story, line)["back"].clone();
        let words: Vec<&str> = back.as_array().unwrap()[1..]
            .iter()
            .map(|word| word.as_str().unwrap())
            .collect();
        let text = story.edio(&["why", line]);
        let told = format!("to go back to before it: edio {}", words.join(" "));
        assert!(text.ok().stderr.contains(&told), "{told}: {text}");
        story.edio(&words).ok();
        assert_eq!(story.repo.read("f"), before, "{line}");
    }
}

/// From a folder below, and into a session that was put away.
#[test]
fn the_way_back_is_told_as_it_is_typed_there() {
    let story = told();
    story.edio(&["sessions", "--close"]).ok();
    story.claude().turn("another", "sub/g", "sub\nmore\n");
    let ran = story.edio_in("sub", &["--json", "why", "../f:2"]);
    let back = ran.ok().json()[0]["back"].clone();
    let words: Vec<&str> = back.as_array().unwrap()[1..]
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    assert!(
        words.contains(&"--session") && words.contains(&"../f"),
        "{words:?}"
    );
    story.edio_in("sub", &words).ok();
    assert_eq!(story.repo.read("f"), "base\nfirst\nperson\n");
}

#[test]
fn a_file_whose_name_ends_like_a_line_is_meant_itself() {
    let story = told();
    story.claude().turn("odd", "f:2", "odd\n");
    let ran = story.edio(&["why", "f:2"]);
    ran.fails(2);
    assert!(ran.stderr.contains("edio why f:2:1"), "{ran}");
    assert_eq!(record(&story, "f:2:1")["text"], "odd");
}

#[test]
fn what_is_no_line_is_said() {
    let story = told();
    for (bad, code) in [
        ("f", 2),
        ("f:0", 2),
        ("f:6", 2),
        ("nothing:1", 1),
        ("sub:1", 1),
        ("../f:1", 2),
    ] {
        let ran = story.edio(&["why", bad]);
        ran.fails(code);
        assert!(ran.stderr.starts_with("error: "), "{ran}");
        story.edio(&["--json", "why", bad]).fails(code);
    }
    let ran = story.edio(&["why", "f"]);
    assert!(ran.stderr.contains("edio why f:1"), "{ran}");
    story.edio(&["why"]).fails(2);
    let outside = story.repo.outside();
    story.edio_in(&outside, &["why", "f:1"]).fails(4);
}

#[test]
fn a_binary_file_has_one_story() {
    let story = Story::of(&[("b", "\0base")]);
    story.claude().turn("make it binary", "b", "\0claude");
    let whole = record(&story, "b");
    assert_eq!(owner(&whole), "1.1 claude");
    assert_eq!(
        (&whole["line"], &whole["text"], &whole["hunk"]),
        (&json!(null), &json!(null), &json!(null))
    );
    let text = story.edio(&["why", "b"]);
    assert!(
        text.ok().stdout.contains("for     make it binary"),
        "{text}"
    );
}
