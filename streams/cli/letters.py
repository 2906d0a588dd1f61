"""Dead letters as text: a table of what there is, and one letter in full."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from streams.cli import console
from streams.domain.letter_choice import Group, grouped
from streams.domain.letters import STATES, Letter, State
from streams.domain.redaction import HIDDEN, escaped, is_secret_name, redacted
from streams.errors import ConfigurationError

if TYPE_CHECKING:
    from streams.gateways.dead_letters import Body

SHOWN = 4_000  # characters of a value
LARGEST_LAID_OUT = 200_000  # bytes of JSON
NOTHING = "no dead letters"


def count(letters: Sequence[Letter]) -> str:
    """Return how many letters these are, in words."""
    return f"{len(letters)} dead letter" + ("" if len(letters) == 1 else "s")


def when(milliseconds: int) -> str:
    """Return a time as ISO 8601, UTC, in seconds."""
    try:
        return datetime.fromtimestamp(milliseconds // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return str(milliseconds)


def left_out(letters: Sequence[Letter], going: Sequence[Letter]) -> str:
    """Return what of the chosen letters does not go back, and why, to be added to a line."""
    places = {letter.place for letter in going}
    rest = Counter(letter.state for letter in letters if letter.place not in places)
    said: dict[State, str] = {
        "parked": "parked (died twice the same way; --parked takes them along)",
        "redriven": "re-driven before",
        "discarded": "discarded before",
        "open": "of the log or questions, which never go back",
    }
    return "".join(f", {rest[state]} {words}" for state, words in said.items() if rest[state])


def listed(letters: Sequence[Letter], *, each: bool, everything: bool, nothing: str = NOTHING) -> Iterator[str]:
    """Yield a table: one line a topic, stage and class, or one line a letter."""
    if each:
        rows = [("address", "died", "stage", "class", "state", "message"), *map(_row, letters)]
    else:
        groups = [group for group in grouped(letters) if everything or group.waiting]
        rows = [("topic", "stage", "class", *STATES, "oldest", "newest"), *map(_group_row, groups)]
    if len(rows) == 1:
        yield nothing
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        line = "  ".join([*cells, row[-1]]).rstrip()
        yield click.style(line, bold=True) if number == 0 else line


def _row(letter: Letter) -> tuple[str, ...]:
    message = " ".join(_readable(letter.message).split())
    short = message if len(message) <= 100 else f"{message[:100]}…"
    return (
        str(letter.place),
        when(letter.died_ms),
        _readable(letter.stage),
        _readable(letter.error_class),
        letter.state,
        short,
    )


def _group_row(group: Group) -> tuple[str, ...]:
    counts = (str(group.counts[state]) for state in STATES)
    stage, error_class = _readable(group.stage), _readable(group.error_class)
    return (group.topic, stage, error_class, *counts, when(group.oldest_ms), when(group.newest_ms))


def listed_as_json(letters: Sequence[Letter], *, complete: bool, each: bool, everything: bool) -> str:
    """Return the table as one line of JSON."""
    found: dict[str, Any] = {
        "complete": complete,
        "groups": [
            {
                "topic": group.topic,
                "stage": group.stage,
                "class": group.error_class,
                **group.counts,
                "oldest": when(group.oldest_ms),
                "newest": when(group.newest_ms),
            }
            for group in grouped(letters)
            if everything or group.waiting
        ],
    }
    if each:
        found["letters"] = [
            {
                "address": str(letter.place),
                "origin": str(letter.origin),
                "died": when(letter.died_ms),
                "stage": letter.stage,
                "class": letter.error_class,
                "state": letter.state,
                "exception": letter.exception,
                "message": redacted(letter.message),
                "attempts": letter.attempts,
                "redrives": letter.redrives,
                "bytes": letter.size,
            }
            for letter in letters
        ]
    return msgspec.json.encode(found).decode()


def shown(letter: Letter, body: Body) -> Iterator[str]:
    """Yield a letter in full, for people: everything readable, nothing secret, nothing that steers a terminal."""
    state = letter.state if letter.settled_ms is None else f"{letter.state} {when(letter.settled_ms)}"
    yield click.style(f"{letter.place} · {state}", bold=True)
    facts = {
        "stage": letter.stage,
        "class": letter.error_class,
        "error": f"{letter.exception}: {letter.message}",
        "attempts": str(letter.attempts),
        "re-driven": f"{letter.redrives} times before it died" if letter.redrives else "never before it died",
        "died": when(letter.died_ms) + (f", written {letter.times} times" if letter.times > 1 else ""),
        "from": f"{letter.origin}, written {when(letter.written_ms)}",
        "key": "none" if body.key is None else escaped(body.key[:SHOWN]),
    }
    for name, text in facts.items():
        yield f"{name:<10}{_readable(text)}"
    yield "headers"
    for name, value in body.headers:
        yield f"  {_readable(name)}: {_header(name, value)}"
    yield f"value ({letter.size:,} bytes)"
    if body.value is None:
        yield "  none"
        return
    text = redacted(_laid_out(body.value))
    for line in text[:SHOWN].split("\n"):
        yield f"  {line}"
    if len(text) > SHOWN or len(body.value) > SHOWN * 4:
        yield "  … (--raw FILE writes all of it)"


def _header(name: str, value: bytes | None) -> str:
    if value is None:
        return "none"
    return HIDDEN if is_secret_name(name) else redacted(escaped(value[:SHOWN]))


def _readable(text: str) -> str:
    return redacted(escaped(text[:SHOWN].encode("utf-8", "backslashreplace")))


def _laid_out(value: bytes) -> str:
    """Return the beginning of a value as text, on several lines where it is JSON."""
    if len(value) <= LARGEST_LAID_OUT:
        with contextlib.suppress(msgspec.MsgspecError, RecursionError, ValueError):  # else shown as it is
            value = msgspec.json.format(value, indent=2)
    # Cut before it is searched for secrets: four bytes a character at most.
    return escaped(value[: SHOWN * 4])


def write(path: Path, value: bytes) -> None:
    """Write a value as it is; raise ConfigurationError."""
    if str(path) == "-":
        sys.stdout.buffer.write(value)
        sys.stdout.buffer.flush()
        return
    try:
        path.write_bytes(value)
    except OSError as error:
        raise ConfigurationError(f"--raw {path} cannot be written: {error.strerror}") from error
    console.note(f"{len(value):,} bytes written to {path}")
