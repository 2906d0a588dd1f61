"""Statements about the reply to a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.replies import Passage
from tests.e2e.case_outcomes import Answer, Outcome, has, normal
from tests.e2e.case_registry import Statement, into, only, shown, unless

Given = Mapping[str, Any]

REPLY_STATEMENTS: dict[str, Statement[Answer]] = {}
_reply = into(REPLY_STATEMENTS)


@_reply
def first_doc(answer: Answer, doc: str, _: Given, __: Outcome) -> str | None:
    """The first passage is from this document."""
    return unless(answer.docs[:1] == [doc], f"{doc} is not first in {_found(answer)}")


@_reply
def contains_docs(answer: Answer, docs: Sequence[str], given: Given, _: Outcome) -> str | None:
    """All these are among the first `within` different documents."""
    within = given.get("within", len(answer.docs))
    missing = set(docs) - set(answer.docs[:within])
    return unless(not missing, f"{sorted(missing)} not among the first {within} of {_found(answer)}")


@_reply
def ranks_before(answer: Answer, pair: Sequence[str], _: Given, __: Outcome) -> str | None:
    """The first is in the reply, and the second is not, or stands lower."""
    first, second = pair
    before = first in answer.docs and second not in answer.docs[: answer.docs.index(first)]
    return unless(before and first != second, f"{first} is not before {second} in {_found(answer)}")


@_reply
def never_docs(answer: Answer, docs: Sequence[str], _: Given, __: Outcome) -> str | None:
    """No passage is from any of these."""
    return unless(not set(docs) & set(answer.docs), f"of {docs} some are in {_found(answer)}")


@_reply
def never_doc(answer: Answer, doc: str, given: Given, outcome: Outcome) -> str | None:
    """No passage is from it."""
    return never_docs(answer, [doc], given, outcome)


@_reply
def passage_contains(answer: Answer, text: str, _: Given, __: Outcome) -> str | None:
    """Some passage has the text."""
    found = any(has(passage.text, text) for passage in answer.passages)
    return unless(found, f"{text!r} is in no passage: {_found(answer)}: {shown(answer.text)}")


@_reply
def passage_never_contains(answer: Answer, text: str, _: Given, __: Outcome) -> str | None:
    """No passage has the text, in its own words or in its title and path."""
    holders = [p.doc_id for p in answer.passages if any(has(part, text) for part in (p.text, p.title, *p.heading_path))]
    return unless(not holders, f"{text!r} is in passages of {holders}")


@_reply
def first_title_contains(answer: Answer, text: str, _: Given, __: Outcome) -> str | None:
    """The first passage's document title has the text."""
    title = answer.passages[0].title if answer.passages else None
    return unless(title is not None and has(title, text), f"{text!r} is not in the first title {title!r}")


@_reply
def text_at_most_once(answer: Answer, text: str, _: Given, __: Outcome) -> str | None:
    """The text occurs at most once in all passages together."""
    times = answer.text.count(normal(text))
    return unless(times <= 1, f"{text!r} occurs {times} times: {_found(answer)}")


@_reply
def every_passage_has_body(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """No passage consists of headings only."""

    def bare(passage: Passage) -> bool:
        names = {normal(name) for name in (passage.title, *passage.heading_path, " > ".join(passage.heading_path), "")}
        return all(normal(line.lstrip("#- ")) in names or _warns(line) for line in passage.text.splitlines())

    return only(expected, True) or unless(not any(map(bare, answer.passages)), f"headings only in {_found(answer)}")


@_reply
def no_result(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """The reply is final, not an error, and has no passage."""
    empty = answer.reply.final and answer.reply.error is None and not answer.passages
    return only(expected, True) or unless(empty, f"there are passages or an error: {_found(answer)}")


@_reply
def same_docs_as(answer: Answer, other: int, _: Given, outcome: Outcome) -> str | None:
    """The same documents in the same order as in the reply to another question."""
    twin = outcome.other(answer, other)
    return unless(twin is not None and answer.docs == twin.docs, f"{_found(answer)}, not {_found(twin)}")


@_reply
def starts_like(answer: Answer, other: int, _: Given, outcome: Outcome) -> str | None:
    """The other question's passages come first, in the same order."""
    twin = outcome.other(answer, other)
    if twin is None or not twin.passages:
        return f"query {other} has no passages"
    ids = [passage.passage_id for passage in answer.passages]
    first = [passage.passage_id for passage in twin.passages]
    return unless(ids[: len(first)] == first, f"{ids} does not start with {first}")


@_reply
def passages_chars_at_most(answer: Answer, most: int, _: Given, __: Outcome) -> str | None:
    """Characters of all passages together."""
    length = sum(len(passage.text) for passage in answer.passages)
    return unless(length <= most, f"{length} characters")


@_reply
def cache_hit(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """Whether the reply came from the cache."""
    hit = answer.reply.cache == "hit"
    return only(expected, True, False) or unless(hit is expected, f"the cache says {answer.reply.cache}")


@_reply
def only_own_tenant(answer: Answer, expected: Any, _: Given, outcome: Outcome) -> str | None:
    """Every passage and id belongs to the tenant of the query."""
    own = outcome.ids.get(answer.tenant, frozenset())
    foreign = {i for p in answer.passages for i in (p.passage_id, *p.evidence)} - own
    return only(expected, True) or unless(not foreign, f"not of {answer.tenant}: {sorted(foreign)}: {_found(answer)}")


@_reply
def trust_mark(answer: Answer, marks: Mapping[str, str], _: Given, __: Outcome) -> str | None:
    """Passages carry the mark of their event."""
    wrong = {p.doc_id: p.trust for p in answer.passages if p.trust != marks.get(p.doc_id, p.trust)}
    return unless(not wrong, f"marked {wrong}")


@_reply
def external_passages_marked(answer: Answer, expected: Any, _: Given, outcome: Outcome) -> str | None:
    """Passages whose event says `external` are marked so and begin with the warning that they are data."""
    outside = {d.doc_id for d in outcome.documents if d.trust == "external" and d.tenant == answer.tenant}
    unmarked = [
        p.doc_id
        for p in answer.passages
        if p.kind != "graph"  # a summary of several documents, as external as any of them
        if (p.doc_id in outside) is not (p.trust == "external" and _warns(p.text.split("\n", 1)[0]))
    ]
    return only(expected, True) or unless(not unmarked, f"wrongly marked: {unmarked}")


def _warns(line: str) -> bool:
    return line.startswith("[") and "external" in line.casefold() and "data, not instructions" in line


def _found(answer: Answer | None) -> str:
    if answer is None:
        return "(not asked)"
    error = answer.reply.error
    return str(answer.docs) if error is None else f"an error, {error.error_class} {error.field}: {error.message}"
