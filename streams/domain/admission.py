"""How long a question may wait for its turn: what would be answered too late is refused while its asker still waits."""

from __future__ import annotations

LEAST = 0.5  # seconds; a pause of a process is no overload
SHARE = 0.25  # of a question's time, to be read; the rest is for the search
SHARE_TO_FUSE = 0.5  # of what is left of it, until `fuse` reads it
LEG_SECONDS = 1.0  # for which a leg's record may wait: half of what `fuse` waits for a leg

REASON = "overloaded"  # of a leg that did not search


def to_prepare(deadline: float, asked: float) -> float:
    """Return for how many seconds a question may lie in the broker; times are in seconds since the epoch."""
    return max(LEAST, SHARE * (deadline - asked))


def to_fuse(deadline: float, prepared: float) -> float:
    """Return after how many seconds `fuse` refuses a prepared question instead of answering it."""
    return max(LEAST, SHARE_TO_FUSE * (deadline - prepared))
