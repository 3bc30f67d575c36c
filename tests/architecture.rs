//! The house rules, held against the code: who may name whom, and that each dangerous power has one room.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Which top-level module may name which. `error`, `json` and `shell` are open to all; `env` and `clock` are told apart below.
const LAYERS: [(&str, &[&str]); 16] = [
    ("main", &["cli"]),
    ("lib", &[]),
    ("cli", &["commands"]),
    (
        "commands",
        &["history", "agents", "mcp", "tui", "term", "process"],
    ),
    ("mcp", &["history", "term"]),
    ("tui", &["history", "term"]),
    // Of `process`, only the type of the trace that is handed down: see `history_starts_no_process`.
    ("history", &["gitengine", "process"]),
    ("gitengine", &["process"]),
    ("term", &["process"]),
    ("agents", &[]),
    ("process", &[]),
    ("env", &[]),
    ("clock", &[]),
    ("error", &[]),
    ("json", &[]),
    ("shell", &[]),
];

const WITHOUT_ENV: [&str; 3] = ["history", "gitengine", "error"];
const WITH_CLOCK: [&str; 4] = ["commands", "mcp", "tui", "term"];

/// A power, the words that use it, and the files or folders in which they may stand.
struct Room {
    power: &'static str,
    words: &'static [&'static str],
    files: &'static [&'static str],
}

const ROOMS: [Room; 7] = [
    Room {
        power: "random numbers",
        words: &["rand::"],
        files: &["src/history/random.rs"],
    },
    Room {
        power: "starting a process",
        words: &["std::process", "rustix::process"],
        files: &[
            "src/process/apart.rs",
            "src/process/elsewhere.rs",
            "src/process/mod.rs",
            "src/process/outputs.rs",
            "src/process/reading.rs",
            "src/process/signals.rs",
        ],
    },
    Room {
        power: "the clock",
        words: &["SystemTime::now", "Instant::now", "Utc::now", "Local::now"],
        files: &["src/clock.rs"],
    },
    Room {
        power: "the environment",
        words: &[
            "std::env",
            "current_dir(",
            "current_exe(",
            "var_os(",
            "temp_dir(",
        ],
        files: &["src/env.rs"],
    },
    Room {
        power: "printing",
        words: &[
            "stdout()",
            "stderr()",
            ".print()",
            "print!",
            "println!",
            "eprint!",
            "eprintln!",
        ],
        files: &["src/term/"],
    },
    Room {
        power: "locking",
        words: &[
            ".lock()",
            ".try_lock()",
            ".lock_shared()",
            ".try_lock_shared()",
            "flock(",
        ],
        // The second holds a lock of its own memory, which is gone with edio.
        files: &["src/history/lock.rs", "src/gitengine/ahead.rs"],
    },
    Room {
        power: "writing into the work tree",
        words: &[
            "openat",
            "renameat",
            "linkat",
            "unlinkat",
            "mkdirat",
            "fchmod",
            "chmodat",
            "chownat",
            "utimensat",
        ],
        files: &["src/history/restore/disk/"],
    },
];

/// What looks like a power and is none.
const HARMLESS: [(&str, &str); 2] = [
    ("src/main.rs", "use std::process::ExitCode;"),
    ("src/cli.rs", "std::env::args_os()"),
];

/// Who writes files, and where: none of them into the user's work tree, but for the last.
const WRITERS: [&str; 25] = [
    "src/commands/demo.rs",          // a scratch repository
    "src/commands/man.rs",           // the folder that was asked for
    "src/commands/rewind.rs",        // a new conversation, beside the agent's own one
    "src/gitengine/ignore.rs",       // patterns laid out in the git directory
    "src/gitengine/index/",          // index files of edio's own
    "src/gitengine/pack.rs",         // loose objects that a pack of edio's has
    "src/gitengine/quarantine.rs",   // new objects, and their other names in the repository
    "src/history/accept/",           // the user's index, under git's own lock
    "src/history/checkout/",         // the folders in which commands are tried
    "src/history/conversation.rs",   // what was said and done for a turn that is still to come
    "src/history/export/bundle.rs",  // the file that was asked for
    "src/history/hooklog.rs",        // the log of the hooks
    "src/history/gc.rs",             // old scratch files
    "src/history/guard/",            // what agents have seen, in the scratch folder
    "src/history/journal/beyond.rs", // what files outside held, in the scratch folder
    "src/history/lock.rs",           // the lock
    "src/history/prompt/ending.rs",  // how a prompt has ended, in the scratch folder
    "src/history/refs.rs",           // dead locks on edio's refs
    "src/history/restore/source.rs", // the stage in the git directory
    "src/history/restore/disk/",     // the work tree
    "src/history/restore/rules.rs",  // the stage in the git directory
    "src/history/scan/keep.rs",      // the cached index
    "src/history/state.rs",          // what is remembered in the scratch folder
    "src/history/store/",            // private stores, in the person's data folder
    "src/history/workspace.rs",      // the scratch folder
];

const WRITING: [&str; 12] = [
    "fs::write",
    "fs::rename",
    "fs::copy",
    "fs::hard_link",
    "fs::remove_",
    "fs::create_dir",
    "fs::set_permissions",
    "File::create",
    "OpenOptions",
    ".set_times(",
    ".tempfile_in(",
    "symlink(",
];

#[test]
fn imports_only_point_down() {
    let mut wrong = Vec::new();
    for file in sources() {
        let module = file.top_module();
        let row = LAYERS.iter().find(|(name, _)| *name == module);
        let (_, below) =
            row.unwrap_or_else(|| panic!("{} is in no layer: say in which", file.name));
        for named in file.modules_named() {
            let allowed = match named.as_str() {
                "error" | "json" | "shell" => true,
                "env" => !WITHOUT_ENV.contains(&module),
                "clock" => WITH_CLOCK.contains(&module),
                named => named == module || below.contains(&named),
            };
            if !allowed {
                wrong.push(format!("{}: {module} names {named}", file.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn history_starts_no_process() {
    for file in sources()
        .iter()
        .filter(|file| file.top_module() == "history")
    {
        for line in file
            .code
            .lines()
            .filter(|line| line.contains("crate::process"))
        {
            assert_eq!(line, "use crate::process::Trace;", "{}", file.name);
        }
    }
}

#[test]
fn each_dangerous_power_has_one_room() {
    let mut wrong = Vec::new();
    for file in sources() {
        for room in &ROOMS {
            if !stands_in(&file.name, room.files) {
                let found = file
                    .code
                    .lines()
                    .filter(|line| !is_harmless(&file.name, line));
                let found = found.filter(|line| room.words.iter().any(|word| has_word(line, word)));
                wrong.extend(
                    found.map(|line| format!("{} ({}): {}", file.name, room.power, line.trim())),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_known_files_write_files() {
    let writes = |file: &&Source| WRITING.iter().any(|word| has_word(&file.code, word));
    let sources = sources();
    let unknown = sources
        .iter()
        .filter(writes)
        .filter(|file| !stands_in(&file.name, &WRITERS));
    assert_eq!(
        unknown.map(|file| file.name.as_str()).collect::<Vec<_>>(),
        [""; 0]
    );
    for writer in WRITERS {
        let written = sources
            .iter()
            .filter(writes)
            .any(|file| file.name.starts_with(writer));
        assert!(
            written,
            "{writer} writes nothing any more: take it off the list"
        );
    }
}

#[test]
fn ref_names_are_spelled_in_one_file() {
    for file in sources()
        .iter()
        .filter(|file| file.name != "src/history/refnames.rs")
    {
        let spelled = file
            .with_strings
            .lines()
            .find(|line| line.contains("refs/edio"));
        assert_eq!(spelled, None, "{}", file.name);
    }
}

#[test]
fn no_test_is_forgotten_or_left_out() {
    let main = read(&root().join("tests/main.rs"));
    let listed: BTreeSet<&str> = main
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    for file in rust_files("tests") {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let in_folder = file.parent() != Some(&root().join("tests"));
        assert!(
            in_folder || name == "main" || listed.contains(name.as_str()),
            "tests/main.rs lacks mod {name};"
        );
    }
    // Else each file there would be linked, and run, a second time.
    assert!(
        read(&root().join("Cargo.toml"))
            .lines()
            .any(|line| line == "autotests = false")
    );
}

#[test]
fn nothing_is_left_unfinished() {
    let unfinished = ["#[ignore", "todo!", "unimplemented!", "dbg!"];
    for path in rust_files("src").into_iter().chain(rust_files("tests")) {
        let code = without(&read(&path), Dropped::CommentsAndStrings);
        let found = code
            .lines()
            .find(|line| unfinished.iter().any(|word| line.contains(word)));
        assert_eq!(found, None, "{}", path.display());
    }
}

/// A file of the program, without its comments and unit tests.
struct Source {
    /// From the root, as `src/…`.
    name: String,
    /// Without what stands in strings.
    code: String,
    with_strings: String,
}

impl Source {
    fn read(path: &Path) -> Self {
        let text = read(path);
        let name = path
            .strip_prefix(root())
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let text = match text.split_once("\n#[cfg(test)]\nmod tests {\n") {
            Some((code, tests)) => {
                assert!(
                    tests.find("\n}\n") == Some(tests.len() - 3),
                    "{name}: the unit tests don't stand last"
                );
                code.to_owned()
            }
            None => text,
        };
        Self {
            name,
            code: without(&text, Dropped::CommentsAndStrings),
            with_strings: without(&text, Dropped::Comments),
        }
    }

    fn top_module(&self) -> &str {
        let path = self.name.strip_prefix("src/").unwrap();
        path.split(['/', '.']).next().unwrap()
    }

    /// How many modules lie between the crate and the code at the top of this file.
    fn depth(&self) -> usize {
        let path = self.name.strip_prefix("src/").unwrap();
        let folders = path.matches('/').count();
        match path {
            "main.rs" | "lib.rs" => 0,
            path if path.ends_with("/mod.rs") => folders,
            _ => folders + 1,
        }
    }

    /// The top-level modules that the code names, by `crate::` or by as many `super::` as lead there.
    fn modules_named(&self) -> BTreeSet<String> {
        let words = words(&self.code);
        let mut named = BTreeSet::new();
        // At which brace depth each module begun with `mod name {` ends.
        let (mut braces, mut inner) = (0, Vec::new());
        for at in 0..words.len() {
            match words[at] {
                "{" => {
                    braces += 1;
                    if at >= 2 && words[at - 2] == "mod" {
                        inner.push(braces);
                    }
                }
                "}" => {
                    inner.pop_if(|depth| *depth == braces);
                    braces -= 1;
                }
                _ => {}
            }
            if at > 0 && words[at - 1] == "::" {
                continue;
            }
            let supers = words[at..]
                .chunks(2)
                .take_while(|pair| *pair == ["super", "::"])
                .count();
            let rest = match words[at] {
                // From main.rs the library is another crate, named as one.
                "crate" | "edio" => &words[at + 1..],
                "super" if supers == self.depth() + inner.len() => &words[at + 2 * supers - 1..],
                _ => continue,
            };
            if let ["::", rest @ ..] = rest {
                named.extend(heads(rest).into_iter().map(str::to_owned));
            }
        }
        named
    }
}

/// The first words of a path, or of each path in braces.
fn heads<'a>(words: &[&'a str]) -> Vec<&'a str> {
    if words[0] != "{" {
        return vec![words[0]];
    }
    let mut depth = 0;
    let mut heads = Vec::new();
    for pair in words.windows(2) {
        match pair[0] {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && matches!(pair[0], "{" | ",") && pair[1] != "}" {
            heads.push(pair[1]);
        }
    }
    heads
}

/// Words, `::`, and whatever else stands there, one character each.
fn words(code: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    words
}

fn stands_in(file: &str, rooms: &[&str]) -> bool {
    rooms
        .iter()
        .any(|room| file == *room || room.ends_with('/') && file.starts_with(room))
}

fn is_harmless(file: &str, line: &str) -> bool {
    HARMLESS
        .iter()
        .any(|(name, words)| file.starts_with(name) && line.contains(words))
}

/// Does it stand there, and is it neither the end of a longer word nor some other type's method?
fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        word.starts_with('.')
            || !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.')
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dropped {
    Comments,
    CommentsAndStrings,
}

/// Rust code without its comments, and without what stands between quotes. Line breaks stay.
fn without(text: &str, dropped: Dropped) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, is_comment) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), true)
        } else {
            (quoted(rest).unwrap_or(0), false)
        };
        if length == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (gone, left) = rest.split_at(length);
        match is_comment || dropped == Dropped::CommentsAndStrings {
            true => code.extend(gone.chars().filter(|c| *c == '\n')),
            false => code.push_str(gone),
        }
        rest = left;
    }
    code
}

/// The length of the string or character that the text begins with.
fn quoted(text: &str) -> Option<usize> {
    if let Some(raw) = text.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let end = format!("\"{}", &raw[..hashes]);
        let inside = raw[hashes..].strip_prefix('"')?;
        return Some(1 + hashes + 1 + inside.find(&end)? + end.len());
    }
    let mut chars = text.char_indices();
    let (_, quote) = chars.next()?;
    if quote == '\'' {
        // A lifetime has no second quote two characters on.
        let is_char = text[1..].starts_with('\\') || text.chars().nth(2) == Some('\'');
        is_char.then_some(())?;
    } else if quote != '"' {
        return None;
    }
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn sources() -> Vec<Source> {
    rust_files("src")
        .iter()
        .map(|path| Source::read(path))
        .collect()
}

fn rust_files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "rs" => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn the_reader_of_code_sees_what_is_code() {
    let text = "use crate::{a::b, c};\nfn x<'l>(y: char) { // crate::d\n  let z = \"crate::e\"; 'q'; '\\'';\n\
                  r#\"crate::\"f\"# ; super::g::h(); }\nmod i { use super::super::{j}; }\n";
    let source = |name: &str| Source {
        name: name.to_owned(),
        code: without(text, Dropped::CommentsAndStrings),
        with_strings: without(text, Dropped::Comments),
    };
    let named = |name: &str| {
        source(name)
            .modules_named()
            .into_iter()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(named("src/k.rs"), "a c g j");
    assert_eq!(named("src/k/mod.rs"), "a c g j");
    assert_eq!(named("src/k/l.rs"), "a c");
    assert!(source("src/k.rs").with_strings.contains("crate::e"));
    assert!(!source("src/k.rs").with_strings.contains("crate::d"));
}
