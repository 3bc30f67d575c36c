//! The settings in the user's git config that edio heeds.

use bstr::ByteSlice;

use super::command::Git;
use super::error::Result;
use super::paths::os_path;

/// The settings, asked for in one go. Keys are in lower case but for their middle part, as git prints them.
#[derive(Clone, Debug, Default)]
pub struct Settings(Vec<(String, Vec<u8>)>);

/// The `--get-regexp` pattern of everything that is heeded.
pub const PATTERN: &str = r"^(edio\..*|filter\..*\.(clean|process|smudge|required)|core\.(autocrlf|eol|attributesfile|ignorecase|sparsecheckout|filemode|symlinks|precomposeunicode)|remote\..*\.promisor|commit\.(gpgsign|cleanup|template))$";

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

    proptest::proptest! {
        #[test]
        fn whatever_is_read_does_no_harm(bytes in crate::gitengine::noise()) {
            let settings = Settings::parse(&bytes);
            let _ = settings.filters();
        }
    }
}
