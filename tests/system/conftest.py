"""Tests of the hands run where the hands were built (-DKUBEXM_HANDS=ON)."""

import os
from pathlib import Path

TREE = Path(os.environ.get("KUBEXM_TREE", "/nowhere"))
collect_ignore = [] if (TREE / "usr/libexec/kubexm/kubexm-hands").exists() else ["test_hands.py", "test_systemd_verbs.py"]
