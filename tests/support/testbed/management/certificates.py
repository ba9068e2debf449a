"""The serving certificate of the managers' webhooks."""

import subprocess
from pathlib import Path


def make(directory: Path, address: str) -> None:
    """Writes tls.crt, which is its own authority, and tls.key for an address."""
    directory.mkdir()
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
               "-days", "90", "-subj", "/CN=managers", "-addext", f"subjectAltName=IP:{address}",
               "-out", str(directory / "tls.crt"), "-keyout", str(directory / "tls.key")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"`{' '.join(command)}` ended with {done.returncode}: {done.stderr.strip()}")
