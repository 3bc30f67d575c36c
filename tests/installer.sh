#!/usr/bin/env bash
# Tests install.sh against a release that is made here. Needs no network: what is downloaded lies on disk.
# usage: installer.sh install.sh installs|chooses|refuses|spares|misuses|builds|ends|cut
# shellcheck disable=SC2016,SC2317 # conditions and bodies are run later, and the parts by their names
set -u
script=$(realpath "$1")
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
failed=0 version=9.9.9 arch=$(uname -m) rel=$T/releases H=$T/home
S=$(command -v dash || command -v sh)

# check WHAT CONDITION
check() { if eval "$2"; then echo "ok: $1"; else echo "WRONG: $1 (exit code $RC)"; failed=1; sed 's/^/    /' "$T/err"; fi; }

# release TARGET: an archive with a program that tells its target, and its sum
release() {
    local name=edio-$version-$1
    mkdir -p "$rel/download/v$version" "$T/make/$name"
    printf '#!/bin/sh\necho "edio %s"\n[ "${1:-}" = --version ] || echo "%s"\n' "$version" "$1" >"$T/make/$name/edio"
    chmod 755 "$T/make/$name/edio"
    tar -czf "$rel/download/v$version/$name.tar.gz" -C "$T/make" "$name"
    (cd "$rel/download/v$version" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
}
for target in "$arch-unknown-linux-gnu" "$arch-unknown-linux-musl" "$arch-apple-darwin" aarch64-apple-darwin; do release "$target"; done
mkdir -p "$rel/latest/download"
echo "$version" >"$rel/latest/download/version"
case $(getconf GNU_LIBC_VERSION 2>/dev/null) in
'glibc 2.39' | 'glibc 2.'[4-9][0-9]*) native=$arch-unknown-linux-gnu ;;
*) native=$arch-unknown-linux-musl ;;
esac
archive=$rel/download/v$version/edio-$version-$native.tar.gz

# tools DIR [NAME…]: a PATH with what the script uses, without the named ones
tools() {
    local dir=$1 tool
    shift
    mkdir -p "$dir"
    for tool in sh env cat cp chmod cut getconf git grep gzip head mkdir mktemp mv rm sed tar uname curl sha256sum shasum perl; do
        case " $* " in *" $tool "*) ;; *) ! command -v "$tool" >/dev/null || ln -sf "$(command -v "$tool")" "$dir/$tool" ;; esac
    done
}
# fake FILE BODY
fake() { printf '#!/bin/sh\n%s\n' "$2" >"$1"; chmod 755 "$1"; }

# run SHELL ARGS…: in surroundings of its own; P is the PATH, R the releases, D the folder; sets RC, writes out and err
run() {
    local shell=$1
    shift
    mkdir -p "$H" "$T/tmp"
    # shellcheck disable=SC2086 # busybox sh is two words
    (cd "$H" && env -i HOME="$H" TMPDIR="$T/tmp" PATH="${P:-$PATH}" EDIO_RELEASES="${R:-file://$rel}" ${D:+EDIO_INSTALL_DIR="$D"} \
        $shell "$script" "$@") </dev/null >"$T/out" 2>"$T/err"
    RC=$?
}
fresh() { rm -rf "$H" "$T/tmp"; mkdir -p "$H" "$T/tmp"; unset P R D; }
nothing() { [ -z "$(find "$H" "$T/tmp" -mindepth 1)" ]; }
alone() { [ "$(ls -A "$1")" = edio ] && [ -z "$(ls -A "$T/tmp")" ]; }
installed() { [ "$RC" = 0 ] && [ "$("$H/.local/bin/edio")" = "edio $version"$'\n'"$1" ] && alone "$H/.local/bin"; }

installs() {
    local shell
    for shell in "$(command -v dash)" "$(command -v bash)" "$(command -v mksh)" "$(command -v busybox)"; do
        [ -n "$shell" ] || continue
        case $shell in *busybox) shell="$shell sh" ;; esac
        fresh; run "$shell"; check "installs the latest ($shell)" 'installed $native'
        run "$shell" --version "v$version"; check "installs a named version over it ($shell)" 'installed $native'
    done
    (cd "$H" && env -i HOME="$H" TMPDIR="$T/tmp" PATH="$PATH" EDIO_RELEASES="file://$rel" "$S" -s -- --version "$version" <"$script") >"$T/out" 2>"$T/err"
    RC=$?; check "installs when piped into sh, with arguments" 'installed $native'
    fresh; run "$S"; check "says that the folder is not in PATH" 'grep -q "not in your PATH" "$T/err"'
    fresh; P=$H/.local/bin:$PATH; run "$S"; check "says nothing of PATH where it is" '[ $RC = 0 ] && ! grep -q PATH "$T/err"'
    fresh; D="$T/a folder"; run "$S"; check "installs into EDIO_INSTALL_DIR" '[ $RC = 0 ] && alone "$T/a folder" && nothing'
    fresh; D=there; run "$S"; check "names a relative folder in full" '[ $RC = 0 ] && alone "$H/there" && grep -q "$H/there/edio" "$T/err"'
    tools "$T/nogit" git
    fresh; P=$T/nogit; run "$S"; check "says that git is missing" 'installed $native && grep -q "git is not found" "$T/err"'
}

# Which program is taken, and with which tools.
chooses() {
    tools "$T/curl" shasum perl
    fresh; P=$T/curl; run "$S"; check "curl and sha256sum are enough" 'installed $native'
    tools "$T/wget" curl sha256sum; fake "$T/wget/wget" '[ "$1 $2" = "-q -O" ] && cp "${4#file://}" "$3"'
    fresh; P=$T/wget; run "$S"; check "wget and shasum are enough" 'installed $native'
    tools "$T/old" getconf; fake "$T/old/getconf" 'echo glibc 2.38'
    fresh; P=$T/old; run "$S"; check "an old glibc gets the musl program" 'installed $arch-unknown-linux-musl'
    tools "$T/new" getconf; fake "$T/new/getconf" 'echo glibc 2.39'
    fresh; P=$T/new; run "$S"; check "glibc 2.39 gets the gnu program" 'installed $arch-unknown-linux-gnu'
    tools "$T/musl" getconf
    fresh; P=$T/musl; run "$S"; check "no glibc gets the musl program" 'installed $arch-unknown-linux-musl'
    tools "$T/mac" uname; fake "$T/mac/uname" 'case $1 in -s) echo Darwin ;; *) echo arm64 ;; esac'
    fresh; P=$T/mac; run "$S"; check "a Mac gets its program" 'installed aarch64-apple-darwin'
    tools "$T/win" uname; fake "$T/win/uname" 'case $1 in -s) echo MINGW64_NT-10.0 ;; *) echo x86_64 ;; esac'
    fresh; P=$T/win; run "$S"; check "Windows is sent to the .zip" '[ $RC = 1 ] && grep -q "\.zip" "$T/err" && nothing'
    tools "$T/risc" uname; fake "$T/risc/uname" 'case $1 in -s) echo Linux ;; *) echo riscv64 ;; esac'
    fresh; P=$T/risc; run "$S"; check "an unknown machine is refused" '[ $RC = 1 ] && grep -q "hint: .*--from-source" "$T/err" && nothing'
    local without
    for without in tar mktemp "curl wget" "sha256sum shasum"; do
        # shellcheck disable=SC2086 # several names
        tools "$T/no-${without%% *}" $without
        fresh; P=$T/no-${without%% *}; run "$S"
        check "refuses without $without" '[ $RC = 1 ] && grep -q "^error: ${without%% *}.* needed" "$T/err" && nothing'
    done
}

# What is wrong is refused before it is unpacked or run: tar would leave a mark.
refuses() {
    local good=$T/good sum=$T/goodsum
    tools "$T/spy" tar; fake "$T/spy/tar" ": >$T/unpacked; exec $(command -v tar) \"\$@\""
    refused() { rm -f "$T/unpacked"; fresh; P=$T/spy; run "$S"; check "$1" '[ $RC = 1 ] && grep -q "^error: " "$T/err" && nothing && [ ! -e "$T/unpacked" ]'; }
    cp "$archive" "$good"; cp "$archive.sha256" "$sum"
    head -c 100 "$good" >"$archive"; refused "a cut archive is refused"
    : >"$archive"; refused "an empty archive is refused"
    cp "$good" "$archive"; printf x >>"$archive"; refused "a changed archive is refused"
    cp "$good" "$archive"; head -c 40 "$sum" >"$archive.sha256"; refused "a cut sum is refused"
    : >"$archive.sha256"; refused "an empty sum is refused"
    echo "<html>not found, and quite long, longer than a sum would be ever</html>" >"$archive.sha256"; refused "a page in place of the sum is refused"
    rm "$archive.sha256"; refused "a missing sum is refused"
    cp "$sum" "$archive.sha256"; rm "$archive"; refused "a missing archive is refused"
    cp "$good" "$archive"; echo '<html>' >"$rel/latest/download/version"; refused "a page in place of the version is refused"
    echo "$version" >"$rel/latest/download/version"
    fresh; run "$S"; check "the good one is not refused" 'installed $native'
}

# pack FOLDER makes the archive, with its right sum, of what lies in a folder.
pack() {
    tar -czf "$archive" -C "$1" "$(ls "$1")"
    (cd "${archive%/*}" && sha256sum "${archive##*/}" >"$archive.sha256")
}

# Whatever goes wrong late, what was installed stays.
spares() {
    local name=edio-$version-$native
    fresh; mkdir -p "$H/.local/bin/edio"; run "$S"
    check "a folder of that name is left" '[ $RC = 1 ] && [ -d "$H/.local/bin/edio" ] && [ -z "$(ls -A "$H/.local/bin/edio")" ]'
    fresh; mkdir -p "$H/.local/bin"; echo mine >"$H/target"; ln -s ../../target "$H/.local/bin/edio"; run "$S"
    check "a link of that name is replaced, not followed" 'installed $native && [ ! -L "$H/.local/bin/edio" ] && [ "$(cat "$H/target")" = mine ]'
    fresh; (cd "$H" && scratch=$H staged=$H HOME=$H PATH=$T/none "$S" "$script") 2>"$T/err"; RC=$?
    check "variables of the caller are not taken for its own" '[ $RC = 1 ] && [ -d "$H" ]'
    mkdir -p "$T/link/$name"; ln -s /bin/true "$T/link/$name/edio"; pack "$T/link"
    fresh; run "$S"; check "a link in place of the program is refused" '[ $RC = 1 ] && nothing'
    mkdir -p "$T/other/else"; echo 1 >"$T/other/else/edio"; pack "$T/other"
    fresh; run "$S"; check "an archive without the program is refused" '[ $RC = 1 ] && nothing'
    mkdir -p "$T/bad/$name"; fake "$T/bad/$name/edio" 'exit 1'; pack "$T/bad"
    fresh; mkdir -p "$H/.local/bin"; echo mine >"$H/.local/bin/edio"; run "$S"
    check "a program that does not run leaves the old one" '[ $RC = 1 ] && [ "$(cat "$H/.local/bin/edio")" = mine ] && alone "$H/.local/bin"'
}

misuses() {
    local bad
    for bad in '--wrong' '--version' '--version ../../x' '--version 1;id' 'extra'; do
        fresh
        # shellcheck disable=SC2086 # several words
        run "$S" $bad
        check "usage error: $bad" '[ $RC = 2 ] && grep -q "^hint: " "$T/err" && nothing'
    done
    fresh; run "$S" --version=; check "an empty version is the latest" 'installed $native'
    fresh; run "$S" --help; check "--help prints to stdout and does nothing" '[ $RC = 0 ] && grep -q "^usage:" "$T/out" && nothing'
    fresh; run "$S" --version 1.2.3; check "a version that is not there is refused" '[ $RC = 1 ] && nothing'
}

# From source, with a cargo that builds nothing.
builds() {
    local body='echo "$@" >"$HOME/told"; while [ "$1" != --root ]; do shift; done; mkdir "$2/bin"; printf "#!/bin/sh\necho edio 9.9.9\n" >"$2/bin/edio"; chmod 755 "$2/bin/edio"'
    tools "$T/cargo"; fake "$T/cargo/cargo" "$body"
    fresh; P=$T/cargo; R=https://example.invalid/edio/releases; run "$S" --from-source
    check "takes the repository" '[ $RC = 0 ] && grep -q -- "--git https://example.invalid/edio edio" "$H/told" && alone "$H/.local/bin"'
    fresh; P=$T/cargo; R=https://example.invalid/edio/releases; run "$S" --from-source --version "$version"
    check "takes the tag" '[ $RC = 0 ] && grep -q -- "--git https://example.invalid/edio --tag v$version edio" "$H/told"'
    fresh; printf '[package]\nname = "edio"\n' >"$H/Cargo.toml"; P=$T/cargo; run "$S" --from-source
    check "takes the checkout" '[ $RC = 0 ] && grep -q -- "--path \." "$H/told" && alone "$H/.local/bin"'
    tools "$T/nocargo"
    fresh; P=$T/nocargo; run "$S" --from-source; check "is refused without cargo" '[ $RC = 1 ] && grep -q rustup "$T/err" && nothing'
}

# Ended while it downloads.
ends() {
    local signal pid late default=()
    # Where these tests were started to ignore a signal, their children would, too.
    ! env --default-signal=INT,TERM,HUP true 2>"$T/err" || default=("--default-signal=INT,TERM,HUP")
    mkfifo "$T/never"
    tools "$T/slow" curl; fake "$T/slow/curl" "exec cat $T/never"
    # Each job in a process group of its own.
    set -m
    for signal in INT TERM HUP; do
        fresh
        (cd "$H" && exec env "${default[@]}" -i HOME="$H" TMPDIR="$T/tmp" PATH="$T/slow" EDIO_RELEASES="file://$rel" "$S" "$script") >"$T/out" 2>"$T/err" &
        pid=$!
        # Where no download begins, this is what ends the wait for it.
        (sleep 10 && cat "$T/never") >"$T/late" 2>&1 &
        late=$!
        exec 9>"$T/never"
        kill -s "$signal" -- "-$pid"
        wait "$pid" 2>"$T/wait"; RC=$?
        exec 9>&-
        kill -- "-$late"
        wait "$late" 2>"$T/wait"
        check "ended by $signal it leaves nothing" '[ $RC -gt 128 ] && nothing'
    done
}

# A cut download of the script runs nothing, wherever it is cut: here in every fifth line, and at each of the last bytes.
cut_off() {
    local size n cuts
    size=$(wc -c <"$script")
    cuts=$(LC_ALL=C awk -v size="$size" 'NR % 5 == 0 { print at + int(length($0) / 2) } { at += length($0) + 1 }
        END { for (n = size - 30; n < size - 1; n++) print n }' "$script")
    fresh; RC=0
    for n in $cuts; do
        head -c "$n" "$script" | (cd "$H" && env -i HOME="$H" TMPDIR="$T/tmp" PATH="$PATH" EDIO_RELEASES="file://$rel" "$S") >"$T/out" 2>"$T/err"
        if [ -s "$T/out" ] || grep -q downloading "$T/err" || ! nothing; then RC=$n; break; fi
    done
    check "cut at byte $n of $size" '[ $RC = 0 ]'
}

case $2 in
cut) cut_off ;;
installs | chooses | refuses | spares | misuses | builds | ends) "$2" ;;
*) echo "no part is named $2"; exit 2 ;;
esac
exit $failed
