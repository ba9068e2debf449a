"""Links, addresses, routes, policy rules and packet filters, from what the node's tools print."""

import json
import re
from collections.abc import Iterable

from testbed.snapshot.model import Facts

_NUMBERS_OF_THE_MOMENT = {"ifindex", "link_index", "link_netnsid", "tentative", "expires"}


def links(printed: str) -> dict[str, Facts]:
    return {link["ifname"]: _readable(link, {"ifname", "linkinfo"}) | _kind(link.get("linkinfo", {}))
            for link in json.loads(printed)}


def addresses(printed: str) -> dict[str, Facts]:
    found = {}
    for link in json.loads(printed):
        for address in link["addr_info"]:
            name = f"{address['local']}/{address['prefixlen']} on {link['ifname']}"
            found[name] = _readable(address, {"local", "prefixlen", "valid_life_time", "preferred_life_time"})
    return found


def routes(family: str, printed: str) -> dict[str, Facts]:
    named = {"type", "dst", "dev", "table", "gateway", "metric"}
    found = {}
    for route in json.loads(printed or "[]"):
        name = " ".join(f"{key} {route[key]}" for key in ("dst", "gateway", "dev", "table", "metric") if key in route)
        found[f"{family} {route['type']} {name}"] = _readable(route, named)
    return found


def rules(family: str, printed: str) -> dict[str, Facts]:
    return {f"{family} " + " ".join(f"{key} {value}" for key, value in rule.items()): {}
            for rule in json.loads(printed or "[]")}


def neighbours(printed: str) -> dict[str, Facts]:
    return {f"{entry['dst']} on {entry['dev']}": _readable(entry, {"dst", "dev"})
            for entry in json.loads(printed or "[]")}


def nft(printed: str) -> dict[str, Facts]:
    """One thing per table; the order of its rules counts, so its text stays together."""
    tables = re.findall(r"^table (.+?) \{\n(.*?)^\}", printed, re.MULTILINE | re.DOTALL)
    return {name: {"rules": text} for name, text in tables}


def iptables(tool: str, printed: str) -> dict[str, Facts]:
    tables = re.findall(r"^\*(\w+)\n(.*?)^COMMIT", printed, re.MULTILINE | re.DOTALL)
    return {f"{name} ({tool})": {"rules": re.sub(r" \[\d+:\d+\]", "", text)} for name, text in tables}


def _kind(info: dict) -> Facts:
    facts = {"kind": info["info_kind"]} if "info_kind" in info else {}
    data = {key: value for key, value in info.get("info_data", {}).items() if not key.endswith("_timer")}
    return facts | ({"settings": json.dumps(data, sort_keys=True)} if data else {})


def _readable(values: dict, without: Iterable[str]) -> Facts:
    left_out = _NUMBERS_OF_THE_MOMENT | set(without)
    return {key: _text(value) for key, value in values.items() if key not in left_out and value != []}


def _text(value) -> str:
    if isinstance(value, list):
        return ",".join(_text(part) for part in value)
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
