"""Which objects have to be looked at when one changes."""

from collections.abc import Iterator

from testbed.standin import names
from testbed.standin.client import Client
from testbed.standin.objects import at, key


def affected(client: Client, resource: str, value: dict) -> Iterator[tuple[str, str, str]]:
    """Yields (resource, namespace, name): the object itself and those that depend on it."""
    namespace, name = key(value)
    yield resource, namespace, name
    if resource == "byohosts" and (machine := at(value, "status", "machineRef")):
        # Only through the reference: a host that was released wakes nobody. On purpose.
        yield "byomachines", machine["namespace"], machine["name"]
    elif resource == "byomachines":
        yield "k8sinstallerconfigs", namespace, name
    elif resource == "machines" and at(value, "spec", "infrastructureRef", "kind") == "ByoMachine":
        yield "byomachines", namespace, value["spec"]["infrastructureRef"]["name"]
    elif resource == "clusters":
        for machine in client.find("byomachines", namespace, f"{names.LABEL_CLUSTER}={name}"):
            yield "byomachines", *key(machine)
