"""The management side: Cluster API and an infrastructure provider, on top of a cluster.

    with management.started("kubexm", "management") as side:
        side.cluster.apply(...)

Profile `byoh` is the BYOH provider as released, with all of Cluster API; profile `kubexm` has the CRDs of its Kubexm mode and a
stand-in for that manager (testbed.standin), with Cluster API's core, which is all it needs.
"""

import contextlib
import sys
import time
from collections.abc import Iterator

from testbed import network
from testbed.cluster import Cluster
from testbed.management import byoh, cluster_api, home, kubexm, manifests
from testbed.management.side import Management, stage

PROFILES = {"byoh": byoh, "kubexm": kubexm}


@contextlib.contextmanager
def started(profile: str, name: str, pace: float = 1, timeout_factor: float = 1) -> Iterator[Management]:
    """A cluster of this name with the managers of a profile, which are stopped at the end.

    `pace` is a factor on the waits of the stand-in: its real counterpart looks again every 10 s, which few tests
    have the time for. `timeout_factor` is one on the minutes after which it releases a host by force, which few want.
    """
    with Cluster(name, content=profile) as cluster, _managed(profile, cluster, pace, timeout_factor) as side:
        yield side


@contextlib.contextmanager
def _managed(profile: str, cluster: Cluster, pace: float, timeout_factor: float) -> Iterator[Management]:
    provider, started = PROFILES[profile], time.monotonic()
    directory = cluster.directory / "management"
    directory.mkdir()
    with home.make(directory, network.managers_of(cluster.address)) as place:
        side = Management(profile, cluster, place, directory)
        try:
            _bring_up(side, provider, pace, timeout_factor)
            print(f"  management {profile} on {cluster.name}: ready in {time.monotonic() - started:.1f} s",
                  file=sys.stderr, flush=True)
            yield side
        finally:
            side.stop()


def _bring_up(side: Management, provider, pace: float, timeout_factor: float) -> None:
    if not side.cluster.resumed:
        _install(side, provider)
    with stage("managers started"):
        cluster_api.launch(side, provider.CLUSTER_API)
        provider.launch(side, pace, timeout_factor)
        cluster_api.wait(side, provider.CLUSTER_API)
        provider.wait(side)
    if not side.cluster.resumed:
        cluster_api.install_webhooks(side, provider.CLUSTER_API)
        provider.install_webhooks(side)
        side.cluster.apply(manifests.SHIPPED / "host-policy.yaml")  # every flow works with it
    with stage("webhooks work"):
        cluster_api.wait_for_webhooks(side)
        provider.wait_for_webhooks(side)
    if not side.cluster.resumed:
        side.cluster.save()


def _install(side: Management, provider) -> None:
    with stage("definitions served"):
        definitions = cluster_api.definitions(provider.CLUSTER_API) + provider.definitions()
        definitions = manifests.without_descriptions(definitions)
        side.apply_definitions(manifests.labelled(definitions, manifests.BY_CLUSTERCTL))
    provider.install_roles(side)
