"""The priority of threads: that of the event loop runs first (docs/operate/reliability.md, "Fair queues")."""

import os
import sys

NICENESS = 10


def lower_priority() -> None:
    """Lower the priority of the thread that calls this. Elsewhere than on Linux, a process has only one (nice(2))."""
    if sys.platform == "linux":
        os.nice(NICENESS)
