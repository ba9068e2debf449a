# shellcheck shell=bash
# Functions of the commands of ./dev. Sourced by each of them.

top="$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../..")"
support="$top/tests/support"
# Of the tests and their support only Debian's own Python is used, whatever else is on PATH.
# shellcheck disable=SC2034  # used by the commands
python=/usr/bin/python3

cache="${XDG_CACHE_HOME:-$HOME/.cache}/kubexm"
mkdir -p "$cache"
# Objects of one checkout serve another: paths in them are relative, but for where debuggers look.
export CCACHE_DIR="$cache/ccache" CCACHE_BASEDIR="$top" CCACHE_NOHASHDIR=1
export PYTHONPATH="$support" PYTHONDONTWRITEBYTECODE=1
cd "$top" || exit 1

is_root() { [ "$(id -u)" = 0 ]; }

die() {
    echo "./dev: $*" >&2
    exit 1
}

need_root() { # WHAT
    is_root || die "$1 needs root: nodes live in mount, process and network namespaces"
}

# stage TITLE COMMAND...: prints the title, and at the end the time or the failure.
# A function called through it must chain its commands: bash does not stop at errors in it.
stage() {
    local title="$1" started="$SECONDS" code=0
    shift
    echo "==> $title" >&2
    "$@" || code=$?
    if [ "$code" = 0 ]; then
        echo "==> $title: done in $((SECONDS - started)) s" >&2
    else
        echo "==> $title: FAILED ($code) after $((SECONDS - started)) s" >&2
    fi
    return "$code"
}

# at_once FUNCTION...: runs all of them beside each other; when one fails, the others are ended.
at_once() (
    trap 'jobs -p | sed "s/^/-/" | xargs -r kill -- 2>/dev/null' EXIT
    set -m # each gets a process group of its own, so that all its processes can be ended
    for function in "$@"; do "$function" & done
    set +m
    for function in "$@"; do wait -n || exit; done
)

# Puts a Go that is new enough on PATH. Debian's Go fetches a newer one where a module asks for it.
use_go() {
    local directory
    directory="$("$support/dev/find-go")" || return
    case "$directory" in /usr/lib/go-*) export GOTOOLCHAIN=auto ;; esac
    export PATH="$directory:$PATH"
}

# Builds our programs and prints the directory that holds them as a package would install them. Sanitizers need the
# debug symbols for their reports; without them the tree has a tenth of the size, and every node gets a copy.
product_tree() { # PRESET
    local preset="$1" strip=--strip
    case "$preset" in asan | tsan) strip= ;; esac
    local tree="$top/build/$preset/tree"
    if [ "$preset" = dev ] && [ -n "${KUBEXM_TREE:-}" ]; then # a test that runs ./dev already made it
        echo "$KUBEXM_TREE"
        return
    fi
    "$support/dev/build" "$preset" >&2 &&
        rm -rf "$tree" &&
        DESTDIR="$tree" cmake --install "build/$preset" ${strip:+"$strip"} >/dev/null &&
        add_libraries "$tree" &&
        echo "$tree"
}

# Packages are built for each Debian release; what was built here also runs on a node of another
# release because it brings those libraries along whose names change between releases.
add_libraries() { # TREE
    mkdir -p "$1/usr/lib/kubexm" &&
        find "$1/usr" -type f '(' -path '*/bin/*' -o -path '*/libexec/*' ')' -exec ldd {} + |
        awk '/lib(fmt|yaml-cpp|jsoncpp|tomlplusplus|asan|ubsan|tsan)\.so/ { print $3 }' | sort -u |
            xargs -r cp -L -t "$1/usr/lib/kubexm"
}

# show_help FILE: the comment at the head of a command is its help.
show_help() {
    awk 'NR == 1 { next } /^#/ { sub(/^# ?/, ""); print; next } { exit }' "$1"
}

case "${1:-}" in
    --help | -h)
        show_help "$0"
        exit 0
        ;;
esac
