"""Things that take long to make and are kept between runs, outside the checkout.

An entry is a directory `<cache>/<kind>/<key>`, where the key is a digest of everything the
content depends on. It is made in a temporary neighbour and renamed into place, under a lock,
so that two checkouts may ask for the same entry at once and an interrupted run leaves nothing
that looks finished.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sys
import time
from pathlib import Path


progress = ""  # how many entries a longer piece of work has made, as in "3 of 11"; shown with each that is made


def root() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "kubexm"


def digest(*parts) -> str:
    """The key for content made of these parts; a Path stands for the bytes of that file."""
    hasher = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else json.dumps(part, sort_keys=True).encode()
        hasher.update(len(data).to_bytes(8, "big") + data)
    return hasher.hexdigest()[:16]


@contextlib.contextmanager
def _locked(path: Path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def entry(kind: str, key: str, title: str, make) -> Path:
    """Returns the directory of an entry; `make(directory)` fills it when it is not there yet."""
    final = root() / kind / key
    if final.is_dir():
        return final
    with _locked(root() / "locks" / f"{kind}-{key}"):
        if final.is_dir():  # another process made it while we waited
            return final
        return _make(final, title, make)


def _make(final: Path, title: str, make) -> Path:
    partial = final.with_name(final.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    started = time.monotonic()
    print(f"  making {title}{progress and f', {progress}'} (kept in {final})", file=sys.stderr, flush=True)
    make(partial)
    partial.rename(final)
    print(f"  made {title} in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return final
