"""Container images out of one static program each, as archives that `ctr images import` reads."""

import hashlib
import io
import json
import tarfile
from pathlib import Path


def archive(reference: str, program: Path) -> bytes:
    """An image archive: `program` at the root of an otherwise empty file system, and its start command."""
    layer = _tar({program.name: (program.read_bytes(), 0o755)})
    config = json.dumps({
        "architecture": "amd64", "os": "linux",
        "config": {"Entrypoint": [f"/{program.name}"], "WorkingDir": "/"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }).encode()
    manifest = json.dumps([{"Config": "config.json", "RepoTags": [reference], "Layers": ["layer.tar"]}]).encode()
    return _tar({"config.json": (config, 0o644), "manifest.json": (manifest, 0o644), "layer.tar": (layer, 0o644)})


def _tar(files: dict[str, tuple[bytes, int]]) -> bytes:
    """Always the same bytes for the same files: TarInfo's time stamps and owners are zero."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as tar:
        for name, (content, mode) in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), mode
            tar.addfile(member, io.BytesIO(content))
    return target.getvalue()
