"""Takes a snapshot of a running node."""

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from testbed.snapshot import files, ignore, network, system, units
from testbed.snapshot.model import Snapshot

_COLLECT = (Path(__file__).parent / "collect.sh").read_text()


def take(name: str, leader: int, run_script: Callable[[str], str]) -> Snapshot:
    """`run_script(text)` runs a shell script in the node and returns what it printed."""
    started = time.monotonic()
    ignored = ignore.load()
    taken = Snapshot(name)
    at_first = system.processes(name)  # before this very snapshot starts some
    root = Path(f"/proc/{leader}/root")
    with ThreadPoolExecutor(1) as beside:
        printed = beside.submit(run_script, _COLLECT)
        taken.add("file", files.walk(root, ignored.is_tree))
        _add_what_tools_print(taken, _sections(printed.result()))
    taken.add("unit", units.states(units.files(taken.of("file"), run_script), taken.of("unit")))
    _add_what_is_seen_from_outside(taken, root, leader)
    taken.add("process", system.lasting(at_first, system.processes(name)))
    ignored.apply(taken)
    print(f"  snapshot of {name} taken in {time.monotonic() - started:.2f} s", file=sys.stderr, flush=True)
    return taken


def _sections(printed: str) -> dict[str, str]:
    return dict(part.split("\037", 1) for part in printed.split("\036")[1:])


def _add_what_tools_print(taken: Snapshot, printed: dict[str, str]) -> None:
    taken.add("unit", units.running(printed["units"]))
    taken.add("sysctl", system.sysctls(printed["sysctls"]))
    taken.add("link", network.links(printed["links"]))
    taken.add("address", network.addresses(printed["addresses"]))
    taken.add("neighbour", network.neighbours(printed["neighbours"]))
    taken.add("nft table", network.nft(printed["nft"]))
    for family in ("4", "6"):
        taken.add("route", network.routes(f"IPv{family}", printed[f"routes{family}"]))
        taken.add("rule", network.rules(f"IPv{family}", printed[f"rules{family}"]))
    for tool in ("iptables", "ip6tables", "iptables-legacy", "ip6tables-legacy"):
        taken.add("iptables table", network.iptables(tool, printed[tool]))


def _add_what_is_seen_from_outside(taken: Snapshot, root: Path, leader: int) -> None:
    taken.add("mount", system.mounts(leader))
    taken.add("swap", system.swaps())
    taken.add("module", system.modules())
    taken.add("user", system.users(root))
    taken.add("group", system.groups(root))
    taken.add("cgroup", system.cgroups(taken.node))
