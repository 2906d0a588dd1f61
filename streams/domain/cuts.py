"""Running text cut to a limit: at the ends of sentences, else of lines, else at blanks and commas, else anywhere.

Nothing is lost but white space at the cuts, every piece is within the limit, and the time is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[.!?…][\"'”’»)\]])\s+|(?<=[。！？；｡])|\n[ \t]*\n\s*")
_LINES = re.compile(r"(?<=\n)")
_WORDS = re.compile(r"(?<=\s)(?=\S)|(?<=[，、：,;])")

_NUMBER_LENGTH = 24  # characters that a cut moves back to spare a word or number in a line without blanks


def by_sentences(text: str, *, target: int, limit: int) -> list[str]:
    """Return pieces of `text` of at most `limit` characters, cut once `target` is reached."""
    return _packed(_split(text, (_SENTENCES, _LINES, _WORDS), limit), target, limit)


def by_lines(text: str, *, target: int, limit: int) -> list[str]:
    """Return pieces of `text` as `by_sentences`, for text whose lines matter and whose stops do not."""
    return _packed(_split(text, (_LINES, _WORDS), limit), target, limit)


def _split(text: str, borders: Sequence[re.Pattern[str]], limit: int) -> Iterator[str]:
    """Yield parts of at most `limit` characters, which add up to the text."""
    if len(text.rstrip()) <= limit:
        yield text
    elif not borders:
        yield from _split_anywhere(text, limit)
    else:
        start = 0
        for border in borders[0].finditer(text):
            if border.end() > start:
                yield from _split(text[start : border.end()], borders[1:], limit)
                start = border.end()
        if start < len(text):
            yield from _split(text[start:], borders[1:], limit)


def _split_anywhere(text: str, limit: int) -> Iterator[str]:
    start = 0
    while len(text) - start > limit:
        end = start + limit
        lowest = max(start + 1, end - _NUMBER_LENGTH)
        better = next((place for place in range(end, lowest, -1) if not _is_joint(text, place)), end)
        yield text[start:better]
        start = better
    yield text[start:]


def _is_joint(text: str, place: int) -> bool:
    """Would a cut here part a word or number in Latin letters, or a letter and its marks?"""
    before, after = text[place - 1], text[place]
    return bool(unicodedata.combining(after)) or (f"{before}{after}".isascii() and before.isalnum() and after.isalnum())


def _packed(parts: Iterator[str], target: int, limit: int) -> list[str]:
    pieces: list[str] = []
    current = ""
    for part in parts:
        # White space at the end of a piece is dropped, so it does not count.
        if current and (len(current) >= target or len(current) + len(part.rstrip()) > limit):
            pieces.append(current)
            current = ""
        current += part
    pieces.append(current)
    return [stripped for piece in pieces if (stripped := piece.strip("\n").rstrip()) and stripped.strip()]
