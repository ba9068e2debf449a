"""Runs clang-tidy over what changed since it was last found clean.

    python3 -m lint.tidy MODE TOP CACHE

MODE is "style", every check of .clang-tidy, or "paths", clang's analyzer, which takes several times as long. Both look
at the files as the dev build compiles them, several at once: most of the time goes into the headers of libraries.

A file's key is a digest of its text, the text of every file of ours it includes (as the build recorded them), its
compiler flags, the list of checks and clang-tidy's version.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from testbed import cache

TIDY = "clang-tidy-19"
# What clang says of libstdc++'s templates and of systemd's macros, and GCC does not.
SILENT = ["--extra-arg=-Wno-deprecated-declarations", "--extra-arg=-Wno-c99-extensions"]


@dataclass(frozen=True)
class Mode:
    product: str  # checks, added to those of .clang-tidy
    tests: str | None  # the same; None: tests are not looked at


MODES = {
    # A test that reads a moved-from or wiped object does so on purpose; GoogleTest's macros make functions look long.
    "style": Mode("", "-bugprone-use-after-move,-readability-function-size"),
    # GoogleTest's macros cost the analyzer most of a minute a file and tell nothing.
    "paths": Mode("-*,clang-analyzer-*", None),
}


def recorded_headers(build: Path) -> dict[str, list[Path]]:
    """Object file -> the files it was made from, as ninja knows them."""
    listing = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    headers, current = {}, []
    for line in listing.splitlines():
        if line.startswith("    "):
            current.append(build / line.strip())
        elif ":" in line:
            current = headers.setdefault(line.split(":")[0], [])
    return headers


def object_of(command: dict) -> str:
    words = command["command"].split()
    return words[words.index("-o") + 1]


def key_of(command: dict, headers: dict[str, list[Path]], top: Path, common: str) -> str:
    files = sorted({path.resolve() for path in headers[object_of(command)]})
    ours = [path for path in files if path.is_relative_to(top)]
    flags = command["command"].replace(str(top), "")
    return cache.digest(common, flags, *ours)


def check(path: str, build: Path, checks: str) -> bool:
    argv = [TIDY, "-p", build, "--quiet", *SILENT, f"--checks={checks}", path]
    outcome = subprocess.run(argv, capture_output=True, text=True)
    if outcome.returncode != 0:
        print(outcome.stdout, file=sys.stderr)
    return outcome.returncode == 0


def main(mode: Mode, top: Path, clean: Path) -> int:
    build = top / "build/dev"
    clean.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([TIDY, "--version"], check=True, capture_output=True, text=True).stdout
    common = version + (top / ".clang-tidy").read_text()
    headers = recorded_headers(build)
    commands = json.loads((build / "compile_commands.json").read_text())
    todo = []
    for command in commands:
        checks = mode.tests if object_of(command).startswith("tests/") else mode.product
        if checks is None:
            continue
        mark = clean / key_of(command, headers, top, common + checks)
        if not mark.exists():
            todo.append((command["file"], checks, mark))
    print(f"  {len(commands)} compilations, {len(todo)} to look at", file=sys.stderr)

    def look(item: tuple[str, str, Path]) -> bool:
        path, checks, mark = item
        good = check(path, build, checks)
        if good:
            mark.touch()
        return good

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return 0 if all(list(pool.map(look, todo))) else 1


if __name__ == "__main__":
    sys.exit(main(MODES[sys.argv[1]], Path(sys.argv[2]).resolve(), Path(sys.argv[3])))
