#!/bin/sh
# Prints the Scoop manifest of a release.
# usage: scoop.sh VERSION DIR        DIR has the SHA-256 files of the archives
set -eu
version=$1 folder=$2
releases=https://github.com/edio-dev/edio/releases/download

name=edio-$version-x86_64-pc-windows-msvc
read -r sum _ <"$folder/$name.zip.sha256"
case $sum in *[!0-9a-f]*) sum='' ;; esac
[ ${#sum} -eq 64 ] || { echo "error: $folder/$name.zip.sha256 holds no SHA-256 sum" >&2 && exit 1; }

# $version and $url in the part that Scoop reads to find later versions are its own words.
cat <<MANIFEST
{
    "version": "$version",
    "description": "Undo that never fails, for coding agents and the people who use them",
    "homepage": "https://github.com/edio-dev/edio",
    "license": "MIT",
    "depends": "git",
    "architecture": {
        "64bit": {
            "url": "$releases/v$version/$name.zip",
            "hash": "$sum",
            "extract_dir": "$name"
        }
    },
    "bin": "edio.exe",
    "checkver": {
        "github": "https://github.com/edio-dev/edio"
    },
    "autoupdate": {
        "architecture": {
            "64bit": {
                "url": "$releases/v\$version/edio-\$version-x86_64-pc-windows-msvc.zip",
                "hash": {
                    "url": "\$url.sha256"
                },
                "extract_dir": "edio-\$version-x86_64-pc-windows-msvc"
            }
        }
    }
}
MANIFEST
