"""Brings an arriving change into its one normal form, so that equal content gives equal hashes."""

from __future__ import annotations

import msgspec

from schemas.documents import DocumentChange
from streams.domain.normalise import normalise_text
from streams.errors import Invalid


def normalised(change: DocumentChange) -> DocumentChange:
    """Return the change with clean texts; a Q&A pair with its question as title and its answer as content."""
    if change.op == "delete":
        return msgspec.structs.replace(change, title="", content="", question="", answer="")
    title, content = change.title, change.content
    if change.kind == "qa":
        title, content = change.question or change.title, change.answer or change.content
    elif change.question or change.answer:
        raise Invalid('only a change of kind "qa" has a question and an answer', field="kind")
    title = " ".join(normalise_text(title).split())
    if change.kind == "qa" and not title:
        raise Invalid("a Q&A pair needs a question", field="question")
    return msgspec.structs.replace(change, title=title, content=normalise_text(content), question="", answer="")
