"""Units, commands, kernel parameters and modules of others."""

from escapes import Escape, of_plan, rendered
from escapes.host import DROP, MODULES_ASKED_FOR, RAN
from escapes.lists import touch, unit_state
from escapes.probes import edit_unit, made, says, start, sysctl, unit
from testbed import executor_wire
from testbed.executor.client import plan, reason
from testbed.executor.plan import step
from testbed.node import Node

NOT_LISTED, NO_PROGRAM, NO_NAME = "is not in allow.units", "is not in allow.executables", "expected a name kubexm-*.service"
# Of the node's own network: others belong to the machine on which the tests run.
PORTS = "net.ipv4.ip_unprivileged_port_start"
SYSCTL_FILE = "/etc/sysctl.d/99-kubexm.conf"
MODULES_FILE = "/etc/modules-load.d/kubexm.conf"


def _unit(aim: str, name: str, property_: str, value: str, before=lambda _: None, **wanted) -> Escape:
    return of_plan(aim, "units", NOT_LISTED, unit_state(name, **wanted), reached=unit(name, property_, value), before=before)


def _run(aim: str, *argv: str) -> Escape:
    return of_plan(aim, "executables", NO_PROGRAM, step("transient-unit", name="kubexm-escape.service", argv=list(argv),
                                                         timeout_seconds=20), reached=made(RAN))


def _sysctls(*values: tuple[str, str]) -> dict:
    return rendered("sysctl-file", values=[{"key": key, "value": value} for key, value in values])


def _sysctl(aim: str, stopped_by: str, because: str, key: str, value: str, changed: str) -> Escape:
    return of_plan(aim, stopped_by, because, step("sysctl", key=key, value=value), reached=sysctl(changed, value))


def _look_at_a_denied_one() -> Escape:
    """Only asked for its value: a node shares it with the machine on which the tests run."""
    wanted = step("sysctl", key="kernel.core_pattern", value="core")
    shown: list[str] = []

    def attempt(node: Node) -> str:
        with executor_wire.connect(node) as wire:
            wire.hello()
            wire.send({"type": "preview", "plan": plan("preview", wanted)})
            shown[:] = [str(wire.receive())]
            return reason(wire.last()) if "step-preview" in shown[0] else shown[0]

    return Escape("the program that the kernel runs", ("sysctl",), ("denied-sysctls", "sysctls"),
                  "no configuration can allow it", attempt, lambda _: "step-preview" in shown[0])


ALL = [
    _unit("another service stopped", "others.service", "ActiveState", "inactive", start("others.service"), active=False),
    _unit("another service masked", "others.service", "UnitFileState", "masked", masked=True),
    _unit("another service started at boot", "others.service", "UnitFileState", "enabled", enabled=True),
    _unit("an instance of another service", "others@other.service", "ActiveState", "active", active=True),
    of_plan("another service loaded anew", "units", NOT_LISTED,
            step("daemon-reload", units=["listed.service", "others.service"]),
            reached=unit("others.service", "NeedDaemonReload", "no"), before=edit_unit("others.service")),
    _run("a shell", "/bin/sh", "-c", f"touch {RAN}"),
    _run("a program of its own", f"{DROP}/program"),
    _run("a listed program by another path", "/bin/touch", RAN),
    of_plan("a command in the name of another service", "transient-names", NO_NAME, touch(RAN, "escape.service"),
            reached=made(RAN)),
    of_plan("a command in the name of an instance", "transient-names", NO_NAME, touch(RAN, "kubexm-escape@1.service"),
            reached=made(RAN)),
    _sysctl("ports of root for everybody", "sysctls", "is not in allow.sysctls", PORTS, "0", PORTS),
    _sysctl("packets with a route of their own", "sysctls", "is not in allow.sysctls",
            "net.ipv4.conf.all.accept_source_route", "1", "net.ipv4.conf.all.accept_source_route"),
    _sysctl("any parameter through a listed one", "sysctl-keys path-components", "sysctl key: expected",
            "fs.inotify.//.//.net.ipv4.ip_unprivileged_port_start", "0", PORTS),
    _look_at_a_denied_one(),
    of_plan("a program that the kernel runs after a boot", "denied-sysctls sysctls", "no configuration can allow it",
            _sysctls(("kernel.core_pattern", "core")), reached=says(SYSCTL_FILE, "core_pattern")),
    of_plan("ports of root for everybody after a boot", "sysctls", "is not in allow.sysctls", _sysctls((PORTS, "0")),
            reached=says(SYSCTL_FILE, PORTS)),
    of_plan("a parameter in the value of a listed one", "sysctl-values parameters", "values[0].value: expected",
            _sysctls(("net.ipv4.ip_forward", "1\nkernel.core_pattern = core")),
            reached=says(SYSCTL_FILE, "\nkernel.core_pattern")),
    of_plan("a module of its own", "modules", "is not in allow.modules", rendered("modules-file", modules=["other"]),
            step("kernel-module", name="other"), reached=says(MODULES_ASKED_FOR, "other")),
    of_plan("a module of the kernel that nobody listed", "modules", "is not in allow.modules",
            rendered("modules-file", modules=["pcspkr"]), step("kernel-module", name="pcspkr"),
            reached=says(MODULES_ASKED_FOR, "pcspkr")),
    of_plan("a module of its own after a boot", "modules", "is not in allow.modules",
            rendered("modules-file", modules=["other"]), reached=says(MODULES_FILE, "other")),
    of_plan("a module in the name of a listed one", "modules parameters", "modules[0]: expected a kernel module",
            rendered("modules-file", modules=["overlay\nevil"]), reached=says(MODULES_FILE, "\nevil")),
]
