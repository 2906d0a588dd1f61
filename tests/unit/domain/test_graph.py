"""How the graph's evidence becomes scores and facts, as arithmetic."""

from __future__ import annotations

import math

import pytest

from schemas.graph import Entity, Relation
from streams.domain import graph, graph_rows
from streams.domain.graph import Around, Link, Mention


def link(subject: str, object: str, chunk_id: str = "c", *, label: str = "has", weight: float = 1.0) -> Link:
    return Link(
        subject=subject,
        object=object,
        label=label,
        weight=weight,
        chunk_id=chunk_id,
        subject_name=subject.upper(),
        object_name=object.upper(),
    )


@pytest.mark.parametrize(("frequency", "expected"), [(0, 1.0), (1, 1.0), (20, 0.5), (400, 0.05), (10_000, 0.05)])
def test_an_entity_says_less_the_more_chunks_mention_it(frequency: int, expected: float) -> None:
    assert graph.specificity(frequency) == pytest.approx(expected)


def test_a_question_without_evidence_finds_nothing() -> None:
    assert graph.rank([], Around(), Around(), 10) == graph.GraphFound(hits=[], facts=[])
    assert graph.rank(["a"], Around(frequencies={"a": 3}), Around(), 10) == graph.GraphFound(hits=[], facts=[])


def test_only_the_best_relation_of_an_entity_counts_in_one_chunk() -> None:
    near = Around(links=[link("a", f"b{n}", weight=1 / (n + 1)) for n in range(9)])
    (hit,) = graph.rank(["a"], near, Around(), 10).hits
    assert hit.score == pytest.approx(0.4)


def test_only_the_three_best_bridges_count_in_one_chunk() -> None:
    near = Around(links=[link("a", f"b{n}") for n in range(9)])
    far = Around(mentions=[Mention(key=f"b{n}", chunk_id="d", mentions=1) for n in range(9)])
    found = {hit.chunk_id: hit.score for hit in graph.rank(["a"], near, far, 10).hits}
    assert found["d"] == pytest.approx(1 - (1 - 0.5 * 0.4 * 0.5) ** 3)


def test_a_common_bridge_carries_less() -> None:
    near = Around(links=[link("a", "hub"), link("a", "gem")])
    mentions = [Mention(key="hub", chunk_id="h", mentions=1), Mention(key="gem", chunk_id="g", mentions=1)]
    found = graph.rank(["a"], near, Around(frequencies={"hub": 400, "gem": 20}, mentions=mentions), 10)
    assert {hit.chunk_id: hit.score for hit in found.hits if hit.chunk_id != "c"} == {
        "g": pytest.approx(0.5 * 0.4 * 0.5 * 0.5),
        "h": pytest.approx(0.5 * 0.4 * 0.05 * 0.5),
    }


def test_the_strongest_bridges_are_followed_and_no_more_than_a_bound() -> None:
    links = [link("a", f"b{n:02d}", weight=1 - n / 100) for n in range(40)]
    assert graph.bridges(["a"], Around(links=links)) == [f"b{n:02d}" for n in range(graph.MOST_BRIDGES)]
    assert graph.bridges(["a", "b00"], Around(links=links[:1])) == []


def test_facts_in_words_come_before_mere_neighbours() -> None:
    near = Around(links=[link("a", "b", label=""), link("b", "a", label="feeds")])
    assert [(fact.label, fact.score) for fact in graph.rank(["a", "b"], near, Around(), 10).facts] == [
        ("feeds", pytest.approx(1.0)),
        ("", pytest.approx(0.5)),
    ]


def test_the_second_step_keeps_its_room_among_many_facts_of_the_first() -> None:
    near = Around(links=[link("a", f"b{n:02d}") for n in range(30)])
    far = Around(links=[link("b00", f"z{n}", "d") for n in range(9)] + [link("a", "b00")])
    facts = graph.rank(["a"], near, far, 10).facts
    assert [fact.subject for fact in facts] == ["A"] * 8 + ["B00"] * 4
    assert [fact.score for fact in facts] == [pytest.approx(0.6)] * 8 + [pytest.approx(0.6 * 0.4)] * 4


def test_scores_stay_within_one_whatever_is_found() -> None:
    keys = [f"k{n}" for n in range(16)]
    near = Around(
        mentions=[Mention(key=key, chunk_id="c", mentions=1_000) for key in keys],
        links=[link(a, b) for a in keys for b in keys if a != b],
    )
    (hit,) = graph.rank(keys, near, Around(), 10).hits
    assert 0.999 < hit.score <= 1
    assert math.isfinite(hit.score)


def test_rows_hold_the_limits_of_a_store_and_lose_the_least() -> None:
    entities = [Entity(key=f"k{n}", name="n", kind="term", chunk_id="c", mentions=n + 1) for n in range(70)]
    kept = graph_rows.entities([*entities, Entity(key="k" * 121, name="n", kind="term", chunk_id="c", mentions=99)])
    assert [entity.key for entity in kept] == [f"k{n}" for n in range(69, 5, -1)]
    relations = [Relation(subject="k69", object=f"k{n}", label="x" * 300, chunk_id="c", weight=n) for n in range(70)]
    (first, *rest) = graph_rows.relations(relations, kept)
    assert (first.object, len(first.label), first.weight) == ("k68", 120, 1.0)
    assert len(rest) == 62  # not to itself, and not to those left out


def test_relations_with_unknown_ends_or_without_weight_are_left_out() -> None:
    kept = [Entity(key=key, name=key, kind="term", chunk_id="c") for key in "ab"]
    given = [
        Relation(subject="a", object="z", label="", chunk_id="c"),
        Relation(subject="a", object="b", label="", chunk_id="other"),
        Relation(subject="a", object="b", label="", chunk_id="c", weight=0.0),
        Relation(subject="a", object="a", label="", chunk_id="c"),
    ]
    assert graph_rows.relations(given, kept) == []
