"""Makes the images and programs that a sandbox needs: inside of it there is no network to get them.

Each part is a name and the calls that make it, in this order; what is in the cache already costs nothing.
"""

import sys
from collections.abc import Callable

from testbed import image, kubernetes
from testbed.guest import image as guest_image
from testbed.management import programs

Part = dict[str, Callable[[], object]]

CLUSTER: Part = {
    "Kubernetes": kubernetes.programs,
    "programs for container images": kubernetes.images,
}
CORE: Part = {"Cluster API": programs.cluster_api, "sources of Cluster API": programs.cluster_api_source}
PROVIDERS: Part = {
    "kubeadm providers": programs.kubeadm_providers,
    "BYOH provider": programs.byoh,
    "sources of the BYOH provider": programs.byoh_source,
}
NODE_PROGRAMS: Part = {"programs of nodes": kubernetes.node_programs}


def node(suite: str) -> Part:
    return {f"node image {suite}": lambda: image.path(suite)}


DEMO = {**node("bookworm"), **CLUSTER, **CORE}
EVERYTHING = {**DEMO, **node("trixie"), **NODE_PROGRAMS, "containerd": kubernetes.containerd, **PROVIDERS,
              "guest image": guest_image.path}


def make(parts: Part) -> None:
    for number, (name, call) in enumerate(parts.items(), 1):
        print(f"  {number} of {len(parts)}: {name}", file=sys.stderr, flush=True)
        call()
