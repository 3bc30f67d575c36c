#!/usr/bin/env bash
# Makes the archive of a release, and its SHA-256 file: the program, completions, manual pages, README, licence.
# usage: archive.sh VERSION TARGET PROGRAM EXTRAS DIR
#        PROGRAM is named edio or edio.exe, EXTRAS is what extras.sh wrote, and the archive goes into DIR.
set -euo pipefail
version=$1 target=$2 program=$3 extras=$4 folder=$5
name=edio-$version-$target

staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
mkdir -p "$folder" "$staged/$name"
root=$(dirname "${BASH_SOURCE[0]}")/..
cp "$program" "$root"/{README.md,CHANGELOG.md,LICENSE} "$staged/$name"
cp -R "$extras/completions" "$extras/man" "$staged/$name"

folder=$(cd "$folder" && pwd)
if [ "${program%.exe}" != "$program" ]; then
    archive=$name.zip
    (cd "$staged" && 7z a "$folder/$archive" "$name")
else
    archive=$name.tar.gz
    tar -czf "$folder/$archive" -C "$staged" "$name"
fi
cd "$folder"
if command -v sha256sum >/dev/null; then
    sha256sum "$archive" >"$archive.sha256"
else
    shasum -a 256 "$archive" >"$archive.sha256"
fi
