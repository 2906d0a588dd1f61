"""Python's collector of garbage, set for processes that run for months: it must not stop a question that is in work.

A full collection walks over everything that lives, libraries included, while nothing else of the process runs: a
quarter of a second where all processors share one. What is there when the work begins will not go away, so it is left
out from then on; and a first look at what is new is taken after 10,000 objects rather than 700, of which one question
makes thousands (https://docs.python.org/3/library/gc.html#gc.freeze).
"""

from __future__ import annotations

import gc

YOUNG = 10_000  # objects that are made and not yet gone, between two looks at the youngest
OLDER = 10  # looks at the younger ones between two at the older ones


def settle() -> None:
    """Leave out what lives now; called once, when everything is loaded, opened and joined."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, OLDER, OLDER)
