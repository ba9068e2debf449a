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


def build(title: str, module: Path, programs: dict[str, str], tags: str = "", ldflags: str = "") -> Path:
    """Returns a directory that holds the programs (name -> Go package to build it from)."""
    flags = ["-v", "-trimpath", f"-tags={tags}", f"-ldflags=-s -w {ldflags}".rstrip()]
    inputs = sorted(path for path in module.rglob("*") if path.name in ("go.mod", "go.sum") or path.suffix == ".go")
    names = [str(path.relative_to(module)) for path in inputs]
    key = cache.digest(names, *inputs, programs, flags, go(module, "env", "GOVERSION"))
    return cache.entry("go-programs", key, title, lambda target: _build(title, module, programs, flags, target))


def _build(title: str, module: Path, programs: dict[str, str], flags: list[str], target: Path) -> None:
    if "KUBEXM_RUN" in os.environ:
        raise BuildError(f"{title} is not built yet and a sandbox has no network to get its modules from;"
                         " run `python3 -m testbed prepare` outside of the sandbox first")
    together = [package for name, package in programs.items() if name == package.rsplit("/", 1)[-1]]
    alone = {name: package for name, package in programs.items() if package not in together}
    if together:  # one command for all, so that several cores have work
        _run(title, ["go", "build", *flags, "-o", f"{target}/", *together], module)
    for name, package in alone.items():
        _run(title, ["go", "build", *flags, "-o", str(target / name), package], module)


def _run(title: str, command: list[str], directory: Path) -> None:
    """Runs a build, telling from time to time how far it is: `go build -v` names what it compiles."""
    output = []
    started = told = time.monotonic()
    with subprocess.Popen(["nice", *command], cwd=directory, env=environment(), text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        for line in process.stderr:
            output.append(line.rstrip())
            now = time.monotonic()
            if now - told > PROGRESS_SECONDS:
                told = now
                print(f"    {title}: {now - started:.0f} s, step {len(output)}, {output[-1]}",
                      file=sys.stderr, flush=True)
    if process.returncode != 0:
        tail = "\n".join(output[-TAIL_LINES:])
        raise BuildError(f"building {title} in {directory} ended with {process.returncode}:\n{tail}")
