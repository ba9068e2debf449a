"""Places, owners and modes that no list permits."""

from escapes import data, directory, of_plan, secret
from escapes.host import DROP, MOUNT_IN_A_TREE, MOUNTED, OTHERS, PKI, at, give_back
from escapes.lists import make_and_give_back
from escapes.probes import belongs_to, gone, has_mode, made, says, start, unmounted
from testbed.executor.plan import step
from testbed.node import Node

NOT_BELOW, NOT_PLAIN = "is not below a directory", "expected an absolute path"
FOR_ROOT = "expected owner and group root"
UP = "/../../.."  # from PKI to the top
FROM_DROP = f"{DROP}/../../../..{OTHERS}"


def _outside(aim: str, each: dict, reached, **more):
    return of_plan(aim, "directories", NOT_BELOW, each, reached=reached, **more)


def _data(aim: str, path: str, **more):
    return of_plan(aim, "directories data-paths", NOT_BELOW, data(path), reached=made(path), **more)


def _through_dots(aim: str, each: dict, reached, **more):
    """The executor's files refuse such a path as well."""
    return of_plan(aim, "path path-components", NOT_PLAIN, each, reached=reached, **more)


def _lying_name(aim: str, name: str):
    return of_plan(aim, "path", NOT_PLAIN, secret(f"{PKI}/{name}"), reached=made(f"{PKI}/{name}"))


def _access(aim: str, each: dict, reached, **more):
    return of_plan(aim, "access", FOR_ROOT, each, reached=reached, **more)


def _block(path: str, lines: str) -> dict:
    return step("managed-block", path=path, name="n", lines=lines.split("|"))


def _mount_in_a_tree(node: Node) -> None:
    start("var-lib-kubexm-drop-tree-mounted.mount")(node)
    (at(node, MOUNT_IN_A_TREE) / "file").write_text("root's own\n")


OUTSIDE = [
    _data("a mirror for every image", "/etc/containerd/certs.d/_default/hosts.toml", finding="A4"),
    _data("a pod network of its own", "/etc/cni/net.d/00-own.conflist", finding="A4"),
    _data("a file beside the listed directory", f"{PKI}2/ca.crt"),
    *(_outside(aim, secret(path), made(path)) for aim, path in (
        ("a pod that kubelet starts as root", "/etc/kubernetes/manifests/root.yaml"),
        ("a job of cron", "/etc/cron.d/escape"),
        ("a secret where another list permits it", "/etc/kubernetes/secret"))),
    _outside("a directory for drop-ins of another service", directory("/etc/systemd/system/others.service.d"),
             made("/etc/systemd/system/others.service.d")),
    _outside("a directory in its own run directory", directory("/run/kubexm/new"), made("/run/kubexm/new"), finding="A9"),
    _outside("a link in place of a unit", step("symlink", path="/etc/systemd/system/escape.service", target="others.service"),
             made("/etc/systemd/system/escape.service")),
    _outside("a link to a file of root", step("symlink", path=f"{DROP}/new", target=f"{OTHERS}/file"), made(f"{DROP}/new")),
    _outside("a line in the table of mounts", _block("/etc/fstab", f"{DROP}/image /usr/local/bin ext4 loop 0 0"),
             says("/etc/fstab", DROP)),
    _outside("a line in the crontab", _block("/etc/crontab", "* * * * * root id"), says("/etc/crontab", "root id")),
    _outside("the end of a file of root", step("absent-path", path=f"{OTHERS}/file"), gone(f"{OTHERS}/file")),
    _outside("the end of an empty directory of root", step("absent-path", path=f"{OTHERS}/empty"), gone(f"{OTHERS}/empty")),
    _outside("the end of a tree of root", step("deleted-tree", path=f"{OTHERS}/tree"), gone(f"{OTHERS}/tree")),
    _outside("the end of everything beside the listed directory", step("deleted-tree", path="/etc/kubernetes2"),
             gone("/etc/kubernetes2")),
    _outside("the end of a mount of root", step("unmounted", below=OTHERS), unmounted(MOUNTED),
             before=start("srv-others-mounted.mount")),
    _outside("the end of all mounts in a larger directory", step("unmounted", below="/srv"), unmounted(MOUNTED),
             before=start("srv-others-mounted.mount")),
    _outside("the end of what root will make", step("claim", path=OTHERS), gone(f"{OTHERS}/made-later"),
             after=make_and_give_back(f"{OTHERS}/made-later")),
    _outside("the end of what root will make in a new directory", step("claim", path=f"{OTHERS}/new"),
             gone(f"{OTHERS}/new"), after=make_and_give_back(f"{OTHERS}/new/made-later")),
]

THROUGH_DOTS = [
    _through_dots("a secret above the listed directory", secret(f"{PKI}{UP}{OTHERS}/new"), made(f"{OTHERS}/new")),
    _through_dots("a directory above the listed one", directory(f"{FROM_DROP}/new"), made(f"{OTHERS}/new")),
    _through_dots("a block above the listed directory", _block(f"{FROM_DROP}/table", "x"), says(f"{OTHERS}/table", "x")),
    _through_dots("the end of a file above the listed directory", step("absent-path", path=f"{FROM_DROP}/file"),
                  gone(f"{OTHERS}/file")),
    _through_dots("the end of a tree above the listed directory", step("deleted-tree", path=f"{FROM_DROP}/tree"),
                  gone(f"{OTHERS}/tree")),
    _through_dots("the end of what root will make above the listed directory", step("claim", path=FROM_DROP),
                  gone(f"{OTHERS}/made-later"), after=make_and_give_back(f"{OTHERS}/made-later")),
    of_plan("a link that leads upwards", "path", NOT_PLAIN,
            step("symlink", path=f"{DROP}/new", target=f"../../../..{OTHERS}/file"), reached=made(f"{DROP}/new")),
    _lying_name("a name that reads backwards", "\u202etrc.ac"),
    _lying_name("a name of two lines", "ca\n.crt"),
    _lying_name("a name that clears the screen", "\x1b[2Jca.crt"),
]

ACCESS = [
    _access("a program that runs as root", data(f"{PKI}/new.crt", mode="4755"), has_mode(f"{PKI}/new.crt", 0o4755)),
    _access("an executable file", data(f"{PKI}/new.crt", mode="0755"), has_mode(f"{PKI}/new.crt", 0o755)),
    _access("a file that it may change later", data(f"{PKI}/new.crt", mode="0666"), has_mode(f"{PKI}/new.crt", 0o666)),
    _access("a file of its own", data(f"{PKI}/new.crt", uid=1000), belongs_to(f"{PKI}/new.crt", 1000, 0)),
    _access("a secret that everybody reads", secret(f"{PKI}/new", "0644"), has_mode(f"{PKI}/new", 0o644), finding="A9"),
    _access("a directory of its own", directory("/etc/kubernetes/new", uid=1000), belongs_to("/etc/kubernetes/new", 1000, 0)),
    _access("a directory of its group", directory("/etc/kubernetes/new", "0750", gid=1000),
            belongs_to("/etc/kubernetes/new", 0, 1000), finding="A3"),
    _access("a directory for everybody", directory("/etc/kubernetes/new", "1777"), has_mode("/etc/kubernetes/new", 0o1777)),
    of_plan("a file that is no bundle", "data-paths", "expected NAME.crt below", data(f"{PKI}/apiserver.key"),
            reached=made(f"{PKI}/apiserver.key"), finding="A4"),
    *(of_plan(f"to look into {path}", "foreign-directories", "", directory(path), reached=has_mode(path, 0o755),
              finding="A3") for path in ("/var/lib/kubelet/pods", "/etc/kubernetes/closed")),
    of_plan("the end of a mount of root below its tree", "mounts", "is a mount point",
            step("deleted-tree", path=f"{DROP}/tree"), reached=gone(f"{MOUNT_IN_A_TREE}/file"), before=_mount_in_a_tree),
]

BLOCKS = [
    of_plan(aim, "block-lines", "block: expected one line", _block("/etc/hosts", line),
            after=lambda node: give_back(node, user="kubexm"), reached=says("/etc/hosts", "\n192.0.2.9 bank.example\n"))
    for aim, line in (
        ("a line that stays when the block goes", "# kubexm end: n|192.0.2.9 bank.example"),
        ("a line in another that stays when the block goes", "192.0.2.8 a\n# kubexm end: n\n192.0.2.9 bank.example"))
]

ALL = [*OUTSIDE, *THROUGH_DOTS, *ACCESS, *BLOCKS]
