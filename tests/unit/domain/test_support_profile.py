"""The profile `support`: every number of the description it follows, as arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.graph import Fact
from schemas.queries import Hit, Leg, LegResult
from schemas.replies import LegScore
from streams.adapters import profiles
from streams.domain.coverage import absolute, coverage, share
from streams.domain.profile import Profile
from streams.domain.ranking import Ranked, rank
from streams.domain.texts import WARNING
from streams.domain.versions import LivePassage
from tests.unit.domain.questions import passage, prepared, result

SUPPORT = profiles.shipped()["support"]
EXPORT = prepared(profile="support", terms=("export", "csv", "error", "e1042"), words=(0, 1, 2, 3))


def found(leg: Leg, **cosine: float) -> LegResult:
    hits = tuple(Hit(chunk_id=name, score=score) for name, score in cosine.items())
    return result(leg, hits=hits, status="ok")


def ranked(results: Any, *live: LivePassage, query: Any = EXPORT, **fields: Any) -> Ranked:
    fields = {"profile": SUPPORT, "top_k": SUPPORT.passages, "explain": True} | fields
    return rank(query, results, {each.passage_id: each for each in live}, **fields)


def scores(of: Ranked) -> dict[str, float]:
    return {each.passage_id: each.score for each in of.passages}


def test_each_leg_gives_twice_the_passages_at_most_twenty_five() -> None:
    assert (SUPPORT.passages, SUPPORT.candidates_per_passage, SUPPORT.candidates) == (4, 2, 25)


def test_it_runs_four_legs_and_leaves_bm25_out() -> None:
    assert set(SUPPORT.legs) == {"dense", "fulltext", "qa", "graph"}
    assert set(SUPPORT.levels) == {"document", "parent", "child"}


def test_answers_are_kept_for_three_hundred_seconds() -> None:
    assert SUPPORT.cache_seconds == 300


def test_rank_fusion_gives_one_sixty_first_and_two_sixty_thirds() -> None:
    first = ranked({"dense": found("dense", a=0.9)}, passage("a"))
    assert first.passages[0].fused == pytest.approx(1 / 61)
    live = [passage(name, terms=(0,)) for name in ("a", "b", "both", "c", "d")]
    agreed = ranked(
        {"dense": found("dense", a=0.9, b=0.8, both=0.7), "fulltext": found("fulltext", c=3.0, d=2.0, both=1.0)}, *live
    )
    assert {each.passage_id: each.fused for each in agreed.passages}["both"] == pytest.approx(2 / 63)


def test_agreement_of_two_legs_does_not_lift_a_passage() -> None:
    both, alone = passage("both", terms=(0,)), passage("alone", terms=(0, 1))
    of = ranked({"dense": found("dense", both=0.3, alone=0.2), "fulltext": found("fulltext", both=2.0)}, both, alone)
    assert list(scores(of)) == ["alone", "both"]
    assert of.passages[0].fused < of.passages[1].fused
    assert [each.boost for each in of.passages] == [None, None]


def test_one_stem_of_four_is_forty_hundredths_and_passes() -> None:
    of = ranked({"fulltext": found("fulltext", a=0.1)}, passage("a", terms=(3,)))
    assert scores(of) == {"a": pytest.approx(0.25 + 0.6 * 0.25)}
    assert scores(of)["a"] == pytest.approx(0.40)
    assert of.passages[0].coverage == pytest.approx(0.40)


def test_one_stem_of_five_is_below_the_floor() -> None:
    query = prepared(terms=("a", "b", "c", "d", "e"), words=(0, 1, 2, 3, 4))
    of = ranked({"fulltext": found("fulltext", a=9.0)}, passage("a", terms=(0,)), query=query)
    assert scores(of) == {}
    assert [(each.passage_id, each.rule) for each in of.dropped] == [("a", "below the floor of 0.4")]


def test_the_parts_of_a_code_are_no_words_of_their_own() -> None:
    query = prepared(terms=("error", "e1042", "1042", "export", "csv"), words=(0, 1, 3, 4))
    assert scores(ranked({"fulltext": found("fulltext", a=1.0)}, passage("a", terms=(4,)), query=query)) == {
        "a": pytest.approx(0.40)
    }


def test_coverage_runs_from_a_quarter_to_eighty_five_hundredths_below_its_cap() -> None:
    assert coverage(0.0) == 0.25
    assert coverage(0.5) == pytest.approx(0.25 + 0.6 * 0.5)
    assert coverage(1.0) == pytest.approx(0.25 + 0.6)
    assert coverage(1.0) < 0.95
    assert share((0, 1, 5), (0, 1, 2, 3)) == 2 / 4
    assert share((), ()) == 0.0


def test_vector_hits_take_the_higher_of_cosine_and_coverage() -> None:
    near, far = passage("near", terms=(0,)), passage("far", terms=(0, 1, 2))
    of = ranked({"dense": found("dense", near=0.8, far=0.3)}, near, far)
    assert scores(of) == {"near": 0.8, "far": pytest.approx(0.25 + 0.6 * 0.75)}


def test_a_vector_hit_without_a_shared_word_passes_by_its_cosine_alone() -> None:
    of = ranked({"dense": found("dense", money=0.41, other=0.39)}, passage("money"), passage("other"))
    assert scores(of) == {"money": 0.41}


def test_a_full_text_hit_must_share_a_word_to_survive_at_all() -> None:
    of = ranked({"fulltext": found("fulltext", a=1.0, b=0.9)}, passage("a"), passage("b", terms=(0,)))
    assert list(scores(of)) == ["b"]
    assert [(each.passage_id, each.rule) for each in of.dropped] == [("a", "shares no word with the question")]


def test_bm25_where_somebody_turns_it_on_clears_the_floor_with_its_raw_score() -> None:
    of = ranked({"sparse": found("sparse", a=7.5, b=0.1)}, passage("a", terms=(0,)), passage("b", terms=(0, 1)))
    assert scores(of) == {"a": 7.5, "b": pytest.approx(0.55)}


def test_pairs_get_at_least_eighty_five_hundredths_and_always_pass() -> None:
    loose, certain = passage("loose", kind="qa", terms=(0,)), passage("certain", kind="qa")
    of = ranked({"qa": found("qa", loose=0.1, certain=0.05), "dense": found("dense", certain=0.93)}, loose, certain)
    assert scores(of) == {"certain": 0.93, "loose": 0.85}


def test_a_loose_pair_can_push_out_a_better_passage_as_the_description_confesses() -> None:
    live = [passage(f"p{number}", terms=(0, 1, 2)) for number in range(4)]
    pair = passage("pair", kind="qa", terms=(0,))
    of = ranked(
        {"fulltext": found("fulltext", p0=4.0, p1=3.0, p2=2.0, p3=1.0), "qa": found("qa", pair=0.1)}, *live, pair
    )
    assert list(scores(of)) == ["pair", "p0", "p1", "p2"]


def test_a_tie_goes_to_the_higher_fused_score_then_to_the_lower_id() -> None:
    pair, full = passage("pair", kind="qa", terms=(0,)), passage("full", terms=(0, 1, 2, 3))
    of = ranked({"qa": found("qa", pair=0.1), "fulltext": found("fulltext", full=5.0)}, pair, full)
    assert [(each.passage_id, each.score) for each in of.passages] == [
        ("full", pytest.approx(0.85)),
        ("pair", pytest.approx(0.85)),
    ]


def test_a_summary_of_the_graph_is_a_passage_with_at_least_ninety_hundredths() -> None:
    fact = Fact(subject="Team plan", label="includes", object="API", chunk_id="plans", score=0.5)
    graph = result("graph", "plans", facts=(fact,))
    query = prepared(terms=("plan", "includ", "api"), words=(0, 1, 2))
    live = (passage("plans"), passage("pair", kind="qa"))
    of = ranked({"graph": graph, "qa": found("qa", pair=0.1)}, *live, query=query)
    assert [(each.kind, each.score) for each in of.passages] == [("graph", 0.9), ("qa", 0.85)]
    assert of.passages[0].evidence == ("plans",)
    assert "API" in of.passages[0].text
    assert of.summary is None


def test_facts_that_connect_nothing_that_was_asked_about_are_no_passage() -> None:
    facts = [
        Fact(subject="Team plan", label=label, object=target, chunk_id="plans", score=0.5)
        for label, target in (("costs", "12 euros"), ("", "API"), ("is a", "plan"))
    ]
    query = prepared(terms=("plan", "includ", "api"), words=(0, 1, 2))
    assert ranked({"graph": result("graph", "plans", facts=tuple(facts))}, passage("plans"), query=query).passages == ()


def test_a_fact_whose_text_is_gone_is_not_told() -> None:
    fact = Fact(subject="Team plan", label="includes", object="API", chunk_id="gone", score=0.5)
    assert ranked({"graph": result("graph", "gone", facts=(fact,))}).passages == ()


def test_four_passages_of_a_thousand_characters_reach_the_prompt() -> None:
    live = [passage(f"p{number}", f"{number} " + "x" * 2_000, terms=(0,)) for number in range(6)]
    of = ranked({"dense": found("dense", **{each.passage_id: 0.9 for each in live})}, *live)
    assert [len(each.text) for each in of.passages] == [1_000] * 4
    assert [each.rule for each in of.dropped] == ["below the number of passages"] * 2


def test_pinned_documents_share_the_four_thousand_characters() -> None:
    live = [passage(f"p{number}", f"{number} " + "x" * 2_000, terms=(0,)) for number in range(4)]
    pinned = [passage("always", "y" * 2_000), passage("short", "z" * 482, heading_path=())]
    of = ranked({"dense": found("dense", **{each.passage_id: 0.9 for each in live})}, *live, pinned=pinned)
    assert [len(each.text) for each in of.pinned] == [1_000, 482]
    assert [len(each.text) for each in of.passages] == [1_000, 1_000, 4_000 - 1_000 - 482 - 2_000]
    assert [each.rule for each in of.dropped] == ["no room within 4000 characters"]


def test_the_warning_of_an_external_text_counts_within_the_limit() -> None:
    of = ranked({"dense": found("dense", a=0.9)}, passage("a", "x" * 2_000, trust="external"))
    assert of.passages[0].text.startswith(WARNING)
    assert len(of.passages[0].text) == 1_000


def test_nothing_that_passes_is_an_empty_result_even_with_pinned_documents() -> None:
    of = ranked({"dense": found("dense", a=0.39)}, passage("a"), pinned=[passage("always")])
    assert of.passages == ()
    assert [each.passage_id for each in of.pinned] == ["always"]


def test_the_last_sentences_of_a_long_passage_are_lost_as_the_description_confesses() -> None:
    text = "First. " * 200 + "The answer is 42."
    of = ranked({"dense": found("dense", a=0.9)}, passage("a", text, terms=(0,)))
    assert "42" not in of.passages[0].text


def test_every_improvement_is_off() -> None:
    off = {"agreement": 0.0, "calibrated_bm25": False, "distinct": False, "cut": "head", "route_by_language": False}
    assert {name: getattr(SUPPORT, name) for name in off} == off


def test_a_calibrated_bm25_score_is_a_share_of_what_it_could_be() -> None:
    improved = Profile(name="mine", summary="", legs=("sparse",), score="coverage", calibrated_bm25=True)
    legs = {"sparse": LegScore(rank=1, score=7.5)}
    assert absolute(legs, 0.0, improved, most_bm25=10.0) == pytest.approx(7.5 / 10.0)
    assert absolute(legs, 0.0, improved, most_bm25=5.0) == 1.0
    assert absolute(legs, 0.0, improved, most_bm25=0.0) == 0.25
