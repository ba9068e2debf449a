"""Links that the attacker planted in a directory of his own which root allowed."""

from functools import partial

from escapes import DROP, data, of_plan, secret
from testbed.executor.client import ACCESS
from testbed.executor.plan import step

FOLLOWED, HARD = "is a symbolic link, which is not followed", "hard links"

# Made before anything is tried: the attacker can do all of it but the hard link, which the kernel
# only lets him make where fs.protected_hardlinks is off.
PLANTED = f"""
set -e
mkdir -p {DROP}/a/b
ln -s /etc {DROP}/out
ln -s /etc {DROP}/a/b/out
ln -s /etc/hosts {DROP}/hosts
ln -s /proc/self/root {DROP}/process-root
ln -s /proc/self/fd {DROP}/descriptors
ln -s loop {DROP}/loop
ln -s /usr/bin/true {DROP}/true
mkfifo {DROP}/pipe
chown -hR kubexm:kubexm {DROP}
ln /etc/shadow {DROP}/hard
"""

_link = partial(of_plan, "link")


ALL = [
    _link("data-file", FOLLOWED, data(f"{DROP}/out/kubexm-escape")),
    _link("secret-file", FOLLOWED, secret(f"{DROP}/out/kubexm-escape")),
    _link("directory", FOLLOWED, step("directory", path=f"{DROP}/out/kubexm-escape", access=ACCESS | {"mode": "0755"})),
    _link("link", FOLLOWED, step("symlink", path=f"{DROP}/out/kubexm-escape", target="passwd")),
    _link("absent-path", FOLLOWED, step("absent-path", path=f"{DROP}/out/hostname")),
    _link("deleted-tree-below", FOLLOWED, step("deleted-tree", path=f"{DROP}/out/ssl")),
    _link("deleted-tree-itself", "link", step("deleted-tree", path=f"{DROP}/out")),
    _link("claim", FOLLOWED, step("claim", path=f"{DROP}/out/kubexm-escape")),
    _link("deeper", FOLLOWED, data(f"{DROP}/a/b/out/kubexm-escape")),
    _link("magic-root", FOLLOWED, data(f"{DROP}/process-root/etc/kubexm-escape")),
    _link("magic-descriptor", FOLLOWED, data(f"{DROP}/descriptors/0/kubexm-escape")),
    _link("loop", FOLLOWED, data(f"{DROP}/loop/kubexm-escape")),
    _link("block-through-a-link", FOLLOWED,
          step("managed-block", path=f"{DROP}/hosts", name="n", lines=["10.0.0.1 a"])),
    _link("file-over-a-hard-link", HARD, data(f"{DROP}/hard")),
    _link("block-in-a-hard-link", HARD, step("managed-block", path=f"{DROP}/hard", name="n", lines=["root::0:0:::"])),
    _link("pipe", "expected a file, directory or link", data(f"{DROP}/pipe")),
    _link("made-to-the-outside", "is not below a directory", step("symlink", path=f"{DROP}/new", target="/etc/shadow")),
    _link("made-upwards", "expected an absolute path",
          step("symlink", path=f"{DROP}/new", target="../../../../etc/shadow")),
]
