#!/bin/sh
# Installs edio: a released program, checked against its SHA-256 sum, or one built from the source.
#
# All of it stands in functions, and the last line calls them: if the download of this script is cut,
# nothing runs.

usage() {
    cat <<'USAGE'
usage: install.sh [--version X] [--from-source]

Installs edio into ~/.local/bin. Needs no root, and edits no file of yours.

options:
  --version X     install version X (default: the latest)
  --from-source   build with cargo: this checkout, if run inside one, else the repository
  --help          print this

environment:
  EDIO_INSTALL_DIR   the folder to install into (default: ~/.local/bin)
  EDIO_RELEASES      where the releases are (default: https://github.com/edio-dev/edio/releases)
USAGE
}

main() {
    set -eu
    version='' from_source=no
    while [ $# -gt 0 ]; do
        case $1 in
        --version)
            [ $# -gt 1 ] || misused '--version needs a value'
            version=$2
            shift
            ;;
        --version=*) version=${1#*=} ;;
        --from-source) from_source=yes ;;
        -h | --help)
            usage
            return
            ;;
        *) misused "unknown argument '$1'" ;;
        esac
        shift
    done
    version=${version#v}
    [ -z "$version" ] || is_version "$version" || misused "'$version' is not a version"

    releases=${EDIO_RELEASES:-https://github.com/edio-dev/edio/releases}
    releases=${releases%/}
    folder=${EDIO_INSTALL_DIR:-${HOME:+$HOME/.local/bin}}
    [ -n "$folder" ] || fail 'HOME is not set' 'name the folder to install into with EDIO_INSTALL_DIR'

    need mktemp
    staged=''
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch" ${staged:+"$staged"}' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM

    if [ "$from_source" = yes ]; then
        build
    else
        download
    fi
    place
    advise
}

say() { printf '%s\n' "$*" >&2; }

# fail WHAT [HINT]
fail() {
    say "error: $1"
    [ $# -lt 2 ] || say "hint: $2"
    exit 1
}

misused() {
    say "error: $1"
    say 'hint: install.sh --help'
    exit 2
}

has() { command -v "$1" >/dev/null 2>&1; }

need() { has "$1" || fail "$1 is needed, and not found"; }

# A version becomes part of addresses and file names, so it is held to what versions are made of.
is_version() {
    case $1 in
    *[!0-9A-Za-z.+-]*) return 1 ;;
    [0-9]*) return 0 ;;
    *) return 1 ;;
    esac
}

# Builds $program in the scratch folder.
build() {
    has cargo || fail 'cargo is needed to build from source, and not found' 'https://rustup.rs installs it'
    if [ -z "$version" ] && is_checkout; then
        set -- --path .
    else
        set -- --git "${releases%/releases}" ${version:+--tag "v$version"} edio
    fi
    # With its folder in PATH, cargo does not advise to add that folder, which is gone in a moment.
    PATH=$scratch/bin:$PATH cargo install --locked --no-track --root "$scratch" "$@" ||
        fail 'the build failed'
    program=$scratch/bin/edio
}

is_checkout() { [ -f Cargo.toml ] && grep -q '^name = "edio"$' Cargo.toml; }

# Downloads $program into the scratch folder. Nothing is unpacked before its sum is found right.
download() {
    need tar
    has curl || has wget || fail 'curl or wget is needed, and neither is found'
    has sha256sum || has shasum || fail 'sha256sum or shasum is needed, and neither is found'
    target=$(target)

    if [ -z "$version" ]; then
        fetch "$releases/latest/download/version" "$scratch/version"
        version=$(cat "$scratch/version")
        is_version "$version" || fail "$releases does not say which version is the latest"
    fi
    name=edio-$version-$target
    say "downloading $name"
    fetch "$releases/download/v$version/$name.tar.gz" "$scratch/archive"
    fetch "$releases/download/v$version/$name.tar.gz.sha256" "$scratch/sum"
    verify

    tar -xzf "$scratch/archive" -C "$scratch" "$name/edio" || fail "$name.tar.gz can't be unpacked"
    program=$scratch/$name/edio
    if [ ! -f "$program" ] || [ -L "$program" ]; then
        fail "$name.tar.gz holds no program"
    fi
}

# The name that Rust gives to this machine.
target() {
    case $(uname -m) in
    x86_64 | amd64) arch=x86_64 ;;
    aarch64 | arm64) arch=aarch64 ;;
    *) fail "there is no release for $(uname -m)" 'install.sh --from-source builds one' ;;
    esac
    case $(uname -s) in
    Linux) echo "$arch-unknown-linux-$(libc)" ;;
    Darwin) echo "$arch-apple-darwin" ;;
    MINGW* | MSYS* | CYGWIN*) fail 'this script does not install on Windows' "take the .zip from $releases" ;;
    *) fail "there is no release for $(uname -s)" 'install.sh --from-source builds one' ;;
    esac
}

# The gnu program may need glibc 2.39, that of the machine which builds it: where that one has it to link in, it needs
# none, and build.rs leaves it open which. The musl one runs on every Linux.
libc() {
    glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || glibc=''
    case $glibc in
    'glibc 2.39' | 'glibc 2.'[4-9][0-9]*) echo gnu ;;
    *) echo musl ;;
    esac
}

# fetch FROM TO
fetch() {
    if has curl; then
        case $1 in
        https:*) curl -fsSL --proto '=https' --tlsv1.2 -o "$2" "$1" ;;
        *) curl -fsSL -o "$2" "$1" ;;
        esac
    else
        wget -q -O "$2" "$1"
    fi || fail "$1 can't be downloaded"
}

verify() {
    wanted=$(head -n 1 "$scratch/sum" | cut -c 1-64)
    case $wanted in
    *[!0-9a-f]*) wanted='' ;;
    esac
    [ ${#wanted} -eq 64 ] || fail "$name.tar.gz.sha256 holds no SHA-256 sum"
    if has sha256sum; then
        found=$(sha256sum <"$scratch/archive")
    else
        found=$(shasum -a 256 <"$scratch/archive")
    fi
    [ "${found%% *}" = "$wanted" ] ||
        fail "$name.tar.gz is not what was released: its SHA-256 sum is wrong" 'the download may have been cut: try again'
}

# Puts $program into the folder. The last step is a rename, so the name never stands for half a program.
place() {
    mkdir -p "$folder"
    folder=$(cd "$folder" && pwd)
    [ ! -d "$folder/edio" ] || fail "$folder/edio is a folder"
    staged=$(mktemp "$folder/.edio-XXXXXX")
    cp "$program" "$staged"
    chmod 755 "$staged"
    said=$("$staged" --version) || fail 'the program does not run on this machine' 'install.sh --from-source builds one'
    mv -f "$staged" "$folder/edio"
    say "installed $said as $folder/edio"
}

advise() {
    case :$PATH: in
    *":$folder:"*) ;;
    *) say "note: $folder is not in your PATH" ;;
    esac
    has git || say 'note: edio needs git 2.38 or newer, and git is not found'
}

{ main "$@"; exit; }
