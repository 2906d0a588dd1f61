"""Each leg searches the other phrasings of a question too, at the same time, and answers once."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.queries import Hit, LegResult, PreparedQuery
from streams.errors import StoreUnavailable
from streams.processors.legs import NO_WORDS, Found, retrieval
from tests.unit.domain.questions import prepared

FOUND = {
    "refund policy": [("a", 0.9), ("b", 0.5)],
    "money back": [("b", 0.7), ("c", 0.6)],
    "returns": [("d", 0.1)],
}


async def search(query: PreparedQuery, deps: Any) -> Found:
    if query.text == "broken":
        raise StoreUnavailable("down")
    if query.text == "the":
        return Found(skipped=NO_WORDS)
    if query.text == "elsewhere":
        return Found([Hit(chunk_id="e", score=1.0)], model="other")
    if query.text == "stood in":
        return Found([Hit(chunk_id="a", score=1.0)], model="m", fallback="fallback: m instead of n")
    deps.append((query.text, query.terms, query.carried))
    hits = [Hit(chunk_id=name, score=score) for name, score in FOUND[query.text]]
    return Found(hits, questions=hits[:1], model="m", frequencies=(len(query.terms),), counted=9)


async def run(phrased: bool = True, **fields: Any) -> tuple[LegResult, list[Any]]:
    searched: list[Any] = []
    leg = retrieval("fulltext", summary="s", search=search, phrased=phrased)
    (sent,) = await leg.handle(prepared(**fields), searched)
    assert isinstance(sent.message, LegResult)
    return sent.message, searched


async def test_a_chunk_has_its_best_score_and_what_is_counted_is_the_question_itself() -> None:
    result, searched = await run(phrasings=("money back", "returns"), carried="plan")
    assert [(hit.chunk_id, hit.score) for hit in result.hits] == [("a", 0.9), ("b", 0.7), ("c", 0.6), ("d", 0.1)]
    assert [hit.chunk_id for hit in result.questions] == ["a", "b", "d"]
    assert (result.frequencies, result.counted, result.model, result.status) == ((2,), 9, "m", "ok")
    assert searched == [
        ("refund policy", ("refund", "polici"), "plan"),
        ("money back", ("money", "back"), ""),
        ("returns", ("return",), ""),
    ]


async def test_no_more_are_returned_than_are_asked_for() -> None:
    result, _ = await run(phrasings=("money back", "returns"), candidates=2)
    assert [hit.chunk_id for hit in result.hits] == ["a", "b"]


async def test_a_phrasing_that_fails_is_left_out_and_the_question_is_not() -> None:
    result, _ = await run(phrasings=("broken",))
    assert [hit.chunk_id for hit in result.hits] == ["a", "b"]
    with pytest.raises(StoreUnavailable):
        await run(text="broken", phrasings=("money back",))


async def test_a_question_without_words_is_found_by_its_phrasings() -> None:
    result, _ = await run(text="the", phrasings=("money back",))
    assert (result.status, result.reason, len(result.hits)) == ("ok", None, 2)
    result, _ = await run(text="the", phrasings=("the",))
    assert (result.status, result.reason) == ("skipped", NO_WORDS)


async def test_a_leg_may_search_the_question_alone() -> None:
    _, searched = await run(phrased=False, phrasings=("money back",))
    assert [text for text, _, _ in searched] == ["refund policy"]


async def test_a_phrasing_that_another_model_answered_for_is_left_out() -> None:
    result, _ = await run(phrasings=("elsewhere",))
    assert ([hit.chunk_id for hit in result.hits], result.model) == (["a", "b"], "m")


async def test_that_a_model_stood_in_is_said_with_phrasings_too() -> None:
    result, _ = await run(text="stood in", phrasings=("money back",))
    assert (result.status, result.reason) == ("ok", "fallback: m instead of n")
