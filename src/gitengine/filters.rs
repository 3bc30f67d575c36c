//! Conversions: what git makes of a file's bytes on their way in and out.

use std::collections::BTreeMap;
use std::path::Path;

use bstr::ByteSlice;

use super::command::{Ask, Git};
use super::config::Settings;
use super::error::{GitError, Result};
use super::index::PrivateIndex;
use super::objects::Entry;
use super::paths::{RepoPath, os_path};

/// What git does to the bytes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// Nothing.
    None,
    /// Something on the way in; what comes out again is what went in, or one can see that it is not.
    In,
    /// Something on the way out, too: a blob does not tell which bytes were on disk.
    Out,
    /// Git LFS: the bytes are kept elsewhere, and come back as they were.
    Lfs,
}

/// Files that a filter driver is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filtered {
    /// Nothing else is done to their bytes, but for line ends.
    pub alone: Vec<RepoPath>,
    /// Idents or encodings are converted, too.
    pub and_more: Vec<RepoPath>,
}

/// What is to stand on disk where Git LFS keeps the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LfsFiles {
    /// Content or pointer, as the user has it on a checkout.
    AsSet,
    /// The content, also where the user's checkouts leave it out (`git lfs install --skip-smudge`).
    WithContent,
}

const ATTRIBUTES: [&str; 6] = [
    "text",
    "crlf",
    "eol",
    "ident",
    "filter",
    "working-tree-encoding",
];

impl Git {
    /// What git does to the bytes of these paths, by the attributes on disk and the user's settings.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn conversions(&self, settings: &Settings, paths: &[RepoPath]) -> Result<Vec<Conversion>> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let ask = self
            .ask("check-attr")
            .args(["-z", "--stdin"])
            .args(ATTRIBUTES);
        let output = ask.nul_input(paths.iter().map(RepoPath::as_bytes)).run()?;
        let fields: Vec<&[u8]> = output.split_str("\0").collect();
        // Path, attribute, value: six times for each path, in the order asked.
        let mut answers = fields.chunks_exact(3 * ATTRIBUTES.len());
        let found: Vec<Conversion> = answers
            .by_ref()
            .take(paths.len())
            .map(|answer| {
                let values = answer.chunks_exact(3).map(|triple| (triple[1], triple[2]));
                conversion(settings, &values.collect())
            })
            .collect();
        match found.len() == paths.len() {
            true => Ok(found),
            false => Err(GitError::unexpected(
                "git check-attr -z --stdin",
                format!("{} answers to {} questions", found.len(), paths.len()),
            )),
        }
    }

    /// Those of these paths that a filter driver is for, by the attributes on disk and the user's settings.
    ///
    /// # Errors
    ///
    /// git failed.
    pub fn filtered(&self, settings: &Settings, paths: &[RepoPath]) -> Result<Filtered> {
        const BESIDE: [&str; 2] = ["ident", "working-tree-encoding"];
        let mut found = Filtered::default();
        if paths.is_empty() {
            return Ok(found);
        }
        let ask = self.ask("check-attr").args(["-z", "--stdin", "filter"]);
        let ask = ask.args(BESIDE);
        let output = ask.nul_input(paths.iter().map(RepoPath::as_bytes)).run()?;
        let fields: Vec<&[u8]> = output.split_str("\0").collect();
        for answer in fields.chunks_exact(3 * (1 + BESIDE.len())) {
            let Some(path) = RepoPath::new(answer[0]) else {
                continue;
            };
            let is_given = |value: &[u8]| !matches!(value, b"unspecified" | b"unset");
            if has_driver(settings, answer[2]) {
                match is_given(answer[5]) || is_given(answer[8]) {
                    true => found.and_more.push(path),
                    false => found.alone.push(path),
                }
            }
        }
        Ok(found)
    }

    /// Writes these entries as files below a folder, through the filters that the attribute files among them ask for.
    ///
    /// # Errors
    ///
    /// A filter failed, or git did.
    pub fn check_out_below(
        &self,
        folder: &Path,
        index: &PrivateIndex,
        entries: &[(RepoPath, Entry)],
        settings: &Settings,
        lfs_files: LfsFiles,
    ) -> Result<()> {
        index.remove()?;
        let set: Vec<_> = entries
            .iter()
            .map(|(p, e)| (p.clone(), Some(e.clone())))
            .collect();
        index.set(&set)?;
        let (rules, others): (Vec<_>, Vec<_>) = entries
            .iter()
            .map(|(path, _)| path)
            .partition(|path| path.name() == b".gitattributes");
        for paths in [rules, others].iter().filter(|paths| !paths.is_empty()) {
            let ask = self
                .ask("checkout-index")
                .index(&index.file)
                .work_tree(folder);
            // What is not here is not fetched: the restore is refused instead.
            let ask = ask.setting("lfs.url=file:///nothing-is-fetched");
            let ask = match lfs_files {
                LfsFiles::AsSet => ask,
                LfsFiles::WithContent => settings.with_lfs_content(ask),
            };
            ask.args(["-z", "--stdin"])
                .nul_input(paths.iter().map(|path| path.as_bytes()))
                .run()?;
        }
        index.remove()
    }
}

fn conversion(settings: &Settings, values: &BTreeMap<&[u8], &[u8]>) -> Conversion {
    let value = |name: &str| {
        values
            .get(name.as_bytes())
            .copied()
            .unwrap_or(b"unspecified")
    };
    let is_given = |name| !matches!(value(name), b"unspecified" | b"unset");
    let filter = value("filter");
    if is_given("filter") && has_driver(settings, filter) {
        return match filter {
            b"lfs" => Conversion::Lfs,
            _ => Conversion::Out,
        };
    }
    if is_given("ident") || is_given("working-tree-encoding") {
        return Conversion::Out;
    }
    let converts_lines = match (value("text"), value("crlf")) {
        (b"unset", _) => false,
        (b"unspecified", b"unset") => false,
        (b"unspecified", b"unspecified") => is_given("eol") || settings.converts_lines(),
        _ => true,
    };
    match (converts_lines, value("eol")) {
        (false, _) => Conversion::None,
        (true, b"crlf") => Conversion::Out,
        (true, b"lf") => Conversion::In,
        _ if settings.writes_crlf() => Conversion::Out,
        _ => Conversion::In,
    }
}

fn has_driver(settings: &Settings, name: &[u8]) -> bool {
    let names = settings.filters();
    names.iter().any(|driver| driver.as_bytes() == name)
}

impl Settings {
    /// Has a question live with filters that fail: where one is required, git would end over a single file.
    pub fn without_required_filters(&self, ask: Ask) -> Ask {
        self.filters().iter().fold(ask, |ask, name| {
            ask.setting(format!("filter.{name}.required=false"))
        })
    }

    /// Has a question do without filters that run as long as git does.
    pub fn without_filter_processes(&self, ask: Ask) -> Ask {
        self.filters().iter().fold(ask, |ask, name| {
            ask.setting(format!("filter.{name}.process="))
        })
    }

    /// Has a question do without any filter.
    pub fn without_filters(&self, ask: Ask) -> Ask {
        let ask = self.without_filter_processes(self.without_required_filters(ask));
        self.filters().iter().fold(ask, |ask, name| {
            ask.setting(format!("filter.{name}.clean="))
        })
    }

    /// Has Git LFS give the content whatever it is told to leave out. What it is told is in its command or in a variable.
    fn with_lfs_content(&self, ask: Ask) -> Ask {
        let keys = ["filter.lfs.smudge", "filter.lfs.process"];
        let ask = ask.env("GIT_LFS_SKIP_SMUDGE", "0");
        keys.iter().fold(ask, |ask, key| match self.get(key) {
            Some(command) => {
                let whole = command.replace(" --skip", "");
                let setting = [key.as_bytes(), b"=", &whole].concat();
                ask.setting(os_path(&setting).to_owned())
            }
            None => ask,
        })
    }

    /// Has a question reject each file that a filter fails for on its way in.
    pub fn with_required_filters(&self, ask: Ask) -> Ask {
        let cleans = |name: &&str| {
            let has = |what| self.get(&format!("filter.{name}.{what}")).is_some();
            has("clean") || has("process")
        };
        let cleaning = self.filters().into_iter().filter(cleans);
        cleaning.fold(ask, |ask, name| {
            ask.setting(format!("filter.{name}.required=true"))
        })
    }

    /// Are line ends converted where no attribute says so?
    pub fn converts_lines(&self) -> bool {
        self.writes_crlf() || self.says("core.autocrlf", b"input")
    }

    /// Do text files get CRLF on their way out?
    fn writes_crlf(&self) -> bool {
        self.is_true("core.autocrlf") || self.says("core.eol", b"crlf")
    }

    fn says(&self, key: &str, word: &[u8]) -> bool {
        self.get(key)
            .is_some_and(|value| value.eq_ignore_ascii_case(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(config: &[u8], pairs: &[(&str, &str)]) -> Conversion {
        let values = pairs
            .iter()
            .map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        conversion(&Settings::parse(config), &values.collect())
    }

    #[test]
    fn attributes_and_settings_say_what_is_converted() {
        assert_eq!(of(b"", &[]), Conversion::None);
        assert_eq!(of(b"", &[("text", "auto")]), Conversion::In);
        assert_eq!(
            of(b"", &[("text", "set"), ("eol", "crlf")]),
            Conversion::Out
        );
        assert_eq!(
            of(b"", &[("text", "unset"), ("eol", "crlf")]),
            Conversion::None
        );
        assert_eq!(of(b"", &[("eol", "lf")]), Conversion::In);
        assert_eq!(of(b"", &[("ident", "set")]), Conversion::Out);
        assert_eq!(of(b"", &[("filter", "lfs")]), Conversion::None);
        assert_eq!(
            of(b"filter.lfs.clean\nx\0", &[("filter", "lfs")]),
            Conversion::Lfs
        );
        assert_eq!(
            of(b"filter.a.smudge\nx\0", &[("filter", "a")]),
            Conversion::Out
        );
        assert_eq!(of(b"core.autocrlf\ninput\0", &[]), Conversion::In);
        assert_eq!(of(b"core.autocrlf\ntrue\0", &[]), Conversion::Out);
        assert_eq!(
            of(b"core.autocrlf\ntrue\0", &[("text", "unset")]),
            Conversion::None
        );
    }
}
