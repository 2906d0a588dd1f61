"""Other ways to ask a question, by a language model, and which of them are believed."""

from __future__ import annotations

import re

from streams.domain import normalise, prompts
from streams.domain.prompts import Prompt

MOST_TOKENS = 60  # a phrasing
LONGEST = 300  # characters of a phrasing

_SYSTEM = (
    "You help a search engine. Write {number} other ways to ask the question, with other words that a document with "
    "the answer may use. Keep its language, its meaning, and all names and numbers; answer nothing. One a line, "
    "without numbering. " + prompts.DATA
)
_BULLET = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.)])\s+")


def prompt(text: str, number: int, mark: str) -> Prompt:
    """Return the prompt for `number` other phrasings of a question."""
    return Prompt(system=_SYSTEM.format(number=number), user=prompts.fenced("question", text, mark))


def read(said: str, text: str, number: int) -> tuple[str, ...] | None:
    """Return up to `number` phrasings, none of them the question itself; none where no line is one.

    A line that is too long, or has a number or an address that the question lacks, is left out.
    """
    seen = {text.casefold()}
    found: list[str] = []
    for line in prompts.plain(said, 2 * LONGEST * (number + 1)).splitlines():
        phrasing = normalise.normalise_question(_BULLET.sub("", line)).strip('"“”«»')
        fits = 0 < len(phrasing) <= LONGEST and not phrasing.endswith(":")
        if fits and phrasing.casefold() not in seen and prompts.confirmed(phrasing, text):
            seen.add(phrasing.casefold())
            found.append(phrasing)
    return tuple(found[:number]) or None
