"""embed: one vector a model of the generation and chunk, and no vector that does not fit."""

from __future__ import annotations

import base64

import msgspec
import numpy as np
import pytest

from schemas.chunks import Chunk, ChunkBatch, VectorBatch
from streams.adapters.memory import MemoryAnswers, MemoryEmbedder
from streams.adapters.memory_chat import MemoryChat, Script
from streams.domain.generation import Generation, Model
from streams.errors import Invalid, Transient
from streams.ports import Vectors
from streams.processors import embed
from streams.processors.asking import Asker
from tests.unit.domain.obeying import OBEYED


class Other(MemoryEmbedder):
    """Another model, of another size, whose vectors say how long a text is."""

    model = "other"
    dimension = 3

    async def embed_passages(self, texts: list[str]) -> Vectors:  # type: ignore[override]
        return np.array([[len(text), 0, 0] for text in texts], dtype=np.float32)


def deps(*also: Model, embedders: tuple[MemoryEmbedder, ...] = (Other(),)) -> embed.Deps:
    generation = Generation(id="g1", model="memory-hash", dimension=64, average_length=100.0, also=also)
    return embed.Deps(embedder=MemoryEmbedder(), also=embedders, generation=generation)


def batch(*bodies: str, embedded: tuple[str, ...] = ()) -> ChunkBatch:
    chunks = tuple(
        Chunk(id=body, level="child", heading_path=(), body=body, parent_id="p", embed=body not in embedded)
        for body in bodies
    )
    return ChunkBatch(
        tenant="acme",
        source="help",
        doc_id="d",
        version=1,
        generation="g1",
        part=0,
        parts=1,
        kind="document",
        language="en",
        chunks=chunks,
    )


async def vectors(given: ChunkBatch, using: embed.Deps) -> VectorBatch:
    (sent,) = await embed.handle(given, using)
    assert isinstance(sent.message, VectorBatch)
    return sent.message


def floats(text: str) -> list[float]:
    return np.frombuffer(base64.b64decode(text), dtype="<f4").tolist()


async def test_every_chunk_has_a_vector_of_every_model_of_the_generation() -> None:
    sent = await vectors(batch("a refund", "kept", "bb", embedded=("kept",)), deps(Model(name="other", dimension=3)))
    assert (sent.model, sent.dimension, [each.id for each in sent.vectors]) == ("memory-hash", 64, ["a refund", "bb"])
    assert [floats(each.also["other"]) for each in sent.vectors] == [[8.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    expected = await MemoryEmbedder().embed_passages(["a refund", "bb"])
    assert [floats(each.dense) for each in sent.vectors] == expected.tolist()


async def test_a_generation_of_one_model_has_nothing_beside_it() -> None:
    assert [each.also for each in (await vectors(batch("a"), deps(embedders=()))).vectors] == [{}]


@pytest.mark.parametrize(
    ("dimension", "embedders", "says"),
    [
        (4, (Other(),), r"other gives 3 dimensions, generation g1 has other \(4 dimensions\)"),
        (3, (), "other is not loaded"),
    ],
)
async def test_a_model_that_does_not_fit_the_generation_is_refused_by_name(
    dimension: int, embedders: tuple[MemoryEmbedder, ...], says: str
) -> None:
    with pytest.raises(Invalid, match=says):
        await embed.handle(batch("a"), deps(Model(name="other", dimension=dimension), embedders=embedders))


async def test_vectors_of_another_size_than_their_model_says_are_refused() -> None:
    class Broken(Other):
        dimension = 5

    using = deps(Model(name="other", dimension=5), embedders=(Broken(),))
    with pytest.raises(Invalid, match=r"other gave vectors of shape \(1, 3\)"):
        await embed.handle(batch("a"), using)


class Recorded(MemoryEmbedder):
    """A model that keeps what it was asked."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed_passages(self, texts: list[str]) -> Vectors:  # type: ignore[override]
        self.texts += texts
        return await super().embed_passages(texts)


def page(kind: str = "document") -> ChunkBatch:
    """Return a page of two sections, the second one unchanged, each with a child."""

    def chunk(name: str, parent: str, level: str, embed: bool = True) -> Chunk:
        body = f"text of {parent} {level}"
        return Chunk(id=name, level=level, heading_path=("Fees",), body=body, parent_id=parent, embed=embed)  # type: ignore[arg-type]

    chunks = (
        chunk("d", "d", "document"),
        chunk("p1", "p1", "parent"),
        chunk("c1", "p1", "child"),
        chunk("p2", "p2", "parent", embed=False),
        chunk("c2", "p2", "child", embed=False),
    )
    return msgspec.structs.replace(batch(), chunks=chunks, kind=kind)


async def embedded(script: Script, given: ChunkBatch) -> tuple[list[str], MemoryChat]:
    embedder, model = Recorded(), MemoryChat(script)
    generation = Generation(id="g1", model="memory-hash", dimension=64, average_length=100.0)
    using = embed.Deps(embedder=embedder, generation=generation, asker=Asker(model=model, answers=MemoryAnswers()))
    sent = [await vectors(given, using) for _ in range(2)]
    assert sent[0] == sent[1]
    return embedder.texts[: len(embedder.texts) // 2], model


async def test_a_context_stands_before_a_passage_and_its_children_and_is_asked_for_once() -> None:
    texts, model = await embedded(lambda system, user: "It is about fees.\nWORDS: charges, text", page())
    assert texts == [
        "Fees\n\ntext of d document",
        "It is about fees. charges.\n\nFees\n\ntext of p1 parent",
        "It is about fees. charges.\n\nFees\n\ntext of p1 child",
    ]
    ((_, user),) = model.asked
    assert "text of p2 parent" in user


async def test_a_pair_has_no_context() -> None:
    _, model = await embedded(lambda system, user: "It is about fees.", page("qa"))
    assert model.asked == []


@pytest.mark.parametrize("said", [*OBEYED, None])
async def test_a_model_that_fails_or_obeys_the_text_leaves_the_chunk_as_it_is(said: str | None) -> None:
    def script(system: str, user: str) -> str:
        if said is None:
            raise Transient("down")
        return said

    texts, _ = await embedded(script, page())
    assert texts == ["Fees\n\ntext of d document", "Fees\n\ntext of p1 parent", "Fees\n\ntext of p1 child"]
