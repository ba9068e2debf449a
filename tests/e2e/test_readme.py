"""Every command of the READMEs' first page works as it stands there."""

import os
import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]


def shown_commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", (TOP / "README.md").read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    # ./dev test runs this, and test_demo.py runs ./dev demo.
    return [line for line in lines if not line.startswith(("./dev test", "./dev demo"))]


@pytest.mark.parametrize("command", shown_commands())
def test_a_command_of_the_readme_works(command):
    outside = {name: value for name, value in os.environ.items() if name != "KUBEXM_RUN"}
    done = subprocess.run(["bash", "-c", command], cwd=TOP, env=outside, capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_there_are_such_commands():
    assert len(shown_commands()) >= 2
