"""retrieve-dense: a question is embedded by the model whose vectors it searches, or says that there are none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from schemas import codec
from schemas.queries import LegResult, PreparedQuery
from streams.adapters import profiles
from streams.adapters.memory import MemoryEmbedder, MemoryVectors
from streams.domain.generation import Generation, Model
from streams.errors import ConfigurationError, Invalid, ModelUnavailable, StoreUnavailable, Transient
from streams.ports import Vectors
from streams.processors import retrieve_dense
from streams.runner import Runner
from streams.wire import RawOutgoing, Record
from tests.contract.building import change, cut, vector_batch
from tests.unit.conftest import record_of
from tests.unit.domain.questions import prepared


class Recorded(MemoryEmbedder):
    """A model that keeps what it was asked."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.asked: list[str] = []

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return await super().embed_queries(texts)


EMBEDDERS = {name: Recorded(name) for name in ("memory-hash", "other", "absent")}


async def run(query: PreparedQuery, vectors: MemoryVectors) -> LegResult:
    sent: list[RawOutgoing] = []

    async def produce(outgoing: RawOutgoing) -> None:
        sent.append(outgoing)

    async def embedder(name: str) -> Recorded:
        return EMBEDDERS[name or "memory-hash"]

    deps = retrieve_dense.Deps(embedder=embedder, vectors=vectors, profiles=profiles.shipped())
    record: Record = record_of(query)
    await Runner(retrieve_dense.RETRIEVE_DENSE, deps, produce, clock=lambda: 100.0).run(record)
    return codec.decode(sent[0].value or b"", LegResult)


async def index() -> MemoryVectors:
    vectors = MemoryVectors()
    await vectors.ensure_collection("g1", "memory-hash", 64, (Model(name="other", dimension=64),))
    first = change(1, "refund policy | other text")
    await vectors.upsert(vector_batch(first, cut(first), also={"other": 64}))
    return vectors


@pytest.mark.parametrize(
    ("embedder", "model"), [("", "memory-hash"), ("memory-hash", "memory-hash"), ("other", "other")]
)
async def test_the_model_of_the_question_embeds_it_and_is_told(embedder: str, model: str) -> None:
    EMBEDDERS[model].asked.clear()
    result = await run(prepared(embedder=embedder, text="refund policy"), await index())
    assert (result.status, result.model) == ("ok", model)
    assert EMBEDDERS[model].asked == ["refund policy"]


async def test_a_follow_up_is_searched_in_the_middle_of_itself_and_what_is_carried_into_it() -> None:
    seen: list[float] = []

    class Seen(MemoryVectors):
        async def search_dense(self, where: object, vector: list[float], *_: object, **__: object) -> list[object]:  # type: ignore[override]
            seen[:] = vector
            return []

    await run(prepared(text="what about it", carried="refund policy"), Seen())
    alone, both = await MemoryEmbedder().embed_queries(["what about it", "what about it refund policy"])
    middle = (alone + both) / np.linalg.norm(alone + both)
    assert np.allclose(seen, middle, atol=1e-6)
    assert np.linalg.norm(seen) == pytest.approx(1.0, abs=1e-6)


async def test_a_model_without_vectors_is_told_by_name_instead_of_a_general_reason() -> None:
    result = await run(prepared(embedder="absent"), await index())
    assert (result.status, result.reason, result.hits) == ("error", "no vectors for absent in generation g1", ())


async def test_what_a_store_says_of_itself_is_not_told() -> None:
    class Down(MemoryVectors):
        async def search_dense(self, *_: object, **__: object) -> list[object]:  # type: ignore[override]
            raise StoreUnavailable("http://10.0.0.7:6333 refused")

    result = await run(prepared(), Down())
    assert (result.status, result.reason) == ("error", "its store is not available")


class Away(Recorded):
    """A model whose provider fails in one way or another."""

    def __init__(self, model: str, failure: Exception | None) -> None:
        super().__init__(model)
        self.failure = failure

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        if self.failure is None:
            await asyncio.sleep(60.0)
            raise AssertionError
        raise self.failure


class Live:
    """The live generation, which has vectors of two models."""

    async def live(self) -> Generation:
        also = (Model(name="other", dimension=64),)
        return Generation(id="g1", model="memory-hash", dimension=64, average_length=100.0, also=also)

    async def active(self) -> tuple[Generation, ...]:
        return (await self.live(),)


async def asked(
    query: PreparedQuery, among: dict[str, Recorded], seconds: float = 2.0, *, waited: float = 0.0
) -> LegResult:
    sent: list[RawOutgoing] = []

    async def produce(outgoing: RawOutgoing) -> None:
        sent.append(outgoing)

    async def embedder(name: str) -> Recorded:
        return among[name]

    known = {name: msgspec.structs.replace(each, legs_budget=seconds) for name, each in profiles.shipped().items()}
    deps = retrieve_dense.Deps(embedder=embedder, vectors=await index(), profiles=known, generations=Live())
    record = record_of(msgspec.structs.replace(query, deadline=2_000.0))
    await Runner(retrieve_dense.RETRIEVE_DENSE, deps, produce, clock=lambda: record.timestamp + waited).run(record)
    return codec.decode(sent[0].value or b"", LegResult)


FAILURES = [
    ModelUnavailable("embedders.x: answered 500"),
    ConfigurationError("embedders.x: key: the provider refuses it (401)"),
    Transient("the model has 4096 texts in its queue"),
    Invalid("the provider refuses the text (400)"),
]


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(("own", "next_one"), [("memory-hash", "other"), ("other", "memory-hash")])
async def test_the_next_model_of_the_generation_stands_in_for_one_that_fails(
    own: str, next_one: str, failure: Exception
) -> None:
    among = {own: Away(own, failure), next_one: Recorded(next_one)}
    result = await asked(prepared(embedder=own, text="refund policy"), among)
    assert (result.status, result.model) == ("ok", next_one)
    assert result.reason == f"fallback: {next_one} instead of {own}"
    assert result.hits


async def test_the_next_model_answers_in_time_where_one_is_silent() -> None:
    among = {"memory-hash": Away("memory-hash", None), "other": Recorded("other")}
    began = time.monotonic()
    result = await asked(prepared(embedder="memory-hash", text="refund policy"), among, seconds=0.4)
    assert (result.status, result.model) == ("ok", "other")
    assert time.monotonic() - began < 5.0


@pytest.mark.parametrize(("waited", "told"), [(0.9, ("ok", None)), (1.1, ("error", "overloaded"))])
async def test_a_leg_whose_turn_comes_too_late_says_so_and_searches_nothing(
    waited: float, told: tuple[str, str | None]
) -> None:
    model = Recorded("memory-hash")
    result = await asked(prepared(embedder="memory-hash"), {"memory-hash": model}, waited=waited)
    assert (result.status, result.reason) == told
    assert bool(model.asked) is (told[0] == "ok")


async def test_a_model_that_answers_is_the_only_one_asked() -> None:
    among = {"memory-hash": Recorded("memory-hash"), "other": Recorded("other")}
    result = await asked(prepared(embedder="memory-hash", text="refund policy"), among)
    assert (result.model, result.reason, among["other"].asked) == ("memory-hash", None, [])


@pytest.mark.parametrize("failure", FAILURES)
async def test_when_no_model_is_left_the_leg_says_so_and_nothing_of_the_provider(failure: Exception) -> None:
    among = {name: Away(name, failure) for name in ("memory-hash", "other")}
    result = await asked(prepared(embedder="memory-hash"), among)
    assert (result.status, result.reason, result.hits) == ("error", "its model is not available", ())


async def test_a_question_for_a_model_without_vectors_is_not_answered_by_another() -> None:
    result = await asked(prepared(embedder="absent"), {"absent": Recorded("absent"), "other": Recorded("other")})
    assert (result.status, result.reason) == ("error", "no vectors for absent in generation g1")


async def test_models_of_another_generation_do_not_stand_in() -> None:
    among = {"memory-hash": Away("memory-hash", FAILURES[0]), "other": Recorded("other")}
    result = await asked(prepared(embedder="memory-hash", generation="g0"), among)
    assert (result.status, result.reason) == ("error", "its model is not available")
