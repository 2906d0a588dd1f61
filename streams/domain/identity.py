"""Ids that follow from content, so that repeating an effect changes nothing."""

from __future__ import annotations

import hashlib
import uuid

import msgspec

from schemas.documents import DocumentChange
from streams.domain.language import DEFAULT

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://rankstream.dev/chunk")


def length_prefixed(parts: tuple[str, ...]) -> str:
    """Join strings so that no two different tuples give the same text."""
    return "".join(f"{len(part)}:{part}" for part in parts)


def chunk_id(
    *,
    generation: str,
    level: str,
    tenant: str,
    source: str,
    doc_id: str,
    heading_path: tuple[str, ...],
    body: str,
    occurrence: int,
) -> str:
    """Return the UUIDv5 of a chunk; `occurrence` tells apart equal texts under equal headings of one document."""
    text_hash = hashlib.sha256(body.encode()).hexdigest()
    path = length_prefixed(heading_path)
    parts = (generation, level, tenant, source, doc_id, path, text_hash, str(occurrence))
    return str(uuid.uuid5(_NAMESPACE, length_prefixed(parts)))


def chunk_level(level: str, kind: str, language: str) -> str:
    """Return what a chunk is filed under, which never changes.

    A page that becomes a pair has other chunks, and so has one whose language is told or detected anew: the lexemes and
    sparse vectors of a chunk are those of its language. Pages in the default language are filed under the level alone.
    """
    level = level if kind == "document" else f"{kind} {level}"
    return level if language == DEFAULT else f"{level} {language}"


def content_hash(change: DocumentChange) -> str:
    """Return the hex SHA-256 of everything that a version says."""
    return hashlib.sha256(msgspec.json.encode(change, order="deterministic")).hexdigest()
