"""The management side of one cluster: what its profiles are made with."""

import contextlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from testbed import evidence, waiting
from testbed.cluster import TROUBLE, Cluster
from testbed.management import certificates, manifests, programs
from testbed.management.home import Home
from testbed.process import Process

START_SECONDS = 180  # for a machine much slower than usual


class Management:
    """Attributes:

    profile     "byoh" or "kubexm"
    cluster     the cluster it manages from
    processes   name -> Process of each manager
    directory   logs and certificates
    """

    def __init__(self, profile: str, cluster: Cluster, home: Home, directory: Path):
        self.profile, self.cluster, self.home, self.directory = profile, cluster, home, directory
        self.processes: dict[str, Process] = {}
        self.certificates = cluster.directory / "webhook-certificates"
        if not cluster.resumed:
            certificates.make(self.certificates, home.address)
        evidence.provide(self, self.save_logs)

    def describe(self, name: str, namespace: str = "default") -> str:
        """What `clusterctl describe cluster` says."""
        return self.clusterctl("describe", "cluster", name, "--namespace", namespace, "--show-conditions", "all")

    def clusterctl(self, *arguments: str) -> str:
        """Runs clusterctl and returns what it prints; a failure raises with what it complained about."""
        # No configuration of the user, and no question to the internet about newer versions.
        own = {"HOME": str(self.directory), "XDG_CONFIG_HOME": str(self.directory / "config"),
               "CLUSTERCTL_DISABLE_VERSIONCHECK": "true"}
        done = subprocess.run([programs.kubeadm_providers() / "clusterctl", *arguments], env={**self.cluster.environment(), **own},
                              capture_output=True, text=True, timeout=START_SECONDS)
        if done.returncode != 0:
            raise AssertionError(f"`clusterctl {' '.join(arguments)}` ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def apply(self, objects: list[dict]) -> None:
        self.cluster.apply(manifests.dump(objects))

    def apply_definitions(self, definitions: list[dict]) -> None:
        """Creates CRDs and returns when the API server serves them."""
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        with ThreadPoolExecutor(8) as pool:  # one by one they take seconds
            list(pool.map(lambda item: self.cluster.api.request("POST", path, item), definitions))
        wanted = manifests.resources(definitions)
        self.wait_for("the kinds of all definitions", lambda: wanted <= self._served(wanted))

    def _served(self, wanted: set[tuple[str, str]]) -> set[tuple[str, str]]:
        """What the API server offers under the paths of the wanted resources."""
        groups = {path: self.cluster.api.get(path) or {"resources": []} for path, _ in wanted}
        return {(path, item["name"]) for path, group in groups.items() for item in group["resources"]}

    def apply_webhooks(self, configurations: list[dict], prefix: str, port: int) -> None:
        named = manifests.prefixed(configurations, prefix, "")
        authority = (self.certificates / "tls.crt").read_bytes()
        self.apply(manifests.served_at(named, f"https://{self.home.address}:{port}", authority))

    def start(self, name: str, command: list[str], environment: dict[str, str] | None = None) -> Process:
        process = Process(name, [*self.home.enter, *command], self.directory / f"{name}.log",
                          {**self.cluster.environment(), **(environment or {})})
        self.processes[name] = process
        process.start()
        return process

    def stop(self) -> None:
        evidence.withdraw(self)
        for process in self.processes.values():
            process.kill()

    def wait_for(self, what: str, condition: Callable, seconds: float = START_SECONDS):
        """Waits until `condition()` returns something true, and returns that."""
        return waiting.until(what, condition, seconds, self.tails, TROUBLE)

    def save_logs(self, directory: Path) -> None:
        for process in self.processes.values():
            shutil.copy(process.log, directory / f"{self.cluster.name}-{process.log.name}")

    def tails(self) -> str:
        """The end of every manager's log."""
        return "\n".join(process.tail() for process in self.processes.values())


@contextlib.contextmanager
def stage(title: str) -> Iterator[None]:
    """Says how long a part of the start took."""
    started = time.monotonic()
    yield
    print(f"    {title}: {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
