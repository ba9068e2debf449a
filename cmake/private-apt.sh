#!/usr/bin/env bash
# Makes an apt configuration that knows one more Debian suite, without touching the machine's own.
#
#   cmake/private-apt.sh DIRECTORY SUITE        then: apt-get -c DIRECTORY/apt.conf ...
#
# The archive's address is the one the machine's own Debian entry has; apt checks the suite's
# signature against Debian's keyring.
set -euo pipefail

directory="$(realpath -m "$1")" suite="$2"
mkdir -p "$directory/lists/partial"

# shellcheck disable=SC2016  # apt expands it, not the shell
archive="$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)"
[ -n "$archive" ] || {
    echo "apt knows no Debian archive: run 'apt-get update' and look at /etc/apt/sources.list.d" >&2
    exit 1
}

for type in deb deb-src; do
    echo "$type [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main"
done >"$directory/sources.list"
cat >"$directory/apt.conf" <<EOF
Dir::Etc::SourceList "$directory/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$directory/lists";
APT::Sandbox::User "root";
Acquire::Languages "none";
EOF
apt-get -c "$directory/apt.conf" -qq update
