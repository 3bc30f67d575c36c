//! What edio reads of its surroundings: every environment variable, the current directory, its own path.

#![expect(
    clippy::disallowed_methods,
    reason = "this is the room of the environment"
)]

use std::env::{args_os, current_dir, current_exe, join_paths, split_paths, var_os};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `EDIO_NOW`: the time that tests pretend it is, in seconds since 1970.
pub fn now() -> Option<i64> {
    var_os("EDIO_NOW")?.to_str()?.parse().ok()
}

/// `EDIO_HOOK_WAIT`: how long an agent may be kept waiting, in milliseconds. Tests don't know how busy their machine is.
pub fn hook_wait() -> Option<Duration> {
    let milliseconds = var_os("EDIO_HOOK_WAIT")?.to_str()?.parse().ok()?;
    Some(Duration::from_millis(milliseconds))
}

/// `EDIO_HOOK_PATIENCE`: how long what a hook has started waits for another edio, in milliseconds, where tests say so.
pub fn hook_patience() -> Option<Duration> {
    let milliseconds = var_os("EDIO_HOOK_PATIENCE")?.to_str()?.parse().ok()?;
    Some(Duration::from_millis(milliseconds))
}

/// `EDIO_DEBUG`: is each decision of the guard to be written down?
pub fn wants_debug_log() -> bool {
    var_os("EDIO_DEBUG").is_some_and(|value| !value.is_empty() && value != "0")
}

/// `EDIO_AT_WORK`: the scratch folder of the edio that has started, under its lock, what started this one.
pub fn at_work() -> Option<PathBuf> {
    var_os("EDIO_AT_WORK").map(PathBuf::from)
}

/// `EDIO_HOOK_EVENT`: what a hook has told the edio that has started this one to see to it.
pub fn hook_event() -> Option<OsString> {
    var_os("EDIO_HOOK_EVENT")
}

/// Is it Copilot that calls a hook? It also runs those of Claude Code's configuration.
pub fn is_called_by_copilot() -> bool {
    var_os("COPILOT_CLI").is_some() || var_os("COPILOT_PROJECT_DIR").is_some()
}

/// The project that an agent was started in, where it says so: it may stand elsewhere by now.
pub fn project_of_agent() -> Option<PathBuf> {
    let names = ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"];
    let mut values = names.iter().filter_map(var_os);
    values.find(|value| !value.is_empty()).map(PathBuf::from)
}

/// `NO_COLOR`, set and not empty: no colours (<https://no-color.org>).
pub fn no_color() -> bool {
    var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// `CLICOLOR_FORCE`, set and not `0`: colours also where there is no terminal.
pub fn force_color() -> bool {
    var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// `TERM` names a terminal without colours, or is not set.
pub fn dumb_terminal() -> bool {
    var_os("TERM").is_none_or(|value| value.is_empty() || value == "dumb")
}

/// How many colours does the terminal have, by `COLORTERM` and `TERM`?
pub fn colors() -> u32 {
    let has = |name: &str, words: &[&str]| {
        let value = var_os(name).unwrap_or_default();
        let value = value.to_string_lossy().to_lowercase();
        words.iter().any(|word| value.contains(word))
    };
    if has("COLORTERM", &["truecolor", "24bit"]) || has("TERM", &["direct"]) {
        1 << 24
    } else if has("TERM", &["256color"]) {
        256
    } else {
        16
    }
}

/// Is the background light, by `COLORFGBG`, which some terminals set? `None` where none is told.
pub fn light_background() -> Option<bool> {
    let value = var_os("COLORFGBG")?;
    let background: u8 = value.to_str()?.rsplit(';').next()?.parse().ok()?;
    Some(matches!(background, 7 | 9..=15))
}

/// `COLUMNS`: how wide the output is to be, whatever the terminal says.
pub fn columns() -> Option<usize> {
    let columns = var_os("COLUMNS")?.to_str()?.parse().ok()?;
    (columns > 0).then_some(columns)
}

/// Is an environment variable set? For the pager's `LESS` and `LV`, which are filled in only where absent.
pub fn is_set(name: &str) -> bool {
    var_os(name).is_some()
}

/// `LC_ALL`, which git's children must not inherit under that name.
pub fn lc_all() -> Option<OsString> {
    var_os("LC_ALL").filter(|value| !value.is_empty())
}

/// Does a variable name a file, by its full path, or a socket as git does?
pub fn names_file(name: &str) -> bool {
    var_os(name).is_some_and(|value| {
        Path::new(&value).is_absolute() || value.as_encoded_bytes().starts_with(b"af_unix:")
    })
}

/// Does a variable tell git where the repository is? Then nothing may be guessed from the folders above.
pub fn git_is_told_where() -> bool {
    [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_COMMON_DIR",
        "GIT_CEILING_DIRECTORIES",
    ]
    .iter()
    .any(|name| var_os(name).is_some())
}

/// Where private stores are: below `XDG_DATA_HOME`, or `~/.local/share` where that is not set to a full path. `None` where
/// git is told which repository it is to work in.
pub fn stores() -> Option<PathBuf> {
    let told = ["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"];
    if told.iter().any(|name| var_os(name).is_some()) {
        return None;
    }
    let full = |folder: &PathBuf| folder.is_absolute();
    let data = var_os("XDG_DATA_HOME").map(PathBuf::from).filter(full);
    let data = data.or_else(|| Some(home().filter(full)?.join(".local/share")))?;
    Some(data.join("edio/stores"))
}

/// `GIT_CEILING_DIRECTORIES` with one folder more, above which git is to look for no repository.
pub fn ceilings_with(folder: &Path) -> OsString {
    let set = var_os("GIT_CEILING_DIRECTORIES").unwrap_or_default();
    let known = split_paths(&set).filter(|ceiling| !ceiling.as_os_str().is_empty());
    let all = join_paths([folder.to_owned()].into_iter().chain(known));
    // A folder whose name has the separator in it can't be named there.
    all.unwrap_or(set)
}

/// Is there an attributes file where git looks for one that is no repository's: the person's, or the system's?
pub fn has_attributes_file() -> bool {
    let config = var_os("XDG_CONFIG_HOME")
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
        .or_else(|| home().map(|home| home.join(".config")));
    config.is_some_and(|folder| folder.join("git/attributes").exists())
        || Path::new("/etc/gitattributes").exists()
}

/// `HOME`, the user's own folder.
pub fn home() -> Option<PathBuf> {
    var_os("HOME")
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// The folder in which an agent keeps what is its own: the one that this variable names, or else this one in the home
/// folder.
pub fn folder_of_agent(variable: &str, at_home: &str) -> Option<PathBuf> {
    let named = var_os(variable).filter(|value| !value.is_empty());
    named
        .map(PathBuf::from)
        .or_else(|| Some(home()?.join(at_home)))
}

/// Where `PATH` finds a program.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = var_os("PATH")?;
    split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|candidate| is_executable(candidate))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}

/// The folder that the person stands in.
///
/// # Errors
///
/// It was removed, or may not be entered.
pub fn directory() -> io::Result<PathBuf> {
    current_dir()
}

/// The folder that `-C` names in the command line which a shell completes.
pub fn folder_typed() -> Option<PathBuf> {
    let words = args_os().skip_while(|word| word != "--").skip(1);
    // What comes after that once more is another command's.
    let mut words = words.take_while(|word| word != "--");
    let mut folder = None;
    while let Some(word) = words.next() {
        match word.to_str().and_then(|word| word.strip_prefix("-C")) {
            Some("") => folder = words.next(),
            Some(joined) => folder = Some(joined.trim_start_matches('=').into()),
            None => {}
        }
    }
    folder.map(PathBuf::from)
}

/// The path of this very program.
///
/// # Errors
///
/// The system does not tell.
pub fn this_program() -> io::Result<PathBuf> {
    current_exe()
}
