"""What a host looks like, written down, and what is different between two of such notes.

    before = snapshot.settled(node)
    ...
    report = snapshot.lasting_diff(before, node)
    assert not report, report
"""

from testbed.snapshot.model import Snapshot
from testbed.snapshot.report import Report, diff
from testbed.snapshot.rest import lasting_diff, settled
from testbed.snapshot.take import take

__all__ = ["Report", "Snapshot", "diff", "lasting_diff", "settled", "take"]
