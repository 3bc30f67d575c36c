#!/bin/sh
# Prints the Homebrew formula of a release.
# usage: homebrew.sh VERSION DIR        DIR has the SHA-256 files of the archives
set -eu
version=$1 folder=$2
releases=https://github.com/edio-dev/edio/releases/download

# source_of TARGET: where the archive for a machine is, and its sum
source_of() {
    archive=edio-$version-$1.tar.gz
    read -r sum _ <"$folder/$archive.sha256"
    case $sum in *[!0-9a-f]*) sum='' ;; esac
    [ ${#sum} -eq 64 ] || { echo "error: $folder/$archive.sha256 holds no SHA-256 sum" >&2 && exit 1; }
    printf '      url "%s/v%s/%s"\n      sha256 "%s"\n' "$releases" "$version" "$archive" "$sum"
}

# The static program is taken on Linux: Homebrew's glibc may be older than that of the machine which built the other.
arm_mac=$(source_of aarch64-apple-darwin)
intel_mac=$(source_of x86_64-apple-darwin)
arm_linux=$(source_of aarch64-unknown-linux-musl)
intel_linux=$(source_of x86_64-unknown-linux-musl)

cat <<FORMULA
class Edio < Formula
  desc "Undo that never fails, for coding agents and the people who use them"
  homepage "https://github.com/edio-dev/edio"
  version "$version"
  license "MIT"

  on_macos do
    on_arm do
$arm_mac
    end
    on_intel do
$intel_mac
    end
  end

  on_linux do
    on_arm do
$arm_linux
    end
    on_intel do
$intel_linux
    end
    depends_on "git"
  end

  def install
    bin.install "edio"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/edio"
    zsh_completion.install "completions/_edio"
    fish_completion.install "completions/edio.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/edio --version")
    system "git", "init", "work"
    (testpath/"work/a").write "a\n"
    system bin/"edio", "-C", "work", "snapshot", "-m", "first"
    assert_match "first", shell_output("#{bin}/edio -C work log")
  end
end
FORMULA
