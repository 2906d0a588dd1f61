"""Facts of the graph as a short readable text."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.graph import Fact


def summarise(facts: Sequence[Fact], *, most: int = 8) -> str:
    """Return one line a fact, the first `most` of them; "" for none."""
    return "\n".join(dict.fromkeys(f"{fact.subject} {fact.label} {fact.object}" for fact in facts[:most]))
