"""What of a long text is shown: its start, or the sentences that match, within a number of characters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from streams.domain.tokens import tokens

GAP = " … "
_SENTENCE_ENDS = re.compile(r"(?<=[.!?…。！？])\s+|(?<=[。！？])|\n+")


def head(text: str, limit: int) -> str:
    """Return the first `limit` characters, white space at the cut dropped."""
    return text if len(text) <= limit else text[: max(limit, 0)].rstrip()


def matching(text: str, limit: int, weights: Mapping[str, float], language: str, near: str = "") -> str:
    """Return the sentences of `text` that say most about the question, in their order, gaps marked with an ellipsis.

    weights: by term of the question, how much it says (its inverse document frequency). near: a part of the text that
    a leg found, whose sentences count as much as one rare word more. A term counts once, so that what is kept answers
    as many of them as it can. Where nothing matches, the start is kept, as `head` does.
    """
    if len(text) <= limit:
        return text
    sentences = _sentences(text)
    terms = [
        frozenset(token.term for token in tokens(sentence, language)) & weights.keys() for _, sentence in sentences
    ]
    bonus = max(weights.values(), default=1.0)
    nearby = [bonus if near and sentence in near else 0.0 for _, sentence in sentences]
    kept: set[int] = set()
    missing = set(weights)
    room = limit
    while True:
        best, gain = None, 0.0
        for number, (_, sentence) in enumerate(sentences):
            if number in kept or _cost(number, kept, sentence) > room:
                continue
            value = sum(weights[term] for term in terms[number] & missing) + nearby[number]
            if value > gain:
                best, gain = number, value
        if best is None:
            break
        room -= _cost(best, kept, sentences[best][1])
        kept.add(best)
        missing -= terms[best]
    if not kept:
        return head(text, limit)
    _grow(sentences, kept, room)
    return _joined(text, sentences, sorted(kept))


def _sentences(text: str) -> list[tuple[int, str]]:
    """Return the sentences and where each starts."""
    found: list[tuple[int, str]] = []
    start = 0
    for border in _SENTENCE_ENDS.finditer(text):
        if text[start : border.start()].strip():
            found.append((start, text[start : border.start()]))
        start = border.end()
    if text[start:].strip():
        found.append((start, text[start:]))
    return found


def _cost(number: int, kept: set[int], sentence: str) -> int:
    """Return how many characters a sentence takes at most, with the gaps around it."""
    return len(sentence) + (2 if number - 1 in kept or number + 1 in kept else 2 * len(GAP))


def _grow(sentences: Sequence[tuple[int, str]], kept: set[int], room: int) -> None:
    """Fill the room that is left with what stands around the kept sentences: before a match first, then after."""
    for step in (1, -1):
        for number in sorted(kept, reverse=step < 0):
            beside = number - step
            while 0 <= beside < len(sentences) and beside not in kept:
                cost = _cost(beside, kept, sentences[beside][1])
                if cost > room:
                    break
                room -= cost
                kept.add(beside)
                beside -= step


def _joined(text: str, sentences: Sequence[tuple[int, str]], order: Sequence[int]) -> str:
    parts: list[str] = []
    before: int | None = None
    for number in order:
        start, sentence = sentences[number]
        if before is None:
            parts.append(GAP.lstrip() if number else "")
        elif number == before + 1:
            end = sentences[before][0] + len(sentences[before][1])
            parts.append(text[end:start][:2])
        else:
            parts.append(GAP)
        parts.append(sentence)
        before = number
    if before is not None and before < len(sentences) - 1:
        parts.append(GAP.rstrip())
    return "".join(parts)
