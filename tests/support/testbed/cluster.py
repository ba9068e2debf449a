"""A real Kubernetes control plane inside a sandbox, ready in seconds.

    with Cluster("workload") as cluster:
        cluster.kubectl("get", "namespaces")

The programs run as plain processes on an address of their own on the testbed's bridge; nodes reach
them there. Several clusters live side by side, each with certificate authorities of its own.
"""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import yaml

from testbed import bootstrap, components, evidence, kubernetes, network, pki, saved_cluster, waiting
from testbed.api import Api, Kinds
from testbed.process import Process

START_SECONDS = 180  # for a machine much slower than usual; 4 s are normal
KUBECTL_SECONDS = 180
COMPLAINTS = 15
APPLY = "fieldManager=kubectl&force=true&fieldValidation=Strict"

# For `kubectl logs` and `kubectl exec`; kubeadm makes such a binding in a later phase than those used here.
KUBELET_CLIENT = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: kube-apiserver-kubelet-client}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:kubelet-api-admin"}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: kube-apiserver-kubelet-client}
"""


class KubectlError(RuntimeError):
    pass


TROUBLE = (KubectlError, OSError)  # of asking a cluster: an API server that is busy or away may answer the next time


class Cluster:
    """One control plane. Attributes, once it is entered:

    name        also the name of the cluster in its kubeconfigs
    address     where all components listen; the API server at https://ADDRESS:6443 (`server`)
    directory   everything the cluster has on disk: pki/, *.conf, audit.log, logs/
    kubeconfig  path of a kubeconfig with all rights
    ca          path of the certificate authority of the API server and of client certificates
    processes   component name -> Process, for the names of components.NAMES
    api         plain HTTPS requests with all rights
    resumed     whether it has its content from an earlier cluster like it (saved_cluster)
    """

    def __init__(self, name: str = "workload", signing_duration: str = "8760h", plugins: str = "NodeRestriction",
                 content: str = "nothing"):
        """`signing_duration` is the longest validity of the certificates this cluster signs, `plugins` what checks
        requests besides kube-apiserver's defaults, `content` names what its maker puts into it before save()."""
        self.name = name
        self._content = content
        self._signing_duration = signing_duration
        self._plugins = plugins
        self.processes: dict[str, Process] = {}

    def __enter__(self) -> "Cluster":
        started = time.monotonic()
        self.address = network.claim_cluster_address()
        try:
            self._make()
            self._start()
        except BaseException:
            self.__exit__()
            raise
        print(f"  cluster {self.name} at {self.server}: ready in {time.monotonic() - started:.1f} s",
              file=sys.stderr, flush=True)
        return self

    def __exit__(self, *_) -> None:
        evidence.withdraw(self)
        for process in self.processes.values():
            process.kill()
        network.release(int(self.address.rsplit(".", 1)[1]))

    def kubectl(self, *arguments: str, input: str | None = None, kubeconfig: Path | None = None) -> str:
        """Runs kubectl and returns what it prints; a failure raises with what it complained about."""
        command = [str(kubernetes.programs() / "kubectl"), *arguments]
        done = subprocess.run(command, input=input, text=True, capture_output=True, timeout=KUBECTL_SECONDS,
                              env={**os.environ, **self.environment(kubeconfig)})
        if done.returncode != 0:
            raise KubectlError(f"`kubectl {' '.join(arguments)}` on cluster {self.name} ended with"
                               f" {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def environment(self, kubeconfig: Path | None = None) -> dict[str, str]:
        """What kubectl and everything else that reads KUBECONFIG needs to reach this cluster."""
        # kubectl keeps what it discovered by address, and addresses are used again in every sandbox.
        return {"KUBECONFIG": str(kubeconfig or self.kubeconfig),
                "KUBECACHEDIR": str(self.directory / "kubectl-cache")}

    def get(self, kind: str, name: str = "") -> dict | None:
        """As `kubectl get KIND [NAME] -o json`, but cheap to repeat; None when the object does not exist."""
        path = self._known(kind, self._kinds.path(kind))
        return self.api.get(f"{path}/{name}" if name else path)

    def patch(self, kind: str, name: str, change: dict, subresource: str = "") -> None:
        """As `kubectl patch --type=merge`, without the processor time of a kubectl."""
        path = self._known(kind, self._kinds.path(kind))
        self.api.request("PATCH", "/".join(filter(None, (path, name, subresource))), change, "application/merge-patch+json")

    def apply(self, manifest: str | Path) -> None:
        """Applies YAML (or JSON) text or a file, as `kubectl apply --server-side --force-conflicts` does."""
        text = manifest.read_text() if isinstance(manifest, Path) else manifest
        documents = [document for document in yaml.load_all(text, yaml.CSafeLoader) if document]
        for item in (item for document in documents for item in document.get("items", [document])):
            path = self._known(item["kind"], self._kinds.collection(item))
            self.api.request("PATCH", f"{path}/{item['metadata']['name']}?{APPLY}", item, "application/apply-patch+yaml")

    def _known(self, kind: str, path: str | None) -> str:
        if path is None:
            raise KubectlError(f"cluster {self.name} has no kind {kind}")
        return path

    def wait_for(self, what: str, condition: Callable, seconds: float = START_SECONDS):
        """Waits until `condition()` returns something true, and returns that.

        `what` names it in words for the message of a failure.
        """
        return waiting.until(f"{what} in cluster {self.name}", condition, seconds, self.complaints, TROUBLE)

    def create_bootstrap_token(self, groups: tuple[str, ...] = (bootstrap.NODE_GROUP,),
                               ttl: timedelta = timedelta(minutes=30)) -> str:
        """Makes a token that authenticates as a member of these groups, and returns it."""
        token = bootstrap.new_token()
        self.apply(json.dumps(bootstrap.secret(token, groups, ttl)))
        return token

    def bootstrap_kubeconfig(self, token: str) -> str:
        """The text of a kubeconfig that authenticates with a bootstrap token."""
        return bootstrap.kubeconfig(self.name, self.server, self.ca, {"token": token})

    def audit(self) -> Iterator[dict]:
        """The requests the API server has answered so far, oldest first (audit.k8s.io/v1 events)."""
        with open(self.directory / "audit.log") as log:
            yield from (json.loads(line) for line in log if line.endswith("\n"))

    def save(self) -> None:
        """Lets the next cluster like this one start with what this one has now."""
        with self.processes["etcd"].frozen():
            saved_cluster.save(self.directory, self._saved)

    def restart(self, component: str) -> None:
        """Kills one of components.NAMES and starts it again; returns when it answers."""
        self.processes[component].restart()
        self._wait_healthy(component)

    def backup(self) -> Path:
        """Copies etcd's data, for restore(). The API server is away for a moment."""
        copy = self.directory / "etcd-backup"
        self._while_away(lambda: shutil.copytree(self.directory / "etcd", copy))
        return copy

    def restore(self, copy: Path) -> None:
        """All objects are as they were at the backup, and resourceVersions count from there."""
        def replace() -> None:
            shutil.rmtree(self.directory / "etcd")
            shutil.copytree(copy, self.directory / "etcd")
        self._while_away(replace)

    def _while_away(self, action: Callable) -> None:
        for name in ("kube-apiserver", "etcd"):
            self.processes[name].kill()
        action()
        for name in ("etcd", "kube-apiserver"):
            self.processes[name].start()
        self._wait_healthy("kube-apiserver")

    def complaints(self) -> str:
        """The last warnings and errors in the logs of the components."""
        found = [f"{name}: {line}" for name, process in self.processes.items()
                 for line in process.log_lines() if re.match(r"[WEF]\d{4} ", line)][-COMPLAINTS:]
        return "\n".join([f"--- last complaints in {self.directory / 'logs'}", *found])

    def save_logs(self, directory: Path) -> None:
        """Copies the logs and the audit log, for a test that failed."""
        for log in (*(self.directory / "logs").iterdir(), self.directory / "audit.log"):
            shutil.copy(log, directory / f"{self.name}-{log.name}")

    def _make(self) -> None:
        evidence.provide(self, self.save_logs)
        self.server = f"https://{self.address}:6443"
        self.directory = _new_directory(self.name)
        logs = self.directory / "logs"
        logs.mkdir()
        self._saved = saved_cluster.entry(self.name, self.address, self._content)
        self.resumed = self._saved.is_dir()
        if self.resumed:
            saved_cluster.restore(self._saved, self.directory)
        else:
            pki.make(self.directory, self.name, self.address)
        self.kubeconfig, self.ca = self.directory / "super-admin.conf", self.directory / "pki/ca.crt"
        self.api = Api(self.kubeconfig.read_text())
        self._kinds = Kinds(self.api)
        lines = components.commands(self.directory, self.address, self._signing_duration, self._plugins)
        self.processes = {name: Process(name, line, logs / f"{name}.log") for name, line in lines.items()}

    def _start(self) -> None:
        self.processes["etcd"].start()
        self.processes["kube-apiserver"].start()  # waits for etcd by itself
        self._wait_healthy("kube-apiserver")
        clients = ("kube-controller-manager", "kube-scheduler")
        for name in clients:  # not before: they give up on an API server that does not answer
            self.processes[name].start()
        for name in clients:
            self._wait_healthy(name)
        if self.resumed:
            return
        self.apply(KUBELET_CLIENT)
        path = "/api/v1/namespaces/default/serviceaccounts/default"  # pods are refused without it
        self.wait_for("the default service account", lambda: self.api.get(path), START_SECONDS)
        if self._content == "nothing":
            self.save()

    def _wait_healthy(self, component: str) -> None:
        def healthy() -> bool:
            return components.is_healthy(component, self.address, self.api)
        self.processes[component].wait_until("a healthy answer", healthy, START_SECONDS)


def _new_directory(name: str) -> Path:
    """One for each cluster, also when several of a name follow each other: they are kept for their logs."""
    base = network.run_directory() / "clusters"
    base.mkdir(exist_ok=True)
    names = (name if number == 1 else f"{name}-{number}" for number in itertools.count(1))
    directory = next(base / name for name in names if not (base / name).exists())
    directory.mkdir()
    return directory
