//! What the user has set.

use std::path::Path;

use super::{Repo, Stage, is_clean, stage_set};

#[test]
fn variables_that_git_sets_for_its_hooks_and_aliases_do_no_harm() {
    let repo = stage_set();
    let elsewhere = repo
        .outside()
        .join("elsewhere")
        .to_str()
        .unwrap()
        .to_owned();
    let mut env: Vec<(&'static str, String)> = vec![("GIT_INDEX_FILE", elsewhere.clone())];
    for name in ["GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_FLUSH"] {
        env.push((name, "1".to_owned()));
    }
    env.push(("GIT_LITERAL_PATHSPECS", "1".to_owned()));
    env.push(("GIT_PREFIX", "story/".to_owned()));
    env.push(("GIT_EXTERNAL_DIFF", "false".to_owned()));
    env.push(("GIT_DIFF_OPTS", "-u0".to_owned()));
    env.push(("GIT_ATTR_SOURCE", "HEAD".to_owned()));
    env.push(("GIT_OPTIONAL_LOCKS", "0".to_owned()));
    env.push(("GIT_EDITOR", "false".to_owned()));
    env.push(("GIT_NAMESPACE", "ns".to_owned()));
    let stage = Stage {
        env,
        ..Stage::at_top(&repo)
    };
    stage.play();
    stage.accept();
    assert!(!Path::new(&elsewhere).exists());
    is_clean(&repo);
}

/// git status itself ends there.
#[test]
fn an_order_of_files_that_is_gone_keeps_nothing_from_coming_back() {
    let repo = Repo::with(&[("a", "one\n"), (".gitorder", "*.c\n")]);
    repo.git(["config", "diff.orderFile", ".gitorder"]);
    repo.edio(["snapshot"]).ok();
    repo.remove(".gitorder");
    repo.remove("a");
    repo.edio(["restore", "1"]).ok();
    assert_eq!(repo.read("a"), "one\n");
    assert_eq!(repo.read(".gitorder"), "*.c\n");
}

#[test]
fn settings_that_change_what_git_prints_do_no_harm() {
    let repo = stage_set();
    let settings = "color.ui=always core.quotePath=false status.relativePaths=true status.showUntrackedFiles=no \
                    status.branch=true status.short=true status.showStash=true status.renames=copies \
                    status.submoduleSummary=true diff.renames=copies diff.noprefix=true diff.mnemonicPrefix=true \
                    diff.external=false diff.ignoreSubmodules=all diff.wordRegex=. diff.orderFile=/nowhere \
                    diff.relative=true diff.statNameWidth=3 diff.colorMoved=zebra diff.algorithm=histogram \
                    core.abbrev=5 core.untrackedCache=false core.preloadIndex=false core.pager=false \
                    core.commentChar=e core.logAllRefUpdates=always core.warnAmbiguousRefs=false \
                    log.showSignature=true log.date=relative log.follow=true format.pretty=%s i18n.commitEncoding=latin1 \
                    i18n.logOutputEncoding=latin1 gc.auto=1 index.version=4 index.skipHash=true \
                    submodule.recurse=true transfer.hideRefs=refs/edio core.askPass=false core.editor=false \
                    commit.cleanup=verbatim commit.verbose=true merge.conflictStyle=diff3 merge.renames=false \
                    core.attributesFile=/nowhere core.sharedRepository=group core.createObject=rename \
                    core.compression=0 core.bigFileThreshold=1 pack.writeReverseIndex=false";
    for setting in settings.split_whitespace() {
        let (name, value) = setting.split_once('=').unwrap();
        repo.git(["config", name, value]);
    }
    repo.git(["config", "--unset", "diff.orderFile"]);
    repo.git(["config", "core.ignoreStat", "true"]);
    let stage = Stage::at_top(&repo);
    stage.play();
    stage.accept();
    assert_eq!(
        repo.git([
            "-c",
            "status.showUntrackedFiles=all",
            "--no-optional-locks",
            "status",
            "--porcelain"
        ]),
        ""
    );
}
