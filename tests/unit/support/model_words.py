"""The words of the C++ model, as its program tells them."""

import functools
import json
import subprocess
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[3] / "build/dev/tests/unit/support/programs/model_words"


@functools.cache
def words() -> dict:
    return json.loads(subprocess.run([PROGRAM], check=True, capture_output=True, text=True).stdout)
