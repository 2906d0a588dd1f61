"""What is published of a source, given what was published before."""

from __future__ import annotations

import pytest

from schemas.documents import DocumentChange
from streams.sources.plan import MassDelete, Plan, fingerprint, plan
from streams.sources.problem import Problem
from streams.sources.state import DELETED, Known

NOW = 1_700_000_000.0
MILLISECONDS = 1_700_000_000_000


def document(doc_id: str, text: str = "text") -> DocumentChange:
    return DocumentChange(tenant="t", source="s", doc_id=doc_id, version=0, content=text)


def published(*documents: DocumentChange, version: int = 1) -> dict[str, Known]:
    return {change.doc_id: Known(version=version, hash=fingerprint(change)) for change in documents}


def changes(made: Plan, *reading: DocumentChange | Problem) -> list[tuple[str, str, int]]:
    found = made.changes(reading, tenant="t", source="s", now=NOW)
    return [(change.op, change.doc_id, change.version) for change in found]


def test_only_what_changed_is_published_and_what_is_gone_is_deleted() -> None:
    reading = [document("same"), document("edited", "new"), document("added")]
    made = plan(reading, published(document("same"), document("edited", "old"), document("gone")))
    assert made.unchanged == 1
    assert changes(made, *reading) == [
        ("upsert", "edited", MILLISECONDS),
        ("upsert", "added", MILLISECONDS),
        ("delete", "gone", MILLISECONDS),
    ]


def test_versions_rise_even_when_the_clock_was_set_back() -> None:
    reading = [document("a", "new")]
    made = plan(reading, published(document("a"), document("b"), version=MILLISECONDS + 5), allow_mass_delete=True)
    assert changes(made, *reading) == [
        ("upsert", "a", MILLISECONDS + 5 + 1),
        ("delete", "b", MILLISECONDS + 5 + 1),
    ]


def test_versions_rise_even_when_the_memory_is_lost() -> None:
    reading = [document("a")]
    earlier = plan(reading, {}).version("a", NOW)
    assert plan(reading, {}).version("a", NOW + 0.001) == earlier + 1


def test_again_publishes_what_did_not_change() -> None:
    reading = [document("a")]
    assert changes(plan(reading, published(*reading), again=True), *reading) == [("upsert", "a", MILLISECONDS)]


def test_a_document_that_comes_back_is_published_above_its_deletion() -> None:
    known = {"a": Known(version=MILLISECONDS + 1, hash=DELETED, deleted=True)}
    assert changes(plan([document("a")], known), document("a")) == [("upsert", "a", MILLISECONDS + 2)]


def test_a_deletion_is_made_once_and_again_only_when_it_may_not_have_arrived() -> None:
    assert plan([], {"a": Known(version=1, hash=DELETED, deleted=True)}).deletes == ()
    assert plan([document("b")], {"a": Known(version=1, hash="", deleted=True)}).deletes == ("a",)


def test_what_may_not_have_arrived_is_published_again() -> None:
    assert plan([document("a")], {"a": Known(version=1, hash="")}).upserts == {"a"}


def test_a_document_with_a_problem_stays_as_it_was_published() -> None:
    problem = Problem(where="a", message="too large", doc_id="a")
    made = plan([problem, document("b")], published(document("a"), document("b")))
    assert (made.deletes, made.upserts, made.unchanged) == ((), frozenset(), 1)


def test_nothing_is_deleted_while_an_unreadable_line_may_be_any_document() -> None:
    made = plan([Problem(where="line 1", message="not JSON")], published(document("a")))
    assert (made.deletes, made.held) == ((), 1)


@pytest.mark.parametrize(
    ("known", "left", "refused"),
    [(42, 20, True), (42, 21, False), (20, 1, False), (20, 0, True), (1, 0, True), (0, 0, False), (100, 49, True)],
)
def test_losing_more_than_half_and_more_than_20_or_everything_is_asked_about(
    known: int, left: int, refused: bool
) -> None:
    documents = [document(f"d{n}") for n in range(known)]
    if refused:
        with pytest.raises(MassDelete, match="--allow-mass-delete"):
            plan(documents[:left], published(*documents))
    assert len(plan(documents[:left], published(*documents), allow_mass_delete=True).deletes) == known - left
    if not refused:
        assert len(plan(documents[:left], published(*documents)).deletes) == known - left


def test_a_first_load_and_everything_again_are_bulk_and_edits_are_not() -> None:
    reading = [document("a"), document("b", "new")]
    known = published(document("a"), document("b", "old"))
    assert plan(reading, {}).bulk
    assert plan(reading, known, again=True).bulk
    assert not plan(reading, known).bulk
