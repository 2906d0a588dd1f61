"""The probe's memory: a file with a line a run, from which it knows after a restart what came before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from streams.domain.canary import Line
from streams.errors import ConfigurationError

KEPT = 2_000  # runs: two weeks at one each ten minutes
FIELDS = {"at", "seconds", "outcome", "milliseconds", "problems", "degraded", "failures_in_a_row"}


def read(path: Path) -> list[Line]:
    """Return the runs, oldest first, none for a file that is not there; a line that a crash cut short is skipped."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigurationError(f"--log {path} cannot be read: {error.strerror}") from error
    return [found for line in lines if (found := _run(line)) is not None]


def add(path: Path, line: Line, before: Sequence[Line]) -> None:
    """Add a run; the oldest go when there are twice as many as are kept."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if len(before) >= 2 * KEPT:
            kept = path.with_suffix(".new")
            kept.write_text("".join(f"{written(each)}\n" for each in before[-KEPT:]))
            kept.replace(path)
        with path.open("a") as file:
            file.write(f"{written(line)}\n")
    except OSError as error:
        raise ConfigurationError(f"--log {path} cannot be written: {error.strerror}") from error


def written(line: Line) -> str:
    """Return a run as JSON on one line."""
    return json.dumps(dict(line), ensure_ascii=False)


def _run(line: str) -> Any:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and found.keys() >= FIELDS else None
