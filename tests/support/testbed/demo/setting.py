"""The cluster and the machine of the demo, and how their answers are printed."""

import shlex
import textwrap

from testbed.host import Host
from testbed.management.side import Management

WIDTH = 100


class Setting:
    """Attributes: `side`, the management cluster, and `host`, once there is one.

    All that is printed is the output of a command, below that command; a person can run the same ones.
    """

    def __init__(self, side: Management) -> None:
        self.side = side
        self.host: Host | None = None
        self.dull: set[str] = set()  # texts of steps that are only counted

    def kubectl(self, *arguments: str) -> str:
        return quote(f"kubectl {shlex.join(arguments)}", self.side.cluster.kubectl(*arguments))

    def on_node(self, *argv: str, check: bool = True) -> str:
        node = self.host.node
        return quote(f"{node.name} {shlex.join(argv)}", node.run(argv, check=check).stdout)


def chapter(title: str, sentence: str) -> None:
    say(f"\n{title}\n{textwrap.fill(sentence, WIDTH, initial_indent='  ', subsequent_indent='  ')}")


def quote(command: str, answer: str) -> str:
    return note(f"$ {command}", answer)


def note(about: str, answer: str) -> str:
    say(f"    {about}")
    for line in answer.splitlines() or ["(prints nothing)"]:
        answered(line)
    return answer


def answered(line: str) -> None:
    say(f"        {line}".rstrip())


def say(text: str) -> None:
    print(text, flush=True)  # a pipe gets each line at once, too
