"""Writes the JSON Schema of every message: `python -m schemas.generate`; `--check` only compares (exit 1: differs)."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from schemas.base import Message, Schema
from schemas.chunks import ChunkBatch, VectorBatch
from schemas.dead_letters import DeadLetter
from schemas.documents import Document, DocumentChange, DocumentStatus, Receipt
from schemas.fused import Fused
from schemas.graph import GraphBatch
from schemas.queries import Expected, LegResult, PreparedQuery, QueryRequest
from schemas.query_log import LoggedQuestion, LoggedReply
from schemas.replies import QueryReply

FOLDER = Path(__file__).parent / "generated"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
MESSAGES: tuple[type[Message], ...] = (
    DocumentChange,
    Document,
    ChunkBatch,
    VectorBatch,
    GraphBatch,
    Receipt,
    DocumentStatus,
    QueryRequest,
    PreparedQuery,
    Expected,
    LegResult,
    Fused,
    QueryReply,
    LoggedQuestion,
    LoggedReply,
    DeadLetter,
)


def file_name(message: str, version: int) -> str:
    """Return the name of a message's schema file."""
    return f"{message}.v{version}.schema.json"


def schema_id(message: str, version: int) -> str:
    """Return the `$id` of a message's schema, which is also the `dataschema` of its CloudEvents."""
    return f"https://rankstream.dev/schemas/{file_name(message, version)}"


def json_schema(message: type[Message]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `message`, complete in itself."""
    body = msgspec.json.schema(message)
    return {
        "$schema": DIALECT,
        "$id": schema_id(message.__name__, Schema.CURRENT),
        "title": f"{message.__name__} v{Schema.CURRENT}",
        "description": inspect.getdoc(message) or "",
        **body,
    }


def pretty(document: Any) -> bytes:
    """Return `document` as indented JSON that does not change from run to run."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def schema_files() -> dict[str, bytes]:
    """Return what the schema files say, by file name."""
    return {file_name(message.__name__, Schema.CURRENT): pretty(json_schema(message)) for message in MESSAGES}


def differing(files: Mapping[str, bytes], folder: Path = FOLDER) -> list[str]:
    """Return the names of `files` that are missing in `folder` or say something else there."""
    return [
        name for name, text in files.items() if not (folder / name).exists() or (folder / name).read_bytes() != text
    ]


def main(files: Mapping[str, bytes], arguments: list[str] | None = None, folder: Path = FOLDER) -> int:
    """Write `files`, or with `--check` compare them; return the exit status."""
    parser = argparse.ArgumentParser(description="Write the generated contracts.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file on disk differs")
    check: bool = parser.parse_args(arguments).check
    changed = differing(files, folder)
    for name in changed:
        if not check:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(files[name])
        sys.stdout.write(f"{'differs' if check else 'written'}: {folder / name}\n")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main(schema_files()))
