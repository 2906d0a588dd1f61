"""A document as questions see it now."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.documents import Kind, Trust


@dataclass(frozen=True, kw_only=True)
class LivePart:
    """A passage of a document, as it is indexed."""

    passage_id: str
    heading_path: tuple[str, ...]
    body: str


@dataclass(frozen=True, kw_only=True)
class LiveDocument:
    """The live version of a document with its passages in reading order."""

    source: str
    doc_id: str
    version: int
    kind: Kind
    title: str
    uri: str
    trust: Trust
    language: str
    tags: tuple[str, ...]
    updated_at: str | None
    parts: tuple[LivePart, ...]


@dataclass(frozen=True, kw_only=True)
class Holdings:
    """How much of a tenant is live."""

    documents: int
    chunks: int
