"""The text of a document, put together from its passages, and the part of it that somebody wants to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from streams.domain.live_document import LiveDocument
from streams.errors import Invalid

DEEPEST_HEADING = 6  # of Markdown


@dataclass(frozen=True, kw_only=True)
class DocumentText:
    """A document with its text on lines."""

    document: LiveDocument
    text: str  # headings as in Markdown, sections in reading order
    starts: Mapping[str, int]  # by passage id: the line, from 1, that it begins on


@dataclass(frozen=True, kw_only=True)
class Window:
    """A part of a text. Lines count from 1, both ends included; characters from 0, the end excluded."""

    text: str
    first_line: int
    last_line: int
    lines: int  # of the whole text
    first: int
    end: int
    characters: int  # of the whole text
    starts_line: bool  # whether the next part begins on a line of its own

    @property
    def rest(self) -> dict[str, int]:
        """The argument with which to read on; empty at the end of the text."""
        if self.end >= self.characters:
            return {}
        return {"from_line": self.last_line + 1} if self.starts_line else {"from_char": self.end}


def assembled(document: LiveDocument) -> DocumentText:
    """Put the passages of a document together; a heading is written where a section begins."""
    written: list[str] = []
    starts: dict[str, int] = {}
    before: tuple[str, ...] = ()
    line = 1
    for part in document.parts:
        path = part.heading_path
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, path, strict=False)))
        new = range(shared, len(path)) if path != before else ()
        headings = "".join(f"{'#' * min(level + 1, DEEPEST_HEADING)} {path[level]}\n\n" for level in new)
        text = f"{headings}{part.body.strip()}\n\n"
        starts[part.passage_id] = line
        line += text.count("\n")
        written.append(text)
        before = path
    return DocumentText(document=document, text="".join(written).rstrip("\n") + "\n", starts=starts)


def window(
    text: str,
    *,
    from_line: int | None = None,
    to_line: int | None = None,
    from_char: int | None = None,
    to_char: int | None = None,
    limit: int,
) -> Window:
    """Cut out lines or characters of a text, at most `limit` characters; raise Invalid that names the field.

    What is cut at the limit ends with a whole line where one fits.
    """
    by_line, by_char = (from_line, to_line) != (None, None), (from_char, to_char) != (None, None)
    if by_line and by_char:
        raise Invalid(
            "give a range of lines or a range of characters, not both",
            field="from_char" if from_char is not None else "to_char",
        )
    begins = _line_starts(text)
    if by_char:
        first, end = from_char or 0, len(text) if to_char is None else min(to_char, len(text))
        _check("from_char", first, len(text) - 1, "characters, from 0")
        _check_order("to_char", end, first + 1)
    else:
        line = from_line or 1
        _check("from_line", line, len(begins), "lines")
        last = len(begins) if to_line is None else min(to_line, len(begins))
        _check_order("to_line", last, line)
        first = begins[line - 1]
        end = begins[last] if last < len(begins) else len(text)
    if end - first > limit:
        end = first + limit
        whole = text.rfind("\n", first, end) + 1
        end = whole if whole > first else end
    return Window(
        text=text[first:end],
        first_line=_line_of(begins, first),
        last_line=_line_of(begins, end - 1),
        lines=len(begins),
        first=first,
        end=end,
        characters=len(text),
        starts_line=text[end - 1 : end] == "\n",
    )


def _line_starts(text: str) -> list[int]:
    starts = [0]
    starts += [place + 1 for place, character in enumerate(text[:-1]) if character == "\n"]
    return starts


def _line_of(begins: Sequence[int], place: int) -> int:
    low, high = 0, len(begins)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if begins[middle] <= place else (low, middle)
    return low + 1


def _check(field: str, value: int, most: int, what: str) -> None:
    if value > most:
        raise Invalid(f"is {value}, and the document has {most + (field == 'from_char')} {what}", field=field)


def _check_order(field: str, value: int, least: int) -> None:
    if value < least:
        raise Invalid("ends before it begins", field=field)
