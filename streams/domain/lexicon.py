"""Lists of words as sets."""

from __future__ import annotations


def listed(words: str) -> frozenset[str]:
    """Return the words of a text that are parted by blanks."""
    return frozenset(words.split())
