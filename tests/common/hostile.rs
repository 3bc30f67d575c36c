//! The hostile world. With `EDIO_TEST_HOSTILE=1` every edio that [`Repo`](super::Repo) starts finds what a user could
//! have set otherwise set otherwise; the harness's own git does not. Programs that are named there are traps: who runs
//! one is found out.
//!
//! What a test sets itself, in the repository's config or in the environment of a command, counts more.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Streams;

/// Settings that change what git prints, stores and runs. `TRAP` is a program that must not be run.
///
/// git itself loses what is in the index where that is split and has no hash: so not both where a hook may call it.
const SETTINGS: &str = "
[advice]
    addIgnoredFile = true
    sparseIndexExpanded = true
    statusHints = true
[alias]
    status = !TRAP
    cat-file = !TRAP
    update-ref = !TRAP
[blame]
    coloring = highlightRecent
    ignoreRevsFile = /nowhere
[branch]
    autoSetupRebase = always
[clean]
    requireForce = false
[color]
    ui = always
    diff = always
    status = always
[column]
    ui = always
[core]
    abbrev = 4
    attributesFile = WORLD/attributes
    fsync = none
    logAllRefUpdates = always
    preloadIndex = false
    quotePath = false
    sharedRepository = group
    splitIndex = true
    untrackedCache = false
    warnAmbiguousRefs = false
[diff]
    algorithm = patience
    colorMoved = zebra
    external = TRAP
    ignoreSubmodules = all
    indentHeuristic = false
    mnemonicPrefix = true
    noprefix = true
    relative = true
    renames = copies
    statNameWidth = 3
    wordRegex = .
    wsErrorHighlight = all
[diff \"evil\"]
    command = TRAP
    textconv = TRAP
    cachetextconv = true
[feature]
    manyFiles = true
[fetch]
    fsckObjects = true
    prune = true
    recurseSubmodules = true
[format]
    pretty = %s
    signature = evil
[gc]
    auto = 1
    pruneExpire = now
    reflogExpire = now
[gpg]
    program = TRAP
[grep]
    fallbackToNoIndex = true
    lineNumber = true
    patternType = perl
[help]
    autoCorrect = immediate
[i18n]
    commitEncoding = ISO-8859-1
    logOutputEncoding = ISO-8859-1
[index]
    skipHash = false
    threads = 4
    version = 4
[interactive]
    diffFilter = TRAP
[log]
    abbrevCommit = true
    date = relative
    decorate = full
    excludeDecoration = refs/edio
    follow = true
    mailmap = true
    showRoot = false
    showSignature = true
[mailmap]
    blob = HEAD:nowhere
[maintenance]
    auto = true
    autoDetach = false
[merge]
    conflictStyle = zdiff3
    directoryRenames = true
    renames = false
    verifySignatures = true
[pager]
    branch = TRAP
    diff = TRAP
    log = TRAP
    show = TRAP
    status = TRAP
[rerere]
    enabled = true
    autoUpdate = true
[safe]
    bareRepository = explicit
[showBranch]
    default = --all
[status]
    aheadBehind = false
    branch = true
    displayCommentPrefix = true
    relativePaths = true
    renames = copies
    short = true
    showStash = true
    showUntrackedFiles = no
    submoduleSummary = true
[submodule]
    fetchJobs = 4
    recurse = true
[tag]
    gpgSign = true
    sort = -version:refname
[trace2]
    configParams = *
    eventTarget = 2
    normalTarget = 1
    perfTarget = 2
[transfer]
    fsckObjects = true
";

/// What the way to another repository obeys by design, and the other repository itself, where it is on this machine: all
/// get it that don't go there.
const FOR_THOSE_WHO_STAY: &str = "
[core]
    alternateRefsCommand = TRAP
    askPass = TRAP
    gitProxy = TRAP
    sshCommand = TRAP
[credential]
    helper = !TRAP
[transfer]
    hideRefs = refs/edio
[uploadpack]
    packObjectsHook = TRAP
";

/// What some commands obey by design; the others get it.
const FOR_THOSE_WHO_MUST_NOT_HEED_IT: &str = "
[commit]
    cleanup = verbatim
    gpgSign = true
    template = /nowhere
    verbose = true
[core]
    commentChar = e
    editor = TRAP
    fsmonitor = TRAP
    hooksPath = WORLD/hooks
[index]
    skipHash = true
[init]
    templateDir = WORLD/template
[sequence]
    editor = TRAP
";

/// Every hook that git knows.
const HOOKS: &str = "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg \
     commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive \
     post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman \
     post-index-change";

/// Variables that change what git prints, where it looks and what it runs. `TRAP` and `WORLD` as in the settings.
const VARIABLES: &[(&str, &str)] = &[
    ("LC_ALL", "de_DE.ISO-8859-1"),
    ("LANGUAGE", "de"),
    ("GIT_ADVICE", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", "TRAP"),
    ("GIT_ATTR_SOURCE", "HEAD"),
    ("GIT_CONFIG_PARAMETERS", "'color.ui'='always'"),
    ("GIT_DIFF_OPTS", "--unified=0"),
    ("GIT_EXTERNAL_DIFF", "TRAP"),
    ("GIT_FLUSH", "0"),
    ("GIT_MERGE_VERBOSITY", "5"),
    ("GIT_NAMESPACE", "evil"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PREFIX", "nowhere/"),
    ("GIT_PRINT_SHA1_ELLIPSIS", "yes"),
    ("GIT_REFLOG_ACTION", "evil"),
    ("GIT_SSH_COMMAND", "TRAP"),
];

/// What a program of the user's would obey that edio starts with the user's own surroundings: commands that start none
/// get it.
const VARIABLES_FOR_THOSE_WHO_START_NOTHING: &[(&str, &str)] = &[
    ("XDG_CONFIG_HOME", "WORLD/nowhere"),
    ("EDITOR", "TRAP"),
    ("VISUAL", "TRAP"),
    ("GIT_EDITOR", "TRAP"),
    ("GIT_SEQUENCE_EDITOR", "TRAP"),
    ("GIT_TEMPLATE_DIR", "WORLD/template"),
    ("GIT_INDEX_FILE", "WORLD/index"),
    ("GIT_QUARANTINE_PATH", "WORLD/quarantine"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_GLOB_PATHSPECS", "1"),
    ("GIT_NOGLOB_PATHSPECS", "1"),
    ("GIT_ICASE_PATHSPECS", "1"),
    ("GIT_TRACE", "1"),
    ("GIT_TRACE_PACK_ACCESS", "2"),
    ("GIT_TRACE_PACKET", "2"),
    ("GIT_TRACE_PERFORMANCE", "2"),
    ("GIT_TRACE_REFS", "2"),
    ("GIT_TRACE_SETUP", "true"),
    ("GIT_TRACE_SHALLOW", "1"),
    ("GIT_TRACE2", "1"),
    ("GIT_TRACE2_EVENT", "2"),
    ("GIT_TRACE2_PERF", "1"),
];

/// Who the user is, for commands that make no commit and move no branch of the user's, nor a ref of a repository that keeps
/// reflogs.
const IDENTITY: &[(&str, &str)] = &[
    ("GIT_AUTHOR_NAME", ""),
    ("GIT_AUTHOR_EMAIL", "evil\n"),
    ("GIT_AUTHOR_DATE", "1990-01-01T00:00:00+1245"),
    ("GIT_COMMITTER_NAME", ""),
    ("GIT_COMMITTER_DATE", "never"),
];

/// What the person's terminal would obey: for who has none.
const VARIABLES_WITHOUT_A_TERMINAL: &[(&str, &str)] = &[
    ("GIT_PAGER", "TRAP"),
    ("PAGER", "TRAP"),
    ("LESS", "--evil"),
    ("GIT_PAGER_IN_USE", "1"),
];

/// Is the world hostile?
pub fn is_on() -> bool {
    std::env::var_os("EDIO_TEST_HOSTILE").is_some_and(|value| value == "1")
}

/// A program whose new files are for nobody else.
pub fn guarded(program: &OsStr) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "umask 077; exec \"$0\" \"$@\""]);
    shell.arg(program);
    shell
}

/// The hostile world in the folder of one test.
pub struct World {
    folder: PathBuf,
}

impl World {
    /// The world beside a test's repository.
    pub fn around(folder: &Path) -> Self {
        let folder = folder.join("hostile");
        Self { folder }
    }

    /// Lays it out.
    pub fn make(&self) {
        fs::create_dir(&self.folder).unwrap();
        let sprung = self.sprung().display().to_string();
        let trap = format!(
            "#!/bin/sh\necho \"$0 $*\" >>'{sprung}'\necho it is a trap\necho it is a trap >&2\nexit 1\n"
        );
        fs::write(self.trap(), trap).unwrap();
        fs::set_permissions(self.trap(), fs::Permissions::from_mode(0o755)).unwrap();
        for folder in ["hooks", "template", "template/hooks"] {
            fs::create_dir(self.folder.join(folder)).unwrap();
        }
        for hook in HOOKS.split_whitespace() {
            symlink(self.trap(), self.folder.join("hooks").join(hook)).unwrap();
            symlink(self.trap(), self.folder.join("template/hooks").join(hook)).unwrap();
        }
        fs::write(self.folder.join("attributes"), "* diff=evil\n").unwrap();
        // The plain config comes last: what a test adds to it counts.
        let plain = "[include]\n    path = ../gitconfig\n";
        let abroad = self.named(SETTINGS);
        fs::write(self.folder.join("abroad"), format!("{abroad}{plain}")).unwrap();
        let mild = format!("{abroad}{}", self.named(FOR_THOSE_WHO_STAY));
        fs::write(self.folder.join("mild"), format!("{mild}{plain}")).unwrap();
        let strict = self.named(FOR_THOSE_WHO_MUST_NOT_HEED_IT);
        fs::write(self.folder.join("strict"), format!("{mild}{strict}{plain}")).unwrap();
    }

    /// Puts an edio with these words into it.
    pub fn surround(&self, command: &mut Command, words: &[OsString], streams: Streams) {
        let says = |verbs: &[&str]| {
            words
                .iter()
                .any(|word| verbs.iter().any(|verb| word == verb))
        };
        let mut variables = vec![VARIABLES];
        if !says(&["accept", "run"]) {
            variables.push(VARIABLES_FOR_THOSE_WHO_START_NOTHING);
            command.env_remove("HOME");
            if streams == Streams::Captured {
                variables.push(VARIABLES_WITHOUT_A_TERMINAL);
            }
        }
        let heeds = says(&["accept", "run", "undo", "redo"]);
        let goes_abroad = says(&["push", "fetch", "--remote"]);
        if !heeds && !goes_abroad {
            variables.push(IDENTITY);
        }
        // The date of a turn is shown in the user's own time zone.
        if !says(&["show"]) {
            variables.push(&[("TZ", "Pacific/Chatham")]);
        }
        for (name, value) in variables.into_iter().flatten() {
            command.env(name, self.named(value));
        }
        if goes_abroad {
            command.env_remove("GIT_ALLOW_PROTOCOL");
        }
        let config = match (goes_abroad, heeds) {
            (true, _) => "abroad",
            (_, true) => "mild",
            _ => "strict",
        };
        command.env("GIT_CONFIG_GLOBAL", self.folder.join(config));
    }

    /// No trap must have been sprung.
    #[track_caller]
    pub fn is_unharmed(&self) {
        let sprung = fs::read_to_string(self.sprung()).unwrap_or_default();
        assert!(sprung.is_empty(), "what must not be run was run: {sprung}");
        assert!(
            !self.folder.join("index").exists(),
            "a foreign index was made"
        );
    }

    fn named(&self, text: &str) -> String {
        let (trap, world) = (self.trap(), self.folder.display().to_string());
        text.replace("TRAP", trap.to_str().unwrap())
            .replace("WORLD", &world)
    }

    fn trap(&self) -> PathBuf {
        self.folder.join("trap")
    }

    fn sprung(&self) -> PathBuf {
        self.folder.join("sprung")
    }
}
