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
RECIPE = Path(__file__).resolve().parent.parent / "node-image"

# Documentation and translations: a third of the files, and no daemon ever reads them.
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/man/*")


def path(suite: str) -> Path:
    """The image of a suite; made now if it is not in the cache, which takes about two minutes."""
    return cache.entry("node-image", _key(suite), f"node image {suite}", lambda into: _make(suite, into))


def require(suite: str) -> Path:
    """The image of a suite where nothing can be downloaded: inside a sandbox."""
    made = cache.root() / "node-image" / _key(suite)
    if not made.is_dir():
        raise LookupError(f"there is no node image for {suite} at {made}, and a sandbox cannot download one; "
                          f"make it first: python3 -m testbed prepare node --suite {suite}")
    return made


def _packages(suite: str) -> list[str]:
    listed = yaml.safe_load((RECIPE / "packages.yaml").read_text())
    return [*listed["every"], *listed[suite]]


def _key(suite: str) -> str:
    files = sorted(found for found in RECIPE.rglob("*") if found.is_file() and found.name != "packages.yaml")
    names = [[str(found.relative_to(RECIPE)), os.access(found, os.X_OK)] for found in files]
    return cache.digest(suite, _packages(suite), LEFT_OUT, names, *files)


def _make(suite: str, into: Path) -> None:
    into.chmod(0o755)
    with tempfile.NamedTemporaryFile("w", suffix=".sources") as sources:
        sources.write(archive.sources(suite))
        sources.flush()
        _bootstrap(suite, into, Path(sources.name))


def _bootstrap(suite: str, into: Path, sources: Path) -> None:
    # Namespaces of its own: mounts and processes of an interrupted run go away with it.
    alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command = [*alone, "mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--format=directory",
               f"--include={','.join(_packages(suite))}",
               *(f"--aptopt={option}" for option in archive.options()),
               *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
               f"--customize-hook={shlex.quote(str(RECIPE / 'prepare'))} \"$1\"",
               suite, str(into), str(sources)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"cannot make the node image {suite}; mmdebstrap ended with {done.returncode} and said:\n"
                           + "\n".join((done.stdout + done.stderr).splitlines()[-30:]))
