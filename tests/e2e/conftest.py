"""What several files of tests with a cluster begin with; which cluster it is they say themselves."""

import os
from pathlib import Path

import pytest

from testbed import assignment


@pytest.fixture(scope="module")
def enrolled():
    """A management cluster and a host that waits for its orders."""
    with assignment.enrolled(Path(os.environ["KUBEXM_TREE"])) as (side, host):
        yield side, host


@pytest.fixture
def forget(cluster):
    """After a test and the end of its nodes: the next test has nodes of the same names."""
    yield
    cluster.kubectl("delete", "pods", "--all", "--force", "--grace-period=0")
    cluster.kubectl("delete", "nodes,csr", "--all")
