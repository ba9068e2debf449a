"""The programs of Kubernetes, etcd and containerd, built from Go modules and kept in the cache.

The version that every test uses stands in tests/support/kubernetes/core/go.mod; another one is
chosen with KUBEXM_TEST_K8S=1.36.3 and built from a copy of that module with other versions.
"""

import functools
import json
import os
import re
import shutil
from pathlib import Path

from testbed import cache, gobuild

MODULES = Path(__file__).parents[1] / "kubernetes"
OURS = "kubexm.test/kubernetes"  # the program of core/main.go, and its other names
CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubeadm", "kubectl")
ETCD = "go.etcd.io/etcd/server/v3"


def version() -> str:
    return os.environ.get("KUBEXM_TEST_K8S") or _default_version()


def minor() -> int:
    return int(version().split(".")[1])


@functools.cache
def programs() -> Path:
    """The directory with the programs of the control plane and kubelet, in the version of this run."""
    wanted = version()
    return gobuild.build(f"Kubernetes {wanted}", _module(wanted),
                         {"kubernetes": OURS, "kubelet": "k8s.io/kubernetes/cmd/kubelet"},
                         ldflags=_version_flags(wanted), names={"kubernetes": CONTROL_PLANE})


@functools.cache
def node_programs() -> Path:
    """kubeadm and kube-proxy for nodes, each the program that Kubernetes ships."""
    wanted = version()
    return gobuild.build(f"programs of nodes {wanted}", _module(wanted),
                         {name: f"k8s.io/kubernetes/cmd/{name}" for name in ("kubeadm", "kube-proxy")},
                         ldflags=_version_flags(wanted))


def on_nodes(name: str) -> Path:
    """The program of that name as a node gets it."""
    return (programs() if name == "kubelet" else node_programs()) / name


@functools.cache
def containerd() -> Path:
    """containerd 2 with ctr and its shim, for nodes that are to have a newer one than Debian's."""
    module = "github.com/containerd/containerd/v2"
    released = _required(MODULES / "containerd", module)
    names = ("containerd", "ctr", "containerd-shim-runc-v2")
    return gobuild.build(f"containerd {released}", MODULES / "containerd",
                         {name: f"{module}/cmd/{name}" for name in names}, tags="no_btrfs",
                         ldflags=f"-X {module}/version.Version={released}")


@functools.cache
def images() -> Path:
    """The programs that the container images of test pods consist of."""
    names = ("pause", "greeter")
    return gobuild.build("programs for container images", MODULES / "images", {name: f"./{name}" for name in names})


def _default_version() -> str:
    return _required(MODULES / "core", "k8s.io/kubernetes")


def _required(module: Path, path: str) -> str:
    """The version of a module that go.mod names: the one place where it is written."""
    return re.search(rf"^(?:require |\t){re.escape(path)} v(\S+)$", (module / "go.mod").read_text(), re.MULTILINE).group(1)


def _version_flags(wanted: str) -> str:
    """Without these the programs do not know which version they are."""
    numbers = wanted.split(".")
    values = {"gitVersion": f"v{wanted}", "gitMajor": numbers[0], "gitMinor": numbers[1]}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(f"-X {package}.{name}={value}" for package in packages for name, value in values.items())


def _module(wanted: str) -> Path:
    if wanted == _default_version():
        return MODULES / "core"
    key = cache.digest(wanted, *_sources())
    return cache.entry("go-modules", key, f"Go module for Kubernetes {wanted}",
                       lambda target: _make_module(wanted, target))


def _sources() -> list[Path]:
    return sorted((MODULES / "core").glob("*.go"))


def _make_module(wanted: str, target: Path) -> None:
    """Writes a go.mod for a version: each library that Kubernetes carries in its own tree is
    replaced by its release, which has the same minor and patch number under major 0."""
    for source in _sources():
        shutil.copy(source, target)
    (target / "go.mod").write_text(f"module {OURS}\n")
    answer = json.loads(gobuild.go(target, "mod", "download", "-json", f"k8s.io/kubernetes@v{wanted}"))
    released = Path(answer["GoMod"]).read_text()
    language = re.findall(r"^(?:go|godebug) .*$", released, re.MULTILINE)
    libraries = re.findall(r"(k8s\.io/\S+) => \./staging/", released)
    etcd = re.search(r"go\.etcd\.io/etcd/client/v3 (v\S+)", released).group(1)
    release = f"v0.{wanted.split('.', 1)[1]}"
    replaces = [f"replace {name} => {name} {release}" for name in libraries]
    (target / "go.mod").write_text("\n".join(
        [f"module {OURS}", *language, f"require k8s.io/kubernetes v{wanted}", f"require {ETCD} {etcd}", *replaces, ""]))
    gobuild.go(target, "mod", "tidy")
