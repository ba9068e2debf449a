"""Units, commands, kernel parameters, and directives smuggled into what is rendered."""

from functools import partial

from escapes import DROP, of_plan
from testbed.executor.plan import step

NOT_LISTED, NO_PROGRAM = "is not in allow.units", "is not in allow.executables"
NO_NAME, NO_SYSCTL = "expected a name kubexm-*.service", "sysctl key: expected"

_unit = partial(of_plan, "unit")


def _state(name: str, **wanted) -> dict:
    return step("unit-state", name=name, restart_key="", **wanted)


def _run(*argv: str, name: str = "kubexm-escape.service") -> dict:
    return step("transient-unit", name=name, argv=list(argv), timeout_seconds=5)


def _sysctl(key: str, value: str = "1") -> dict:
    return step("sysctl", key=key, value=value)


def _rendered(type_: str, **parameters) -> dict:
    return step("rendered-file", document={"type": type_, **parameters})


def _kubelet(**changes) -> dict:
    good = {"node_name": "n1", "node_ip": "", "provider_id": "byoh://n1", "labels": [], "taints": []}
    return _rendered("kubelet-service", **(good | changes))


def _proxy(**changes) -> dict:
    good = {"service": "kubelet", "http_proxy": "", "https_proxy": "", "no_proxy": ""}
    return _rendered("proxy-drop-in", **(good | changes))


ALL = [
    _unit("not-listed", NOT_LISTED, _state("dbus.service", active=False)),
    _unit("masked-journal", NOT_LISTED, _state("systemd-journald.service", masked=True)),
    _unit("template", NOT_LISTED, _state("kubelet@.service", enabled=True)),
    _unit("instance", NOT_LISTED, _state("kubelet@evil.service", active=True)),
    _unit("without-type", NOT_LISTED, _state("kubelet", active=True)),
    _unit("other-type", NOT_LISTED, _state("kubelet.socket", active=True)),
    _unit("path", NOT_LISTED, _state(f"{DROP}/kubelet.service", enabled=True)),
    _unit("parent", NOT_LISTED, _state("../kubelet.service", enabled=True)),
    _unit("newline", NOT_LISTED, _state("kubelet.service\nssh.service", active=False)),
    _unit("upper-case", NOT_LISTED, _state("Kubelet.service", active=True)),
    _unit("reload-of-others", NOT_LISTED, step("daemon-reload", units=["kubelet.service", "ssh.service"])),
    _unit("directive-in-name", "node_name", _kubelet(node_name="n1\nExecStartPre=/bin/sh -c id")),
    _unit("specifier-in-name", "node_name", _kubelet(node_name="%H")),
    _unit("flag-in-address", "node_ip", _kubelet(node_ip="--config=/tmp/x")),
    _unit("variable-in-provider", "provider_id", _kubelet(provider_id="byoh://${PATH}")),
    _unit("quote-in-label", "labels[0].value",
          _kubelet(labels=[{"key": "a", "value": 'b" --config="/tmp/x'}])),
    _unit("flag-in-label", "labels[0].key", _kubelet(labels=[{"key": "a --config", "value": "x"}])),
    _unit("newline-in-proxy", "http_proxy", _proxy(http_proxy="http://p:3128\nExecStart=/bin/sh")),
    _unit("quote-in-proxy", "https_proxy", _proxy(https_proxy='http://p:3128" "LD_PRELOAD=/tmp/x.so')),
    _unit("specifier-in-proxy", "no_proxy", _proxy(no_proxy="%h")),
    _unit("program-in-kubeconfig", "server",
          _rendered("kubeconfig", user="kubelet", server="https://a:6443\nusers: [{exec: x}]")),
    _unit("plain-text-server", "server", _rendered("kubeconfig", user="kubelet", server="http://a:6443")),
    _unit("plugin-in-containerd", "sandbox_image",
          _rendered("containerd-configuration", version=2, cgroup_driver="systemd",
                    sandbox_image='p"\n[plugins."x"]\n#')),
    _unit("unknown-document", "is not known", _rendered("crontab", line="* * * * * root id")),
    _unit("module-by-path", "is not in allow.modules", _rendered("modules-file", modules=["../../tmp/evil"])),
    _unit("module", "is not in allow.modules", step("kernel-module", name="evil")),
    _unit("command", NO_PROGRAM, _run("/bin/sh", "-c", "id")),
    _unit("relative-command", NO_PROGRAM, _run("true")),
    _unit("command-with-parent", NO_PROGRAM, _run("/usr/bin/../bin/true")),
    _unit("link-to-command", NO_PROGRAM, _run(f"{DROP}/true")),
    _unit("nul-in-command", "no NUL byte", _run("/usr/bin/true\0/bin/sh")),
    _unit("no-command", "argv: expected a command", _run()),
    _unit("name-of-the-executor", NO_NAME, _run("/usr/bin/true", name="kubexm-executor.service")),
    _unit("name-of-another", NO_NAME, _run("/usr/bin/true", name="ssh.service")),
    _unit("name-with-path", NO_NAME, _run("/usr/bin/true", name="kubexm-/../../etc/systemd/system/x.service")),
    _unit("core-pattern", "no configuration can allow it", _sysctl("kernel.core_pattern", "|/tmp/x")),
    _unit("core-pattern-in-a-file", "no configuration can allow it",
          _rendered("sysctl-file", values=[{"key": "kernel.core_pattern", "value": "|/tmp/x"}])),
    _unit("slashed-key", NO_SYSCTL, _sysctl("kernel/core_pattern", "|/tmp/x")),
    _unit("mixed-key", NO_SYSCTL, _sysctl("net.ipv4.conf/all/forwarding")),
    _unit("key-with-parent", NO_SYSCTL, _sysctl("fs.inotify.../../kernel/core_pattern", "|/tmp/x")),
    _unit("key-with-two-dots", NO_SYSCTL, _sysctl("kernel..core_pattern", "|/tmp/x")),
    _unit("key-with-wildcard", NO_SYSCTL, _sysctl("fs.inotify.*")),
    _unit("value-of-two-lines", "sysctl value: expected", _sysctl("net.ipv4.ip_forward", "1\nkernel.core_pattern=|/tmp/x")),
    _unit("key-not-listed", "is not in allow.sysctls", _sysctl("net.ipv4.conf.all.forwarding")),
]
