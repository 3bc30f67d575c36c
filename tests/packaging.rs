//! What a release is packed into, and the action for continuous integration: the scripts in `packaging/`, the metadata in
//! `Cargo.toml`, and `.github/actions/`. No network: archives and sums are made here.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Ran, Repo, edio_binary};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap()
}

/// Runs a script of the project with these words, outside the repository.
fn script(repo: &Repo, name: &str, words: &[&str]) -> Ran {
    let mut command = Command::new("bash");
    repo.surround(&mut command);
    command.current_dir(repo.outside());
    repo.ran(command.arg(file(name)).args(words))
}

/// The targets for which the workflow makes archives.
fn targets() -> BTreeSet<String> {
    let workflow = text(".github/workflows/release.yml");
    let rows = workflow.lines().filter_map(|line| {
        let (_, rest) = line.split_once("- { target: ")?;
        rest.split(',').next().map(str::to_owned)
    });
    let targets: BTreeSet<String> = rows.collect();
    assert!(targets.len() > 5, "{targets:?}");
    targets
}

/// The archive for a target.
fn archive(version: &str, target: &str) -> String {
    let kind = match target.contains("windows") {
        true => "zip",
        false => "tar.gz",
    };
    format!("edio-{version}-{target}.{kind}")
}

/// A folder with a made-up sum for the archive of each target. Returns it with the sums.
fn sums(repo: &Repo, version: &str) -> (PathBuf, Vec<(String, String)>) {
    let folder = repo.outside().join("dist");
    fs::create_dir(&folder).unwrap();
    let made = targets().into_iter().enumerate().map(|(n, target)| {
        let (name, sum) = (archive(version, &target), format!("{n}").repeat(64));
        fs::write(
            folder.join(format!("{name}.sha256")),
            format!("{sum}  {name}\n"),
        )
        .unwrap();
        (name, sum)
    });
    let made = made.collect();
    (folder, made)
}

#[test]
fn an_archive_has_completions_and_manual_pages_and_is_what_the_installer_takes() {
    let repo = Repo::unborn();
    let edio = edio_binary().to_str().unwrap();
    script(&repo, "packaging/extras.sh", &[edio, "extras"]).ok();
    fs::create_dir(repo.outside().join("built")).unwrap();
    let program = repo.outside().join("built/edio");
    fs::write(program, "#!/bin/sh\necho edio 9.9.9\n").unwrap();
    let machine = Command::new("uname").arg("-m").output().unwrap().stdout;
    let machine = String::from_utf8(machine).unwrap();
    let releases = repo.outside().join("releases");
    let at = |name: &str| repo.outside().join(name).to_str().unwrap().to_owned();
    let (packed, extras, folder) = (
        at("built/edio"),
        at("extras"),
        at("releases/download/v9.9.9"),
    );
    for libc in ["gnu", "musl"] {
        let target = format!("{}-unknown-linux-{libc}", machine.trim());
        let words = ["9.9.9", &target, &packed, &extras, &folder];
        script(&repo, "packaging/archive.sh", &words).ok();
    }
    fs::create_dir_all(releases.join("latest/download")).unwrap();
    fs::write(releases.join("latest/download/version"), "9.9.9\n").unwrap();

    let target = format!("{}-unknown-linux-musl", machine.trim());
    let name = format!("edio-9.9.9-{target}");
    let mut tar = Command::new("tar");
    tar.arg("-tzf")
        .arg(releases.join(format!("download/v9.9.9/{name}.tar.gz")));
    let listed = repo.ran(&mut tar).ok().stdout.clone();
    let held: BTreeSet<&str> = listed.lines().collect();
    let help = repo.edio(["--help"]).ok().stdout.clone();
    let verbs = help.split_once("Commands:\n").unwrap().1;
    let verbs = verbs.split("\n\n").next().unwrap().lines();
    let verbs = verbs.filter(|line| !line.starts_with("   "));
    let pages = verbs.map(|line| format!("man/edio-{}.1", line.split_whitespace().next().unwrap()));
    let pages: Vec<String> = pages.collect();
    assert!(pages.len() > 30, "{pages:?}");
    let rest = [
        "edio",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "man/edio.1",
        "completions/edio",
        "completions/_edio",
        "completions/edio.fish",
        "completions/_edio.ps1",
        "completions/edio.elv",
    ];
    for path in rest.into_iter().chain(pages.iter().map(String::as_str)) {
        assert!(
            held.contains(format!("{name}/{path}").as_str()),
            "{path} in {held:?}"
        );
        if path.contains('/') {
            let extra = repo.outside().join("extras").join(path);
            assert!(fs::metadata(extra).unwrap().len() > 100, "{path}");
        }
    }

    let mut install = Command::new("sh");
    repo.surround(&mut install);
    install
        .arg(file("install.sh"))
        .env("EDIO_RELEASES", format!("file://{}", releases.display()))
        .env("EDIO_INSTALL_DIR", repo.outside().join("bin"));
    repo.ran(&mut install).ok();
    let mut installed = Command::new(repo.outside().join("bin/edio"));
    assert_eq!(repo.ran(&mut installed).ok().stdout, "edio 9.9.9\n");
}

#[test]
fn the_formula_and_the_manifest_name_the_archives_and_their_sums() {
    let repo = Repo::unborn();
    let (folder, made) = sums(&repo, "9.9.9");
    let folder = folder.to_str().unwrap();
    let formula = script(&repo, "packaging/homebrew.sh", &["9.9.9", folder]);
    let formula = &formula.ok().stdout;
    let manifest = script(&repo, "packaging/scoop.sh", &["9.9.9", folder]);
    let manifest: serde_json::Value = serde_json::from_str(&manifest.ok().stdout).unwrap();
    let releases = "https://github.com/edio-dev/edio/releases/download";
    for (name, sum) in &made {
        let url = format!("{releases}/v9.9.9/{name}");
        if name.contains("windows") {
            let native = &manifest["architecture"]["64bit"];
            assert_eq!(native["url"], *url);
            assert_eq!(native["hash"], **sum);
            assert_eq!(native["extract_dir"], name.trim_end_matches(".zip"));
            let later = manifest["autoupdate"]["architecture"]["64bit"]["url"].as_str();
            assert_eq!(later.unwrap().replace("$version", "9.9.9"), url);
            continue;
        }
        let named = format!("      url \"{url}\"\n      sha256 \"{sum}\"\n");
        assert_eq!(
            formula.contains(&named),
            !name.contains("linux-gnu"),
            "{named}{formula}"
        );
    }
    // Where Ruby is, it says whether this is Ruby.
    fs::write(repo.outside().join("edio.rb"), formula).unwrap();
    if let Ok(checked) = Command::new("ruby")
        .arg("-c")
        .arg(repo.outside().join("edio.rb"))
        .output()
    {
        assert!(checked.status.success(), "{checked:?}");
    }
}

#[test]
fn without_the_right_sums_there_is_no_formula_and_no_manifest() {
    let repo = Repo::unborn();
    let (folder, made) = sums(&repo, "9.9.9");
    for wrong in ["", "<html>\n", &"x".repeat(64), &"0".repeat(63)] {
        for (name, _) in &made {
            fs::write(folder.join(format!("{name}.sha256")), wrong).unwrap();
        }
        for name in ["packaging/homebrew.sh", "packaging/scoop.sh"] {
            let ran = script(&repo, name, &["9.9.9", folder.to_str().unwrap()]);
            assert_ne!(ran.code, Some(0), "{wrong:?} {ran}");
            assert_eq!(ran.stdout, "", "{wrong:?}");
        }
    }
}

/// What `cargo binstall` would download is what the workflow makes, for each target that it makes.
#[test]
fn the_metadata_for_binstall_names_archives_that_are_made() {
    let manifest: toml_edit::DocumentMut = text("Cargo.toml").parse().unwrap();
    let package = &manifest["package"];
    let binstall = &package["metadata"]["binstall"];
    let made: BTreeSet<String> = targets()
        .iter()
        .map(|target| archive("9.9.9", target))
        .collect();
    for target in targets() {
        let overridden = &binstall["overrides"].get(&target);
        let key = |key: &str| {
            let own = overridden.and_then(|table| table.get(key));
            let value = own.unwrap_or(&binstall[key]).as_str().unwrap();
            [
                ("{ repo }", package["repository"].as_str().unwrap()),
                ("{ version }", "9.9.9"),
                ("{ target }", &target),
                ("{ bin }", "edio"),
                ("{ binary-ext }", ""),
            ]
            .iter()
            .fold(value.to_owned(), |value, (from, to)| {
                value.replace(from, to)
            })
        };
        let url = key("pkg-url");
        let (folder, name) = url.rsplit_once('/').unwrap();
        assert_eq!(
            folder,
            "https://github.com/edio-dev/edio/releases/download/v9.9.9"
        );
        assert!(made.contains(name), "{name}");
        let stem = name.trim_end_matches(".zip").trim_end_matches(".tar.gz");
        assert_eq!(key("bin-dir"), format!("{stem}/edio"));
        assert_eq!(key("pkg-fmt") == "zip", name.ends_with(".zip"));
    }
}

/// What the Debian package takes is what `extras.sh` writes.
#[test]
fn the_debian_package_takes_files_that_are_made() {
    let repo = Repo::unborn();
    let edio = edio_binary().to_str().unwrap();
    script(&repo, "packaging/extras.sh", &[edio, "extras"]).ok();
    let manifest: toml_edit::DocumentMut = text("Cargo.toml").parse().unwrap();
    let assets = manifest["package"]["metadata"]["deb"]["assets"].as_array();
    let sources: Vec<&str> = assets
        .unwrap()
        .iter()
        .map(|asset| asset.as_array().unwrap().get(0).unwrap().as_str().unwrap())
        .collect();
    assert!(sources.len() > 4);
    for source in sources {
        let there = match source.strip_prefix("target/extras/") {
            Some(extra) => repo
                .outside()
                .join("extras")
                .join(extra.replace('*', "edio")),
            None if source == "target/release/edio" => continue,
            None => file(source),
        };
        assert!(there.exists(), "{source}");
    }
}

/// A repository as a runner checks it out: one commit deep, HEAD detached. Beside it, what the action is told.
struct Runner {
    repo: Repo,
    top: PathBuf,
}

impl Runner {
    fn new() -> Self {
        let repo = Repo::with(&[("a", "one\n")]);
        repo.write("a", "two\n");
        repo.commit("second");
        let top = repo.outside().join("work");
        let url = format!("file://{}", repo.top.display());
        repo.git(["clone", "-q", "--depth", "1", &url, top.to_str().unwrap()]);
        repo.git_in(&top, ["checkout", "-q", "--detach"]);
        let programs = repo.outside().join("bin");
        fs::create_dir(&programs).unwrap();
        std::os::unix::fs::symlink(edio_binary(), programs.join("edio")).unwrap();
        Self { repo, top }
    }

    /// Runs the action's script with this command, and pushes to a remote, if one is named.
    fn runs(&self, command: &str, remote: &str) -> Ran {
        let mut bash = Command::new("bash");
        self.repo.surround(&mut bash);
        let mut path = self.repo.outside().join("bin").into_os_string();
        path.push(":");
        path.push(crate::common::path());
        bash.current_dir(&self.top)
            .arg(file(".github/actions/edio-run/run.sh"))
            .env("PATH", path)
            .env("EDIO_ACTION_RUN", command)
            .env("EDIO_ACTION_PUSH", remote)
            .env("RUNNER_TEMP", self.repo.outside())
            .env("GITHUB_OUTPUT", self.repo.outside().join("output"))
            .env("GITHUB_STEP_SUMMARY", self.repo.outside().join("summary"));
        self.repo.ran(&mut bash)
    }

    /// What the script left for the steps after it.
    fn output(&self, name: &str) -> Option<String> {
        let output = fs::read_to_string(self.repo.outside().join("output")).ok()?;
        let prefix = format!("{name}=");
        let found = output.lines().find_map(|line| line.strip_prefix(&prefix));
        found.map(str::to_owned)
    }
}

#[test]
fn the_action_keeps_what_a_command_did_also_when_it_fails() {
    let runner = Runner::new();
    let ran = runner.runs(
        "echo three > a\necho new > b\nprintf '%s' \"${EDIO_ACTION_RUN-unset}\" > c\nexit 7",
        "",
    );
    assert_eq!(ran.code, Some(7), "{ran}");
    let (session, bundle) = (runner.output("session"), runner.output("bundle"));
    let (session, bundle) = (session.unwrap(), bundle.unwrap());
    let summary = fs::read_to_string(runner.repo.outside().join("summary")).unwrap();
    assert!(
        summary.contains(&session) && summary.contains("- A `b`"),
        "{summary}"
    );

    // Where the commit is, the session is taken in, and brings the files back.
    runner.repo.edio(["import", &bundle]).ok();
    runner
        .repo
        .edio(["restore", "last", "--session", &session])
        .ok();
    assert_eq!(runner.repo.read("a"), "three\n");
    assert_eq!(runner.repo.read("b"), "new\n");
    assert_eq!(runner.repo.read("c"), "unset");
}

#[test]
fn the_action_keeps_nothing_where_nothing_changed_or_edio_could_not_begin() {
    let runner = Runner::new();
    for (command, code) in [("true", 0), ("exit 3", 3), ("false; true", 1)] {
        let ran = runner.runs(command, "");
        assert_eq!(ran.code, Some(code), "{ran}");
        assert_eq!(runner.output("bundle"), None);
    }
    fs::remove_dir_all(runner.top.join(".git")).unwrap();
    let ran = runner.runs("echo lost > a", "");
    assert_eq!(ran.code, Some(4), "{ran}");
    assert_eq!(runner.output("bundle"), None);
}

#[test]
fn the_action_pushes_the_session_where_that_is_wanted() {
    let runner = Runner::new();
    let ran = runner.runs("echo three > a; exit 7", "origin");
    assert_eq!(ran.code, Some(7), "{ran}");
    let session = runner.output("session").unwrap();
    runner
        .repo
        .edio(["restore", "last", "--session", &session])
        .ok();
    assert_eq!(runner.repo.read("a"), "three\n");
}

/// A session that can't be pushed fails the step, and is still there to be uploaded. The failure of the command counts
/// more.
#[test]
fn the_action_says_when_a_session_can_not_be_pushed() {
    for (command, code) in [("echo three > a", 1), ("echo three > a; exit 7", 7)] {
        let runner = Runner::new();
        let ran = runner.runs(command, "nowhere");
        assert_eq!(ran.code, Some(code), "{ran}");
        assert!(ran.stdout.contains("::error::"), "{ran}");
        assert!(fs::exists(runner.output("bundle").unwrap()).unwrap());
    }
}

/// The action passes on each of its inputs, and a text from outside never becomes part of a script.
#[test]
fn the_action_takes_its_inputs_as_variables() {
    let action = text(".github/actions/edio-run/action.yml");
    let in_scripts = action
        .lines()
        .filter(|line| line.contains("run: |") || line.contains("bash \""));
    assert!(in_scripts.clone().count() > 1);
    for line in action.lines().filter(|line| line.contains("${{ inputs.")) {
        let (key, _) = line.trim().split_once(": ").unwrap();
        let told = [
            "VERSION",
            "EDIO_ACTION_RUN",
            "EDIO_ACTION_PUSH",
            "name",
            "retention-days",
        ];
        assert!(told.contains(&key), "{line}");
    }
    let page = text("docs/ci.md");
    for input in ["run", "version", "artifact", "retention-days", "push"] {
        assert!(action.contains(&format!("\n  {input}:\n")), "{input}");
        assert!(page.contains(&format!("`{input}`")), "{input}");
    }
}

/// What others made is named by its commit, with the version beside it, in every workflow and action.
#[test]
fn the_actions_of_others_are_pinned() {
    let mut seen = 0;
    for name in [
        ".github/workflows/ci.yml",
        ".github/workflows/release.yml",
        ".github/actions/edio-run/action.yml",
    ] {
        for line in text(name).lines() {
            let Some((_, used)) = line.split_once("uses: ") else {
                continue;
            };
            let (_, commit) = used.split_once('@').unwrap();
            let (commit, version) = commit.split_once(" # v").unwrap();
            assert!(commit.len() == 40 && !version.is_empty(), "{name}: {line}");
            seen += 1;
        }
    }
    assert!(seen > 8, "{seen}");
}
