"""Passages to ranked documents, and to the sections that gold names."""

from __future__ import annotations

import pytest

from streams.quality import ranking, sections
from tests.unit.quality.runs import passage


def places(*passages: object, gold: dict[str, int]) -> list[str]:
    return [place.id for place in ranking.of_documents(passages, gold)]  # type: ignore[arg-type]


def test_a_document_has_the_place_and_the_score_of_its_best_passage() -> None:
    found = [passage("a", score=0.9), passage("b", score=0.8), passage("a", score=0.7)]
    assert [(place.id, place.score) for place in ranking.of_documents(found, {})] == [("a", 0.9), ("b", 0.8)]


def test_a_section_that_gold_names_has_a_place_of_its_own() -> None:
    found = [passage("a", "Guide", "Other"), passage("a", "Guide", "Ports"), passage("b")]
    assert places(*found, gold={"a#Guide > Ports": 1}) == ["a", "a#Guide > Ports", "b"]


def test_another_section_than_the_one_that_gold_names_is_no_answer() -> None:
    assert places(passage("a", "Guide", "Other"), gold={"a#Guide > Ports": 1}) == ["a"]


def test_gold_that_names_the_document_takes_any_section() -> None:
    assert places(passage("a", "Guide", "Other"), gold={"a": 1}) == ["a"]


def test_of_nested_sections_the_inner_one_counts() -> None:
    gold = {"a#Guide": 1, "a#Guide > Ports": 2}
    assert places(passage("a", "Guide", "Ports"), passage("a", "Guide", "Use"), gold=gold) == [
        "a#Guide > Ports",
        "a#Guide",
    ]


def test_a_document_whose_id_starts_like_another_is_another() -> None:
    assert places(passage("ab", "Guide"), gold={"a#Guide": 1}) == ["ab"]


@pytest.mark.parametrize(
    ("path", "section", "inside"),
    [
        (("Guide", "Ports"), "Guide > Ports", True),
        (("Guide", "Ports", "UDP"), "Guide > Ports", True),
        (("The title", "Guide", "Ports"), "Guide > Ports", True),
        (("guide", "  PORTS "), "Guide > Ports", True),
        (("Guide", "Ports and more"), "Guide > Ports", False),
        (("Guide",), "Guide > Ports", False),
        (("A", "B", "Guide", "Ports"), "Guide > Ports", False),
        ((), "Guide", False),
    ],
)
def test_a_passage_is_in_a_section_or_not(path: tuple[str, ...], section: str, inside: bool) -> None:
    assert sections.within(path, section) is inside


def test_a_gold_id_is_a_document_before_it_is_a_section() -> None:
    documents = {"page", "page#1", "x"}
    assert sections.split("page#1", documents) == ("page#1", "")
    assert sections.split("page#1#Ports", documents) == ("page#1", "Ports")
    assert sections.split("page#C# in use", documents) == ("page", "C# in use")
    assert sections.split("gone#Ports", documents) is None
    assert sections.split("#Ports", documents) is None
