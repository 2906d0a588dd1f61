"""Lexical weights, as arithmetic."""

from __future__ import annotations

from schemas.chunks import SparseVector
from streams.domain import lexical


def vector(**weights: float) -> SparseVector:
    found = {int(name[1:]): weight for name, weight in weights.items()}
    return SparseVector(indices=tuple(sorted(found)), values=tuple(found[token] for token in sorted(found)))


def test_a_token_counts_by_its_heaviest_place_and_a_silent_or_weightless_one_not_at_all() -> None:
    weighed = [(7, 0.25), (3, 0.5), (7, 0.123456), (1, 0.9), (5, 0.0), (6, 0.00001), (7, 0.1)]
    assert lexical.heaviest(weighed, without=frozenset({1})) == vector(t3=0.5, t7=0.25)
    assert lexical.heaviest([(7, 0.123456)]) == vector(t7=0.1235)
    assert lexical.heaviest([]) == vector()


def test_what_only_one_of_two_texts_has_counts_half() -> None:
    one, both = vector(t1=0.4, t2=0.2), vector(t2=0.4, t9=0.6)
    found = lexical.middle([one, both])
    assert found.indices == (1, 2, 9)
    assert [round(value, 9) for value in found.values] == [0.2, 0.3, 0.3]
    assert lexical.middle([one]) == one
