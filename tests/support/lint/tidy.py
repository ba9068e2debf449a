"""Runs clang-tidy over the files of the dev build that changed since they were last found clean.

    python3 -m lint.tidy TOP CACHE

A file's key is a digest of its text, the text of every header of ours it includes (as the build
recorded them), its compiler flags, the list of checks and clang-tidy's version.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from testbed import cache

TIDY = "clang-tidy-19"


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


def key_of(command: dict, headers: dict[str, list[Path]], top: Path, common: str) -> str:
    words = command["command"].split()
    made = words[words.index("-o") + 1]
    files = sorted({path.resolve() for path in headers[made]})
    ours = [path for path in files if path.is_relative_to(top)]
    flags = command["command"].replace(str(top), "")
    return cache.digest(common, flags, *ours)


def check(path: str, build: Path) -> bool:
    outcome = subprocess.run([TIDY, "-p", build, "--quiet", path], capture_output=True, text=True)
    if outcome.returncode != 0:
        print(outcome.stdout, file=sys.stderr)
    return outcome.returncode == 0


def main(top: Path, clean: Path) -> int:
    build = top / "build/dev"
    clean.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([TIDY, "--version"], check=True, capture_output=True, text=True).stdout
    common = version + "".join(path.read_text() for path in (top / ".clang-tidy", top / "tests/.clang-tidy"))
    headers = recorded_headers(build)
    commands = json.loads((build / "compile_commands.json").read_text())
    todo = {command["file"]: clean / key_of(command, headers, top, common) for command in commands}
    todo = {path: mark for path, mark in todo.items() if not mark.exists()}
    print(f"  {len(commands)} files, {len(todo)} to look at", file=sys.stderr)

    def look(item: tuple[str, Path]) -> bool:
        path, mark = item
        good = check(path, build)
        if good:
            mark.touch()
        return good

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return 0 if all(list(pool.map(look, todo.items()))) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2])))
