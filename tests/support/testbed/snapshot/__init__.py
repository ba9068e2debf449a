"""What a host looks like, written down, and what is different between two of such notes.

    before = node.snapshot()
    ...
    report = snapshot.diff(before, node.snapshot())
    assert not report, report
"""

from testbed.snapshot.model import Snapshot
from testbed.snapshot.report import Report, diff
from testbed.snapshot.take import take

__all__ = ["Report", "Snapshot", "diff", "take"]
