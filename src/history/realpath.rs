//! Real paths of what need not be there: links are followed as far as something is.

use std::path::{Component, Path, PathBuf};

/// The real path of the nearest that is there, of a path and the folders above it; and the rest of the path from there.
pub(super) fn nearest(path: &Path) -> Option<(PathBuf, &Path)> {
    path.ancestors().find_map(|above| {
        let real = above.canonicalize().ok()?;
        Some((real, path.strip_prefix(above).ok()?))
    })
}

/// The real path of what need not be there. `None` where it leads back out of a folder that is not: nobody knows where to.
pub(super) fn real(path: &Path) -> Option<PathBuf> {
    let (there, rest) = nearest(path)?;
    let is_plain = rest.components().all(|c| matches!(c, Component::Normal(_)));
    // `join` of nothing would add a slash.
    match rest.as_os_str().is_empty() {
        true => Some(there),
        false => is_plain.then(|| there.join(rest)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_there_is_real_and_the_rest_follows() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("a/b")).unwrap();
        let of = |path: &str| real(&top.join(path));
        assert_eq!(of("a/b/.."), Some(top.join("a")));
        assert_eq!(of("a/c/d"), Some(top.join("a/c/d")));
        assert_eq!(of("a/c/../d"), None);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(top.join("a/b"), top.join("link")).unwrap();
            assert_eq!(of("link"), Some(top.join("a/b")));
            assert_eq!(of("link/c"), Some(top.join("a/b/c")));
            assert_eq!(of("link/../c"), Some(top.join("a/c")));
            let path = top.join("link/c/../d");
            let found = Some((top.join("a/b"), Path::new("c/../d")));
            assert_eq!(nearest(&path), found);
        }
    }
}
