"""The machine's own apt entries are said for another suite, and nothing else gets in."""

from pathlib import Path

import pytest

from testbed import archive

ONE_LINE = """
deb [arch=amd64 signed-by=/keys/debian.gpg] http://mirror.test/debian bookworm main contrib # a note
deb http://mirror.test/debian-security bookworm-security main
deb-src http://mirror.test/debian bookworm main
# deb http://mirror.test/debian bookworm-updates main
deb http://mirror.test/debian bookworm-backports main
deb http://tools.test/debian bookworm stable
deb http://vendor.test/packages bookworm main
"""

DEB822 = """
Types: deb deb-src
# a comment
URIs: http://mirror.test/debian
Suites: bookworm bookworm-updates bookworm-backports
Components: main non-free-firmware
Signed-By: /keys/debian.gpg

Enabled: no
Types: deb
URIs: http://old.test/debian
Suites: bookworm
Components: main

Types: deb
URIs: http://nodes.test/debian
Suites: nodistro
Components: main
"""


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    monkeypatch.setattr(archive, "_own_suite", lambda: "bookworm")
    return tmp_path


def test_one_line_entries(apt: Path) -> None:
    (apt / "sources.list").write_text(ONE_LINE)
    assert archive.sources("trixie", apt) == (
        "Types: deb\nURIs: http://mirror.test/debian\nSuites: trixie\nComponents: main\nSigned-By: /keys/debian.gpg\n\n"
        "Types: deb\nURIs: http://mirror.test/debian-security\nSuites: trixie-security\nComponents: main\n")


def test_deb822_entries(apt: Path) -> None:
    (apt / "sources.list.d" / "debian.sources").write_text(DEB822)
    assert archive.sources("trixie", apt) == (
        "Types: deb\nURIs: http://mirror.test/debian\nSuites: trixie trixie-updates\nComponents: main\nSigned-By: /keys/debian.gpg\n")


def test_the_machine_s_own_suite_stays_what_it_is(apt: Path) -> None:
    (apt / "sources.list.d" / "main.list").write_text("deb http://mirror.test/debian bookworm main\n")
    assert "Suites: bookworm\n" in archive.sources("bookworm", apt)


def test_a_machine_without_debian_is_told_so(apt: Path) -> None:
    (apt / "sources.list").write_text("deb http://vendor.test/packages bookworm main\n")
    with pytest.raises(LookupError, match="no entry for Debian bookworm"):
        archive.sources("trixie", apt)
