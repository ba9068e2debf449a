"""systemd units: how they are installed, and what the active ones are doing."""

from collections.abc import Callable

from testbed.snapshot.model import Facts

LIST = "systemctl list-unit-files --no-legend --no-pager --plain --full"
DIRECTORIES = ("/etc/systemd/", "/usr/lib/systemd/", "/usr/local/lib/systemd/", "/run/systemd/system", "/run/systemd/transient/",
               "/run/systemd/generator")  # /run/systemd/system.control is one of them
_listed: dict[frozenset, list[str]] = {}  # by the facts of all files there


def files(found: dict[str, Facts], run_script: Callable[[str], str]) -> str:
    """How all units are installed, as systemd says: it needs a quarter of a second of processor time to read their files,
    and says the same as long as these are the same. Asked until it says so twice: a file may have changed meanwhile."""
    key = frozenset((path, *sorted(facts.items())) for path, facts in found.items() if path.startswith(DIRECTORIES))
    said = _listed.setdefault(key, [])
    if len(said) < 2 or said[-1] != said[-2]:
        said.append(run_script(LIST))
    return said[-1]


def states(listed: str, running: dict[str, Facts]) -> dict[str, Facts]:
    """From `systemctl list-unit-files`, with what is known of those that run."""
    return {name: {"file": state} | running.get(name, {}) for name, state, *_ in map(str.split, listed.splitlines())}


def running(shown: str) -> dict[str, Facts]:
    """From `systemctl show '*'`."""
    found = {}
    for block in shown.split("\n\n"):
        properties = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        # systemd forgets and reloads inactive units as it likes: loaded or not means nothing
        if properties and properties["ActiveState"] != "inactive" and not _mirrors_the_kernel(properties):
            found[properties["Id"]] = _facts(properties)
    return found


def _mirrors_the_kernel(properties: dict[str, str]) -> bool:
    """A mount or swap without a unit file is systemd's note of what the kernel has, made up to a
    second later; the kernel's own tables are compared instead."""
    return not properties["FragmentPath"] and properties["Id"].endswith((".mount", ".swap", ".device"))


def _facts(properties: dict[str, str]) -> Facts:
    facts = {"state": f"{properties['ActiveState']} ({properties['SubState']})"}
    if properties["NeedDaemonReload"] == "yes":
        facts["needs daemon-reload"] = "yes"
    if properties["DropInPaths"]:
        facts["drop-ins"] = properties["DropInPaths"]
    return facts
