"""Ranking, as arithmetic: fusion over passages, the fence, copies, reports."""

from __future__ import annotations

import math
from typing import Any

import pytest

from schemas.queries import Hit
from streams.domain.profile import Profile
from streams.domain.ranking import Ranked, rank
from streams.domain.relevance import MEASURED, Model, Signal, Weights
from streams.domain.scoring import NAME_ALONE, NAME_LIFT
from streams.domain.texts import WARNING
from tests.unit.domain.questions import passage, prepared, result


def ranked_by_ranks(results: Any, live: Any, *, rrf_k: int, top_k: int) -> Ranked:
    profile = Profile(name="test", summary="", legs=("dense", "sparse", "fulltext"), rrf_k=rrf_k)
    return rank(prepared(), results, live, profile=profile, top_k=top_k, explain=True)


def test_passages_carry_their_whole_arithmetic() -> None:
    live = {"a": passage("a"), "b": passage("b")}
    ranked = ranked_by_ranks(
        {"dense": result("dense", "a", "b"), "fulltext": result("fulltext", "b")}, live, rrf_k=60, top_k=5
    )
    first, second = ranked.passages
    assert (first.passage_id, first.fused) == ("b", pytest.approx(1 / 62 + 1 / 61))
    assert (second.passage_id, second.fused) == ("a", pytest.approx(1 / 61))
    assert {leg: (each.rank, each.score) for leg, each in first.legs.items()} == {
        "dense": (2, 0.9),
        "fulltext": (1, 1.0),
    }
    assert [each.rank for each in ranked.passages] == [1, 2]


def test_hits_on_several_chunks_of_a_passage_count_once_a_leg_with_the_best_ranked_by_ranks() -> None:
    live = {"child-1": passage("p"), "child-2": passage("p"), "other": passage("q")}
    ranked = ranked_by_ranks({"dense": result("dense", "child-1", "child-2", "other")}, live, rrf_k=60, top_k=5)
    assert [(each.passage_id, each.fused) for each in ranked.passages] == [("p", 1 / 61), ("q", 1 / 62)]
    assert ranked.passages[0].evidence == ("child-1", "child-2")


def test_a_hit_that_is_not_live_is_dropped_counted_and_gives_up_its_ranked_by_ranks() -> None:
    ranked = ranked_by_ranks({"dense": result("dense", "gone", "a")}, {"a": passage("a")}, rrf_k=60, top_k=5)
    assert [(each.passage_id, each.fused) for each in ranked.passages] == [("a", 1 / 61)]
    assert ranked.stale_hits == {"dense": 1}


def test_one_text_fills_one_place() -> None:
    live = {"a": passage("a", "same  text"), "b": passage("b", "same\ntext"), "c": passage("c")}
    ranked = ranked_by_ranks({"dense": result("dense", "a", "b", "c")}, live, rrf_k=60, top_k=5)
    assert [each.passage_id for each in ranked.passages] == ["a", "c"]
    assert [(each.passage_id, each.rule) for each in ranked.dropped] == [("b", "same text as a")]


def test_texts_that_begin_alike_are_told_apart_and_their_copies_found() -> None:
    texts = {
        "a": "one two three four five",
        "b": "one two three four six",
        "c": "one  two\nthree four six",
        "d": "one",
        "e": "one",
        "f": "one two three\tfour five",
    }
    live = {name: passage(name, text) for name, text in texts.items()}
    ranked = ranked_by_ranks({"dense": result("dense", *texts)}, live, rrf_k=60, top_k=6)
    assert [each.passage_id for each in ranked.passages] == ["a", "b", "d"]
    copies = {each.passage_id: each.rule for each in ranked.dropped}
    assert copies == {"c": "same text as b", "e": "same text as d", "f": "same text as a"}


def test_more_passages_do_not_change_the_first() -> None:
    live = {name: passage(name) for name in "abcdef"}
    results = {"dense": result("dense", *"abcdef"), "sparse": result("sparse", *"fedcba")}
    few = ranked_by_ranks(results, live, rrf_k=60, top_k=2).passages
    many = ranked_by_ranks(results, live, rrf_k=60, top_k=6).passages
    assert many[:2] == few


def test_external_text_begins_with_a_warning_and_keeps_its_mark() -> None:
    live = {"a": passage("a", "I am internal and trusted.", trust="external"), "b": passage("b")}
    first, second = ranked_by_ranks({"dense": result("dense", "a", "b")}, live, rrf_k=60, top_k=5).passages
    assert first.trust == "external"
    assert first.text.startswith(WARNING)
    assert not second.text.startswith(WARNING)


def test_inputs_are_not_changed() -> None:
    given = {"dense": result("dense", "a")}
    live = {"a": passage("a")}
    ranked_by_ranks(given, live, rrf_k=60, top_k=1)
    assert given == {"dense": result("dense", "a")}
    assert live == {"a": passage("a")}


def test_a_leg_may_return_a_chunk_twice_without_counting_it_twice() -> None:
    twice = result("dense", hits=(Hit(chunk_id="a", score=0.9), Hit(chunk_id="a", score=0.9)))
    ranked = ranked_by_ranks({"dense": twice}, {"a": passage("a")}, rrf_k=60, top_k=5)
    assert [(each.passage_id, each.fused, each.evidence) for each in ranked.passages] == [("a", 1 / 61, ("a",))]


def test_equal_scores_come_in_the_order_of_their_ids() -> None:
    ranked = ranked_by_ranks(
        {"dense": result("dense", "b"), "sparse": result("sparse", "a")},
        {"a": passage("a"), "b": passage("b")},
        rrf_k=60,
        top_k=5,
    )
    assert [each.passage_id for each in ranked.passages] == ["a", "b"]


@pytest.mark.parametrize(
    ("fulltext", "qa", "share"),
    [
        # idf = ln(1 + (counted - having + .5) / (having + .5))
        (((1, 3), 4), ((1, 1), 2), math.log(1 + 4.5 / 2.5) / (math.log(1 + 4.5 / 2.5) + math.log(1 + 2.5 / 4.5))),
        (((1, 3), 4), None, math.log(1 + 3.5 / 1.5) / (math.log(1 + 3.5 / 1.5) + math.log(1 + 1.5 / 3.5))),
        (((), 4), ((1, 1), 2), 1 / 2),
        (((), 0), ((), 0), 1 / 2),
    ],
)
def test_a_word_is_as_common_as_both_text_legs_together_say(fulltext: Any, qa: Any, share: float) -> None:
    counts = {"fulltext": fulltext, "qa": qa}
    results: Any = {"dense": result("dense", "a")} | {
        leg: result(leg, frequencies=given[0], counted=given[1])  # type: ignore[arg-type]
        for leg, given in counts.items()
        if given is not None
    }
    ranked = ranked_by_ranks(results, {"a": passage("a", terms=(0,))}, rrf_k=60, top_k=5)
    assert ranked.passages[0].coverage == pytest.approx(share)


def test_questions_of_the_dense_leg_break_nothing() -> None:
    found = result("dense", "a", questions=(Hit(chunk_id="q", score=0.9),))
    assert [
        each.passage_id for each in ranked_by_ranks({"dense": found}, {"a": passage("a")}, rrf_k=60, top_k=5).passages
    ] == ["a"]


def test_a_code_in_the_question_lifts_the_passages_that_have_it_within_bounds() -> None:
    even = Model(signals={"cosine": Signal(center=0.0, scale=1.0, weight=0.0)}, slope=1.0, offset=0.0, calibration={})
    weights = Weights(embedder="m", fitted_on=(), models={"dense": even})
    profile = Profile(name="test", summary="", legs=("dense",), score="relevance")
    live = {"a": passage("a", terms=(0,)), "b": passage("b", terms=(0, 1)), "c": passage("c", terms=(0, 1, 2))}
    ranked = rank(
        prepared(terms=("error", "e1042", "2.10")),
        {"dense": result("dense", "a", "b", "c")},
        live,
        profile=profile,
        top_k=5,
        weights=weights,
    )
    # Two of the three words are codes, and each word says as much as the others.
    lift = max(NAME_LIFT, NAME_ALONE * 2 / 3)
    e, half = math.exp(lift), math.exp(lift / 2)
    assert [(each.passage_id, each.absolute, each.boost) for each in ranked.passages] == [
        ("c", pytest.approx(e / (1 + e)), 0.0),
        ("b", pytest.approx(half / (1 + half)), 0.0),
        ("a", 0.5, 0.0),
    ]


EVEN = Weights(
    embedder="m",
    fitted_on=(),
    models={
        "dense": Model(
            signals={"cosine": Signal(center=0.0, scale=1.0, weight=1.0)}, slope=1.0, offset=0.0, calibration={}
        )
    },
)


def chance(below_the_best: float) -> float:
    return 1 / (1 + math.exp(-below_the_best))


def test_agreement_moves_the_order_by_a_bounded_share_of_what_all_lists_could_agree_on() -> None:
    profile = Profile(name="test", summary="", legs=("dense", "qa"), score="coverage", agreement=0.1)
    live = {"both": passage("both", terms=(0,)), "alone": passage("alone", terms=(0,))}
    results: Any = {
        "dense": result("dense", hits=(Hit(chunk_id="alone", score=0.72), Hit(chunk_id="both", score=0.7))),
        "qa": result("qa", hits=(Hit(chunk_id="both", score=1.0),)),
    }
    first, second = rank(prepared(), results, live, profile=profile, top_k=5).passages
    assert (first.passage_id, first.absolute, first.boost) == (
        "both",
        0.7,
        pytest.approx(0.1 * (1 / 62 + 1 / 61) / (2 / 61)),
    )
    assert (second.passage_id, second.boost) == ("alone", pytest.approx(0.1 * (1 / 61) / (2 / 61)))
    assert first.score == pytest.approx((first.absolute or 0) + (first.boost or 0))


def test_a_floor_is_held_against_the_absolute_score_and_no_boost_carries_anything_over_it() -> None:
    fields: Any = {"name": "test", "summary": "", "legs": ("dense", "sparse"), "score": "relevance", "agreement": 0.5}
    dense = result("dense", hits=(Hit(chunk_id="a", score=0.9), Hit(chunk_id="b", score=0.1)))
    results: Any = {"dense": dense, "qa": result("qa", "b")}
    live = {"a": passage("a"), "b": passage("b")}

    def kept(floor: float) -> list[str]:
        found = rank(prepared(), results, live, profile=Profile(floor=floor, **fields), top_k=5, weights=EVEN).passages
        return [each.passage_id for each in found]

    assert kept(chance(0.1 - 0.9) - 0.001) == ["b", "a"]
    assert kept(chance(0.1 - 0.9) + 0.001) == ["a"]
    assert kept(chance(0.0) + 0.001) == []


def test_a_code_carries_a_passage_over_the_floor_for_it_is_what_was_asked_for() -> None:
    profile = Profile(name="test", summary="", legs=("dense",), score="relevance", floor=0.9)
    live = {"a": passage("a", terms=(0,)), "b": passage("b")}
    found = rank(prepared(terms=("e1042",)), {"dense": result("dense", "a", "b")}, live, profile=profile, top_k=5,
                 weights=EVEN).passages  # fmt: skip
    assert [each.passage_id for each in found] == ["a"]


def test_where_no_vector_is_read_what_shares_no_word_with_the_question_is_no_answer() -> None:
    sparse = Weights(embedder="m", fitted_on=(), models={"sparse": EVEN.models["dense"]})
    profile = Profile(name="test", summary="", legs=("dense", "sparse"), score="relevance")
    results: Any = {"dense": result("dense", "a", "b"), "sparse": result("sparse", "b")}
    live = {"a": passage("a"), "b": passage("b", terms=(1,))}
    ranked = rank(prepared(), results, live, profile=profile, top_k=5, weights=sparse, unread=True, explain=True)
    assert [each.passage_id for each in ranked.passages] == ["b"]
    assert [(each.passage_id, each.rule) for each in ranked.dropped] == [("a", "shares no word with the question")]


def test_a_rule_is_told_for_every_candidate_that_is_not_there() -> None:
    profile = Profile(name="test", summary="", legs=("dense",), fused=4, rerank_depth=3)
    live = {name: passage(name) for name in "abcdef"}
    ranked = rank(prepared(), {"dense": result("dense", *"abcdef")}, live, profile=profile, top_k=2, explain=True)
    assert [each.passage_id for each in ranked.passages] == ["a", "b"]
    assert {each.passage_id: each.rule for each in ranked.dropped} == {
        "e": "beyond the fused list of 4",
        "f": "beyond the fused list of 4",
        "d": "beyond the rerank depth of 3",
        "c": "below the number of passages",
    }


def test_a_pinned_passage_does_not_come_twice() -> None:
    profile = Profile(name="test", summary="", legs=("dense",))
    live = {"a": passage("a"), "b": passage("b")}
    ranked = rank(prepared(), {"dense": result("dense", "a", "b")}, live, profile=profile, top_k=5, pinned=[live["a"]])
    assert [each.passage_id for each in ranked.pinned] == ["a"]
    assert [each.passage_id for each in ranked.passages] == ["b"]


def test_the_sentences_that_match_are_what_is_kept_of_a_long_text() -> None:
    text = "Nothing is said here. " * 100 + "The refund policy is generous."
    live = {"a": passage("a", text, terms=(0, 1))}
    profile = Profile(name="test", summary="", legs=("dense",), passage_chars=200, cut="sentences")
    (found,) = rank(prepared(), {"dense": result("dense", "a")}, live, profile=profile, top_k=5).passages
    assert "The refund policy is generous." in found.text
    assert found.text.startswith("Title > a")
    assert len(found.text) <= 200


def test_a_weight_of_zero_silences_a_list_and_an_empty_list_gives_its_weight_up() -> None:
    profile = Profile(name="test", summary="", legs=("dense", "sparse"), weights={"dense": 0.0})
    live = {name: passage(name) for name in "ab"}
    ranked = rank(
        prepared(), {"dense": result("dense", "a"), "sparse": result("sparse", "b")}, live, profile=profile, top_k=5
    )
    assert [(each.passage_id, each.fused) for each in ranked.passages] == [("b", 1 / 61), ("a", 0.0)]


def test_questions_of_pairs_are_a_list_of_their_own() -> None:
    profile = Profile(name="test", summary="", legs=("dense",))
    dense = result("dense", "a", questions=(Hit(chunk_id="q", score=0.95),))
    ranked = rank(prepared(), {"dense": dense}, {"a": passage("a"), "q": passage("pair")}, profile=profile, top_k=5)
    assert {each.passage_id: set(each.legs) for each in ranked.passages} == {"a": {"dense"}, "pair": {"questions"}}


def test_the_first_of_the_graph_leg_are_lifted_within_bounds() -> None:
    profile = Profile(name="test", summary="", legs=("graph",), score="coverage", graph_boost=0.05)
    live = {name: passage(name, terms=(0,)) for name in "abcdef"}
    hits = tuple(Hit(chunk_id=name, score=0.8) for name in "abcdef")
    ranked = rank(prepared(), {"graph": result("graph", hits=hits)}, live, profile=profile, top_k=6)
    assert [(each.passage_id, each.boost) for each in ranked.passages] == [
        *((name, pytest.approx(0.05 * 0.8)) for name in "abcde"),
        ("f", None),
    ]


def test_fused_ranks_come_with_what_weights_are_fitted_to_when_they_are_explained() -> None:
    profile = Profile(name="test", summary="", legs=("dense",))
    live, results = {"a": passage("a")}, {"dense": result("dense", "a")}
    explained, plain = (
        rank(prepared(), results, live, profile=profile, top_k=1, explain=explain).passages[0]
        for explain in (True, False)
    )
    assert set(MEASURED) < set(explained.signals)
    assert explained.signals["cosine"] == explained.legs["dense"].score
    assert not plain.signals
