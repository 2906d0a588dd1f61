"""A generation: one complete set of indexes, made with one chunker and one set of models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# building: it is being filled from the log; live: questions read it; kept: it was live and is kept up to date;
# dropped: nothing writes to it any more. All but dropped ones are active: changes reach them, and questions may.
State = Literal["building", "live", "kept", "dropped"]
NOTICED = 2.0  # seconds after which every process has noticed that a generation was started, promoted or dropped
MOST_ACTIVE = 3  # each costs every change once more


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
    chunker: str = ""  # how texts are cut, see chunking.named; empty: as this release does
    state: State = "live"
    replayed: bool = False  # it was filled from the log, which is followed as long as it is active
    fresh: bool = False  # it takes over no vector of another one

    @property
    def models(self) -> tuple[Model, ...]:
        """Every embedder that has vectors here, the main one first."""
        return (Model(name=self.model, dimension=self.dimension), *self.also)

    def has(self, name: str) -> bool:
        """Tell whether there are vectors of an embedder."""
        return any(model.name == name for model in self.models)


def named(name: str, among: Sequence[Generation]) -> Generation | None:
    """Return the generation of this id; none where there is none."""
    return next((each for each in among if each.id == name), None)


def listed(among: Sequence[Generation]) -> str:
    """Return generations with their states, for a message."""
    return ", ".join(f"{each.id} ({each.state})" for each in among)


def next_id(ids: Sequence[str]) -> str:
    """Return an id that no generation ever had: ids of chunks are made of it."""
    numbers = [int(each[1:]) for each in ids if each[:1] == "g" and each[1:].isdecimal()]
    return f"g{max(numbers, default=0) + 1}"
