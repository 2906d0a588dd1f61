"""The end of a command that was told to stop: bounded, whatever hangs."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

STDERR = 2
SAID = "not everything stopped within {:g} s; what was not acknowledged comes again\n"


class Ending:
    """Ends this process at a set time unless it has ended by itself; servers that it started end with it.

    A thread of its own keeps the time: the event loop, or a library's thread at interpreter exit, may be what hangs. It
    runs from the start, since a signal handler that interrupts whoever holds a lock must not start one.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at: float | None = None  # on the clock
        self._seconds = 0.0
        threading.Thread(target=self._watch, name="ending", daemon=True).start()

    def within(self, seconds: float) -> None:
        """End in so many seconds, or when it was said before; takes no lock, so that a signal handler may call it."""
        if self._at is None:
            self._seconds = seconds
            self._at = self._clock() + seconds

    def _watch(self) -> None:
        while self._at is None or self._clock() < self._at:
            time.sleep(0.1)
        try:
            os.set_blocking(STDERR, False)  # who does not read must not keep it alive, nor who holds a buffer's lock
            os.write(STDERR, SAID.format(self._seconds).encode())
        except OSError:
            pass
        finally:
            os._exit(1)
