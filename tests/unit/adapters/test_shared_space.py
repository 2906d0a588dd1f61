"""Who hosts an embedder's model stands in for it, once their vectors were seen to agree."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from streams.adapters import shared_space
from streams.adapters.memory import MemoryEmbedder
from streams.adapters.shared_space import LEAST, SharedSpace
from streams.errors import ConfigurationError, ModelUnavailable
from streams.ports import Vectors


class Hosted(MemoryEmbedder):
    """The same model, turned away by an angle; it may be away, or silent."""

    def __init__(self, model: str, cosine: float = 1.0) -> None:
        self.model = model
        self.cosine = cosine
        self.away = self.silent = False
        self.asked = 0

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked += 1
        if self.away:
            raise ModelUnavailable(f"{self.model} is away")
        if self.silent:
            await asyncio.sleep(60.0)
        rows = await super().embed_passages(texts)
        other = np.roll(rows, 1, axis=1)
        other -= np.sum(other * rows, axis=1, keepdims=True) * rows
        other /= np.linalg.norm(other, axis=1, keepdims=True)
        turned: Vectors = (self.cosine * rows + np.sqrt(1 - self.cosine**2) * other).astype(np.float32)
        return turned


async def proven(main: Hosted, *others: Hosted) -> SharedSpace:
    space = SharedSpace(main, others)
    await space.prove()
    return space


async def test_a_stand_in_whose_vectors_agree_answers_when_the_embedder_does_not() -> None:
    main, other = Hosted("mini"), Hosted("cloud", cosine=0.99)
    space = await proven(main, other)
    assert space.cosines == pytest.approx({"cloud": 0.99}, abs=1e-4)
    assert np.array_equal(await space.embed_queries(["a refund"]), await main.embed_queries(["a refund"]))
    main.away = True
    assert np.array_equal(await space.embed_queries(["a refund"]), await other.embed_queries(["a refund"]))
    assert (space.model, space.dimension) == ("mini", main.dimension)


async def test_a_silent_embedder_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_space, "SECONDS", 0.02)
    main, other = Hosted("mini"), Hosted("cloud")
    space = await proven(main, other)
    main.silent = True
    assert (await asyncio.wait_for(space.embed_queries(["a refund"]), 5.0)).shape == (1, main.dimension)


async def test_a_stand_in_whose_vectors_differ_is_refused_with_the_figure() -> None:
    with pytest.raises(ConfigurationError, match=rf"embedders\.cloud: same_as: .* of 8 is 0\.970, below {LEAST}"):
        await proven(Hosted("mini"), Hosted("cloud", cosine=0.97))


async def test_a_stand_in_that_is_away_at_the_start_is_compared_before_its_first_use() -> None:
    main, good, bad = Hosted("mini"), Hosted("good"), Hosted("bad", cosine=0.5)
    good.away = bad.away = True
    space = await proven(main, bad, good)
    assert space.cosines == {}
    main.away, good.away, bad.away = True, False, False
    assert np.array_equal(await space.embed_queries(["a"]), await good.embed_queries(["a"]))
    assert list(space.cosines) == ["good"]


async def test_an_embedder_that_is_away_at_the_start_cannot_be_stood_in_for_without_proof() -> None:
    main, other = Hosted("mini"), Hosted("cloud")
    main.away = True
    space = await proven(main, other)
    with pytest.raises(ModelUnavailable, match="mini: mini is away"):
        await space.embed_queries(["a"])
    assert other.asked == 0


async def test_when_nobody_answers_the_embedders_own_failure_is_told() -> None:
    main, other = Hosted("mini"), Hosted("cloud")
    space = await proven(main, other)
    main.away = other.away = True
    with pytest.raises(ModelUnavailable, match="mini is away"):
        await space.embed_queries(["a"])
