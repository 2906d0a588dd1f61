"""Statements about the run of a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.e2e.case_outcomes import Outcome
from tests.e2e.case_registry import Statement, into, only, unless

RUN_STATEMENTS: dict[str, Statement[Any]] = {}
_run = into(RUN_STATEMENTS)


@_run
def no_dead_letter(_: Any, expected: Any, __: Mapping[str, Any], outcome: Outcome) -> str | None:
    """No event of the case, and nothing that came of one, is in a dead letter topic."""
    return only(expected, True) or unless(not outcome.dead_letters, ", ".join(outcome.dead_letters))


@_run
def embeds_at_most_changed_chunks(_: Any, expected: Any, given: Mapping[str, Any], outcome: Outcome) -> str | None:
    """The event `event` caused no more embeddings than its version has new or changed chunks."""
    work = outcome.work.get(given.get("event", 0))
    if work is None:
        return f"there is no event {given.get('event')}"
    message = f"{work.embedded} embeddings for {work.changed} new or changed chunks"
    return only(expected, True) or unless(work.embedded <= work.changed, message)
