"""Checks every #include against the dependencies of cmake/modules.txt.

    python3 -m lint.dependencies TOP

A file may include headers of its own module and of the modules its module may use, and third-party
headers its module may include: also those it sees only through a header of another module, because
third-party code is private to its modules.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

# How the headers of third-party code begin. A header that matches none of these and is not ours
# must be one of C++ or the system.
THIRD_PARTY = {
    "cli11": ("CLI/",),
    "curl": ("curl/",),
    "drogon": ("drogon/", "trantor/", "json/"),
    "fmt": ("fmt/",),
    "json": ("nlohmann/json.hpp",),  # json_fwd.hpp only declares a name: anybody may
    "openssl": ("openssl/",),
    "mnl": ("libmnl/",),
    "nftnl": ("libnftnl/",),
    "nghttp2": ("nghttp2/",),
    "sqlite": ("sqlite3.h",),
    "systemd": ("systemd/",),
    "toml": ("toml++/",),
    "yaml": ("yaml-cpp/",),
}
GENERATED = {"daemon/base/version.hpp"}


@dataclass(frozen=True)
class Module:
    uses: frozenset[str]
    third_party: frozenset[str]


def read_modules(text: str) -> dict[str, Module]:
    modules = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, uses, third_party = (column.split() for column in line.split(":"))
        modules[name[0]] = Module(frozenset(uses), frozenset(third_party))
    return modules


def module_of(path: str, modules: dict[str, Module]) -> str | None:
    """A file that has a line of its own, else its directory."""
    return next((name for name in (path, str(Path(path).parent)) if name in modules), None)


def third_party_of(header: str) -> str | None:
    return next((name for name, starts in THIRD_PARTY.items() if header.startswith(starts)), None)


class Tree:
    """The C++ files below daemon/ and api/ and what each of them includes."""

    def __init__(self, top: Path):
        self.includes = {
            str(path.relative_to(top)): [header for _, header in INCLUDE.findall(path.read_text())]
            for part in ("daemon", "api")
            for path in (top / part).rglob("*.[ch]pp")
        }
        self.modules = read_modules((top / "cmake/modules.txt").read_text())

    def is_ours(self, header: str) -> bool:
        return header.startswith(("daemon/", "api/"))

    def seen_from(self, path: str) -> dict[str, str]:
        """Third-party code that a file sees, each with the file that includes it."""
        seen, todo, visited = {}, [path], set()
        while todo:
            current = todo.pop()
            if current in visited:
                continue
            visited.add(current)
            for header in self.includes.get(current, []):
                if name := third_party_of(header):
                    seen.setdefault(name, current)
                todo.append(header)
        return seen

    def problems_of(self, path: str) -> list[str]:
        name = module_of(path, self.modules)
        if name is None:
            return [f"{path}: its directory is no module of cmake/modules.txt"]
        return [*self.foreign_modules(path, name), *self.foreign_code(path, name)]

    def foreign_modules(self, path: str, name: str):
        for header in filter(self.is_ours, self.includes[path]):
            other = module_of(header, self.modules)
            if header not in self.includes and header not in GENERATED:
                yield f"{path}: includes {header}, which does not exist"
            elif other != name and other not in self.modules[name].uses:
                yield f"{path}: includes {header}, but {name} may not use {other}"

    def foreign_code(self, path: str, name: str):
        for package, where in self.seen_from(path).items():
            if package not in self.modules[name].third_party:
                through = "" if where == path else f" through {where}"
                yield f"{path}: sees {package}{through}, but {name} may not include it"

    def problems(self) -> list[str]:
        return [problem for path in sorted(self.includes) for problem in self.problems_of(path)]


if __name__ == "__main__":
    found = Tree(Path(sys.argv[1])).problems()
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    sys.exit(1 if found else 0)
