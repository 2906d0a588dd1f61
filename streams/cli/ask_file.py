"""Asks a file of questions, several at once, and writes their replies in its order."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

from schemas import codec
from schemas.replies import ErrorInfo, QueryReply, error_reply
from streams.cli import console
from streams.errors import ConfigurationError
from streams.gateways.client import Client

# What a line may say; the rest of it (a set's name, gold answers) is left alone.
FIELDS = frozenset(
    {
        "tenant",
        "agent",
        "profile",
        "top_k",
        "language",
        "history",
        "filters",
        "min_version",
        "explain",
        "generation",
        "cache",
        "floor",
    }
)


async def run(client: Client, path: Path, out: Path | None, concurrency: int, defaults: dict[str, Any]) -> int:
    """Ask every line of a file; a line that is no question gets an error reply and stops nothing."""
    lines = _lines(path)
    replies: list[asyncio.Task[QueryReply]] = []
    slots = asyncio.Semaphore(concurrency)
    errors: Counter[str] = Counter()
    with _written(out) as sink, console.progress("questions", len(lines)) as advance:
        async with client:

            async def ask(number: int, line: bytes) -> QueryReply:
                async with slots:
                    reply = await _ask(client, number, line, defaults)
                advance()
                return reply

            replies = [asyncio.create_task(ask(number, line)) for number, line in lines]
            for task in replies:
                reply = await task
                if reply.error is not None:
                    errors[reply.error.error_class] += 1
                sink.write(codec.encode(reply) + b"\n")
                sink.flush()
    if errors:
        counted = ", ".join(f"{count} {name}" for name, count in sorted(errors.items()))
        console.note(f"{sum(errors.values())} of {len(lines)} replies are errors: {counted}")
    return 0


async def _ask(client: Client, number: int, line: bytes, defaults: dict[str, Any]) -> QueryReply:
    """Ask one line; its reply carries the id that the line gives, though on its way it has one of its own.

    An id of the caller's may have been asked a moment ago, and a repeated id is taken for a repeated record.
    """
    given = f"line-{number}"
    try:
        data = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _invalid(given, None, f"line {number} is not JSON: {error}")
    if not isinstance(data, dict):
        return _invalid(given, None, f"line {number} is not a JSON object")
    identity = data.get("id", data.get("query_id"))
    if isinstance(identity, int) and not isinstance(identity, bool):
        identity = str(identity)
    if not isinstance(identity, str) or not identity:
        return _invalid(given, "id", f"line {number}: must be a text or a number, and not empty")
    if not isinstance(data.get("text"), str):
        return _invalid(identity, "text", f"line {number}: must be a text")
    fields = defaults | {name: value for name, value in data.items() if name in FIELDS and value is not None}
    if not fields.get("tenant"):
        return _invalid(identity, "tenant", f"line {number}: missing, and there is no --tenant")
    reply = await client.ask(data["text"], **fields)
    return msgspec.structs.replace(reply, query_id=identity)


def _invalid(query_id: str, field: str | None, message: str) -> QueryReply:
    return error_reply(query_id, ErrorInfo(error_class="validation", field=field, message=message))


def _lines(path: Path) -> list[tuple[int, bytes]]:
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"--file {path} cannot be read: {error.strerror}") from error
    return [(number, line) for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]


@contextmanager
def _written(out: Path | None) -> Iterator[IO[bytes]]:
    if out is None or str(out) == "-":
        yield sys.stdout.buffer
        return
    try:
        sink = out.open("wb")
    except OSError as error:
        raise ConfigurationError(f"--out {out} cannot be written: {error.strerror}") from error
    with sink:
        yield sink
