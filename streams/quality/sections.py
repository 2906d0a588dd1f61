"""Gold that names a section: `doc-id#Heading > Sub heading`, and which passages are in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from schemas.documents import DocumentChange
from streams.domain import chunking

_BETWEEN = " > "


def split(gold_id: str, documents: Collection[str]) -> tuple[str, str] | None:
    """Return the document and the section ("" for all of it) that gold names; none when there is no such document.

    Ids of documents may hold a `#`: a gold id that is one of them names that document, else the longest start does.
    """
    if gold_id in documents:
        return gold_id, ""
    end = gold_id.rfind("#")
    while end > 0:
        if gold_id[:end] in documents:
            return gold_id[:end], gold_id[end + 1 :]
        end = gold_id.rfind("#", 0, end)
    return None


def within(heading_path: Sequence[str], section: str) -> bool:
    """Tell whether a passage under this heading path is in a section, or in a sub-section of it.

    The section is written from the outermost heading, with or without the title of the document in front of it.
    """
    wanted = _folded(section)
    for start in (0, 1):
        path = _folded(_BETWEEN.join(heading_path[start:]))
        if path and (path == wanted or path.startswith(wanted + _BETWEEN)):
            return True
    return False


def paths(change: DocumentChange) -> frozenset[tuple[str, ...]]:
    """Return the heading paths of a document's passages."""
    chunks = chunking.cut(chunking.text_of(change, "any"))
    return frozenset(chunk.heading_path for chunk in chunks if chunk.level == "parent")


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
