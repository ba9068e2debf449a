"""The root file system that nodes start from: Debian with systemd and containerd, kept in the cache.

It is an unpacked directory, never changed after it was made; a node puts an overlay on it.
"""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import yaml

from testbed import archive, cache

SUITES = ("bookworm", "trixie")
# For tests of what does not depend on the versions of systemd and containerd: one is enough, unless a run is deep.
USUAL = SUITES if "KUBEXM_TEST_DEEP" in os.environ else SUITES[:1]
RECIPE = Path(__file__).resolve().parent.parent / "node-image"

# Documentation and translations: a third of the files, and no daemon ever reads them.
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*")


def path(suite: str) -> Path:
    """The image of a suite; made now if it is not in the cache, which takes about two minutes."""
    return cache.entry("node-image", key(suite), f"node image {suite}",
                       lambda into: make(suite, into, packages("every", suite), [RECIPE]))


def require(suite: str) -> Path:
    """The image of a suite where nothing can be downloaded: inside a sandbox."""
    made = cache.root() / "node-image" / key(suite)
    if not made.is_dir():
        raise LookupError(f"there is no node image for {suite} at {made}, and a sandbox cannot download one; "
                          f"make it first: python3 -m testbed prepare {suite}")
    return made


def packages(*sections: str) -> list[str]:
    listed = yaml.safe_load((RECIPE / "packages.yaml").read_text())
    return [package for section in sections for package in listed[section]]


def recipe(directory: Path) -> list:
    """Everything that what a recipe makes depends on, but the packages."""
    files = sorted(found for found in directory.rglob("*") if found.is_file() and found.name != "packages.yaml")
    names = [[str(found.relative_to(directory)), os.access(found, os.X_OK)] for found in files]
    return [names, *files]


def key(suite: str) -> str:
    return cache.digest(suite, packages("every", suite), LEFT_OUT, *recipe(RECIPE))


def make(suite: str, into: Path, wanted: list[str], recipes: list[Path]) -> None:
    """A root file system with these packages, prepared by these recipes one after the other."""
    into.chmod(0o755)
    with tempfile.NamedTemporaryFile("w", suffix=".sources") as sources:
        sources.write(archive.sources(suite))
        sources.flush()
        _bootstrap(suite, into, wanted, recipes, Path(sources.name))


def _bootstrap(suite: str, into: Path, wanted: list[str], recipes: list[Path], sources: Path) -> None:
    # Namespaces of its own: mounts and processes of an interrupted run go away with it.
    alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command = [*alone, "mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--format=directory",
               f"--include={','.join(wanted)}",
               *(f"--aptopt={option}" for option in archive.options()),
               *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
               *(f"--customize-hook={shlex.quote(str(directory / 'prepare'))} \"$1\"" for directory in recipes),
               suite, str(into), str(sources)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"cannot make the node image {suite}; mmdebstrap ended with {done.returncode} and said:\n"
                           + "\n".join((done.stdout + done.stderr).splitlines()[-30:]))
