"""Paths, owners and modes that no allow-list permits."""

from functools import partial

from escapes import CA, DROP, data, of_plan, secret
from testbed import executor_wire
from testbed.executor.client import ACCESS
from testbed.executor.plan import step

PKI = "/etc/kubernetes/pki"
NOT_PLAIN, NOT_BELOW = "expected an absolute path", "is not below a directory"
FOR_ROOT = "expected owner and group root"

_path = partial(of_plan, "path")


def _block(path: str, *lines: str, name: str = "names") -> dict:
    return step("managed-block", path=path, name=name, lines=list(lines))


def _component(name: str = "kubelet", version: str = "v1", **file) -> dict:
    return step("component-version", component=name, version=version,
                files=[{"path": "kubelet", "digest": executor_wire.digest(CA), "mode": "0755"} | file])


ALL = [
    _path("parent", NOT_PLAIN, data(f"{PKI}/../../shadow")),
    _path("parent-at-the-end", NOT_PLAIN, data(f"{PKI}/..")),
    _path("dot", NOT_PLAIN, data(f"{PKI}/./ca.crt")),
    _path("two-slashes", NOT_PLAIN, data("/etc/kubernetes//pki/ca.crt")),
    _path("slash-at-the-end", NOT_PLAIN, data(f"{PKI}/ca.crt/")),
    _path("relative", NOT_PLAIN, data("etc/kubernetes/pki/ca.crt")),
    _path("empty", NOT_PLAIN, data("")),
    _path("nul", "no NUL byte", data(f"{PKI}/ca.crt\0.conf")),
    _path("newline", NOT_PLAIN, data(f"{PKI}/ca\n.crt")),
    _path("right-to-left", NOT_PLAIN, data(f"{PKI}/\u202etrc.ac")),
    _path("line-separator", NOT_PLAIN, data(f"{PKI}/ca\u2028.crt")),
    _path("next-line", NOT_PLAIN, data(f"{PKI}/ca\u0085.crt")),
    _path("escape-sequence", NOT_PLAIN, data(f"{PKI}/\x1b[2Jca.crt")),
    _path("long", NOT_PLAIN, data(f"{PKI}/" + "a/" * 600 + "ca.crt")),
    _path("neighbour", NOT_BELOW, data(f"{PKI}2/ca.crt")),
    _path("above", NOT_BELOW, step("deleted-tree", path="/etc")),
    _path("root", NOT_PLAIN, step("deleted-tree", path="/")),
    _path("process-root", NOT_BELOW, data("/proc/self/root/etc/kubernetes/pki/ca.crt")),
    _path("other-steps-list", NOT_BELOW,
          step("secret-file", path="/etc/cni/net.d/x", handle="x", digest="0" * 64, access=ACCESS | {"mode": "0600"})),
    _path("static-pod", NOT_BELOW, data("/etc/kubernetes/manifests/root.yaml")),
    _path("setuid", FOR_ROOT, data(f"{PKI}/shell", mode="4755")),
    _path("executable", FOR_ROOT, data(f"{PKI}/shell", mode="0755")),
    _path("writable-by-all", FOR_ROOT, data(f"{PKI}/ca.crt", mode="0666")),
    _path("no-mode", "expected a mode", data(f"{PKI}/ca.crt", mode="rw-r")),
    _path("own-file", FOR_ROOT, data(f"{PKI}/ca.crt", uid=1000)),
    _path("own-directory", FOR_ROOT,
          step("directory", path="/etc/kubernetes", access=ACCESS | {"mode": "0755", "uid": 1000})),
    _path("own-group", FOR_ROOT,
          step("directory", path="/etc/kubernetes", access=ACCESS | {"mode": "0750", "gid": 1000})),
    _path("secret-for-all", FOR_ROOT, step("secret-file", path=f"{PKI}/x", handle="x", digest="0" * 64, access=ACCESS)),
    _path("directory-for-all", FOR_ROOT, step("directory", path="/etc/kubernetes", access=ACCESS | {"mode": "1777"})),
    _path("mount-at-boot", NOT_BELOW, _block("/etc/fstab", f"{DROP}/image /usr/local/bin ext4 loop 0 0")),
    _path("crontab", NOT_BELOW, _block("/etc/crontab", "* * * * * root id")),
    _path("client-ca-as-a-secret", "expected a data-file of kind ca-bundle", secret("/etc/kubernetes/pki/client-ca.crt")),
    _path("client-ca-as-a-link", "expected a data-file of kind ca-bundle",
          step("symlink", path="/etc/kubernetes/pki/client-ca.crt", target="other.crt")),
    _path("directory-of-cas-as-a-link", "expected a data-file of kind ca-bundle",
          step("symlink", path="/etc/kubernetes/pki", target="/etc/kubernetes/pki/other")),
    _path("component-not-listed", "is not in allow.components", _component("bash")),
    _path("component-not-trusted", "trusted digests", _component()),
    _path("component-version-outside", "version: expected", _component(version="../../etc")),
    _path("component-version-in-use", "version: expected", _component(version="current")),
    _path("component-file-outside", NOT_PLAIN, _component(path="../../../etc/passwd")),
    _path("component-setuid", "expected a mode within 0755", _component(mode="4755")),
    _path("two-lines-in-one", "block: expected one line", _block("/etc/hosts", "10.0.0.1 a\n10.0.0.2 b")),
    _path("name-of-two-lines", "block: expected one line", _block("/etc/hosts", name="a\n10.0.0.1 b")),
    _path("block-that-ends-early", "block: expected one line",
          _block("/etc/hosts", "# kubexm end: names", "10.0.0.1 a")),
]
