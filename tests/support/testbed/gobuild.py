"""Builds programs from Go modules, once: the results are kept in the cache.

A module is a directory with go.mod, go.sum and whatever sources of our own it needs. Programs are
static (they run in nodes of any Debian), stripped, and the same bytes from every checkout.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from testbed import cache

PROGRESS_SECONDS = 10
TAIL_LINES = 40


class BuildError(RuntimeError):
    pass


def environment() -> dict[str, str]:
    """What `go` runs with: caches of our own, so that nothing of the user's is read or filled."""
    own = {
        "GOMODCACHE": str(cache.root() / "go/mod"),
        "GOCACHE": str(cache.root() / "go/build"),
        "GOFLAGS": "-modcacherw -buildvcs=false",
        "GOWORK": "off",
        "CGO_ENABLED": "0",
    }
    return {**os.environ, **own}


def go(directory: Path, *arguments: str) -> str:
    """Runs `go` in the directory of a module and returns what it prints."""
    if shutil.which("go") is None:
        raise BuildError("`go` is not on PATH and is needed to build the testbed; run ./dev setup")
    done = subprocess.run(["go", *arguments], cwd=directory, env=environment(), text=True, capture_output=True)
    if done.returncode != 0:
        raise BuildError(f"`go {' '.join(arguments)}` in {directory} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def source(module: Path, path: str) -> Path:
    """The directory in the module cache with the files of a module that `module` requires."""
    return Path(json.loads(go(module, "mod", "download", "-json", path))["Dir"])


def build(title: str, module: Path, programs: dict[str, str], tags: str = "", ldflags: str = "",
          names: dict[str, tuple[str, ...]] | None = None) -> Path:
    """Returns a directory that holds the programs (name -> Go package to build it from).

    `names` gives a program further names, for one that is several: it looks at the name it is called by.
    """
    flags = ["-trimpath", f"-tags={tags}", f"-ldflags=-s -w {ldflags}".rstrip()]
    inputs = sorted(path for path in module.rglob("*") if path.name in ("go.mod", "go.sum") or path.suffix == ".go")
    files = [str(path.relative_to(module)) for path in inputs]
    key = cache.digest(files, *inputs, programs, flags, names or {}, go(module, "env", "GOVERSION"))

    def make(target: Path) -> None:
        _build(title, module, programs, flags, target)
        for program, others in (names or {}).items():
            for name in others:
                (target / name).symlink_to(program)
    return cache.entry("go-programs", key, title, make)


def _build(title: str, module: Path, programs: dict[str, str], flags: list[str], target: Path) -> None:
    if "KUBEXM_RUN" in os.environ:
        raise BuildError(f"{title} is not built yet and a sandbox has no network to get its modules from;"
                         " run `python3 -m testbed prepare` outside of the sandbox first")
    _say(title, "downloading modules")
    listed = go(module, "list", "-deps", flags[1], *programs.values()).split()
    total = sum(map(_is_module_package, listed))
    together = [package for name, package in programs.items() if name == package.rsplit("/", 1)[-1]]
    alone = {name: package for name, package in programs.items() if package not in together}
    compiled = 0
    if together:  # one command for all, so that several cores have work
        compiled = _run(title, [*flags, "-o", f"{target}/", *together], module, compiled, total)
    for name, package in alone.items():
        compiled = _run(title, [*flags, "-o", str(target / name), package], module, compiled, total)


def _is_module_package(line: str) -> bool:
    """Whether a line of `go build -v` or `go list` names a package that is not of Go's own library."""
    return "." in line.split("/", 1)[0] and not line.startswith("go:")


def _run(title: str, arguments: list[str], directory: Path, compiled: int, total: int) -> int:
    """Runs a build and says from time to time how far it is; returns how many packages are compiled."""
    output, said = [], time.monotonic()
    with subprocess.Popen(["nice", "go", "build", "-v", *arguments], cwd=directory, env=environment(), text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        for line in process.stderr:
            output.append(line.rstrip())
            compiled += _is_module_package(line)
            if time.monotonic() - said > PROGRESS_SECONDS:
                said = time.monotonic()
                _say(title, f"package {compiled} of about {total}")
    if process.returncode != 0:
        tail = "\n".join(output[-TAIL_LINES:])
        raise BuildError(f"building {title} in {directory} ended with {process.returncode}:\n{tail}")
    return compiled


def _say(title: str, what: str) -> None:
    print(f"    {title}: {what}", file=sys.stderr, flush=True)
