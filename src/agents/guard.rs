//! What the guard must know of a tool call, and how an agent is told what was decided about it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::event::{Event, Tool, Touched, What};
use super::{Agent, claude, cline, codex, copilot, cursor, gemini, opencode, pi};
use crate::json;

/// The tools of an agent, by what they do with files. Those that write are told by what they touch.
pub(super) struct Tools {
    /// They give the model what stands in files.
    pub read: &'static [&'static str],
    /// They put a new content in the place of all of a file's.
    pub replace: &'static [&'static str],
    /// They depend on nothing but files, and show no file as it is: searches, lists.
    pub look: &'static [&'static str],
}

const UNKNOWN: Tools = Tools {
    read: &[],
    replace: &[],
    look: &[],
};

/// Tools that the person has named, beside those that are known.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// They read.
    pub read: Vec<String>,
    /// They write.
    pub write: Vec<String>,
    /// They depend on nothing but files, and change none.
    pub read_only: Vec<String>,
    /// They depend on more than files.
    pub volatile: Vec<String>,
}

/// A tool call, as the guard sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// The same for calls that are the same but for the order of keys and for blanks.
    pub likeness: String,
    /// What it reads.
    pub reads: Vec<Read>,
    /// What it writes.
    pub writes: Vec<PathBuf>,
    /// Does it put a new content in the place of all of the old?
    pub replaces: bool,
    /// The files that its answer depends on, as far as it names any.
    pub looks_at: Vec<PathBuf>,
    /// Does its answer depend on nothing but files?
    pub depends_on_files: bool,
    /// Is it a command for the shell?
    pub is_command: bool,
    /// Is it given as a command, so that its answer may be a shell's? Some give patches so, too.
    pub is_given_as_command: bool,
}

/// A file that the model gets to see, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The file.
    pub file: PathBuf,
    /// How much of it.
    pub part: Part,
}

/// How much of a file is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Lines from the first to the last of these, which count from 1.
    Lines(u64, u64),
    /// All of it, where it has no more bytes than this.
    AllOf(u64),
    /// Something of it.
    Some,
}

/// What an agent is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// The call is not to be made, and why.
    Block(String),
    /// The model should know this.
    Notice(String),
}

/// Tools give no more lines than this where none are asked for.
const MOST_LINES: u64 = 2000;

/// Programs that pass lines on as they are.
const PASS_ON: [&str; 6] = ["cat", "head", "less", "nl", "sed", "tail"];

/// Commands for the shell have their output cut off somewhere beyond this, in bytes.
const MOST_OF_COMMAND: u64 = 16 << 10;

const PATHS: [&str; 9] = [
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "target_file",
    "notebook_path",
    "TargetFile",
    "AbsolutePath",
    "filename",
];
const LISTS: [&str; 5] = ["paths", "file_paths", "files", "include", "filePaths"];
const FIRST: [&str; 5] = [
    "offset",
    "start_line",
    "startLine",
    "StartLine",
    "start_line_one_indexed",
];
const LAST: [&str; 4] = [
    "end_line",
    "endLine",
    "EndLine",
    "end_line_one_indexed_inclusive",
];

fn tools_of(agent: Agent) -> Option<&'static Tools> {
    match agent {
        Agent::Claude | Agent::Vscode => Some(&claude::TOOLS),
        Agent::Codex => Some(&codex::TOOLS),
        Agent::Gemini => Some(&gemini::TOOLS),
        Agent::Copilot => Some(&copilot::TOOLS),
        Agent::Cursor => Some(&cursor::TOOLS_OF_GUARD),
        Agent::Opencode => Some(&opencode::TOOLS),
        Agent::Pi => Some(&pi::TOOLS),
        Agent::Cline => Some(&cline::TOOLS),
        _ => None,
    }
}

impl Call {
    /// The call that an event tells of.
    pub fn of(event: &Event, named: &Named) -> Option<Self> {
        let (What::Using(tool) | What::Used(tool)) = &event.what else {
            return None;
        };
        let agent = event.agent.parse().ok();
        let tools = agent.and_then(tools_of).unwrap_or(&UNKNOWN);
        let is_in = |list: &[String]| list.contains(&tool.name);
        let knows = |list: &[&str]| list.contains(&tool.name.as_str());
        let input = Input::of(tool, event.folders.first().map(PathBuf::as_path));
        let command = input.command();
        let writes = match &tool.touched {
            Touched::Files(files) => files.iter().map(|file| input.place(file)).collect(),
            _ if is_in(&named.write) => input.files(),
            _ => Vec::new(),
        };
        let is_command = writes.is_empty() && command.is_some();
        let reads = match command {
            _ if knows(tools.read) || is_in(&named.read) => input.reads(),
            Some(command) if is_command => read_by_command(command, input.folder),
            _ => Vec::new(),
        };
        let only_files = knows(tools.read)
            || knows(tools.look)
            || is_in(&named.read)
            || is_in(&named.read_only)
            || !writes.is_empty();
        let looks_at = match only_files {
            true => input.files(),
            false => Vec::new(),
        };
        Some(Self {
            looks_at,
            tool: tool.name.clone(),
            likeness: format!("{} {}", tool.name, same(&input.given)),
            reads,
            replaces: knows(tools.replace),
            depends_on_files: only_files && !is_in(&named.volatile),
            is_command,
            is_given_as_command: command.is_some(),
            writes,
        })
    }
}

/// What a tool is given.
struct Input<'a> {
    given: Value,
    folder: Option<&'a Path>,
}

impl<'a> Input<'a> {
    fn of(tool: &Tool, folder: Option<&'a Path>) -> Self {
        let given = match &tool.given {
            // Some have it as text.
            Value::String(text) => json::read(text.as_bytes())
                .ok()
                .filter(Value::is_object)
                .unwrap_or_else(|| tool.given.clone()),
            other => other.clone(),
        };
        Self { given, folder }
    }

    fn place(&self, file: &Path) -> PathBuf {
        self.folder
            .map_or_else(|| file.to_owned(), |folder| folder.join(file))
    }

    fn command(&self) -> Option<&str> {
        let command = &self.given["command"];
        // Some give the words: those of a shell, and what it is to run.
        command
            .as_str()
            .or_else(|| command.as_array()?.last()?.as_str())
    }

    fn files(&self) -> Vec<PathBuf> {
        let one = PATHS.iter().filter_map(|key| self.given[*key].as_str());
        let lists = LISTS
            .iter()
            .filter_map(|key| self.given[*key].as_array())
            .flatten();
        let listed = lists.filter_map(|file| file.as_str().or_else(|| file["path"].as_str()));
        let files = one.take(1).chain(listed);
        files.map(|file| self.place(Path::new(file))).collect()
    }

    fn reads(&self) -> Vec<Read> {
        let number = |keys: &[&str]| -> Option<u64> {
            keys.iter().find_map(|key| self.given[*key].as_u64())
        };
        let range = self.given["view_range"].as_array();
        let bound = |at: usize| range.and_then(|range| range.get(at)?.as_i64());
        let first = number(&FIRST).or_else(|| u64::try_from(bound(0)?).ok());
        let first = first.unwrap_or(1).max(1);
        let count = number(&["limit"]).unwrap_or(MOST_LINES);
        let last =
            number(&LAST).or_else(|| bound(1).map(|last| u64::try_from(last).unwrap_or(u64::MAX)));
        let last = last.unwrap_or_else(|| first.saturating_add(count - count.min(1)));
        let part = Part::Lines(first, last);
        let read = |file| Read { file, part };
        self.files().into_iter().map(read).collect()
    }
}

/// A value in a form that is the same for the same keys and words, whatever their order, and the blanks in a command. In
/// other texts blanks tell much: an edit may differ from one that failed in nothing else.
fn same(value: &Value) -> String {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let member = |(key, value): (&String, &Value)| match value {
        Value::String(text) if key == "command" => format!("{key:?}:{:?}", words(text)),
        value => format!("{key:?}:{}", same(value)),
    };
    match value {
        Value::Object(map) => {
            let mut members: Vec<String> = map.iter().map(member).collect();
            members.sort_unstable();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(same).collect();
            format!("[{}]", list.join(","))
        }
        other => other.to_string(),
    }
}

/// The files that a command for the shell prints: agents without a tool for it read them so. What is not plainly a
/// printing of files is none.
fn read_by_command(command: &str, folder: Option<&Path>) -> Vec<Read> {
    let mut folder = folder.map(Path::to_owned).unwrap_or_default();
    let mut reads = Vec::new();
    // Where its messages go changes nothing.
    let command = command.replace("2>/dev/null", "").replace("2>&1", "");
    let parts = parts_of(&command);
    let prints = |part: &&Simple| part.words.first().is_some_and(|word| word != "cd");
    let count = parts.iter().filter(prints).count();
    for (at, Simple { words, is_piped }) in parts.iter().enumerate() {
        // Only what passes lines on shows something of them.
        let next = parts.get(at + 1).and_then(|part| part.words.first());
        let passes_on = |program: &String| PASS_ON.contains(&program.as_str());
        if *is_piped && !next.is_some_and(passes_on) {
            continue;
        }
        let Some((program, arguments)) = words.split_first() else {
            continue;
        };
        let program = program.rsplit('/').next().unwrap_or_default();
        let is_silent = arguments.first().is_some_and(|word| word == "-n");
        let mut files = arguments.iter().filter(|word| !word.starts_with('-'));
        let part = match program {
            "cd" => {
                folder.extend(files.take(1));
                continue;
            }
            // What several print together may be cut off.
            "cat" | "nl" | "bat" | "batcat" if !is_piped && is_alone(arguments, count) => {
                Part::AllOf(MOST_OF_COMMAND)
            }
            "cat" | "nl" | "bat" | "batcat" | "head" | "tail" => Part::Some,
            // The first word says which lines.
            "sed" if is_silent && files.next().is_some() => Part::Some,
            _ => continue,
        };
        reads.extend(files.map(|file| Read {
            file: folder.join(file),
            part,
        }));
    }
    reads
}

/// Does a command print one file, and is it the only one that prints?
fn is_alone(arguments: &[String], count: usize) -> bool {
    let files = arguments.iter().filter(|word| !word.starts_with('-'));
    count == 1 && files.count() == 1
}

/// A simple command in a command line.
#[derive(Default)]
struct Simple {
    words: Vec<String>,
    /// Does the next one get what it prints?
    is_piped: bool,
}

/// The simple commands in a command line. Nothing where it has more to it than words, quotes and what stands between
/// commands.
fn parts_of(command: &str) -> Vec<Simple> {
    let mut parts = vec![Simple::default()];
    let (mut word, mut is_word, mut quote) = (String::new(), false, None);
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '$' | '`' | '\\')
            | (None, '<' | '>' | '*' | '?' | '(' | '{' | '[' | '#') => {
                return Vec::new();
            }
            (Some(_), c) => word.push(c),
            (None, '\'' | '"') => (quote, is_word) = (Some(c), true),
            (None, c) => {
                let ends = c.is_whitespace() || matches!(c, ';' | '&' | '|');
                if !ends {
                    word.push(c);
                    is_word = true;
                    continue;
                }
                let Some(part) = parts.last_mut() else {
                    return Vec::new();
                };
                if std::mem::take(&mut is_word) {
                    part.words.push(std::mem::take(&mut word));
                }
                if c != '\n' && c.is_whitespace() {
                    continue;
                }
                part.is_piped = c == '|' && chars.peek() != Some(&'|');
                parts.push(Simple::default());
            }
        }
    }
    if let Some(part) = parts.last_mut().filter(|_| is_word) {
        part.words.push(word);
    }
    parts
}

/// What is printed for the agent to hear it; `None` where it can't be told.
pub fn answer(agent: Agent, event: &Event, word: &Word) -> Option<Value> {
    let is_copilot = event.agent == "copilot";
    let name = event.name.as_deref().unwrap_or_default();
    let in_hook = |key: &str, text: &str| json!({ "hookEventName": name, key: text });
    Some(match (agent, word) {
        // Copilot runs these hooks, too, and hears its own words only.
        (Agent::Claude | Agent::Copilot, Word::Block(why)) if is_copilot => json!({
            "permissionDecision": "deny", "permissionDecisionReason": why,
        }),
        (Agent::Claude | Agent::Copilot, Word::Notice(text)) if is_copilot => {
            json!({ "additionalContext": text })
        }
        (Agent::Claude | Agent::Codex | Agent::Vscode, Word::Block(why)) => {
            let mut hook = in_hook("permissionDecisionReason", why);
            hook["permissionDecision"] = json!("deny");
            json!({ "hookSpecificOutput": hook })
        }
        (Agent::Gemini, Word::Block(why)) => json!({ "decision": "deny", "reason": why }),
        (Agent::Claude | Agent::Codex | Agent::Vscode | Agent::Gemini, Word::Notice(text)) => {
            json!({ "hookSpecificOutput": in_hook("additionalContext", text) })
        }
        (Agent::Cursor, Word::Block(why)) => json!({
            "permission": "deny", "user_message": why, "agent_message": why,
        }),
        (Agent::Cursor, Word::Notice(text)) => json!({ "additional_context": text }),
        (Agent::Cline, Word::Block(why)) => json!({ "cancel": true, "errorMessage": why }),
        (Agent::Cline, Word::Notice(text)) => {
            json!({ "cancel": false, "contextModification": text })
        }
        (Agent::Opencode | Agent::Pi, Word::Block(why)) => json!({ "block": why }),
        (Agent::Opencode | Agent::Pi, Word::Notice(text)) => json!({ "notice": text }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_but_for_order_and_blanks() {
        let one = json!({"command": " x  y", "b": [1, {"c": null}]});
        let other = json!({"b": [1, {"c": null}], "command": "x y "});
        assert_eq!(same(&one), same(&other));
        assert_ne!(same(&json!({"a": " x"})), same(&json!({"a": "  x"})));
        assert_ne!(same(&one), same(&json!({"a": "x y", "b": [2]})));
    }

    #[test]
    fn files_that_a_command_prints() {
        let read = |command: &str| {
            let reads = read_by_command(command, Some(Path::new("/w"))).into_iter();
            let told = reads.map(|read| format!("{} {:?}", read.file.display(), read.part));
            told.collect::<Vec<_>>().join(", ")
        };
        let all = format!("{:?}", Part::AllOf(MOST_OF_COMMAND));
        assert_eq!(read("cat a"), format!("/w/a {all}"));
        assert_eq!(read("cat -n 'a b' /c"), "/w/a b Some, /c Some");
        assert_eq!(read("cat a | head"), "/w/a Some");
        assert_eq!(read("cat a 2>/dev/null"), format!("/w/a {all}"));
        assert_eq!(read("cd d && sed -n '3,4p' x; ls"), "/w/d/x Some");
        assert_eq!(
            read(
                "cat a || tail b
nl c"
            ),
            "/w/a Some, /w/b Some, /w/c Some"
        );
        for none in [
            "",
            "rm a",
            "cat a | wc -l",
            "cat a | grep -c x",
            "cat a > b",
            "cat $A",
            "cat *",
            "sed -i s/x/y/ a",
            "cat \\a",
            "echo `cat a`",
        ] {
            assert_eq!(read(none), "", "{none}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_run_does_no_harm(command in ".{0,60}") {
            let _ = read_by_command(&command, None);
        }
    }
}
