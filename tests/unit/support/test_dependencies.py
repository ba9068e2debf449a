"""The include check finds what it is there to find."""

from pathlib import Path

import pytest

from lint.dependencies import Tree

TOP = Path(__file__).resolve().parents[3]
MODULES = """
daemon/base : : json
daemon/plan : daemon/base :
daemon/kube : daemon/base : curl
"""


@pytest.fixture
def tree(tmp_path):
    def write(files: dict[str, str]) -> list[str]:
        for path, text in {"cmake/modules.txt": MODULES, **files}.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        return Tree(tmp_path).problems()

    return write


def test_this_repository_follows_its_dependencies():
    assert Tree(TOP).problems() == []


def test_an_arrow_that_is_drawn_is_allowed(tree):
    assert tree({"daemon/base/a.hpp": "", "daemon/plan/p.cpp": '#include "daemon/base/a.hpp"\n#include <string>\n'}) == []


def test_a_sideways_include_is_found(tree):
    assert tree({"daemon/kube/k.hpp": "", "daemon/plan/p.cpp": '#include "daemon/kube/k.hpp"\n'}) == [
        "daemon/plan/p.cpp: includes daemon/kube/k.hpp, but daemon/plan may not use daemon/kube"
    ]


def test_foreign_third_party_code_is_found(tree):
    assert tree({"daemon/plan/p.cpp": "#include <curl/curl.h>\n"}) == [
        "daemon/plan/p.cpp: sees curl, but daemon/plan may not include it"
    ]


def test_third_party_code_that_leaks_through_a_header_is_found(tree):
    problems = tree({
        "daemon/base/a.hpp": "#include <nlohmann/json.hpp>\n",
        "daemon/plan/p.cpp": '  #  include "daemon/base/a.hpp"\n',
    })
    assert problems == ["daemon/plan/p.cpp: sees json through daemon/base/a.hpp, but daemon/plan may not include it"]


def test_a_file_outside_every_module_is_found(tree):
    assert tree({"daemon/attic/old.cpp": ""}) == ["daemon/attic/old.cpp: its directory is no module of cmake/modules.txt"]


def test_a_header_that_does_not_exist_is_found(tree):
    assert tree({"daemon/plan/p.cpp": '#include "daemon/base/gone.hpp"\n'}) == [
        "daemon/plan/p.cpp: includes daemon/base/gone.hpp, which does not exist"
    ]
