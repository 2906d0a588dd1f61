"""A file of JSON lines as a source: one document or Q&A pair a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemas import codec
from schemas.documents import DocumentChange
from streams.gateways.wording import invalid
from streams.sources.problem import Problem

# Theirs to ours; the other fields have the same names.
NAMES = {"id": "doc_id", "text": "content", "url": "uri"}
FIELDS = frozenset(
    {"id", "title", "text", "url", "uri", "tags", "language", "kind", "question", "answer", "metadata", "content_type"}
    | {"agents", "trust", "pinned", "updated_at"}
)


def read(path: Path, *, tenant: str, source: str) -> Iterator[DocumentChange | Problem]:
    """Yield a change, with version 0, for every line; a line that is none is yielded as a Problem that names the field.

    A line has `id` and `text`, or `id`, `question` and `answer` for a Q&A pair, and may have `title`, `url`, `tags`,
    `language`, `metadata`, `content_type`, `agents`, `trust`, `pinned` and `updated_at`. Other fields are left out.
    """
    seen: dict[str, int] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            found = _read(line, tenant=tenant, source=source, where=f"line {number}")
            if isinstance(found, DocumentChange) and (first := seen.setdefault(found.doc_id, number)) != number:
                message = f"id: {found.doc_id!r} is on line {first} already; skipped"
                found = Problem(where=f"line {number}", message=message, doc_id=found.doc_id)
            yield found


def _read(line: bytes, *, tenant: str, source: str, where: str) -> DocumentChange | Problem:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Problem(where=where, message=f"not JSON: {error}; skipped")
    if not isinstance(data, dict):
        return Problem(where=where, message="not a JSON object; skipped")
    doc_id = data["id"] if isinstance(data.get("id"), str) else None
    fields: dict[str, Any] = {
        NAMES.get(str(name), str(name)): value for name, value in data.items() if name in FIELDS and value is not None
    }
    pair = "question" in fields or "answer" in fields or fields.get("kind") == "qa"
    missing = [name for name in ("id", *(("question", "answer") if pair else ("text",))) if data.get(name) is None]
    if pair and data.get("title") and data.get("text") is not None:
        missing = [name for name in missing if name == "id"]  # a pair may be given as title and text
    if missing:
        return Problem(where=where, message=f"{missing[0]}: missing; skipped", doc_id=doc_id)
    fields |= {"name": "DocumentChange", "tenant": tenant, "source": source, "version": 0}
    if pair:
        fields |= {"kind": "qa", "title": fields.get("title", "")}
    try:
        return codec.from_builtins(fields, DocumentChange)
    except codec.InvalidMessage as error:
        wrong = invalid(error, fields)
        theirs = {ours: name for name, ours in NAMES.items() if name in data}
        field = theirs.get(wrong.field or "", wrong.field)
        return Problem(where=where, message=f"{field}: {wrong.message}; skipped", doc_id=doc_id)
