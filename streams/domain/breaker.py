"""A circuit breaker: an endpoint that fails again and again is left alone for a while.

Nygard, "Release It!" (2007). Closed: calls go through, and failures in a row are counted. Open: none goes through,
until a time. Half-open: one goes through; its end closes the breaker, or opens it for twice as long.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

THRESHOLD = 5  # failures in a row that open it
FIRST_PAUSE = 2.0  # seconds for which it opens first
LONGEST_PAUSE = 60.0  # seconds
LONGEST_ASKED = 300.0  # seconds, of a pause that the endpoint itself asks for

State = Literal["closed", "open", "half-open"]


@dataclass(frozen=True, kw_only=True)
class Breaker:
    """What is known of an endpoint; `now` is the seconds of any clock that does not go back."""

    threshold: int = THRESHOLD
    failures: int = 0  # in a row
    pause: float = FIRST_PAUSE  # seconds, of the next opening
    until: float | None = None  # no call goes through until then; None: closed
    trial: bool = False  # a call is on its way, and decides

    def state(self, now: float) -> State:
        """Return whether calls go through."""
        if self.until is None:
            return "closed"
        return "half-open" if self.trial or now >= self.until else "open"

    def wait(self, now: float) -> float:
        """Return the seconds until a call goes through; 0: now."""
        return 0.0 if self.until is None else max(0.0, self.until - now)

    def began(self, now: float) -> Breaker:
        """Return the breaker once a call went through: of a half-open one, no second call does for a while.

        A trial whose end nobody tells is followed by the next one after a pause.
        """
        return self if self.until is None else replace(self, trial=True, until=now + self.pause)

    def succeeded(self) -> Breaker:
        """Return it closed, with nothing remembered."""
        return Breaker(threshold=self.threshold)

    def failed(self, now: float, *, asked: float = 0.0) -> Breaker:
        """Return it after a failure; `asked` are the seconds for which the endpoint wants to be left alone."""
        asked = min(asked, LONGEST_ASKED)
        if self.until is not None and not self.trial:
            # A call that was on its way when it opened.
            return replace(self, until=max(self.until, now + asked))
        failures = min(self.failures + 1, self.threshold)
        if failures < self.threshold:
            return replace(self, failures=failures, until=now + asked if asked else None)
        longer = min(LONGEST_PAUSE, self.pause * 2)
        return replace(self, failures=failures, pause=longer, until=now + max(self.pause, asked), trial=False)
