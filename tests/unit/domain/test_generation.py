"""Generations: their ids are given once."""

from __future__ import annotations

import pytest

from streams.domain.generation import Generation, listed, named, next_id

G1 = Generation(id="g1", model="m", dimension=3, average_length=10.0)
G2 = Generation(id="g2", model="n", dimension=3, average_length=10.0, state="building")


@pytest.mark.parametrize(
    ("ids", "following"), [([], "g1"), (["g1"], "g2"), (["g2", "g10", "g1"], "g11"), (["x"], "g1")]
)
def test_an_id_comes_after_all_that_there_ever_were(ids: list[str], following: str) -> None:
    assert next_id(ids) == following


def test_a_generation_is_found_by_its_id_and_listed_with_its_state() -> None:
    assert named("g2", (G1, G2)) is G2
    assert named("g3", (G1, G2)) is None
    assert listed((G1, G2)) == "g1 (live), g2 (building)"
