#!/usr/bin/env bash
# Prints the prefix of a Drogon that is new enough, after building it once if need be.
#
#   cmake/drogon.sh CACHE_DIRECTORY
#
# The distribution's package is preferred: then the prefix is /usr. Otherwise Drogon and its trantor
# are built, static and without databases, from the source packages of Debian unstable (apt checks
# their signatures), into a directory named by version, flags and compiler.
set -euo pipefail

oldest=1.9.10 # the first with connection callbacks, which carry peer credentials to api/http
flags=(
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_STANDARD=20
    -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON
    -DBUILD_ORM=OFF -DBUILD_CTL=OFF -DBUILD_EXAMPLES=OFF -DBUILD_BROTLI=OFF -DBUILD_YAML_CONFIG=OFF
    -DBUILD_TESTING=OFF -DBUILD_DOC=OFF -DUSE_SUBMODULE=OFF
)

cache="$1"
here="$(dirname "$(realpath "$0")")"
key="$({ echo "${flags[@]}" && c++ --version | head -n 1; } | sha256sum | cut -c1-12)"

packaged() {
    local version
    version="$(dpkg-query -W -f '${Version}' libdrogon-dev 2>/dev/null)" || return 1
    dpkg --compare-versions "$version" ge "$oldest"
}

newest_built() {
    find "$cache" -maxdepth 1 -name "*-$key" | sort -V | tail -n 1
}

build() { # NAME PREFIX: builds the one source directory of that name here and installs it
    cmake -S "$(find . -maxdepth 1 -type d -name "$1-*")" -B "build-$1" -G Ninja "${flags[@]}" \
        -DCMAKE_INSTALL_PREFIX="$2" -DCMAKE_PREFIX_PATH="$2"
    cmake --build "build-$1" --target install
}

make_prefix() {
    local version
    cd "$work"
    "$here/private-apt.sh" apt sid
    apt-get -c apt/apt.conf -qq source drogon trantor
    version="$(basename drogon_*.dsc .dsc)"
    version="${version#drogon_}"
    dpkg --compare-versions "$version" ge "$oldest" || {
        echo "Drogon $version found in Debian unstable, $oldest or newer is needed" >&2
        exit 1
    }
    build trantor "$work/prefix"
    build drogon "$work/prefix"
    mv "$work/prefix" "$cache/$version-$key"
}

if packaged; then echo /usr && exit; fi
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
if [ -z "$(newest_built)" ]; then
    work="$(mktemp -d "$cache/making.XXXXXX")"
    trap 'rm -rf "$work"' EXIT
    echo "building Drogon once (about 4 minutes); progress: $cache/build.log" >&2
    (make_prefix) >"$cache/build.log" 2>&1 || {
        tail -n 20 "$cache/build.log" >&2
        exit 1
    }
fi
newest_built
