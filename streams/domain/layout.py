"""A chunk's Markdown body as pieces that extraction reads: running text, list items, tables and code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(.*)")
_DELIMITER = re.compile(r"[|:\-\s]{1,1000}")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\s]{0,300}(?:\s\"[^\"\n]{0,100}\")?\)")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")
_BOLD = re.compile(r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)__(?=\w)|(?<=\w)__(?!\w)")


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a body; `lead` is the line before a list that ends with a colon."""

    kind: Literal["text", "item", "code", "table"]
    text: str = ""
    lead: str = ""
    rows: tuple[tuple[str, ...], ...] = ()  # of a table, the header first


def pieces(body: str) -> list[Piece]:
    """Return the pieces of a body in order; links and emphasis are written out as their words."""
    found: list[Piece] = []
    lines = body.split("\n")
    place = 0
    while place < len(lines):
        line = lines[place]
        if fence := _FENCE.match(line):
            end = place + 1
            while end < len(lines) and not lines[end].lstrip().startswith(fence[1]):
                end += 1
            found.append(Piece(kind="code", text="\n".join(lines[place + 1 : end])))
            place = end + 1
        elif "|" in line and place + 1 < len(lines) and "-" in lines[place + 1] and _is_delimiter(lines[place + 1]):
            end = place + 2
            while end < len(lines) and "|" in lines[end]:
                end += 1
            found.append(Piece(kind="table", rows=_rows([line, *lines[place + 2 : end]])))
            place = end
        elif item := _ITEM.match(line):
            place, text = _with_more(lines, place + 1, item[1], indented=True)
            found.append(Piece(kind="item", text=plain(text), lead=_lead(found)))
        elif line.strip():
            place, text = _with_more(lines, place + 1, line, indented=False)
            found.append(Piece(kind="text", text=plain(text)))
        else:
            place += 1
    return found


def plain(text: str) -> str:
    """Return inline Markdown as its words."""
    if "[" in text:
        text = _LINK.sub(r"\1", text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "*" in text or "__" in text:
        text = "`".join(
            part if number % 2 else _BOLD.sub("", part) for number, part in enumerate(text.split("`"))
        )  # not inside of code
    return text.strip().lstrip("#> ")


def _with_more(lines: Sequence[str], place: int, text: str, *, indented: bool) -> tuple[int, str]:
    """Return where the text ends that goes on in the following lines, and all of it."""
    parts = [text.strip()]
    while place < len(lines):
        line = lines[place]
        if not line.strip() or _ITEM.match(line) or _FENCE.match(line) or line.lstrip().startswith("|"):
            break
        if indented and not line[0].isspace():
            break
        parts.append(line.strip(" >\t"))
        place += 1
    return place, " ".join(parts)


def _lead(found: Sequence[Piece]) -> str:
    if not found:
        return ""
    if found[-1].kind == "item":
        return found[-1].lead
    if found[-1].kind == "text" and found[-1].text.endswith(":"):
        return found[-1].text[:-1]
    return ""


def _is_delimiter(line: str) -> bool:
    return _DELIMITER.fullmatch(line) is not None


def _rows(lines: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(plain(cell) for cell in line.strip().strip("|").replace("\\|", "/").split("|")) for line in lines
    )
