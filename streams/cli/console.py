"""Writing to the terminal: plain where nobody watches, with a progress bar where somebody does."""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

# C0 and C1 controls but line breaks and tabs: texts of documents must not steer the terminal.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def say(text: str = "") -> None:
    """Write a line to standard output."""
    click.echo(text)


def note(text: str) -> None:
    """Write a line to standard error: progress and complaints, not results."""
    click.echo(text, err=True)


def printable(text: str) -> str:
    """Return the text without characters that steer a terminal."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n"))


def width() -> int:
    """Return how many columns to fill."""
    return min(110, max(60, shutil.get_terminal_size((100, 24)).columns))


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[], None]]:
    """Show how much of `total` is done; the block calls what it is given once for each."""
    with (_bar if sys.stderr.isatty() else _log)(label, total) as advance:
        yield advance


@contextmanager
def _log(label: str, total: int) -> Iterator[Callable[[], None]]:
    done, began = 0, time.monotonic()
    said = began

    def advance() -> None:
        nonlocal done, said
        done += 1
        # A log wants a sign of life, not a line for each.
        if time.monotonic() - said >= 10 and done < total:
            said = time.monotonic()
            note(f"{label}: {done} of {total}")

    yield advance
    note(f"{label}: {done} of {total} in {time.monotonic() - began:.1f} s")


@contextmanager
def _bar(label: str, total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console  # noqa: PLC0415  rich is slow to import, and most calls need none of it
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total)
        yield lambda: bar.advance(task)
