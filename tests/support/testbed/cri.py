"""Pods without kubelet: asks a node's containerd over CRI, with messages written by hand."""

from testbed import waiting
from testbed.node import Node

READY_SECONDS = 60
NOT_YET = ("grpc-status: 14", "server is not initialized yet")  # the second in versions that call it unknown
SOCKET = "/run/containerd/containerd.sock"
OWN_NETWORK, NETWORK_OF_THE_NODE = b"\x08\x00", b"\x08\x02"


def run_pod(node: Node, name: str, network: bytes = NETWORK_OF_THE_NODE) -> str:
    """Starts an empty pod; returns its id."""
    metadata = member(1, name.encode()) + member(2, name.encode()) + member(3, b"default")
    linux = member(1, b"system.slice") + member(2, member(1, network))
    answer = ask(node, "RunPodSandbox", member(1, member(1, metadata) + member(8, linux)))
    return answer[2:].decode()  # its only member


def remove_pod(node: Node, pod: str) -> None:
    ask(node, "StopPodSandbox", member(1, pod.encode()))
    ask(node, "RemovePodSandbox", member(1, pod.encode()))


def pods(node: Node) -> list[str]:
    """The ids of the pods whose first process runs, in the order of their names."""
    return sorted(node.run(["ctr", "--namespace", "k8s.io", "tasks", "ls", "--quiet"]).stdout.split())


def member(number: int, value: bytes) -> bytes:
    assert len(value) < 128, "a longer length has more than one byte"
    return bytes([number << 3 | 2, len(value)]) + value


def ask(node: Node, method: str, message: bytes) -> bytes:
    """A containerd that has just been started may be ready before it serves CRI: then it is asked again."""
    def headers() -> str:
        found = node.run(["curl", "--silent", "--show-error", "--dump-header", "-", "--http2-prior-knowledge",
                          "--unix-socket", SOCKET, "--header", "Content-Type: application/grpc",
                          "--header", "TE: trailers", "--data-binary", "@/run/cri-request",
                          "--output", "/run/cri-answer", f"http://localhost/runtime.v1.RuntimeService/{method}"]).stdout
        return "" if any(words in found for words in NOT_YET) else found

    node.write("/run/cri-request", b"\0" + len(message).to_bytes(4, "big") + message)
    said = waiting.until("containerd to serve CRI", headers, READY_SECONDS, node.journal)
    assert "grpc-status: 0" in said, said
    answer = node.read("/run/cri-answer")[5:]
    node.run(["rm", "/run/cri-request", "/run/cri-answer"])
    return answer
