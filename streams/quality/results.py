"""What came of each question of a run, and the file that keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from streams.errors import Invalid
from streams.quality.metrics import Metrics
from streams.quality.ranking import Ranked


class QueryResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one question: a line of a result file."""

    query_id: str
    profile: str
    metrics: Metrics
    ms: float  # from sending the question to having the reply
    degraded: bool
    reasons: tuple[str, ...] = ()
    error: str | None = None  # then there is no ranking, and every metric is 0
    passages: int  # how many the reply had
    gold: dict[str, int]
    ranking: tuple[Ranked, ...]


def write(results: Sequence[QueryResult], path: Path) -> None:
    """Write a result file: one question a line, as JSON; raise Invalid."""
    lines = b"".join(msgspec.json.encode(result) + b"\n" for result in results)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lines)
    except OSError as error:
        raise Invalid(f"{path} cannot be written: {error.strerror}", field="out") from error


def read(path: Path) -> list[QueryResult]:
    """Read a result file; raise Invalid that names the line."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}", field="against") from error
    results = []
    for number, line in enumerate(lines, start=1):
        try:
            results.append(msgspec.json.decode(line, type=QueryResult))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise Invalid(f"{path} line {number} is no result of `evaluate`: {error}", field="against") from error
    if not results:
        raise Invalid(f"{path} has no result in it", field="against")
    return results
