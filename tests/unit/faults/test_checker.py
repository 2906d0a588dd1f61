"""The checker of the fault matrix, on evidence made by hand: each breach is seen by the judge of its invariant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streams.domain.reports import OVERTAKEN
from tests.faults.checker import INVARIANTS, check
from tests.faults.evidence import (
    Applied,
    Asked,
    Evidence,
    Exit,
    Fault,
    Letter,
    Outcome,
    Receipt,
    Sent,
    Shown,
    Size,
    Stored,
)

V1 = Sent(doc="page", version=1, op="upsert", at=10.0, facts=frozenset({"one"}), chunks=frozenset({"c1", "c2"}))
V2 = replace(V1, version=2, at=20.0, facts=frozenset({"two"}), chunks=frozenset({"c2", "c3"}))
GONE = Sent(doc="gone", version=2, op="delete", at=12.0)
LIVE = Stored(doc="page", version=2, chunks=V2.chunks)
QUESTION = Asked(id="q", doc="page", at=30.0, deadline=35.0)
LEGS = {"dense": "ok", "sparse": "ok", "fulltext": "ok", "qa": "empty", "graph": "skipped"}
SHOWN = Shown(doc="page", version=2, facts=frozenset({"two"}))
ANSWER = Outcome(id="q", at=30.5, legs=LEGS, passages=(SHOWN,))
FAULT = Fault(what="qdrant: reset", begin=50.0, end=60.0, legs=frozenset({"dense", "sparse"}), in_flight=3)
GOOD = Evidence(
    sent=(V1, V2, GONE),
    receipts=(
        Receipt(doc="page", version=1, status="searchable", at=11.0),
        Receipt(doc="gone", version=2, status="deleted", at=13.0),
        Receipt(doc="page", version=2, status="searchable", at=21.0),
    ),
    applied=(Applied(doc="page", version=1), Applied(doc="gone", version=2), Applied(doc="page", version=2)),
    stored={"page": LIVE, "gone": Stored(doc="gone", version=2, deleted=True)},
    texts=V2.chunks,
    points=V2.chunks,
    asked=(QUESTION,),
    outcomes=(ANSWER,),
    faults=(FAULT,),
    exits=(Exit(process="chunk", code=-9, expected=(-9,)),),
    sizes=(Size(process="chunk", rss=(100_000_000, 120_000_000), fds=(20, 30), tasks=(9, 9)),),
    lag={"chunk": 0},
)


def broken(evidence: Evidence) -> set[str]:
    """Return the invariants about which the checker complains."""
    return {name for name, found in check(evidence).complaints.items() if found}


def letter(**fields: object) -> Letter:
    given = {"group": "g", "topic": "t", "partition": 0, "offset": 7, "error_class": "decode", "planted": False}
    return Letter(**{**given, **fields})  # type: ignore[arg-type]


def during(**fields: object) -> Evidence:
    """Return evidence in which the question is asked and answered in the middle of the fault."""
    question = replace(QUESTION, at=53.0, deadline=58.0)
    return replace(GOOD, asked=(question,), outcomes=(replace(ANSWER, at=56.0, **fields),))


def test_what_holds_is_not_complained_about() -> None:
    assert broken(GOOD) == set()
    assert check(GOOD).holds


BREACHES = {
    "a version that is not live": (
        "I1",
        replace(
            GOOD,
            stored={**GOOD.stored, "page": replace(LIVE, version=1, chunks=V1.chunks)},
            texts=V1.chunks,
            points=V1.chunks,
        ),
    ),
    "a page that never came": (
        "I1",
        replace(GOOD, stored={"gone": GOOD.stored["gone"]}, texts=frozenset(), points=frozenset()),
    ),
    "a dead letter that nobody planted": ("I1", replace(GOOD, letters=(letter(),))),
    "two dead letters of one record": ("I1", replace(GOOD, planted=1, letters=(letter(planted=True),) * 2)),
    "poison that vanished": ("I1", replace(GOOD, planted=2, letters=(letter(planted=True),))),
    "a chunk of an old version in the text index": ("I2", replace(GOOD, texts=V1.chunks | V2.chunks)),
    "a chunk of an old version in the vector index": ("I2", replace(GOOD, points=V1.chunks | V2.chunks)),
    "a chunk without vectors": ("I2", replace(GOOD, points=frozenset({"c2"}))),
    "half of a version live": (
        "I2",
        replace(GOOD, stored={**GOOD.stored, "page": replace(LIVE, chunks=frozenset({"c2"}))}),
    ),
    "a version that nobody sent": (
        "I2",
        replace(GOOD, stored={**GOOD.stored, "other": Stored(doc="other", version=1)}),
    ),
    "an answer with the version before": (
        "I2",
        replace(GOOD, outcomes=(replace(ANSWER, passages=(replace(SHOWN, version=1, facts=frozenset({"one"})),)),)),
    ),
    "an answer with a deleted page": (
        "I2",
        replace(GOOD, outcomes=(replace(ANSWER, passages=(SHOWN, Shown(doc="gone", version=1, facts=frozenset()))),)),
    ),
    "an answer with the text of another version": (
        "I2",
        replace(GOOD, outcomes=(replace(ANSWER, passages=(replace(SHOWN, facts=frozenset({"one"})),)),)),
    ),
    "a question without an outcome": ("I3", replace(GOOD, outcomes=())),
    "two outcomes of one question": ("I3", replace(GOOD, outcomes=(ANSWER, ANSWER))),
    "an outcome of no question": ("I3", replace(GOOD, outcomes=(ANSWER, replace(ANSWER, id="other")))),
    "an error that nothing explains": ("I3", replace(GOOD, outcomes=(replace(ANSWER, error="no reply"),))),
    "a live page that is not found": ("I3", replace(GOOD, outcomes=(replace(ANSWER, passages=()),))),
    "a page that one version overtook": (
        "I3",
        replace(
            GOOD,
            receipts=(*GOOD.receipts, replace(GOOD.receipts[2], at=30.2)),
            outcomes=(replace(ANSWER, passages=()),),
        ),
    ),
    "an error in a fault that breaks no answers": ("I3", during(error="no reply")),
    "a leg flagged without a fault": (
        "I4",
        replace(GOOD, outcomes=(replace(ANSWER, degraded=True, legs=LEGS | {"dense": "timeout"}),)),
    ),
    "the wrong leg flagged": ("I4", during(degraded=True, legs=LEGS | {"fulltext": "error"})),
    "a broken leg that is not told": ("I4", during(degraded=False, legs=LEGS | {"dense": "error"})),
    "a change is blamed that there was none of": (
        "I4",
        replace(GOOD, outcomes=(replace(ANSWER, degraded=True, reasons=(OVERTAKEN,)),)),
    ),
    "degraded without a reason": ("I4", replace(GOOD, outcomes=(replace(ANSWER, degraded=True),))),
    "a leg that must be flagged": (
        "I4",
        replace(during(), faults=(replace(FAULT, certain=frozenset({"dense", "sparse"})),)),
    ),
    "an outcome too late": ("I5", replace(GOOD, outcomes=(replace(ANSWER, at=35.3),))),
    "work left": ("I6", replace(GOOD, lag={"chunk": 0, "embed": 1})),
    "a barrier that does not come": ("I6", replace(GOOD, barriers=False)),
    "a version applied after a higher one": (
        "I7",
        replace(GOOD, applied=(*GOOD.applied, Applied(doc="page", version=1))),
    ),
    "memory": ("I8", replace(GOOD, sizes=(Size(process="p", rss=(1, 50_000_002), fds=(1, 1), tasks=(1, 1)),))),
    "descriptors": ("I8", replace(GOOD, sizes=(Size(process="p", rss=(1, 1), fds=(10, 75), tasks=(1, 1)),))),
    "tasks": ("I8", replace(GOOD, sizes=(Size(process="p", rss=(1, 1), fds=(1, 1), tasks=(1, 66)),))),
    "a secret": ("I9", replace(GOOD, secrets=("chunk.log (postgres)",))),
    "another exit code": ("I10", replace(GOOD, exits=(Exit(process="p", code=1, expected=(0,)),))),
    "an exit that nobody asked for": ("I10", replace(GOOD, exits=(Exit(process="p", code=0, expected=()),))),
    "a slow exit": (
        "I10",
        replace(GOOD, exits=(Exit(process="p", code=0, expected=(0,), seconds=11.0, within=10.0),)),
    ),
    "a fault that met nothing": ("bit", replace(GOOD, faults=(replace(FAULT, in_flight=0),))),
    "no fault": ("bit", replace(GOOD, faults=())),
    "what a scenario saw": ("own", replace(GOOD, own=("the reply topic is not bounded",))),
    "a late take-over": ("timed", replace(GOOD, takeovers={"chunk": 13.0}, takeover_bound=12.0)),
}


@pytest.mark.parametrize(("invariant", "evidence"), BREACHES.values(), ids=BREACHES)
def test_a_breach_is_seen_by_the_judge_of_its_invariant_alone(invariant: str, evidence: Evidence) -> None:
    assert broken(evidence) == {invariant}


def test_every_judge_has_a_breach() -> None:
    assert {invariant for invariant, _ in BREACHES.values()} == set(INVARIANTS)


SLOW_LEG = replace(ANSWER, degraded=True, legs=LEGS | {"dense": "timeout"})


def test_a_crowded_machine_explains_what_came_too_late_and_nothing_else() -> None:
    late = replace(GOOD, outcomes=(replace(SLOW_LEG, pressure=0.9),))
    silent = replace(GOOD, outcomes=(replace(ANSWER, error="no reply", passages=(), legs={}, pressure=0.9),))
    assert broken(late) == broken(silent) == {"timed"}
    assert check(late).holds
    refused = replace(SLOW_LEG, legs=LEGS | {"dense": "overloaded"})
    assert broken(replace(GOOD, outcomes=(replace(refused, pressure=0.9),))) == {"timed"}
    assert broken(replace(GOOD, outcomes=(refused,))) == {"I4"}
    failed = replace(SLOW_LEG, legs=LEGS | {"dense": "error"}, pressure=0.9)
    assert broken(replace(GOOD, outcomes=(failed,))) == {"I4"}
    assert broken(replace(GOOD, outcomes=(replace(ANSWER, error="internal", pressure=0.9),))) == {"I3"}


def test_a_store_that_was_held_up_by_itself_explains_its_own_legs_and_is_told() -> None:
    held_up = replace(FAULT, what="qdrant was held up for 4.0 s", begin=29.0, end=33.0)
    late = replace(GOOD, outcomes=(SLOW_LEG,), held_up=(held_up,))
    assert broken(late) == {"timed"}
    assert check(late).complaints["timed"] == (held_up.what,)
    other = replace(SLOW_LEG, legs=LEGS | {"fulltext": "timeout"})
    assert broken(replace(late, outcomes=(other,))) == {"I4", "timed"}
    assert broken(replace(late, held_up=(replace(held_up, begin=10.0, end=12.0),))) == {"I4", "timed"}


HARMLESS = {
    "an event in a dead letter topic": replace(
        GOOD,
        stored={**GOOD.stored, "page": replace(LIVE, version=1, chunks=V1.chunks)},
        receipts=GOOD.receipts[:2],
        texts=V1.chunks,
        points=V1.chunks,
        outcomes=(replace(ANSWER, passages=(replace(SHOWN, version=1, facts=frozenset({"one"})),)),),
        letters=(letter(planted=True, doc="page", version=2),),
    ),
    "a version that the broker never confirmed": replace(
        GOOD, sent=(*GOOD.sent, replace(V2, version=3, delivered=False), replace(V1, doc="new", delivered=False))
    ),
    "a dead letter that a crash repeats": replace(
        GOOD, planted=1, redelivers=True, letters=(letter(planted=True),) * 2
    ),
    "a repeated receipt": replace(GOOD, receipts=(*GOOD.receipts, GOOD.receipts[-1])),
    "a faulted leg that is flagged": during(degraded=True, legs=LEGS | {"dense": "error", "sparse": "timeout"}),
    "a kept answer in a fault": replace(
        during(cached=True), faults=(replace(FAULT, certain=frozenset({"dense", "sparse"})),)
    ),
    "an error in a fault that breaks answers": replace(
        during(error="no reply", passages=(), legs={}), faults=(replace(FAULT, answers=True),)
    ),
    "an error while all legs are away": replace(
        during(error="overloaded", passages=(), legs=dict.fromkeys(LEGS, "overloaded")),
        faults=(FAULT, replace(FAULT, what="legs-text killed", legs=frozenset({"fulltext", "qa", "graph"}))),
    ),
    "a client that was held up itself": replace(GOOD, outcomes=(replace(ANSWER, at=35.8, stall=0.6),)),
    "a new version that comes while it is searched": replace(
        GOOD,
        sent=(*GOOD.sent, replace(V2, version=3, at=30.1, delivered=False)),
        outcomes=(replace(ANSWER, passages=(replace(SHOWN, version=3),)),),
    ),
    "a page that two versions overtook while it was searched": replace(
        GOOD,
        receipts=(*GOOD.receipts, *(replace(GOOD.receipts[2], at=at) for at in (30.2, 30.3))),
        outcomes=(replace(ANSWER, passages=()),),
    ),
    "a page that a version overtook on a crowded machine": replace(
        GOOD,
        receipts=(*GOOD.receipts, replace(GOOD.receipts[2], at=30.2)),
        outcomes=(replace(ANSWER, passages=(), pressure=0.9),),
    ),
    "a page that is missing where the answer says that one may be": replace(
        GOOD,
        receipts=(*GOOD.receipts, replace(GOOD.receipts[2], doc="other", at=30.2)),
        outcomes=(replace(ANSWER, passages=(), degraded=True, reasons=(OVERTAKEN,)),),
    ),
    "a page that is being deleted": replace(
        GOOD,
        sent=(*GOOD.sent, replace(GONE, doc="page", version=3, at=30.2, delivered=False)),
        outcomes=(replace(ANSWER, passages=()),),
    ),
}


@pytest.mark.parametrize("evidence", HARMLESS.values(), ids=HARMLESS)
def test_what_may_happen_is_not_complained_about(evidence: Evidence) -> None:
    assert broken(evidence) == set()


def test_a_late_take_over_on_a_busy_machine_is_told_and_not_judged() -> None:
    verdict = check(replace(GOOD, takeovers={"chunk": 13.0}, takeover_bound=12.0))
    assert verdict.holds
    assert verdict.figures["take-over"] == 13.0


def test_the_time_until_an_edit_is_searchable_is_that_of_its_first_receipt() -> None:
    repeated = replace(GOOD.receipts[2], at=90.0)
    figures = check(replace(GOOD, receipts=(*GOOD.receipts, repeated))).figures
    assert (figures["searchable p50"], figures["searchable p95"]) == (21.0 - 20.0, 21.0 - 20.0)
    assert figures["duplicates"] == 1
