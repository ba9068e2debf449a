"""Where this machine gets Debian packages from, said for another Debian suite.

The repository names no mirror: the machine's own apt entries are read, and only the suite in them
is replaced. Mirrors, keyrings, proxies and time limits stay what the machine's owner chose.
"""

import re
import subprocess
from pathlib import Path

APT = Path("/etc/apt")
Stanza = dict[str, str]


def sources(suite: str, apt: Path = APT) -> str:
    """The machine's Debian entries in deb822 form, with `suite` in place of the machine's own."""
    own = _own_suite()
    wanted = [_for_suite(stanza, own, suite) for stanza in _stanzas(apt) if _is_debian(stanza, own)]
    if not wanted:
        raise LookupError(
            f"no entry for Debian {own} in {apt}/sources.list or {apt}/sources.list.d; "
            "expected one whose address contains 'debian' and whose components contain 'main'")
    return "\n\n".join("\n".join(f"{key}: {value}" for key, value in stanza.items()) for stanza in wanted) + "\n"


def options() -> list[str]:
    """The machine's apt settings about how to reach an archive, one statement each."""
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    reach = re.compile(r"Acquire::(https?::|Check-Valid-Until|Check-Date|Retries|ForceIPv)\S* \"[^\"]+\";")
    return [line for line in dump.splitlines() if reach.match(line)]


def _own_suite() -> str:
    release = Path("/etc/os-release").read_text()
    found = re.search(r"^VERSION_CODENAME=(\w+)$", release, re.MULTILINE)
    if not found:
        raise LookupError("/etc/os-release has no VERSION_CODENAME: this needs a Debian release")
    return found[1]


def _stanzas(apt: Path) -> list[Stanza]:
    parts = sorted((apt / "sources.list.d").glob("*"))
    lists = [apt / "sources.list", *(path for path in parts if path.suffix == ".list")]
    found = [stanza for path in lists if path.is_file() for stanza in _one_line_entries(path.read_text())]
    for path in parts:
        if path.suffix == ".sources":
            found += _deb822_entries(path.read_text())
    return found


def _one_line_entries(text: str) -> list[Stanza]:
    entry = re.compile(r"^deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#\n]+)", re.MULTILINE)
    return [_stanza_of_line(*match.groups()) for match in entry.finditer(text)]


def _stanza_of_line(settings: str | None, uri: str, suite: str, components: str) -> Stanza:
    stanza = {"Types": "deb", "URIs": uri, "Suites": suite, "Components": components.strip()}
    signed_by = re.search(r"signed-by=(\S+)", settings or "")
    return stanza | ({"Signed-By": signed_by[1]} if signed_by else {})


def _deb822_entries(text: str) -> list[Stanza]:
    without_comments = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    field = re.compile(r"^([\w-]+):[ \t]*((?:.*)(?:\n[ \t].*)*)", re.MULTILINE)
    found = [dict(field.findall(block)) for block in re.split(r"\n\s*\n", without_comments)]
    return [stanza for stanza in found if stanza.get("Types", "").split()[:1] == ["deb"]
            and stanza.get("Enabled", "yes") != "no"]


def _is_debian(stanza: Stanza, own: str) -> bool:
    return ("debian" in stanza.get("URIs", "") and "main" in stanza.get("Components", "").split()
            and bool(_release_suites(stanza, own)))


def _release_suites(stanza: Stanza, own: str) -> list[str]:
    """The suites a release is made of; a backport must not get into a node by surprise."""
    return [suite for suite in stanza.get("Suites", "").split()
            if suite in (own, f"{own}-updates", f"{own}-security")]


def _for_suite(stanza: Stanza, own: str, suite: str) -> Stanza:
    suites = " ".join(name.replace(own, suite, 1) for name in _release_suites(stanza, own))
    return stanza | {"Types": "deb", "Suites": suites, "Components": "main"}
