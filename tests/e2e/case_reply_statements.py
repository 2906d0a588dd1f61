"""Statements about the reply to a question."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
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
    twin = _other(answer, other, outcome)
    return unless(twin is not None and answer.docs == twin.docs, f"{_found(answer)}, not {_found(twin)}")


@_reply
def starts_like(answer: Answer, other: int, _: Given, outcome: Outcome) -> str | None:
    """The other question's passages come first, in the same order."""
    twin = _other(answer, other, outcome)
    if twin is None or not twin.passages:
        return f"query {other} has no passages"
    ids = [passage.passage_id for passage in answer.passages]
    first = [passage.passage_id for passage in twin.passages]
    return unless(ids[: len(first)] == first, f"{ids} does not start with {first}")


@_reply
def scores_equal_on_shared(answer: Answer, other: int, _: Given, outcome: Outcome) -> str | None:
    """Passages that the other question returned too have the same absolute score here."""
    twin = _other(answer, other, outcome)
    theirs = dict(zip([p.passage_id for p in twin.passages], twin.scores(), strict=True)) if twin else {}
    ids = [passage.passage_id for passage in answer.passages]
    pairs = [(mine, theirs[i]) for i, mine in zip(ids, answer.scores(), strict=True) if i in theirs]
    equal = all(a is not None and b is not None and math.isclose(a, b, abs_tol=1e-6) for a, b in pairs)
    return unless(bool(pairs) and equal, f"scores here and there: {pairs}")


@_reply
def scores_between(answer: Answer, bounds: Sequence[float], _: Given, __: Outcome) -> str | None:
    """The absolute scores are in this range, its ends included."""
    low, high = bounds
    return unless(all(s is not None and low <= s <= high for s in answer.scores()), f"scores {answer.scores()}")


@_reply
def all_scores_at_least(answer: Answer, least: float, given: Given, outcome: Outcome) -> str | None:
    """No absolute score is lower."""
    return scores_between(answer, (least, math.inf), given, outcome)


@_reply
def scores_descending(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """The absolute scores never rise."""
    scores = answer.scores()
    falling = None not in scores and all(a >= b for a, b in pairwise(scores) if a is not None and b is not None)
    return only(expected, True) or unless(falling, f"scores {scores}")


@_reply
def all_scores_are_numbers(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """Every absolute score is a finite number."""
    finite = all(score is not None and math.isfinite(score) for score in answer.scores())
    return only(expected, True) or unless(finite, f"scores {answer.scores()}")


@_reply
def per_leg_scores_reported(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """Each passage names its rank and raw score in every leg that found it."""
    legs = [passage.legs for passage in answer.passages]
    said = all(each and all(s.rank >= 1 and math.isfinite(s.score) for s in each.values()) for each in legs)
    return only(expected, True) or unless(said, f"legs {legs}")


@_reply
def passages_chars_at_most(answer: Answer, most: int, _: Given, __: Outcome) -> str | None:
    """Characters of all passages together."""
    length = sum(len(passage.text) for passage in answer.passages)
    return unless(length <= most, f"{length} characters")


@_reply
def legs_never_error(answer: Answer, legs: Sequence[str], _: Given, __: Outcome) -> str | None:
    """None of these legs, where the profile has them, reports `error` or `timeout`."""
    wrong = [leg for leg in _in_profile(answer, legs) if _status(answer, leg) not in ("ok", "empty", "skipped")]
    return unless(not wrong, f"{wrong}: {_ran(answer)}")


@_reply
def legs_empty_or_skipped(answer: Answer, legs: Sequence[str], _: Given, __: Outcome) -> str | None:
    """Each of these, where the profile has them, reports `empty` or `skipped`."""
    wrong = [leg for leg in _in_profile(answer, legs) if _status(answer, leg) not in ("empty", "skipped")]
    return unless(not wrong, f"{wrong}: {_ran(answer)}")


@_reply
def leg_has_candidates(answer: Answer, legs: Sequence[str], _: Given, __: Outcome) -> str | None:
    """Each of these reports at least one candidate."""
    wrong = [leg for leg in legs if leg not in answer.reply.legs or not answer.reply.legs[leg].candidates]
    return unless(not wrong, f"{wrong}: {_ran(answer)}")


@_reply
def reply_not_degraded(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """No leg is degraded; a reranker skipped for want of a model does not count."""
    reply = answer.reply
    excused = all(reason.startswith("rerank") and "no model" in reason for reason in reply.reasons)
    whole = reply.error is None and (not reply.degraded or (bool(reply.reasons) and excused))
    return only(expected, True) or unless(whole, f"{reply.error or reply.reasons}; {_ran(answer)}")


@_reply
def reply_not_error(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """A reply with a list of passages, maybe empty."""
    return only(expected, True) or unless(answer.reply.error is None, f"{answer.reply.error}")


@_reply
def answered_by_deadline(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """A reply of any kind in time: a quarter of a second is for the way back."""
    lost = answer.reply.error is not None and answer.reply.error.error_class == "no reply"
    in_time = not lost and answer.seconds <= answer.allowed + 0.25
    return only(expected, True) or unless(in_time, f"{answer.reply.error} after {answer.seconds:.2f} s")


@_reply
def error_reply(answer: Answer, error_class: str, _: Given, __: Outcome) -> str | None:
    """A reply that refuses the question under this class and names the field."""
    error = answer.reply.error
    refused = error is not None and error.error_class == error_class and bool(error.field) and not answer.passages
    return unless(refused, f"the error is {error}: {_found(answer)}")


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


def _other(answer: Answer, query: int, outcome: Outcome) -> Answer | None:
    """Return the answer to another question, under the same profile where it was asked under that."""
    theirs = [each for each in outcome.answers if each.query == query]
    return next((each for each in theirs if each.profile.name == answer.profile.name), theirs[0] if theirs else None)


def _in_profile(answer: Answer, legs: Sequence[str]) -> list[str]:
    return [leg for leg in legs if leg in answer.profile.legs]


def _status(answer: Answer, leg: str) -> str | None:
    return answer.reply.legs[leg].status if leg in answer.reply.legs else None


def _ran(answer: Answer) -> str:
    legs = {leg: f"{ran.status} {ran.candidates} {ran.reason or ''}" for leg, ran in answer.reply.legs.items()}
    return f"legs {legs}, error {answer.reply.error}"
