"""Two generations at once: what reaches both, what is embedded, what a replay brings, and what sources are told."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from schemas.chunks import ChunkBatch, VectorBatch
from schemas.documents import Document, DocumentChange, DocumentStatus, Receipt
from schemas.queries import Filters
from streams.adapters import memory_lexical
from streams.adapters.memory import MemoryEmbedder, MemoryStores
from streams.adapters.memory_lexical import MemoryLexicalModel
from streams.domain.generation import Generation, Model
from streams.domain.scope import Scope
from streams.errors import ConfigurationError, Invalid, RankstreamError, StoreUnavailable, Transient
from streams.ports import Vectors
from streams.processor import Failure
from streams.processors import chunk, embed, index_text, index_vectors, publish_version, replay
from streams.processors.reuse import Reuse
from streams.wire import Record
from topics import catalogue

G2 = Generation(id="g2", model="memory-hash", dimension=64, average_length=10.0)
LONG = "\n\n".join(f"Rule {n} says that visitor {n} signs in at the desk number {n} of hall {n}." for n in range(20))


class Counted(MemoryEmbedder):
    """A model that keeps what it embedded."""

    def __init__(self, model: str = "memory-hash") -> None:
        self.model = model
        self.texts: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return await super().embed_passages(texts)


class Weighing(Counted, MemoryLexicalModel):
    """The same, with lexical weights."""


class Ingest:
    """The ingest side on twins; what it says to sources is kept."""

    def __init__(self) -> None:
        self.stores = stores = MemoryStores()
        self.models = {name: Counted(name) for name in ("memory-hash", "other")}
        self.log: list[Document] = []
        self.statuses: list[DocumentStatus] = []
        self.held: list[Any] = []  # receipts that were sent, where they are held back
        self.hold_back = False
        self._replay = replay.Deps(
            versions=stores.versions, reader=stores.versions, generations=stores.generations, generation="g2"
        )
        self._publish = publish_version.Deps(
            versions=stores.versions,
            vectors=stores.vectors,
            epochs=stores.epochs,
            generations=stores.generations,
            standing=stores.versions,
        )

    async def open(self) -> Ingest:
        live = await self.stores.generations.ensure(model="memory-hash", dimension=64, average_length=10.0)
        self.chunk = chunk.Deps(versions=self.stores.versions, generation=live, generations=self.stores.generations)
        reuse = Reuse(generations=self.stores.generations, vectors=self.stores.vectors)

        async def other(name: str) -> embed.Deps | None:
            for each in await self.stores.generations.active():
                if each.id == name:
                    also = tuple(self.models[model.name] for model in each.also)
                    main = self.models[each.model]
                    return embed.Deps(embedder=main, also=also, generation=each, reuse=reuse, other=other)
            return None

        self.embed = embed.Deps(embedder=self.models["memory-hash"], generation=live, reuse=reuse, other=other)
        return self

    async def start(self, generation: Generation = G2) -> None:
        models = (generation.id, generation.model, generation.dimension, generation.also)
        await self.stores.vectors.ensure_collection(*models, lexical=generation.lexical)
        await self.stores.generations.start(generation)

    async def put(self, change: DocumentChange) -> None:
        await self.carry(await chunk.handle(change, self.chunk))

    async def replay(self, document: Document) -> int:
        """Replay one record of the log to its end, and return how many messages it made."""
        sent = await replay.handle(document, self._replay)
        await self.carry(sent)
        return len(sent)

    async def carry(self, sent: Sequence[Any]) -> None:
        messages = [each.message for each in sent]
        while messages:
            match message := messages.pop(0):
                case ChunkBatch():
                    more = [*await embed.handle(message, self.embed)]
                    more += await index_text.handle(message, index_text.Deps(texts=self.stores.texts))
                case VectorBatch():
                    deps = index_vectors.Deps(versions=self.stores.versions, vectors=self.stores.vectors)
                    more = [*await index_vectors.handle(message, deps)]
                case Receipt() if self.hold_back:
                    self.held.append(message)
                    more = []
                case Receipt():
                    more = [*await publish_version.handle(message, self._publish)]
                case DocumentStatus():
                    self.statuses.append(message)
                    more = []
                case _:
                    self.log.append(message)
                    more = []
            messages += [each.message for each in more]

    async def receive(self, receipt: Receipt) -> None:
        """Give `publish-version` one receipt that was held back."""
        self.hold_back = False
        await self.carry([type("Sent", (), {"message": receipt})])

    async def texts(self, generation: str) -> set[str]:
        """Return the bodies that a question of the tenant can see in a generation."""
        where = Scope(tenant="acme", generation=generation, agent=None, filters=Filters())
        ids = sorted(self.stores.vectors.ids(generation))
        return {each.body for each in (await self.stores.passages.resolve(where, ids)).values()}


@pytest.fixture
async def ingest() -> Ingest:
    return await Ingest().open()


def change(version: int, content: str = "# Refunds\n\nWithin 30 days.", **fields: Any) -> DocumentChange:
    given = {"tenant": "acme", "source": "help", "doc_id": "refunds", "version": version, "content": content}
    return DocumentChange(**{**given, **fields})


async def test_an_edit_and_a_deletion_reach_every_active_generation_and_the_log_once(ingest: Ingest) -> None:
    await ingest.start()
    await ingest.put(change(1))
    assert await ingest.texts("g1") == await ingest.texts("g2") == {"Within 30 days."}
    await ingest.put(change(2, "# Refunds\n\nWithin 60 days."))
    assert await ingest.texts("g1") == await ingest.texts("g2") == {"Within 60 days."}
    await ingest.put(change(3, "", op="delete"))
    assert await ingest.texts("g1") == await ingest.texts("g2") == set()
    assert [each.change.version for each in ingest.log] == [1, 2, 3]


@pytest.mark.parametrize(("handle", "lane"), [(chunk.handle, "chunks"), (chunk.handle_bulk, "chunks.bulk")])
async def test_a_change_stays_on_its_lane_for_the_live_generation_and_is_on_the_bulk_lane_for_others(
    ingest: Ingest, handle: Any, lane: str
) -> None:
    await ingest.put(change(1, doc_id="older"))
    await ingest.start()
    sent = await handle(change(1), ingest.chunk)
    assert [(each.topic.name, each.message.generation) for each in sent[1:]] == [(lane, "g1"), ("chunks.bulk", "g2")]
    (replayed,) = await replay.handle(ingest.log[0], ingest._replay)
    assert replayed.topic.name == "chunks.bulk"


async def test_parts_are_as_small_as_each_generations_own_models_and_weights_want_them(ingest: Ingest) -> None:
    also = (Model(name="other", dimension=64),)
    await ingest.start(dataclasses.replace(G2, also=also, lexical=("memory-hash",)))
    content = "\n\n".join(f"## Part {number}\n\nA sentence." for number in range(200))
    _, *parts = await chunk.handle(change(1, content), ingest.chunk)
    most = {
        name: max(len(each.message.chunks) for each in parts if each.message.generation == name)
        for name in ("g1", "g2")
    }  # type: ignore[attr-defined]
    assert most == {"g1": chunk.MOST_CHUNKS, "g2": chunk.MOST_CHUNKS // 3}


async def test_a_model_weighs_every_passage_of_a_generation_with_weights_though_its_vectors_are_known(
    ingest: Ingest,
) -> None:
    await ingest.put(change(1))
    embedded = list(ingest.models["memory-hash"].texts)
    ingest.models["memory-hash"] = Weighing()
    await ingest.start(dataclasses.replace(G2, lexical=("memory-hash",)))
    await ingest.replay(ingest.log[0])
    assert ingest.models["memory-hash"].texts == embedded
    where = Scope(tenant="acme", generation="g2", agent=None, filters=Filters())
    asked = memory_lexical.weights("within days")
    hits = await ingest.stores.vectors.search_sparse(where, asked, 9, model="memory-hash")
    assert [hit.score > 0 for hit in hits] == [True]


@pytest.mark.parametrize("held", ["g1", "g2"])
async def test_a_version_is_not_logged_once_any_generation_has_accepted_a_higher_one(ingest: Ingest, held: str) -> None:
    """Processes may differ for a moment on which generation is live."""
    await ingest.start()
    await ingest.put(change(1))
    newer = Document(change=change(2, "Newer."), content_hash="2" * 64)
    of = {each.id: each for each in await ingest.stores.generations.active()}[held]
    await chunk.into(of, newer, ingest.stores.versions, to=catalogue.CHUNKS)
    for version, wanted in ((1, False), (2, True)):
        async with ingest.stores.versions.last(change(1).key, version) as last:
            assert last is wanted


async def test_sources_are_told_of_the_live_generation_alone(ingest: Ingest) -> None:
    await ingest.start()
    await ingest.put(change(1))
    assert [(each.generation, each.status) for each in ingest.statuses] == [("g1", "searchable")]


async def test_what_the_live_generation_drops_or_refuses_reaches_no_other(ingest: Ingest) -> None:
    await ingest.put(change(5))
    await ingest.start()
    await ingest.put(change(3, "late"))
    with pytest.raises(Invalid, match="higher version"):
        await ingest.put(change(5, "other"))
    assert await ingest.texts("g2") == set()
    assert [each.change.version for each in ingest.log] == [5]


async def test_each_generation_cuts_by_its_own_sizes_and_equal_texts_are_embedded_once(ingest: Ingest) -> None:
    page = change(1, f"# Rules\n\nShort.\n\n## All\n\n{LONG}")
    await ingest.put(page)
    embedded = len(ingest.models["memory-hash"].texts)
    await ingest.start(dataclasses.replace(G2, chunker="2:child_max=500,child_target=400"))
    assert await ingest.replay(ingest.log[0]) == 1
    new = len(ingest.models["memory-hash"].texts) - embedded
    texts = {name: self_texts(ingest, name) for name in ("g1", "g2")}
    assert new == len(texts["g2"] - texts["g1"]) > 0
    assert await ingest.texts("g1") == await ingest.texts("g2")


def self_texts(ingest: Ingest, generation: str) -> set[str]:
    """Return the texts of a generation's live chunks, of all levels."""
    return {chunk.text for _, version in ingest.stores.state.live(generation) for chunk in version.chunks}


async def test_a_fresh_generation_takes_over_nothing(ingest: Ingest) -> None:
    await ingest.put(change(1))
    embedded = list(ingest.models["memory-hash"].texts)
    await ingest.start(dataclasses.replace(G2, fresh=True))
    await ingest.replay(ingest.log[0])
    assert ingest.models["memory-hash"].texts == embedded * 2


async def test_a_further_model_beside_the_same_one_embeds_by_itself_alone(ingest: Ingest) -> None:
    await ingest.put(change(1))
    embedded = list(ingest.models["memory-hash"].texts)
    await ingest.start(dataclasses.replace(G2, model="other", also=(Model(name="memory-hash", dimension=64),)))
    await ingest.replay(ingest.log[0])
    assert ingest.models["memory-hash"].texts == embedded
    assert ingest.models["other"].texts == embedded
    where = Scope(tenant="acme", generation="g2", agent=None, filters=Filters())
    (row,) = await MemoryEmbedder().embed_queries([embedded[0]])
    hit, *_ = await ingest.stores.vectors.search_dense(where, row.tolist(), (), 1, model="memory-hash")
    assert hit.score == pytest.approx(1.0, abs=1e-5)


async def test_a_replay_brings_what_a_generation_lacks_and_passes_by_what_it_has(ingest: Ingest) -> None:
    await ingest.put(change(1))
    await ingest.put(change(1, "# Ports\n\nPort 80.", doc_id="ports"))
    await ingest.start()
    await ingest.put(change(2, "# Refunds\n\nNever."))
    first, ports, second = ingest.log
    # The edit came by `chunk`, the old version is of no use any more, and nobody has brought the other page.
    assert [await ingest.replay(each) for each in (first, ports, second)] == [0, 1, 0]
    assert [await ingest.replay(each) for each in (first, ports, second)] == [0, 0, 0]
    assert await ingest.texts("g1") == await ingest.texts("g2") == {"Never.", "Port 80."}
    assert [each.generation for each in ingest.statuses] == ["g1"] * 3


async def test_a_replay_that_was_cut_short_brings_its_version_again(ingest: Ingest) -> None:
    await ingest.put(change(1))
    await ingest.start()
    lost = await replay.handle(ingest.log[0], ingest._replay)  # accepted, and never delivered
    assert await replay.handle(ingest.log[0], ingest._replay) == lost
    assert await ingest.replay(ingest.log[0]) == 1
    assert await ingest.texts("g2") == {"Within 30 days."}


async def test_a_replay_resurrects_nothing(ingest: Ingest) -> None:
    await ingest.put(change(1))
    await ingest.put(change(2, "", op="delete"))
    await ingest.start()
    assert [await ingest.replay(each) for each in ingest.log] == [0, 1]
    assert await ingest.texts("g2") == set()
    (late,) = await chunk.handle(change(1), ingest.chunk)
    assert isinstance(late.message, DocumentStatus)


async def test_parts_and_records_of_a_dropped_generation_are_let_go(ingest: Ingest) -> None:
    await ingest.put(change(1))
    await ingest.start()
    (sent,) = await replay.handle(ingest.log[0], ingest._replay)
    ingest.stores.generations._others.clear()
    assert await embed.handle(sent.message, ingest.embed) == ()  # type: ignore[arg-type]
    assert await ingest.replay(ingest.log[0]) == 0


@pytest.mark.parametrize("first", ["g1", "g2"])
async def test_a_version_that_ends_while_another_generation_is_promoted_is_told_of_once_it_is_live(
    ingest: Ingest, first: str
) -> None:
    await ingest.start()
    ingest.hold_back = True
    await ingest.put(change(1))
    receipts = sorted(ingest.held, key=lambda each: each.generation != first)
    for receipt in receipts[:2]:
        await ingest.receive(receipt)
    await ingest.stores.generations.promote("g2")
    told = list(ingest.statuses)
    for receipt in receipts[2:]:
        await ingest.receive(receipt)
    # Told by the one that was live when it ended there, and by whoever ended last.
    assert [each.generation for each in told] == (["g1"] if first == "g1" else [])
    assert {(each.generation, each.version, each.status) for each in ingest.statuses[len(told) :]} == {
        ("g2", 1, "searchable")
    }


class Refused(Counted):
    """A hosted model whose key is wrong."""

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise ConfigurationError("OTHER_KEY: 401")


async def test_a_wrong_setting_of_a_model_ends_the_work_for_the_live_generation_alone(ingest: Ingest) -> None:
    ingest.models["other"] = Refused("other")
    await ingest.start(dataclasses.replace(G2, model="other"))
    for_live, for_other = (each.message for each in (await chunk.handle(change(1), ingest.chunk))[1:])
    assert await embed.handle(for_live, ingest.embed)
    with pytest.raises(Invalid, match="generation g2: OTHER_KEY: 401"):
        await embed.handle(for_other, ingest.embed)
    await ingest.stores.generations.promote("g2")
    with pytest.raises(ConfigurationError, match="401"):
        await embed.handle(for_other, ingest.embed)


async def test_what_was_live_when_the_process_started_is_not_embedded_once_it_was_dropped(ingest: Ingest) -> None:
    (_, part, *_) = await chunk.handle(change(1), ingest.chunk)
    await ingest.start()
    await ingest.stores.generations.promote("g2")
    ingest.stores.generations.drop("g1")
    assert await embed.handle(part.message, ingest.embed) == ()  # type: ignore[arg-type]


@pytest.mark.parametrize(("of", "told"), [("g1", [("g1", "failed")]), ("g2", [])])
async def test_a_version_that_cannot_be_published_is_told_of_the_live_generation_alone(
    ingest: Ingest, of: str, told: list[tuple[str, str]]
) -> None:
    await ingest.start()
    given = Receipt(tenant="acme", source="help", doc_id="refunds", version=1, generation=of, writer="text", part=0)
    record = Record(topic="receipts", partition=0, offset=0, timestamp=0.0, key=b"", value=b"", headers={})
    failure = Failure(record=record, message=given, error=ValueError("x"), error_class="bug", attempts=1)
    said = await publish_version.failed(failure, ingest._publish)
    assert [(each.message.generation, each.message.status) for each in said] == told  # type: ignore[attr-defined]


@pytest.mark.parametrize("error", [StoreUnavailable("away"), Transient("slow"), ConfigurationError("no table")])
async def test_a_version_that_failed_with_its_store_is_told_of_without_asking_it(
    ingest: Ingest, error: RankstreamError
) -> None:
    class Away:
        async def live(self) -> Generation:
            raise error

    deps = dataclasses.replace(ingest._publish, generations=Away())  # type: ignore[arg-type]
    given = Receipt(tenant="acme", source="help", doc_id="refunds", version=1, generation="g1", writer="text", part=0)
    record = Record(topic="receipts", partition=0, offset=0, timestamp=0.0, key=b"", value=b"", headers={})
    failure = Failure(record=record, message=given, error=error, error_class="transient-exhausted", attempts=9)
    [said] = await publish_version.failed(failure, deps)
    assert isinstance(said.message, DocumentStatus)
    assert (said.topic, said.message.status, said.message.version) == (catalogue.DOCUMENT_STATUS, "failed", 1)
    assert str(error) in (said.message.reason or "")


async def test_a_failure_beside_the_live_generation_is_its_own_matter(ingest: Ingest) -> None:
    await ingest.start()
    ingest.hold_back = True
    await ingest.put(change(1))
    ingest.hold_back = False
    for receipt in ingest.held:
        failed = msgspec.structs.replace(receipt, error="no model") if receipt.generation == "g2" else receipt
        await ingest.receive(failed)
    assert [(each.generation, each.status) for each in ingest.statuses] == [("g1", "searchable")]
    assert await ingest.texts("g1") == {"Within 30 days."}
