#!/bin/sh
# Writes what belongs to the program in every package: the completions of each shell, and the manual pages.
# usage: extras.sh PROGRAM DIR
set -eu
program=$1 folder=$2

mkdir -p "$folder/completions" "$folder/man"
# Each under the name by which its shell finds it.
"$program" completions bash >"$folder/completions/edio"
"$program" completions zsh >"$folder/completions/_edio"
"$program" completions fish >"$folder/completions/edio.fish"
"$program" completions powershell >"$folder/completions/_edio.ps1"
"$program" completions elvish >"$folder/completions/edio.elv"
"$program" man "$folder/man"
