"""The profile `knowledge-base`: every number of the description it follows, as arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from streams.adapters import profiles
from streams.domain.chunking import Limits
from streams.domain.ranking import Ranked, rank
from tests.unit.domain.questions import passage, prepared, result

KNOWLEDGE_BASE = profiles.shipped()["knowledge-base"]


def ranked(dense: list[str], sparse: list[str], **fields: Any) -> Ranked:
    live = {name: passage(name) for name in (*dense, *sparse)}
    results: Any = {"dense": result("dense", *dense), "sparse": result("sparse", *sparse)}
    fields = {"profile": KNOWLEDGE_BASE, "top_k": KNOWLEDGE_BASE.passages, "explain": True} | fields
    return rank(prepared(), results, live | fields.pop("live", {}), **fields)


def test_dense_vectors_and_bm25_give_thirty_candidates_each_on_sections() -> None:
    assert KNOWLEDGE_BASE.legs == ("dense", "sparse")
    assert KNOWLEDGE_BASE.levels == ("parent",)
    assert (KNOWLEDGE_BASE.candidates, KNOWLEDGE_BASE.candidates_per_passage) == (30, None)


def test_fusion_is_that_of_qdrant_with_k_of_two_and_ranks_from_zero() -> None:
    of = ranked(["a", "b", "c"], ["c", "a"])
    assert {each.passage_id: each.fused for each in of.passages} == {
        "a": pytest.approx(1 / (2 + 0) + 1 / (2 + 1)),
        "c": pytest.approx(1 / (2 + 2) + 1 / (2 + 0)),
        "b": pytest.approx(1 / (2 + 1)),
    }
    assert [each.passage_id for each in of.passages] == ["a", "c", "b"]


def test_thirty_are_fused_fifteen_can_be_reranked_and_five_are_returned() -> None:
    dense, sparse = [f"d{number:02}" for number in range(30)], [f"s{number:02}" for number in range(30)]
    of = ranked(dense, sparse)
    assert len(of.passages) == 5
    rules = [each.rule for each in of.dropped]
    assert rules.count("beyond the fused list of 30") == 60 - 30
    assert rules.count("beyond the rerank depth of 15") == 30 - 15
    assert rules.count("below the number of passages") == 15 - 5


def test_what_is_beyond_the_first_fifteen_never_reaches_the_results_however_many_are_asked_for() -> None:
    assert len(ranked([f"d{number:02}" for number in range(30)], [], top_k=100).passages) == 15


def test_repeated_text_appears_once_and_frees_its_place() -> None:
    live = {"copy": passage("copy", "text of a")}
    of = ranked(["a", "copy", "b", "c", "d", "e"], [], live=live)
    assert [each.passage_id for each in of.passages] == ["a", "b", "c", "d", "e"]
    assert [(each.passage_id, each.rule) for each in of.dropped] == [("copy", "same text as a")]


def test_sections_beyond_3500_characters_become_parts_of_about_3000_with_a_repeated_paragraph_up_to_200() -> None:
    limits = Limits()
    assert (limits.parent_max, limits.parent_target, limits.repeat_max) == (3_500, 3_000, 200)


def test_answers_are_not_cached() -> None:
    assert KNOWLEDGE_BASE.cache_seconds == 0


def test_texts_come_whole_and_no_score_is_held_against_a_floor() -> None:
    assert (KNOWLEDGE_BASE.passage_chars, KNOWLEDGE_BASE.total_chars, KNOWLEDGE_BASE.floor) == (None, None, None)
