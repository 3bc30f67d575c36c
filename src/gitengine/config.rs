//! The settings in the user's git config that edio heeds.

use bstr::ByteSlice;

use super::command::Git;
use super::error::{GitError, Result};
use super::paths::os_path;

/// The settings, asked for in one go. Keys are in lower case but for their middle part, as git prints them.
#[derive(Clone, Debug, Default)]
pub struct Settings(Vec<(String, Vec<u8>)>);

/// The `--get-regexp` pattern of everything that is heeded.
pub const PATTERN: &str = r"^(edio\..*|filter\..*\.(clean|process|smudge|required)|core\.(autocrlf|eol|attributesfile|ignorecase|sparsecheckout|filemode|symlinks|precomposeunicode)|remote\..*\.(promisor|mirror|push|fetch)|log\.excludedecoration|commit\.(gpgsign|cleanup|template)|blame\.ignorerevsfile)$";

impl Settings {
    /// Reads what `git config -z --get-regexp` printed: `key LF value NUL`, or `key NUL` for a key without a value.
    pub fn parse(output: &[u8]) -> Self {
        let records = output.split_str("\0").filter(|record| !record.is_empty());
        let pair = |record: &[u8]| match record.split_once_str("\n") {
            Some((key, value)) => (key.to_str_lossy().into_owned(), value.to_vec()),
            None => (record.to_str_lossy().into_owned(), b"true".to_vec()),
        };
        Self(records.map(pair).collect())
    }

    /// The value of a key: the last one given, as git takes it.
    pub fn get(&self, key: &str) -> Option<&[u8]> {
        let mut values = self.0.iter().rev();
        values
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_slice())
    }

    /// All values of a key that may be given more than once, in their order.
    pub fn all(&self, key: &str) -> Vec<&[u8]> {
        let values = self.0.iter().filter(|(name, _)| name == key);
        values.map(|(_, value)| value.as_slice()).collect()
    }

    /// Is it set to something that git takes as true?
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| {
            [&b"true"[..], b"yes", b"on", b"1"]
                .iter()
                .any(|word| value.eq_ignore_ascii_case(word))
        })
    }

    /// Is it set to something that git takes as false?
    pub fn is_false(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| {
            [&b"false"[..], b"no", b"off", b"0", b""]
                .iter()
                .any(|word| value.eq_ignore_ascii_case(word))
        })
    }

    /// Is it a partial clone, which may lack objects that a remote has?
    pub fn is_partial_clone(&self) -> bool {
        let mut keys = self.0.iter().map(|(key, _)| key);
        keys.any(|key| key.starts_with("remote.") && key.ends_with(".promisor"))
    }

    /// The remotes to which a push without further words sends refs of this folder: all of a mirror, or by their refspecs.
    pub fn publishing_remotes(&self, folder: &str) -> Vec<&str> {
        let remotes = self.0.iter().filter_map(|(key, _)| {
            let (name, word) = key.strip_prefix("remote.")?.rsplit_once('.')?;
            let refspecs = self.all(key);
            let sends = match word {
                "mirror" => self.is_true(key),
                "push" => {
                    let folder = folder.as_bytes();
                    refspecs.iter().any(|spec| sends(spec, folder))
                        && !refspecs.iter().any(|spec| keeps(spec, folder))
                }
                _ => false,
            };
            sends.then_some(name)
        });
        let mut remotes: Vec<_> = remotes.collect();
        remotes.sort_unstable();
        remotes.dedup();
        remotes
    }

    /// The remotes from which a fetch writes refs of this folder, and with `--prune` deletes them.
    pub fn overwriting_remotes(&self, folder: &str) -> Vec<&str> {
        let folder = folder.as_bytes();
        let remotes = self.0.iter().filter_map(|(key, _)| {
            let (name, word) = key.strip_prefix("remote.")?.rsplit_once('.')?;
            let refspecs = self.all(key);
            let overwrites = word == "fetch"
                && refspecs.iter().any(|spec| writes(spec, folder))
                && !refspecs.iter().any(|spec| keeps(spec, folder));
            overwrites.then_some(name)
        });
        let mut remotes: Vec<_> = remotes.collect();
        remotes.sort_unstable();
        remotes.dedup();
        remotes
    }

    /// The names of the configured filter drivers.
    pub fn filters(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .0
            .iter()
            .filter_map(|(key, _)| Some(key.strip_prefix("filter.")?.rsplit_once('.')?.0))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Does a refspec send refs of this folder?
fn sends(refspec: &[u8], folder: &[u8]) -> bool {
    let spec = refspec.strip_prefix(b"+").unwrap_or(refspec);
    let source = spec.split_once_str(":").map_or(spec, |(source, _)| source);
    match source.split_once_str("*") {
        Some((head, _)) => folder.starts_with(head) || head.starts_with(folder),
        None => source.starts_with(folder),
    }
}

/// Does a refspec write refs of this folder, or others that lie around it?
fn writes(refspec: &[u8], folder: &[u8]) -> bool {
    let spec = refspec.strip_prefix(b"+").unwrap_or(refspec);
    let Some((_, target)) = spec.split_once_str(":") else {
        return false;
    };
    match target.split_once_str("*") {
        Some((head, _)) => folder.starts_with(head) || head.starts_with(folder),
        None => target.starts_with(folder),
    }
}

/// Does a refspec keep all refs of this folder back?
fn keeps(refspec: &[u8], folder: &[u8]) -> bool {
    let spec = refspec.strip_prefix(b"^").unwrap_or_default();
    let head = spec.strip_suffix(b"*");
    head.is_some_and(|head| folder.starts_with(head))
}

impl Git {
    /// Adds a value to a key of the repository's own config, in the file that all its work trees share.
    ///
    /// # Errors
    ///
    /// The config is locked or can't be written, or git failed.
    pub fn add_setting(&self, key: &str, value: &[u8]) -> Result<()> {
        let ask = self.ask("config").args(["--local", "--add", key]);
        ask.arg(os_path(value)).run().map(drop)
    }

    /// Gives a key of the repository's own config this value, and no other.
    ///
    /// # Errors
    ///
    /// The config is locked or can't be written, or git failed.
    pub fn set_setting(&self, key: &str, value: &str) -> Result<()> {
        let ask = self.ask("config").args(["--local", "--replace-all", key]);
        ask.arg(value).run().map(drop)
    }

    /// Takes this value of a key out of the repository's own config, where it is there.
    ///
    /// # Errors
    ///
    /// The config is locked or can't be written, or git failed.
    pub fn take_out_setting(&self, key: &str, value: &str) -> Result<()> {
        const NOT_THERE: i32 = 5;
        let ask = self.ask("config").args(["--local", "--fixed-value"]);
        match ask.args(["--unset-all", key, value]).run() {
            Err(GitError::Exit { status, .. }) if status.code() == Some(NOT_THERE) => Ok(()),
            done => done.map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_git_prints() {
        let settings = Settings::parse(
            b"filter.lfs.required\ntrue\0filter.a.b.clean\ncat\nx\0core.eol\0edio.maxfilesize\n2m\0edio.maxfilesize\n3k\0",
        );
        assert_eq!(settings.filters(), ["a.b", "lfs"]);
        assert_eq!(settings.get("filter.a.b.clean"), Some(&b"cat\nx"[..]));
        assert_eq!(settings.all("edio.maxfilesize"), [b"2m", b"3k"]);
        assert!(settings.is_true("core.eol") && settings.is_true("filter.lfs.required"));
    }

    #[test]
    fn knows_which_remotes_a_push_publishes_to() {
        let publishing = |config: &[u8]| {
            let settings = Settings::parse(config);
            settings.publishing_remotes("refs/edio/").join(" ")
        };
        assert_eq!(
            publishing(b"remote.a.b.mirror\0remote.c.mirror\nfalse\0"),
            "a.b"
        );
        for refspec in [
            "+refs/*:refs/*",
            "refs/edio/*:refs/x/*",
            "refs/edio/active/*",
            "refs/*",
        ] {
            assert_eq!(
                publishing(format!("remote.x.push\n{refspec}\0").as_bytes()),
                "x"
            );
        }
        for refspec in [
            "refs/heads/*:refs/heads/*",
            "HEAD",
            "main",
            ":refs/edio/x",
            "",
        ] {
            assert_eq!(
                publishing(format!("remote.x.push\n{refspec}\0").as_bytes()),
                ""
            );
        }
        let overwriting = |config: &[u8]| {
            let settings = Settings::parse(config);
            settings.overwriting_remotes("refs/edio/").join(" ")
        };
        for (refspecs, found) in [
            ("+refs/*:refs/*", "x"),
            ("refs/edio/*:refs/edio/*", "x"),
            ("+refs/heads/*:refs/remotes/x/*", ""),
            ("+refs/*:refs/remotes/x/*", ""),
            ("+refs/*:refs/*\0remote.x.fetch\n^refs/edio/*", ""),
        ] {
            let config = format!("remote.x.fetch\n{refspecs}\0");
            assert_eq!(overwriting(config.as_bytes()), found, "{refspecs}");
        }
        let both = b"remote.x.push\n+refs/*:refs/*\0remote.x.push\n^refs/edio/*\0";
        assert_eq!(publishing(both), "");
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let settings = Settings::parse(&bytes);
            let _ = settings.filters();
        }
    }
}
