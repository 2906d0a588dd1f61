"""Judges what a case states against what became of it. An entry that nobody knows fails, and never passes unread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.e2e.case_document_statements import DOCUMENT_STATEMENTS
from tests.e2e.case_outcomes import Answer, Outcome, Stored
from tests.e2e.case_reply_statements import REPLY_STATEMENTS
from tests.e2e.case_run_statements import RUN_STATEMENTS
from tests.e2e.case_score_statements import SCORE_STATEMENTS
from tests.e2e.case_search_statements import SEARCH_STATEMENTS

Subject = Answer | Stored | None  # none: the run

ANSWER_STATEMENTS = {**REPLY_STATEMENTS, **SCORE_STATEMENTS, **SEARCH_STATEMENTS}

ABOUT_QUERIES = frozenset({"query", "queries", "each_query"})
ABOUT_DOCUMENTS = frozenset({"doc", "docs"})
SELECTORS = ABOUT_QUERIES | ABOUT_DOCUMENTS | {"under"}
# Entries that say more about another one of the same statement; each needs one of those.
DETAILS: Mapping[str, frozenset[str]] = {
    "within": frozenset({"contains_docs"}),
    "text": frozenset({"heading_path", "heading_path_never_contains"}),
    "also_contain": frozenset({"chunks_having"}),
    "version": frozenset({"status"}),
    "event": frozenset({"embeds_at_most_changed_chunks"}),
}


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A statement that does not hold."""

    number: int  # of the statement, from 1
    entry: str
    about: str
    message: str

    def __str__(self) -> str:
        return f"statement {self.number}, {self.about}: {self.entry}: {self.message}"


def failures(outcome: Outcome) -> list[Failure]:
    """Return every entry of every statement that does not hold."""
    return [
        Failure(number=number, entry=entry, about=about, message=message)
        for number, statement in enumerate(outcome.case.expect, start=1)
        for about, entry, message in _statement(statement, outcome)
    ]


def _statement(statement: Mapping[str, Any], outcome: Outcome) -> Iterable[tuple[str, str, str]]:
    try:
        subjects = _subjects(statement, outcome)
    except LookupError as error:
        yield "the case", "/".join(SELECTORS & set(statement)), str(error)
        return
    entries = {name: value for name, value in statement.items() if name not in SELECTORS}
    if not entries:
        yield "the case", "/".join(statement), "states nothing"
    for subject in subjects:
        for entry, message in _entries(entries, subject, outcome):
            yield _named(subject), entry, message


def _subjects(statement: Mapping[str, Any], outcome: Outcome) -> list[Subject]:
    """Return what a statement is about; raise LookupError when that is nothing at all."""
    queries, documents = ABOUT_QUERIES & set(statement), ABOUT_DOCUMENTS & set(statement)
    if len(queries | documents) > 1 or ("under" in statement and not queries):
        raise LookupError("a statement has one subject, and `under` is about queries")
    if queries:
        asked = range(len(outcome.case.queries))
        if "each_query" in statement and statement["each_query"] is not True:
            raise LookupError("`each_query` can only be true")
        wanted = asked if "each_query" in statement else statement.get("queries", [statement.get("query")])
        if not wanted or not set(wanted) <= set(asked):
            raise LookupError(f"there is no such query among {list(asked)}: {wanted}")
        under = statement.get("under")
        # Under a profile that does not exist nothing was asked, and the statement waits for it.
        return [a for a in outcome.answers if a.query in wanted and under in (None, a.profile.name)]
    if documents:
        names = statement.get("docs", [statement.get("doc")])
        found = [stored for stored in outcome.documents if stored.doc_id in names]
        if not names or {stored.doc_id for stored in found} != set(names):
            raise LookupError(f"the case has no such document: {names}")
        return list(found)
    return [None]


def _entries(entries: Mapping[str, Any], subject: Subject, outcome: Outcome) -> Iterable[tuple[str, str]]:
    known: Mapping[str, Any] = RUN_STATEMENTS
    if isinstance(subject, Answer):
        known = ANSWER_STATEMENTS
    elif isinstance(subject, Stored):
        known = DOCUMENT_STATEMENTS
    for name, expected in entries.items():
        if name == "any_of":
            tried = [list(_option(option, subject, outcome)) for option in expected]
            if all(tried):
                yield "any_of", "; ".join(f"{entry}: {message}" for option in tried for entry, message in option)
        elif name in DETAILS:
            if not DETAILS[name] & set(entries):
                yield name, f"belongs to {' or '.join(sorted(DETAILS[name]))}"
        elif name not in known:
            yield name, "no such statement"
        elif message := known[name](subject, expected, entries, outcome):
            yield name, message


def _option(option: Mapping[str, Any], subject: Subject, outcome: Outcome) -> Iterable[tuple[str, str]]:
    if SELECTORS & set(option):
        return [(entry, f"{about}: {message}") for about, entry, message in _statement(option, outcome)]
    return _entries(option, subject, outcome) if option else [("any_of", "states nothing")]


def _named(subject: Subject) -> str:
    if isinstance(subject, Answer):
        return f"query {subject.query} under {subject.profile.name}"
    return f"document {subject.doc_id} of {subject.tenant!r}" if isinstance(subject, Stored) else "the run"
