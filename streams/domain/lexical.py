"""Lexical weights of a model, by token: how they are joined and rounded.

Chen et al., "BGE M3-Embedding" (2024), https://arxiv.org/abs/2402.03216, section 3.1: a text's token counts as much as
its heaviest occurrence, and two texts match by the sum of the products over the tokens that they share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from schemas.chunks import SparseVector

DIGITS = 4  # after the point: weights are below one, and travel as text


def heaviest(weighed: Iterable[tuple[int, float]], *, without: frozenset[int] = frozenset()) -> SparseVector:
    """Return the vector of a text from its tokens and their weights; tokens `without` meaning do not count."""
    found: dict[int, float] = {}
    for token, weight in weighed:
        if token not in without and round(weight, DIGITS) > found.get(token, 0.0):
            found[token] = round(weight, DIGITS)
    return _vector(found)


def middle(vectors: Sequence[SparseVector]) -> SparseVector:
    """Return the mean of vectors: a token that only one of two texts has counts half."""
    found: dict[int, float] = {}
    for vector in vectors:
        for token, weight in zip(vector.indices, vector.values, strict=True):
            found[token] = found.get(token, 0.0) + weight / len(vectors)
    return _vector(found)


def _vector(found: Mapping[int, float]) -> SparseVector:
    return SparseVector(indices=tuple(sorted(found)), values=tuple(found[token] for token in sorted(found)))
