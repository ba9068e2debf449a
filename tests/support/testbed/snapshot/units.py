"""systemd units: how they are installed, and what the active ones are doing."""

from testbed.snapshot.model import Facts


def parse(unit_files: str, shown: str) -> dict[str, Facts]:
    """From `systemctl list-unit-files` and `systemctl show '*'`."""
    found = {}
    for line in unit_files.splitlines():
        name, state = line.split()[:2]
        found[name] = {"file": state}
    for block in shown.split("\n\n"):
        properties = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        # systemd forgets and reloads inactive units as it likes: loaded or not means nothing
        if properties and properties["ActiveState"] != "inactive" and not _mirrors_the_kernel(properties):
            found.setdefault(properties["Id"], {}).update(_running(properties))
    return found


def _mirrors_the_kernel(properties: dict[str, str]) -> bool:
    """A mount or swap without a unit file is systemd's note of what the kernel has, made up to a
    second later; the kernel's own tables are compared instead."""
    return not properties["FragmentPath"] and properties["Id"].endswith((".mount", ".swap", ".device"))


def _running(properties: dict[str, str]) -> Facts:
    facts = {"state": f"{properties['ActiveState']} ({properties['SubState']})"}
    if properties["NeedDaemonReload"] == "yes":
        facts["needs daemon-reload"] = "yes"
    if properties["DropInPaths"]:
        facts["drop-ins"] = properties["DropInPaths"]
    return facts
