"""Kept answers: which may be kept, and when one still holds."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import pytest

from schemas.graph import Fact
from schemas.queries import MinVersion
from schemas.replies import ErrorInfo, LegScore, Milliseconds, Passage, QueryReply, Summary
from streams.domain import kept_answers
from streams.domain.versions import LivePassage
from tests.unit.domain.questions import expected
from tests.unit.domain.questions import passage as live_passage


def shown(passage_id: str, *evidence: str, **fields: Any) -> Passage:
    given: dict[str, Any] = {
        "rank": 1,
        "source": "help",
        "doc_id": f"doc-{passage_id}",
        "version": 1,
        "kind": "document",
        "title": "Title",
        "heading_path": (),
        "uri": "",
        "trust": "internal",
        "text": "text",
        "score": 0.5,
        "fused": 0.5,
        "legs": {"dense": LegScore(rank=1, score=0.5)},
    }
    return Passage(passage_id=passage_id, evidence=evidence, **{**given, **fields})


def reply(*passages: Passage, **fields: Any) -> QueryReply:
    return QueryReply(query_id="q1", milliseconds=Milliseconds(total=1.0), passages=passages, **fields)


def live(**chunks: LivePassage) -> dict[str, LivePassage]:
    return chunks


KEY = "answers:acme:00"


def test_a_whole_answer_may_be_kept_an_empty_one_too() -> None:
    assert kept_answers.may_be_kept(expected(cache_key=KEY), reply(shown("a", "a1")))
    assert kept_answers.may_be_kept(expected(cache_key=KEY), reply())


@pytest.mark.parametrize(
    "fields",
    [
        {"final": False},
        {"degraded": True},
        {"stale": True},
        {"error": ErrorInfo(error_class="fence unavailable", message="no")},
    ],
)
def test_one_that_is_not_whole_may_not(fields: dict[str, Any]) -> None:
    assert not kept_answers.may_be_kept(expected(cache_key=KEY), reply(**fields))


@pytest.mark.parametrize(
    "fields",
    [{"cache_key": None}, {"explain": True}, {"min_version": (MinVersion(source="help", doc_id="a", version=1),)}],
)
def test_nor_one_that_was_made_for_its_asker_alone(fields: dict[str, Any]) -> None:
    assert not kept_answers.may_be_kept(expected(**{"cache_key": KEY, **fields}), reply())


def test_it_is_read_as_it_was_written_and_under_its_own_key_only() -> None:
    answer = reply(shown("a", "a1"), cache="miss")
    value = kept_answers.written(KEY, answer)
    assert kept_answers.read(KEY, value) == answer
    for wrong in (None, b"", b"OK", value[:-1], KEY.encode(), KEY.encode() + b"\n", KEY.encode() + b"\n{}"):
        assert kept_answers.read(KEY, wrong) is None
    assert kept_answers.read("answers:acme:01", value) is None


A, B = live_passage("a"), live_passage("b")
FACTS = (
    Fact(subject="s", label="l", object="o", chunk_id="f1"),
    Fact(subject="s", label="l", object="o", chunk_id="f2"),
)
FULL = reply(
    shown("a", "a1", "a2"),
    shown("graph", "f1", kind="graph", version=0),
    pinned=(shown("b"),),
    summary=Summary(text="s", facts=FACTS, evidence=("o1",)),
)
ALIVE = live(a=A, a1=A, a2=A, b=B, f1=A, f2=B, o1=B)


def test_it_rests_on_its_passages_its_pinned_ones_and_what_is_behind_its_summary() -> None:
    assert kept_answers.evidence(FULL) == ["a", "a1", "a2", "f1", "b", "f2", "o1"]
    assert kept_answers.holds(FULL, ALIVE)
    assert kept_answers.holds(reply(), {})


@pytest.mark.parametrize("gone", ALIVE)
def test_it_holds_no_more_when_any_of_them_is_gone(gone: str) -> None:
    assert not kept_answers.holds(FULL, {chunk: passage for chunk, passage in ALIVE.items() if chunk != gone})


@pytest.mark.parametrize("chunk", ["a", "a1", "a2", "b"])
def test_nor_when_one_is_in_another_version_or_passage(chunk: str) -> None:
    for change in ({"version": 2}, {"passage_id": "c"}):
        assert not kept_answers.holds(FULL, {**ALIVE, chunk: dataclasses.replace(ALIVE[chunk], **change)})


def test_what_cannot_be_checked_does_not_hold() -> None:
    nothing_behind = msgspec.structs.replace(FULL.passages[1], evidence=())
    assert not kept_answers.holds(reply(nothing_behind), ALIVE)
