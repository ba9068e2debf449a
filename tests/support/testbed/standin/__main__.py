"""Runs the stand-in: watches, and one worker that brings each changed object a step further.

    python3 -m testbed.standin --kubeconfig FILE --listen ADDRESS:PORT --certificates DIRECTORY
"""

import argparse
import http.client
import itertools
import logging
import os
import threading
import time
from pathlib import Path

from testbed.standin import webhook
from testbed.standin.bootstrap_kubeconfigs import BootstrapKubeconfigs
from testbed.standin.client import ApiError, Client
from testbed.standin.controllers import ByoClusters, ByoHosts, CertificateRequests, Installers
from testbed.standin.machines import ByoMachines
from testbed.standin.mapping import affected
from testbed.standin.provisioning import NoHost
from testbed.standin.queue import Queue

FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS = 0.005, 10
WATCHED = ("byohosts", "byomachines", "byoclusters", "k8sinstallerconfigs", "bootstrapkubeconfigs",
           "machines", "clusters", "certificatesigningrequests")
log = logging.getLogger("manager")


class Manager:
    def __init__(self, client: Client, pace: float, timeout_factor: float):
        self._client, self._pace, self._queue = client, pace, Queue()
        self._failures: dict[tuple[str, str, str], int] = {}
        self._controllers = {
            "byomachines": ByoMachines(client), "byohosts": ByoHosts(client, timeout_factor),
            "byoclusters": ByoClusters(client), "k8sinstallerconfigs": Installers(client),
            "bootstrapkubeconfigs": BootstrapKubeconfigs(client),
        }
        if os.environ.get("MANUAL_CSR_APPROVAL") != "enable":
            self._controllers["certificatesigningrequests"] = CertificateRequests(client)

    def run(self) -> None:
        for resource in WATCHED:
            threading.Thread(target=self._watch, args=(resource,), daemon=True).start()
        while True:
            self._work(self._queue.take())

    def _watch(self, resource: str) -> None:
        while True:
            try:
                items, version = self._client.list_all(resource)
                for value in itertools.chain(items, self._client.follow(resource, version)):
                    for item in affected(self._client, resource, value):
                        self._queue.add(item)
            except (OSError, ApiError, http.client.HTTPException) as error:
                log.warning("watch of %s ended: %s", resource, error)
                time.sleep(0.05)  # the API server is away; it is asked again until it is back

    def _work(self, item: tuple[str, str, str]) -> None:
        resource, namespace, name = item
        if resource not in self._controllers:
            return
        try:
            again = self._controllers[resource].reconcile(namespace, name)
        except Exception as error:  # whatever it was, the manager lives on and tries again
            self._retry(item, error)
            return
        self._failures.pop(item, None)
        if again is not None:
            self._queue.add(item, again * self._pace)

    def _retry(self, item: tuple[str, str, str], error: Exception) -> None:
        count = self._failures[item] = self._failures.get(item, -1) + 1
        expected = isinstance(error, (NoHost, ValueError, ApiError, OSError, http.client.HTTPException))
        log.error("%s: %s", " ".join(item), error, exc_info=not expected)
        self._queue.add(item, min(FIRST_RETRY_SECONDS * 2 ** count, LAST_RETRY_SECONDS * self._pace))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--listen", required=True, help="ADDRESS:PORT of the admission webhook")
    parser.add_argument("--certificates", type=Path, required=True, help="directory with tls.crt and tls.key")
    parser.add_argument("--pace", type=float, default=1, help="factor on every wait; 1 is the real manager's pace")
    parser.add_argument("--timeout-factor", type=float, default=1, help="factor on the time that a host has to clean up")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    address, port = arguments.listen.rsplit(":", 1)
    webhook.serve(address, int(port), arguments.certificates)
    Manager(Client(arguments.kubeconfig.read_text()), arguments.pace, arguments.timeout_factor).run()


if __name__ == "__main__":
    main()
