"""./dev explains itself, and the documents name the commands that exist."""

import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[3]


def dev(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([TOP / "dev", *arguments], capture_output=True, text=True, timeout=30)


def commands() -> set[str]:
    return set(re.findall(r"^  (\w+)", dev("help").stdout, re.MULTILINE)) - {"help"}


def test_help_lists_the_commands():
    assert commands() == {"demo", "setup", "build", "test", "lint", "fmt", "bench", "node", "cluster", "clean"}


@pytest.mark.parametrize("command", sorted(commands()))
def test_every_command_explains_itself(command):
    shown = dev(command, "--help")
    assert shown.returncode == 0
    assert shown.stdout.startswith(f"./dev {command}")


def test_an_unknown_command_is_refused_with_a_hint():
    refused = dev("tset")
    assert refused.returncode == 2
    assert "no command 'tset'" in refused.stderr and "./dev help" in refused.stderr


@pytest.mark.parametrize("arguments, complaint", [
    (["build", "fast"], "no preset 'fast'"),
    (["test", "everything"], "unknown argument 'everything'"),
    (["clean", "--all"], "unknown argument '--all'"),
    (["setup", "all"], "unknown argument 'all'"),
    (["demo", "--twice"], "unknown argument '--twice'"),
])
def test_a_wrong_argument_is_named(arguments, complaint):
    refused = dev(*arguments)
    assert refused.returncode != 0
    assert complaint in refused.stderr


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_the_readme_names_every_command_and_no_other(readme):
    named = set(re.findall(r"\./dev (\w+)", (TOP / readme).read_text())) - {"help", "COMMAND"}
    assert named == commands()


def blocks(readme: str) -> list[str]:
    return re.findall(r"```sh\n(.*?)```", (TOP / readme).read_text(), re.DOTALL)


def test_both_readmes_show_the_same_commands():
    assert blocks("README.md") == blocks("README.zh-CN.md")
    assert blocks("README.md")


def test_what_a_document_links_to_exists():
    for document in TOP.glob("*.md"):
        for target in re.findall(r"\]\(([^):#]+)\)", document.read_text()):
            assert (TOP / target).exists(), f"{document.name} links to {target}"
