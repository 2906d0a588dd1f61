"""A generation: one complete set of indexes, made with one chunker and one set of models."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Model:
    """An embedder, as vectors know it."""

    name: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension} dimensions)"


@dataclass(frozen=True, kw_only=True)
class Generation:
    """What an index was made with. Vectors of two models never meet."""

    id: str
    model: str  # the main embedder
    dimension: int
    average_length: float  # words a passage, frozen: BM25 weights of one generation stay comparable
    also: tuple[Model, ...] = ()  # further embedders, whose vectors are written beside the main one's
    lexical: tuple[str, ...] = ()  # those of them whose lexical weights are written as well

    @property
    def models(self) -> tuple[Model, ...]:
        """Every embedder that has vectors here, the main one first."""
        return (Model(name=self.model, dimension=self.dimension), *self.also)

    def has(self, name: str) -> bool:
        """Tell whether there are vectors of an embedder."""
        return any(model.name == name for model in self.models)
