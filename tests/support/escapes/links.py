"""Links that the attacker put into a directory of its own which root listed: the executor would be led elsewhere."""

from escapes import directory, of_plan, secret
from escapes.host import DROP, OTHERS
from escapes.lists import make_and_give_back
from escapes.probes import gone, made, says
from testbed.executor.plan import step

FOLLOWED = "is a symbolic link, which is not followed"
OUT = f"{DROP}/out"  # leads to OTHERS


def _link(aim: str, each: dict, reached, **more):
    return of_plan(f"{aim} behind its link", "followed-links", FOLLOWED, each, reached=reached, **more)


ALL = [
    _link("a file", secret(f"{OUT}/new"), made(f"{OTHERS}/new")),
    _link("a file far", secret(f"{DROP}/a/b/out/new"), made(f"{OTHERS}/new")),
    _link("a file through proc", secret(f"{DROP}/process-root{OTHERS}/new"), made(f"{OTHERS}/new")),
    _link("a directory", directory(f"{OUT}/new"), made(f"{OTHERS}/new")),
    _link("a link", step("symlink", path=f"{OUT}/new", target="file"), made(f"{OTHERS}/new")),
    _link("a block", step("managed-block", path=f"{OUT}/table", name="n", lines=["x y"]), says(f"{OTHERS}/table", "x y")),
    _link("the end of a file", step("absent-path", path=f"{OUT}/file"), gone(f"{OTHERS}/file")),
    _link("the end of a tree", step("deleted-tree", path=f"{OUT}/tree"), gone(f"{OTHERS}/tree")),
    _link("the end of what root will make", step("claim", path=f"{OUT}/tree"), gone(f"{OTHERS}/tree/made-later"),
          after=make_and_give_back(f"{OTHERS}/tree/made-later")),
]
