#!/usr/bin/env bash
# What many sessions on one remote cost: makes bare repositories with made-up refs, and prints the tables of scale.md.
# usage: scale.sh [DAYS…]        the tables of so many days of sessions (default: 1 10 30)
# Needs git 2.47, 4 GB of disk, and ten minutes or, on a busy machine, thirty. Works in a folder of its own below TMPDIR,
# and removes it.
set -euo pipefail

developers=200 sessions=20 turns=20 rounds=${ROUNDS:-3}
layouts=(turns session day)
[ $# -gt 0 ] || set -- 1 10 30
# The detailed tables are of so many days.
middle=10

T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
export HOME=$T GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 LC_ALL=C
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
git config --global init.defaultBranch main
git config --global gc.auto 0
git config --global maintenance.auto false
git config --global receive.autogc false

# Both ends talk over file://, through a program that keeps a copy of what the server says.
for end in upload-pack receive-pack; do
    # shellcheck disable=SC2016 # expanded when it is run
    printf '#!/bin/sh\ngit %s "$@" | tee -a "$SAID"\n' "$end" >"$T/$end"
    chmod 755 "$T/$end"
done
export SAID=$T/said

# The base of all: a project of 1,000 commits, 50 branches and 200 tags, and 200 sessions of some turns, which the refs
# share. A turn changes one file of some kilobytes.
project() {
    git init -q --bare "$T/base.git"
    awk -v commits=1000 -v sessions=200 -v turns="$turns" '
        function change(text) { printf "M 100644 inline src/%d.txt\ndata <<END\n", n % 100; for (i = 0; i < 40; i++) print text, i, n * i * 7919 % 100003; print "END\n" }
        function commit(ref, text) { printf "commit %s\nmark :%d\ncommitter a <a@example.com> %d +0000\ndata <<END\n%s\nEND\n", ref, ++n, 1700000000 + n * 60, text }
        BEGIN {
            for (c = 1; c <= commits; c++) { commit("refs/heads/main", "commit " c); change("commit") }
            for (s = 0; s < sessions; s++)
                for (t = 1; t <= turns; t++) {
                    commit("refs/made-up/" s, "turn " t "\n\nEdio-Session: " s "\nEdio-Turn: " t)
                    if (t == 1) printf "from :%d\n", commits
                    change("session " s " turn " t)
                }
        }' | git -C "$T/base.git" fast-import --quiet --export-marks="$T/marks"
    # The ids of the turns, a session after the other.
    sort -t: -k2 -n "$T/marks" | awk '$1 != "" { sub(/^:/, ""); if ($1 > 1000) print $2 }' >"$T/ids"
    # One commit for a day of a developer: it leads to all of the sessions, and its tree tells them apart.
    awk -v turns="$turns" -v sessions="$sessions" '
        NR % turns == 0 { tips[++tip] = $1 }
        END {
            for (d = 0; d < tip / sessions; d++) {
                printf "commit refs/made-up/day-%d\nmark :%d\ncommitter a <a@example.com> 1790000000 +0000\ndata 0\n", d, d + 1
                for (s = 1; s <= sessions; s++) printf "%s %s\n", s == 1 ? "from" : "merge", tips[d * sessions + s]
                print "deleteall"
                for (s = 1; s <= sessions; s++) printf "M 100644 inline session-%d\ndata <<END\n%s\nEND\n", s, tips[d * sessions + s]
                print ""
            }
        }' "$T/ids" | git -C "$T/base.git" fast-import --quiet --export-marks="$T/days"
    sort -t: -k2 -n "$T/days" | awk '{ print $2 }' >"$T/day-ids"
    git -C "$T/base.git" for-each-ref --format='delete %(refname)' refs/made-up/ | git -C "$T/base.git" update-ref --stdin
    {
        for n in $(seq 50); do echo "create refs/heads/topic-$n $(git -C "$T/base.git" rev-parse "main~$n")"; done
        for n in $(seq 200); do echo "create refs/tags/v0.$n $(git -C "$T/base.git" rev-parse "main~$n")"; done
    } | git -C "$T/base.git" update-ref --stdin
    git -C "$T/base.git" pack-refs --all
    # As a server has it after its own gc: one pack, which also has what only the made-up refs lead to.
    git -C "$T/base.git" repack -q -a -d -k
    git clone -q --bare --no-local "file://$T/base.git" "$T/client.git"
    git -C "$T/client.git" config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'
    git -C "$T/client.git" fetch -q
}

# refs LAYOUT DAYS: the lines of a packed-refs file
refs() {
    case $1 in
    turns | session)
        awk -v layout="$1" -v turns="$turns" -v count=$((developers * sessions * $2)) '
            { id[NR] = $1 }
            END {
                known = NR / turns
                for (s = 0; s < count; s++) {
                    name = sprintf("refs/edio/shared/sess_%d_%08x", 1790000000 + int(s * 21.6), s * 7919 % 4294967296)
                    first = s % known * turns
                    if (layout == "turns") for (t = 1; t <= turns; t++) print id[first + t], name "/" t
                    print id[first + turns], name "/current"
                    if (layout == "session") { print id[first + turns], name "/ops"; print id[first + turns], name "/side" }
                }
            }' "$T/ids"
        ;;
    day)
        awk -v developers="$developers" -v days="$2" '
            { id[NR] = $1 }
            END { for (p = 0; p < developers; p++) for (d = 1; d <= days; d++) print id[p % NR + 1], sprintf("refs/edio/shared/dev-%03d/day-%03d", p, d) }' "$T/day-ids"
        ;;
    esac
}

# server LAYOUT DAYS: the bare repository with these refs, packed
server() {
    rm -rf "$T/server.git"
    cp -r "$T/base.git" "$T/server.git"
    {
        echo '# pack-refs with: peeled fully-peeled sorted '
        { grep -v '^#' "$T/base.git/packed-refs" && refs "$1" "$2"; } | sort -k2
    } >"$T/server.git/packed-refs"
}

in_server() { git -C "$T/server.git" "$@"; }

# What is asked of the server. Each is run in a fresh copy of the client.
url=file://$T/server.git
asks() {
    local version=${2:-2} extra=()
    [ -z "${through:-}" ] || extra=("--upload-pack=$T/upload-pack")
    case $1 in
    fetch) git -c "protocol.version=$version" fetch -q "${extra[@]}" "$url" '+refs/heads/*:refs/remotes/origin/*' ;;
    ls-remote) git ls-remote -q "${extra[@]}" "$url" >"$T/listed" ;;
    ls-remote-one) git ls-remote -q "${extra[@]}" "$url" "$one" >"$T/listed" ;;
    fetch-one) git fetch -q --no-tags "${extra[@]}" "$url" "$one:${one/shared/mine}" ;;
    # The day's commit alone, then the session that it names, by its id.
    fetch-day)
        git fetch -q --no-tags --depth 1 "${extra[@]}" "$url" "$one"
        git fetch -q --no-tags "${extra[@]}" "$url" "$(git cat-file blob FETCH_HEAD:session-7)"
        ;;
    push-names | push-pattern)
        git fetch -q --no-tags "$url" "$one:refs/edio/archive/new/*"
        [ -z "${through:-}" ] || extra=("--receive-pack=$T/receive-pack")
        if [ "$1" = push-names ]; then
            git for-each-ref --format='+%(refname):%(refname)' refs/edio/archive/new/ |
                sed "s|:refs/edio/archive/|:refs/edio/shared/$RANDOM|" | xargs git push -q "${extra[@]}" "$url"
        else
            git push -q "${extra[@]}" "$url" "+refs/edio/archive/new/*:refs/edio/shared/new-$RANDOM/*"
        fi
        ;;
    push)
        [ -z "${through:-}" ] || extra=("--receive-pack=$T/receive-pack")
        git push -q "${extra[@]}" "$url" "+$(git commit-tree -p main -m "$RANDOM" "main^{tree}"):refs/heads/topic-1"
        ;;
    esac
}

# bytes WHAT [VERSION]: how much the server said
bytes() {
    rm -rf "$T/work.git" "$SAID"
    cp -r "$T/client.git" "$T/work.git"
    (cd "$T/work.git" && through=yes asks "$@")
    wc -c <"$SAID"
}

# ms WHAT [VERSION]: how long it took, the median of some rounds
ms() {
    local began _
    for _ in $(seq "$rounds"); do
        rm -rf "$T/work.git"
        cp -r "$T/client.git" "$T/work.git"
        began=${EPOCHREALTIME/./}
        (cd "$T/work.git" && asks "$@")
        echo $(((${EPOCHREALTIME/./} - began) / 1000))
    done | sort -n | sed -n "$(((rounds + 1) / 2))p"
}

human() { awk -v n="$1" 'BEGIN { if (n < 10000) print n " B"; else if (n < 1e6) printf "%.0f KB", n / 1e3; else printf "%.1f MB", n / 1e6 }'; }
grouped() { sed -e :a -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta' <<<"$1"; }
both() { echo "$(human "$(bytes "$@")"), $(ms "$@") ms"; }
row() { printf '|'; printf ' %s |' "$@"; printf '\n'; }
named() { case $1 in turns) echo 'a ref a turn' ;; session) echo 'three refs a session' ;; day) echo 'a ref a developer and day' ;; esac; }

# A session in the middle, as it is asked for.
choose() {
    case $1 in
    day) one=refs/edio/shared/dev-100/day-001 ask=fetch-day ;;
    *)
        refs "$1" 1 >"$T/day"
        one=$(sed -n '/sess_1790043200_.*current/s|.* \(.*\)/current|\1/*|p' "$T/day") ask=fetch-one
        ;;
    esac
}

layouts_table() {
    row layout days refs 'packed-refs' 'fetch of the branches' 'the same, protocol v0' 'push of a branch' 'ls-remote' 'fetch of one session'
    echo '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |'
    local layout days
    for layout in "${layouts[@]}"; do
        for days in "$@"; do
            server "$layout" "$days"
            choose "$layout"
            row "$(named "$layout")" "$days" "$(grouped "$(grep -c refs/edio/ "$T/server.git/packed-refs")")" \
                "$(human "$(wc -c <"$T/server.git/packed-refs")")" \
                "$(both fetch)" "$(both fetch 0)" "$(both push)" "$(both ls-remote)" "$(both "$ask")"
        done
    done
}

# The same refs, kept otherwise.
stores_table() {
    row 'kept as' layout days 'on disk' 'fetch of the branches' 'the same, protocol v0' 'push of a branch' 'fetch of one session'
    echo '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |'
    local store layout days
    for store in loose packed reftable; do
        for layout in turns session; do
            days=$middle
            [ "$store" != loose ] || days=1
            server "$layout" "$days"
            choose "$layout"
            "$store"
            row "$store" "$(named "$layout")" "$days" "$(human "$(du -sB1 --total "$T/server.git"/{packed-refs,refs,reftable} 2>"$T/absent" | awk 'END { print $1 }')")" \
                "$(both fetch)" "$(both fetch 0)" "$(both push)" "$(both "$ask")"
        done
    done
}

packed() { :; }
reftable() { in_server refs migrate --ref-format=reftable; }
loose() {
    in_server for-each-ref --format='%(objectname) %(refname)' refs/edio/ >"$T/all"
    cp "$T/base.git/packed-refs" "$T/server.git/packed-refs"
    awk '{ print "create", $2, $1 }' "$T/all" | in_server update-ref --stdin
}

# What the server can hide.
settings_table() {
    row 'setting on the server' 'fetch of the branches, v0' 'push of a branch' 'ls-remote' 'fetch of one session' 'push of a session'
    echo '| --- | ---: | ---: | ---: | ---: | ---: |'
    local set
    for set in '' uploadpack.hideRefs receive.hideRefs transfer.hideRefs; do
        server session "$middle"
        choose session
        [ -z "$set" ] || in_server config "$set" refs/edio/shared/
        row "${set:-none}" "$(both fetch 0)" "$(both push)" "$(both ls-remote)" "$(fetched)" "$(pushed)"
    done
    server session "$middle"
    choose session
    # Only a folder of new ones is told and can be pushed to: what is older would be moved out of it, on the server.
    in_server config receive.hideRefs refs/edio/shared/
    in_server config --add receive.hideRefs '!refs/edio/shared/new/'
    row 'receive.hideRefs, but for a folder of new ones' "$(both fetch 0)" "$(both push)" "$(both ls-remote)" "$(fetched)" "$(pushed new/)"
}

fetched() {
    rm -rf "$T/work.git"
    cp -r "$T/client.git" "$T/work.git"
    (cd "$T/work.git" && asks fetch-one) 2>"$T/why" || true
    if [ -n "$(git -C "$T/work.git" for-each-ref refs/edio/)" ]; then echo yes; else echo nothing; fi
}

pushed() {
    local told
    told=$(git -C "$T/client.git" push --porcelain "$url" "main:refs/edio/shared/${1:-}sess_1800000000_00000000/current" 2>"$T/why") && echo yes && return
    sed -n 's/.*\[remote rejected\] (\(.*\))/refused: \1/p' <<<"$told"
}

# What is old goes. By name, git compares each name with all that the server said; by a pattern it does that once.
deletions_table() {
    row 'kept as' layout 'refs' 'one ref, by its name' 'what began in the first 100,000 seconds, by a pattern'
    echo '| --- | --- | ---: | ---: | ---: |'
    local store layout all gone
    for store in packed reftable; do
        for layout in turns session; do
            server "$layout" "$middle"
            "$store"
            all=$(in_server for-each-ref refs/edio/ | wc -l)
            gone=$(in_server for-each-ref 'refs/edio/shared/sess_17900*/**' | wc -l)
            row "$store" "$(named "$layout")" "$(grouped "$all")" \
                "$(took pushed_by_name) ms" "$(grouped "$gone") refs in $(took pushed_by_pattern) ms"
        done
    done
}

took() {
    local began=${EPOCHREALTIME/./}
    "$@"
    echo $(((${EPOCHREALTIME/./} - began) / 1000))
}
pushed_by_name() { git -C "$T/client.git" push -q "$url" ":$(in_server for-each-ref --format='%(refname)' --count=1 refs/edio/shared/sess_1790)"; }
pushed_by_pattern() { git -C "$T/client.git" push -q --atomic --prune "$url" 'refs/none/*:refs/edio/shared/sess_17900*'; }

# One session, asked for and sent.
names_table() {
    local layout
    row layout refs "\`git ls-remote REMOTE 'refs/edio/shared/ID/*'\`" "\`git fetch REMOTE 'refs/edio/shared/ID/*:…'\`" 'push of a session, ref by ref' 'push of a session, by a pattern'
    echo '| --- | ---: | ---: | ---: | ---: | ---: |'
    for layout in turns session; do
        server "$layout" "$middle"
        choose "$layout"
        row "$(named "$layout")" "$(grouped "$(in_server for-each-ref refs/edio/ | wc -l)")" "$(both ls-remote-one)" "$(both fetch-one)" \
            "$(both push-names)" "$(both push-pattern)"
    done
}

project
git --version
part() { printf '\n%s\n\n' "$1"; "${@:2}"; }
part 'Layouts' layouts_table "$@"
part 'One session' names_table
part 'Stores' stores_table
part 'Settings' settings_table
part 'Deletions' deletions_table
