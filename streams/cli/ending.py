"""The end of a command that was told to stop: bounded, whatever hangs."""

from __future__ import annotations

import os
import sys
import threading


def within(seconds: float) -> None:
    """End this process in so many seconds unless it has ended by itself; servers that it started end with it.

    A thread of its own keeps the time: the event loop, or a library's thread at interpreter exit, may be what hangs.
    """

    def end() -> None:
        sys.stderr.write(f"not everything stopped within {seconds:g} s; what was not acknowledged comes again\n")
        sys.stderr.flush()
        os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
