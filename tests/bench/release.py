"""The product as its users get it, on a node: a release build, with the libraries that packages would bring."""

import os
from pathlib import Path

from testbed.node import Node

TREE = Path(os.environ["KUBEXM_TREE"])


def find_libraries(node: Node) -> None:
    """After the tree was installed. A release build looks for them where packages put them, not in the tree."""
    node.write("/etc/ld.so.conf.d/kubexm.conf", "/usr/lib/kubexm\n")
    node.run(["ldconfig"])
