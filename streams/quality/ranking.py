"""From the passages of a reply to the ranking that is measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from schemas.replies import Passage
from streams.quality import sections


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """A place of a ranking: a document, or a section that gold names, with the score of its best passage."""

    id: str
    score: float


def of_documents(passages: Iterable[Passage], gold: Mapping[str, int]) -> tuple[Ranked, ...]:
    """Rank documents by their best passage, given passages best first.

    Where gold names sections of a document, each of those has a place of its own, and the rest of that document
    another one, which is no answer.
    """
    ranking: dict[str, float] = {}
    for passage in passages:
        ranking.setdefault(place_of(passage, gold), passage.score)
    return tuple(Ranked(id=place, score=score) for place, score in ranking.items())


def place_of(passage: Passage, gold: Mapping[str, int]) -> str:
    """Return what a passage counts as: the section that gold names, or its document."""
    if passage.doc_id in gold:
        return passage.doc_id
    start = f"{passage.doc_id}#"
    named = [name for name in gold if name.startswith(start)]
    # The innermost of nested sections.
    for name in sorted(named, key=lambda name: (-len(name), name)):
        if sections.within(passage.heading_path, name[len(start) :]):
            return name
    return passage.doc_id
