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
PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler",
            "kubelet", "kubeadm", "kubectl", "kube-proxy")


def version() -> str:
    return os.environ.get("KUBEXM_TEST_K8S") or _default_version()


def minor() -> int:
    return int(version().split(".")[1])


@functools.cache
def programs() -> Path:
    """The directory with the seven programs of Kubernetes, in the version of this run."""
    wanted = version()
    return gobuild.build(f"Kubernetes {wanted}", _module(wanted),
                         {name: f"k8s.io/kubernetes/cmd/{name}" for name in PROGRAMS}, ldflags=_version_flags(wanted))


@functools.cache
def etcd() -> Path:
    return gobuild.build("etcd", MODULES / "etcd", {"etcd": "."})


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


def prepare() -> None:
    """Builds everything; for the time before a sandbox, which has no network."""
    etcd()
    programs()
    containerd()
    images()


def _default_version() -> str:
    return _required(MODULES / "core", "k8s.io/kubernetes")


def _required(module: Path, path: str) -> str:
    """The version of a module that go.mod names: the one place where it is written."""
    return re.search(rf"^require {re.escape(path)} v(\S+)$", (module / "go.mod").read_text(), re.MULTILINE).group(1)


def _version_flags(wanted: str) -> str:
    """Without these the programs do not know which version they are."""
    numbers = wanted.split(".")
    values = {"gitVersion": f"v{wanted}", "gitMajor": numbers[0], "gitMinor": numbers[1]}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(f"-X {package}.{name}={value}" for package in packages for name, value in values.items())


def _module(wanted: str) -> Path:
    if wanted == _default_version():
        return MODULES / "core"
    key = cache.digest(wanted, MODULES / "core/tools.go")
    return cache.entry("go-modules", key, f"Go module for Kubernetes {wanted}",
                       lambda target: _make_module(wanted, target))


def _make_module(wanted: str, target: Path) -> None:
    """Writes a go.mod for a version: each library that Kubernetes carries in its own tree is
    replaced by its release, which has the same minor and patch number under major 0."""
    shutil.copy(MODULES / "core/tools.go", target)
    (target / "go.mod").write_text("module kubexm.test/kubernetes\n")
    answer = json.loads(gobuild.go(target, "mod", "download", "-json", f"k8s.io/kubernetes@v{wanted}"))
    released = Path(answer["GoMod"]).read_text()
    language = re.findall(r"^(?:go|godebug) .*$", released, re.MULTILINE)
    libraries = re.findall(r"(k8s\.io/\S+) => \./staging/", released)
    release = f"v0.{wanted.split('.', 1)[1]}"
    replaces = [f"replace {name} => {name} {release}" for name in libraries]
    (target / "go.mod").write_text("\n".join(
        ["module kubexm.test/kubernetes", *language, f"require k8s.io/kubernetes v{wanted}", *replaces, ""]))
    gobuild.go(target, "mod", "tidy")
