#!/usr/bin/env bash
# Runs a command under edio, and writes the session into a bundle. The exit code is the command's.
# Takes EDIO_ACTION_RUN (the command) and EDIO_ACTION_PUSH (a remote, or nothing), and of the runner RUNNER_TEMP,
# GITHUB_OUTPUT and GITHUB_STEP_SUMMARY.
set -uo pipefail
command=$EDIO_ACTION_RUN remote=${EDIO_ACTION_PUSH:-}
# The command may print or upload its environment: these are nothing of its business.
unset EDIO_ACTION_RUN EDIO_ACTION_PUSH

edio run -- bash -e -o pipefail -c "$command"
code=$?

# lost WHAT: the session could not be kept. A failure of the command counts more.
lost() {
    echo "::error::$1"
    [ "$code" -ne 0 ] || code=1
    exit "$code"
}

# One object a turn, the newest first. Where edio could not begin, there is no session.
turns=$(edio log --json) || exit "$code"
if [ -z "$turns" ]; then
    echo "nothing changed: there is no session to keep"
    exit "$code"
fi
session=$(sed -n '1s/.*"session":"\([^"]*\)".*/\1/p' <<<"$turns")
bundle=$RUNNER_TEMP/$session.bundle
edio export --bundle "$bundle" || lost "the session could not be exported"
{
    echo "session=$session"
    echo "bundle=$bundle"
} >>"$GITHUB_OUTPUT"
edio export --markdown --no-diff >>"$GITHUB_STEP_SUMMARY" || lost "the session could not be summed up"
if [ -n "$remote" ]; then
    edio push "$remote" || lost "the session could not be pushed to $remote"
fi
exit "$code"
