"""Makes the images and programs that a sandbox needs: inside of it there is no network to get them.

What is in the cache already is not made again.
"""

import functools
from collections.abc import Callable

from testbed import cache, image, kubernetes
from testbed.guest import image as guest_image
from testbed.management import programs

Part = tuple[Callable[[], object], ...]

CLUSTER: Part = (kubernetes.programs, kubernetes.images)
CLUSTER_API: Part = (programs.cluster_api, programs.cluster_api_source)
PROVIDERS: Part = (programs.kubeadm_providers, programs.byoh, programs.byoh_source)


def node(suite: str) -> Part:
    return (functools.partial(image.path, suite),)


DEMO = node("bookworm") + CLUSTER + CLUSTER_API
EVERYTHING = DEMO + node("trixie") + (kubernetes.node_programs, kubernetes.containerd) + PROVIDERS + (guest_image.path,)


def make(part: Part) -> None:
    for number, call in enumerate(part, 1):
        cache.progress = f"{number} of {len(part)}"
        call()
