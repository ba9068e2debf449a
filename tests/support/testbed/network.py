"""The network of a sandbox: one bridge that clusters have addresses on and nodes are attached to.

    10.99.0.1        the bridge itself, the nodes' gateway
    10.99.0.2 ...    clusters, on the bridge
    10.99.0.10 ...   nodes
    10.99.0.240 ...  managers, one for each cluster
"""

import os
import subprocess
from pathlib import Path

BRIDGE = "kxm0"
GATEWAY = "10.99.0.1"
_CLUSTERS = range(2, 10)
_NODES = range(10, 240)


def run_directory() -> Path:
    """The working directory of the sandbox this process runs in."""
    if "KUBEXM_RUN" not in os.environ:
        raise RuntimeError("this runs only in a sandbox: python3 -m testbed.sandbox COMMAND")
    return Path(os.environ["KUBEXM_RUN"])


def ensure_bridge() -> None:
    if _ip("link", "show", BRIDGE).returncode == 0:
        return
    # An address of its own: a bridge without one takes that of its first port, and changes it
    # under established connections when that port goes away.
    added = _ip("link", "add", BRIDGE, "address", "02:99:00:00:00:01", "type", "bridge")
    if added.returncode != 0 and "File exists" not in added.stderr:
        raise RuntimeError(f"cannot make bridge {BRIDGE}: {added.stderr.strip()}")
    _must("address", "replace", f"{GATEWAY}/24", "dev", BRIDGE)
    _must("link", "set", BRIDGE, "up")


def claim_node_number() -> int:
    """A number no other node of this sandbox has; its address is 10.99.0.<number>."""
    return _claim(_NODES, "node")


def claim_cluster_address() -> str:
    """An address of its own for a cluster's servers, put on the bridge."""
    ensure_bridge()
    address = f"10.99.0.{_claim(_CLUSTERS, 'cluster')}"
    _must("address", "replace", f"{address}/24", "dev", BRIDGE)
    return address


def managers_of(cluster_address: str) -> int:
    """The number of the managers of a cluster: the same whenever the cluster has this address."""
    return 238 + int(cluster_address.rsplit(".", 1)[1])


def release(number: int) -> None:
    (run_directory() / "addresses" / str(number)).unlink(missing_ok=True)


def _claim(numbers: range, kind: str) -> int:
    """Taken by making a file exclusively, so that processes of one sandbox never share a number."""
    taken = run_directory() / "addresses"
    taken.mkdir(exist_ok=True)
    for number in numbers:
        try:
            (taken / str(number)).touch(exist_ok=False)
            return number
        except FileExistsError:
            continue
    raise RuntimeError(f"all {len(numbers)} {kind} addresses of this sandbox are taken; close one first")


def _ip(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *arguments], capture_output=True, text=True)


def _must(*arguments: str) -> None:
    done = _ip(*arguments)
    if done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(arguments)} failed: {done.stderr.strip()}")
