"""The twin of a reranker: it counts the words that a passage shares with the question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from streams.domain.reranking import Scored

_WORDS = re.compile(r"\w+")


class MemoryReranker:
    """The Reranker port without a model: a score is the share of the question's words in the passage."""

    model = "memory-overlap"

    def __init__(self, *, longest: int = 256, at_once: int | None = 4) -> None:
        self.at_once = at_once
        self._longest = longest  # words that it reads of a passage

    async def score(self, question: str, passages: Sequence[str], *, seconds: float) -> Scored:
        """Return one score a passage."""
        asked = set(_words(question))
        read = [_words(passage) for passage in passages]
        return Scored(
            scores=[len(asked.intersection(words[: self._longest])) / max(1, len(asked)) for words in read],
            shortened=sum(len(words) > self._longest for words in read),
        )


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(text)]
