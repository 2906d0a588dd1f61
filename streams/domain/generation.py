"""A generation: one complete set of indexes, made with one chunker and one set of models."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Generation:
    """What an index was made with. Vectors of two models never meet."""

    id: str
    model: str  # the embedder
    dimension: int
    average_length: float  # words a passage, frozen: BM25 weights of one generation stay comparable
