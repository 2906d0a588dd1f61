"""Generations: the first one, and models that do not fit it."""

from __future__ import annotations

import pytest

from streams.domain.generation import Model
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


E5 = Model(name="e5", dimension=3)


async def test_a_generation_keeps_its_further_models(stores: Stores) -> None:
    assert await stores.generations.find() is None
    made = await stores.generations.ensure(model="m", dimension=3, average_length=120.0, also=(E5,))
    assert made.models == (Model(name="m", dimension=3), E5)
    assert await stores.generations.find() == await stores.generations.live() == made
    assert await stores.generations.ensure(model="m", dimension=3, average_length=120.0, also=[E5]) == made


@pytest.mark.parametrize("also", [(), (Model(name="e5", dimension=4),), (E5, Model(name="bge", dimension=3))], ids=str)
async def test_other_further_models_are_refused_with_what_to_do(stores: Stores, also: tuple[Model, ...]) -> None:
    await stores.generations.ensure(model="m", dimension=3, average_length=120.0, also=(E5,))
    says = r"RANKSTREAM_EMBED_ALSO: .* does not fit the live generation g1, which has e5 \(3 dimensions\); .*unset it"
    with pytest.raises(ConfigurationError, match=says):
        await stores.generations.ensure(model="m", dimension=3, average_length=120.0, also=also)
