//! `edio snapshot`: P1 (invisible) and P2 (complete).

use crate::common::Repo;

#[test]
fn p1_a_snapshot_leaves_everything_of_gits_as_it_was() {
    let repo = Repo::with(&[
        ("a", "one\n"),
        ("b", "two\n"),
        ("c", "three\n"),
        ("d", "four\n"),
    ]);
    repo.git(["tag", "v1"]);
    repo.write("a", "stashed\n");
    repo.git(["stash", "-q"]);
    repo.write("a", "staged\n");
    repo.git(["add", "a"]);
    repo.write("a", "worktree\n");
    repo.git(["rm", "-q", "--cached", "b"]);
    repo.remove("c");
    repo.write("new", "new\n");
    repo.git(["add", "-N", "new"]);
    repo.write("untracked", "u\n");
    let (state, files) = (repo.git_state(), repo.manifest());

    repo.edio(["snapshot", "-m", "one"]).ok();

    assert_eq!(repo.git_state(), state);
    assert_eq!(repo.manifest(), files);
    assert_eq!(repo.in_turn(1, "a").as_deref(), Some("worktree\n"));
    assert_eq!(repo.in_turn(1, "b").as_deref(), Some("two\n"));
    assert_eq!(repo.in_turn(1, "c"), None);
    assert_eq!(repo.in_turn(1, "new").as_deref(), Some("new\n"));
    assert_eq!(repo.in_turn(1, "untracked").as_deref(), Some("u\n"));
    repo.fsck();
}
