"""The management side: Cluster API and an infrastructure provider, on top of a cluster.

    with Cluster("management") as cluster, management.start("kubexm", cluster) as side:
        cluster.apply(...)

Profile `byoh` is the BYOH provider as released, with all of Cluster API; profile `kubexm` has the CRDs of its Kubexm mode and a
stand-in for that manager (testbed.standin), with Cluster API's core, which is all it needs.
"""

import contextlib
import sys
import time
from collections.abc import Iterator

from testbed.cluster import Cluster
from testbed.management import byoh, cluster_api, home, kubexm, manifests
from testbed.management.side import Management, stage

PROFILES = {"byoh": byoh, "kubexm": kubexm}


@contextlib.contextmanager
def start(profile: str, cluster: Cluster, pace: float = 1, timeout_factor: float = 1) -> Iterator[Management]:
    """Starts the managers of a profile and stops them at the end.

    `pace` is a factor on the waits of the stand-in: its real counterpart looks again every 10 s, which few tests
    have the time for. `timeout_factor` is one on the minutes after which it releases a host by force, which few want.
    """
    provider, started = PROFILES[profile], time.monotonic()
    directory = cluster.directory / "management"
    directory.mkdir()
    with home.make(directory) as place:
        side = Management(profile, cluster, place, directory)
        try:
            _bring_up(side, provider, pace, timeout_factor)
            print(f"  management {profile} on {cluster.name}: ready in {time.monotonic() - started:.1f} s",
                  file=sys.stderr, flush=True)
            yield side
        finally:
            side.stop()


def _bring_up(side: Management, provider, pace: float, timeout_factor: float) -> None:
    with stage("definitions served"):
        definitions = cluster_api.definitions(provider.CLUSTER_API) + provider.definitions()
        side.apply_definitions(manifests.labelled(definitions, manifests.BY_CLUSTERCTL))
    with stage("managers started"):
        cluster_api.launch(side, provider.CLUSTER_API)
        provider.launch(side, pace, timeout_factor)
    with stage("Cluster API answers, webhooks work"):
        cluster_api.wait(side, provider.CLUSTER_API)
    with stage("provider answers, webhooks work"):
        provider.wait(side)
    side.cluster.apply(manifests.SHIPPED / "host-policy.yaml")  # every flow works with it
