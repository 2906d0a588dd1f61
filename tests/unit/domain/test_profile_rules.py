"""Which combinations of a profile's fields are refused."""

from __future__ import annotations

from typing import Any

import pytest

from streams.adapters import profiles
from streams.domain.profile import Profile
from streams.domain.profile_rules import problems


def made(**fields: Any) -> Profile:
    return Profile(**{"name": "p", "summary": "s", "legs": ("dense", "sparse"), **fields})


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"legs": ("dense", "dense")}, "legs: dense, dense names a leg twice"),
        ({"weights": {"qa": 1.0}}, "weights.qa: qa is not among the legs (dense, sparse)"),
        ({"weights": {"dense": 0.0, "sparse": 0.0}}, "weights: all legs weigh 0"),
        ({"floor": 0.4}, "floor: a rank fusion score supports no threshold"),
        ({"agreement": 0.1}, 'agreement: score = "fused" has no absolute score'),
        ({"graph_boost": 0.1, "legs": ("graph",)}, 'graph_boost: score = "fused" has no absolute score'),
        ({"graph_boost": 0.1, "score": "relevance"}, "graph_boost: nothing uses it without the leg graph"),
        ({"lexical": True, "legs": ("sparse",)}, "lexical: nothing uses it without the leg dense"),
        ({"route_by_language": True, "legs": ("sparse",)}, "route_by_language: nothing uses it without the leg dense"),
        (
            {"calibrated_bm25": True, "legs": ("fulltext",), "score": "coverage"},
            "calibrated_bm25: nothing uses it without the leg sparse",
        ),
        ({"calibrated_bm25": True, "score": "relevance"}, 'calibrated_bm25: only score = "coverage" looks at it'),
        ({"qa_least": 0.9, "legs": ("qa",)}, 'qa_least: only score = "coverage" looks at it'),
        ({"graph_least": 0.9, "score": "coverage"}, "graph_least: nothing uses it without the leg graph"),
        ({"graph_summary": "passage"}, "graph_summary: nothing uses it without the leg graph"),
        ({"graph_global": True}, "graph_global: nothing uses it without the leg graph"),
        ({"qa_least": 0.9, "score": "coverage"}, "qa_least: nothing uses it without the leg qa"),
        ({"qa_prefix": True}, "qa_prefix: nothing uses it without the leg qa"),
        ({"synonyms": "x.txt", "legs": ("fulltext",)}, "synonyms: nothing uses it without the leg dense or sparse"),
        ({"levels": ("parent",), "legs": ("sparse",)}, "levels: nothing uses it without the leg dense"),
        (
            {"expansions": 2, "legs": ("graph",)},
            "expansions: nothing uses it without the leg dense or sparse or fulltext",
        ),
        ({"rewrite": "terms", "legs": ("fulltext",)}, 'rewrite: "terms" is for the legs dense and sparse'),
        ({"language": "xx"}, "language: there is no stemmer for 'xx'; there are ar, ca,"),
        ({"fused": 3}, "fused: keeps 3 candidates for 5 passages"),
        ({"rerank_depth": 3}, "rerank_depth: leaves 3 of 5 passages"),
        ({"legs_budget": 6.0}, "legs_budget: 6 s is more than budget, 5 s"),
    ],
)
def test_what_would_do_nothing_is_refused(fields: dict[str, Any], says: str) -> None:
    (problem,) = problems(made(**fields))
    assert problem.startswith(says)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"total_chars": 100, "passage_chars": 1_000},
        {"floor": 0.4, "score": "coverage"},
        {"language": "ru"},
        {"rewrite": "llm", "legs": ("fulltext",)},
        {"rewrite": "terms", "expansions": 2, "greeting_gate": True},
        {"language": "zh"},
        {"graph_global": True, "legs": ("graph",)},
        {"weights": {"dense": 0.0}},
        {"candidates_per_passage": 2, "candidates": 25},
        {"fused": 30, "rerank_depth": 15},
    ],
)
def test_what_makes_sense_is_let_be(fields: dict[str, Any]) -> None:
    assert problems(made(**fields)) == []


def test_shipped_profiles_are_good() -> None:
    for profile in profiles.shipped().values():
        assert problems(profile) == []
