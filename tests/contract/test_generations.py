"""Generations: the first one, and models that do not fit it."""

from __future__ import annotations

import pytest

from streams.errors import ConfigurationError
from tests.contract.stores import Stores


async def test_the_first_generation_is_made_once_and_keeps_its_average_length(stores: Stores) -> None:
    with pytest.raises(ConfigurationError, match="no generation"):
        await stores.generations.live()
    made = await stores.generations.ensure(model="m", dimension=3, average_length=120.0)
    assert (made.id, made.model, made.dimension, made.average_length) == ("g1", "m", 3, 120.0)
    assert await stores.generations.ensure(model="m", dimension=3, average_length=99.0, id="g2") == made
    assert await stores.generations.live() == made


async def test_an_index_that_was_cut_otherwise_is_refused_with_the_remedy(stores: Stores) -> None:
    given = {"model": "m", "dimension": 3, "average_length": 120.0}
    await stores.generations.ensure(**given, chunker="1")
    await stores.generations.ensure(**given, chunker="1")
    with pytest.raises(ConfigurationError, match=r"chunker: .*g1 .*'1'.*'2'.* empty database"):
        await stores.generations.ensure(**given, chunker="2")


@pytest.mark.parametrize("other", [{"model": "n", "dimension": 3}, {"model": "m", "dimension": 4}])
async def test_another_model_is_refused_by_name(stores: Stores, other: dict[str, object]) -> None:
    await stores.generations.ensure(model="m", dimension=3, average_length=120.0)
    with pytest.raises(ConfigurationError, match=r"embedder: .* does not fit the live generation g1, .*m \(3\)"):
        await stores.generations.ensure(average_length=120.0, **other)
