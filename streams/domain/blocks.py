"""Blocks of a document, cut where they are too long and packed where they are short.

Where a cut falls depends on the text around it alone: a piece that is half full is closed before a block whose
checksum says so, not where a count from the start of the section happens to run out. After an edit the cuts fall
back into step within a few blocks, and the chunks behind them keep their text, their ids and their vectors
(content-defined chunking: Muthitacharoen et al., A Low-bandwidth Network File System, 2001).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from streams.domain.cuts import by_lines, by_sentences

T = TypeVar("T")

# A group is a list, an item or a quote: it is cut between its children.
BlockKind = Literal["text", "lines", "fence", "table", "group"]

_ONE_IN = 4  # blocks whose checksum closes a piece


@dataclass(frozen=True, kw_only=True)
class Block:
    """A piece of a document that stays together if it can."""

    kind: BlockKind
    text: str
    lead: str = "\n\n"  # what stands between the block before and this one
    children: tuple[Block, ...] = ()
    continues: bool = False  # the next piece of a block that was cut


def joined(blocks: Iterable[Block]) -> str:
    """Return the text of blocks in a row."""
    return "".join(f"{block.lead}{block.text}" for block in blocks).strip("\n")


def fitted(blocks: Iterable[Block], *, target: int, limit: int) -> Iterator[Block]:
    """Yield the blocks, those longer than `limit` characters in pieces of about `target`."""
    for block in blocks:
        if len(block.text) <= limit:
            yield block
        elif block.children:
            first, *rest = block.children
            yield from fitted([replace(first, lead=block.lead), *rest], target=target, limit=limit)
        else:
            cut = _CUTS[block.kind]
            for number, piece in enumerate(cut(block.text, target=target, limit=limit)):
                yield replace(block, text=piece, lead="\n\n" if number else block.lead, continues=number > 0)


def packed(blocks: Sequence[Block], *, target: int, limit: int) -> list[list[Block]]:
    """Group blocks, none longer than `limit`, into runs of `target` / 2 to `limit` characters."""

    def closes(before: Block, block: Block) -> bool:
        # A line that ends with a colon introduces what follows.
        return not before.text.endswith(":") and _marked(block.text)

    return packed_by(
        blocks,
        size=lambda block: len(block.lead) + len(block.text),
        closes=closes,
        starts=lambda block: block.continues,
        target=target,
        limit=limit + 1,  # the first lead, of one or two line ends, is not written
    )


def packed_by(
    items: Sequence[T],
    *,
    size: Callable[[T], int],
    closes: Callable[[T, T], bool],
    starts: Callable[[T], bool] = lambda item: False,
    target: int,
    limit: int,
) -> list[list[T]]:
    """Group items in order: closed at `limit`, at `target`, or from half of it on where `closes(before, item)` says so.

    An item that `starts` always opens a group. A last group of less than a quarter of the target joins the one before.
    """
    groups: list[list[T]] = []
    sizes: list[int] = []
    for item in items:
        length = size(item)
        full = not groups or starts(item) or sizes[-1] + length > limit or sizes[-1] >= target
        if full or (2 * sizes[-1] >= target and closes(groups[-1][-1], item)):
            groups.append([])
            sizes.append(0)
        groups[-1].append(item)
        sizes[-1] += length
    if len(groups) > 1 and 4 * sizes[-1] < target and sizes[-2] + sizes[-1] <= limit and not starts(groups[-1][0]):
        rest = groups.pop()
        groups[-1] += rest
    return groups


def _marked(text: str) -> bool:
    return zlib.crc32(text.encode()) % _ONE_IN == 0


def _cut_table(text: str, *, target: int, limit: int) -> list[str]:
    """Cut between rows; every piece repeats the header and its delimiter row, unless they fill half of a piece."""
    header, delimiter, *rows = text.split("\n")
    head = f"{header}\n{delimiter}\n"
    if 2 * len(head) > limit or not rows:
        return by_lines(text, target=target, limit=limit)
    return [head + piece for piece in _cut_rows(rows, target=target - len(head), limit=limit - len(head))]


_OPENING = re.compile(r"(?P<before>[\s>*+\d.)-]*)(?P<fence>`{3,}|~{3,})")


def _cut_fence(text: str, *, target: int, limit: int) -> list[str]:
    """Cut between lines; every piece is a fence of its own, with the same marks and info string."""
    opening, *lines = text.split("\n")
    found = _OPENING.match(opening)
    if not found or 2 * (len(opening) + len(found[0])) > limit:
        return by_lines(text, target=target, limit=limit)
    closing = re.sub(r"[^\s>]", " ", found["before"]) + found["fence"]
    mark = found["fence"][0]
    if lines and (bare := lines[-1].strip(" \t>")) and set(bare) == {mark} and len(bare) >= len(found["fence"]):
        closing = lines.pop()
    edges = len(opening) + len(closing) + 2
    pieces = _cut_rows(lines, target=target - edges, limit=limit - edges)
    return [f"{opening}\n{piece}\n{closing}" for piece in pieces]


def _cut_rows(rows: Sequence[str], *, target: int, limit: int) -> list[str]:
    target = max(1, min(target, limit))
    short: list[str] = []
    for row in rows:
        short += [row] if len(row) < limit else by_lines(row, target=limit - 1, limit=limit - 1)
    groups = packed_by(
        short, size=lambda row: len(row) + 1, closes=lambda before, row: _marked(row), target=target, limit=limit
    )
    return ["\n".join(group) for group in groups]


_CUTS: dict[str, Callable[..., list[str]]] = {
    "text": by_sentences,
    "lines": by_lines,
    "group": by_sentences,
    "fence": _cut_fence,
    "table": _cut_table,
}
