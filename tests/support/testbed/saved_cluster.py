"""The state of a cluster that has just come up: certificates, kubeconfigs and etcd's data, kept in the cache.

The next cluster of the same name, address and content starts from a copy: only its programs have to start. Most of what
a new one costs is making keys, creating definitions and waiting for them.
"""

import datetime
import subprocess
from pathlib import Path

from testbed import cache, kubernetes

SOURCES = Path(__file__).resolve().parent
SUPPORT = SOURCES.parent
MANIFESTS = SUPPORT.parents[1] / "packaging/manifests"
PASSING = ("logs", "audit.log", "kubectl-cache", "management")  # of one run


def entry(*description: str) -> Path:
    """Where the state of such a cluster is kept, or would be."""
    month = f"{datetime.date.today():%Y-%m}"  # its certificates expire
    made_by = [SOURCES / f"{name}.py" for name in ("cluster", "components", "pki")]
    made_by += sorted((SOURCES / "management").glob("*.py"))
    made_from = sorted(path for path in (SUPPORT / "management").rglob("*") if path.is_file()) + sorted(MANIFESTS.glob("*"))
    key = cache.digest(*description, month, kubernetes.programs().name, *made_by, *made_from)
    return cache.root() / "cluster" / key


def save(directory: Path, into: Path) -> None:
    """Copies what outlives the processes of a cluster. Nobody may write to it meanwhile."""
    def copy(target: Path) -> None:
        for item in directory.iterdir():
            if item.name not in PASSING:
                _copy(item, target)
    cache.entry("cluster", into.name, "the state of a cluster", copy)


def restore(saved: Path, directory: Path) -> None:
    for item in saved.iterdir():
        _copy(item, directory)


def _copy(item: Path, target: Path) -> None:
    # etcd reserves space that it has not written to yet
    subprocess.run(["cp", "-a", "--sparse=always", str(item), str(target)], check=True)
