"""The rules of versions, case by case."""

from __future__ import annotations

import pytest

from schemas.documents import DocumentChange, Receipt
from streams.adapters import versions_rules
from streams.adapters.versions_rules import Step
from streams.domain.versions import Candidate, Verdict


def receipt(writer: str = "text", *, part: int = 0, version: int = 2, error: str | None = None) -> Receipt:
    return Receipt(
        tenant="acme",
        source="help",
        doc_id="d",
        version=version,
        generation="g1",
        writer=writer,  # type: ignore[arg-type]
        part=part,
        error=error,
    )


@pytest.mark.parametrize(
    ("accepted", "verdict"),
    [
        ((None, None), Verdict.NEW),
        ((1, "a"), Verdict.NEW),
        ((2, "a"), Verdict.REPEAT),
        ((2, "b"), Verdict.CONFLICT),
        ((3, "a"), Verdict.STALE),
    ],
)
def test_the_guard_compares_with_the_last_accepted_version(
    accepted: tuple[int | None, str | None], verdict: Verdict
) -> None:
    change = DocumentChange(tenant="acme", doc_id="d", version=2)
    candidate = Candidate(change=change, content_hash="a", generation="g1", language="en", chunks=(), parts=0)
    assert versions_rules.judge(candidate, *accepted) is verdict


def test_every_part_waits_for_both_writers_and_an_empty_version_for_chunk() -> None:
    assert versions_rules.waits(0) == ["chunk:0"]
    assert versions_rules.waits(2) == ["text:0", "vectors:0", "text:1", "vectors:1"]


@pytest.mark.parametrize(
    ("given", "live", "waiting", "step"),
    [
        (receipt("text"), None, ["text:0", "vectors:0"], Step.WAITING),
        (receipt("text"), None, ["text:0"], Step.FLIPPED),
        (receipt("text"), 1, ["text:0"], Step.FLIPPED),
        (receipt("text"), None, ["vectors:0"], Step.IGNORED),
        (receipt("text", part=1), None, ["text:0"], Step.IGNORED),
        (receipt("text"), 2, [], Step.REPEATED),
        (receipt("text"), 3, [], Step.IGNORED),
        (receipt("text", error="e"), None, ["text:0"], Step.FAILED),
        (receipt("text", error="e"), None, ["vectors:0"], Step.IGNORED),
        (receipt("text", error="e"), 2, [], Step.REPEATED),
        (receipt("text", error="e"), 3, ["text:0"], Step.IGNORED),
    ],
)
def test_a_receipt_moves_its_version_by_what_it_waits_for(
    given: Receipt, live: int | None, waiting: list[str], step: Step
) -> None:
    assert versions_rules.settle(given, live_version=live, waiting=waiting) is step
