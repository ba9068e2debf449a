"""A plan that fails the same way three times is refused, until something changed or root asks."""

import os
from pathlib import Path

import pytest

from testbed import exit_code
from testbed.executor import Executor, client, plan

GIVEN_UP = "times with the same error"


@pytest.fixture
def executor(node):
    return Executor(node, Path(os.environ["KUBEXM_TREE"]))


def try_link(executor: Executor, user: str | None, target: str = "ca.crt"):
    """A link in a directory that is not there."""
    return executor.apply(plan.text(plan.step("symlink", path=plan.LINK, target=target), owner=client.OWNER), user)


@pytest.fixture
def given_up(executor):
    for _ in range(3):
        tried = try_link(executor, "kubexm")
        assert tried.returncode == exit_code.FAILED
        assert ": failed (" in tried.stdout and plan.PKI in tried.stdout, tried.stdout + tried.stderr
    refused = try_link(executor, "kubexm")
    assert refused.returncode == exit_code.REFUSED
    assert GIVEN_UP in refused.stderr and plan.PKI in refused.stderr, refused.stdout + refused.stderr
    return executor


def test_it_stays_given_up_over_a_restart(given_up):
    given_up.restart()
    assert GIVEN_UP in try_link(given_up, "kubexm").stderr


def test_changed_input_is_tried(given_up):
    tried = try_link(given_up, "kubexm", target="other.crt")
    assert ": failed (" in tried.stdout, tried.stdout + tried.stderr


def test_root_tries_and_success_arms_it_for_everybody(given_up):
    assert ": failed (" in try_link(given_up, None).stdout
    given_up.node.run(["mkdir", "-p", plan.PKI])
    assert GIVEN_UP in try_link(given_up, "kubexm").stderr  # it cannot know
    assert try_link(given_up, None).returncode == 0
    given_up.node.run(["rm", plan.LINK])
    assert try_link(given_up, "kubexm").returncode == 0
