//! The person's editor.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::error::{Result, While};
use crate::process::{Command, Status};

/// Opens the editor with these words, as git does: through a shell, since it may have words of its own. Returns when it is
/// left.
///
/// # Errors
///
/// It could not be started.
pub fn open<W: AsRef<OsStr>>(editor: &OsStr, words: impl IntoIterator<Item = W>) -> Result<Status> {
    let mut script = editor.to_owned();
    script.push(" \"$@\"");
    let command = Command::new("sh").arg("-c").arg(script).arg(editor);
    command
        .args(words)
        .hand_over()
        .or_cannot(|| "the editor could not be started".to_owned())
}

/// The words that have an editor open a file at a line, as far as editors agree.
pub fn at_line(editor: &OsStr, file: &Path, line: u32) -> Vec<OsString> {
    let editor = editor.to_string_lossy();
    let program = editor.split_whitespace().next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    let place = || {
        let mut place = file.as_os_str().to_owned();
        place.push(format!(":{line}"));
        place
    };
    match name {
        "code" | "codium" | "cursor" | "windsurf" | "code-insiders" => {
            vec!["--goto".into(), place()]
        }
        "subl" | "zed" | "hx" | "helix" => vec![place()],
        "vi" | "vim" | "nvim" | "view" | "nano" | "pico" | "emacs" | "emacsclient" | "kak"
        | "micro" | "joe" | "ne" | "jed" | "mg" | "vis" | "less" => {
            vec![format!("+{line}").into(), file.into()]
        }
        // An unknown one may take it for the name of a file.
        _ => vec![file.into()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_editor_is_told_the_line_in_its_way() {
        let told = |editor: &str| at_line(OsStr::new(editor), Path::new("/a b"), 7);
        assert_eq!(told("vim -u NONE"), ["+7", "/a b"]);
        assert_eq!(told("/usr/bin/nano"), ["+7", "/a b"]);
        assert_eq!(told("code --wait"), ["--goto", "/a b:7"]);
        assert_eq!(told("hx"), ["/a b:7"]);
        assert_eq!(told("my-editor"), ["/a b"]);
    }
}
