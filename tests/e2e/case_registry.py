"""The statements of acceptance cases by name: functions that say what is wrong, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tests.e2e.case_outcomes import Outcome

S = TypeVar("S")

# (what it is about, the value that the case gives, all entries of the statement, the outcome) -> why it does not hold
Statement = Callable[[S, Any, Mapping[str, Any], Outcome], "str | None"]


def into(statements: dict[str, Statement[S]]) -> Callable[[Statement[S]], Statement[S]]:
    """Return a decorator that files a statement under its function's name."""

    def file(statement: Statement[S]) -> Statement[S]:
        statements[statement.__name__] = statement
        return statement

    return file


def unless(holds: bool, message: str) -> str | None:
    """Return the message unless the statement holds."""
    return None if holds else message


def only(expected: Any, *allowed: bool) -> str | None:
    """Say so when a statement that is true (or false) by nature is given another value."""
    return unless(any(expected is value for value in allowed), f"cannot be {expected!r}")


def shown(text: str, longest: int = 300) -> str:
    """Return a text for a message, on one line, cut."""
    line = repr(text)
    return line if len(line) <= longest else f"{line[:longest]}…"
