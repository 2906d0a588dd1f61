"""Both lanes at once: in whatever order they run, a document ends as its highest version says."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas import codec
from schemas.documents import DocKey, Document, DocumentChange, DocumentStatus
from streams.adapters.memory import MemoryStores
from streams.domain.generation import Generation
from streams.processor import Processor
from streams.processors import add_context, chunk, embed, index_text, index_vectors, publish_version
from streams.processors import catalogue as processors
from streams.runner import Outcome, Runner
from streams.wire import RawOutgoing, Record
from topics import catalogue

KEY = DocKey(tenant="acme", source="help", doc_id="rate")
ASIDE = ("extract", "graph", "context", "replay")  # no version waits for these
INDEXING = tuple(each for each in processors.INGEST if not any(word in each.name for word in ASIDE))


class Bus:
    """Topics in memory, read by every processor in order, and by which of them next is for the test to say."""

    def __init__(self) -> None:
        self.stores = MemoryStores()
        generation = Generation(id="g1", model="memory-hash", dimension=64, average_length=100.0)
        versions, embedder = self.stores.versions, self.stores.embedder
        chunks = chunk.Deps(versions=versions, generation=generation)
        embeds = embed.Deps(embedder=embedder, generation=generation)
        texts = index_text.Deps(texts=self.stores.texts)
        contexts = add_context.Deps(contexts=self.stores.contexts)
        deps: dict[str, Any] = {
            "chunk": chunks,
            "chunk-bulk": chunks,
            "embed": embeds,
            "embed-bulk": embeds,
            "index-text": texts,
            "index-text-bulk": texts,
            "add-context": contexts,
            "add-context-bulk": contexts,
            "index-vectors": index_vectors.Deps(versions=versions, vectors=self.stores.vectors),
            "publish-version": publish_version.Deps(
                versions=versions, vectors=self.stores.vectors, epochs=self.stores.epochs
            ),
        }
        self.topics: dict[str, list[RawOutgoing]] = {}
        self._read = dict.fromkeys((each.name for each in INDEXING), 0)
        self._runners = {each.name: Runner(each, deps[each.name], self.send) for each in INDEXING}

    async def send(self, outgoing: RawOutgoing) -> None:
        self.topics.setdefault(outgoing.topic, []).append(outgoing)

    def behind(self) -> list[Processor]:
        return [each for each in INDEXING if self._read[each.name] < len(self.topics.get(each.source.name, ()))]

    async def step(self, processor: Processor) -> None:
        at = self._read[processor.name]
        raw = self.topics[processor.source.name][at]
        self._read[processor.name] += 1
        record = Record(
            topic=raw.topic, partition=0, offset=at, timestamp=0.0, key=raw.key, value=raw.value, headers=raw.headers
        )
        assert await self._runners[processor.name].run(record) is Outcome.DONE

    def sent(self, topic: str, kind: type[Any]) -> list[Any]:
        return [codec.decode(each.value or b"", kind) for each in self.topics.get(topic, ())]


def version(number: int, *, delete: bool) -> DocumentChange:
    fields: dict[str, Any] = {"tenant": KEY.tenant, "source": KEY.source, "doc_id": KEY.doc_id, "version": number}
    if delete:
        return DocumentChange(op="delete", **fields)
    # One section stays as it is, so that versions share chunks.
    content = f"## Fees\n\nThey are the same.\n\n## Rate\n\nIt is {number} euro."
    return DocumentChange(title="Rates", content=content, **fields)


async def ends_as_its_highest_version_says(
    arrivals: list[tuple[int, str]], deleted: set[int], choose: list[int]
) -> None:
    """Deliver versions to the inboxes of their lanes, and let the processors run in the chosen order."""
    bus = Bus()
    for number, lane in arrivals:
        change = version(number, delete=number in deleted)
        key = catalogue.document_key(KEY.tenant, KEY.source, KEY.doc_id)
        await bus.send(RawOutgoing(topic=lane, key=key, value=codec.encode(change), headers={}))
    choices = itertools.chain(choose, itertools.repeat(0))
    live: list[int] = []
    while behind := bus.behind():
        await bus.step(behind[next(choices) % len(behind)])
        seen = next((each for each in await bus.stores.passages.describe(KEY, "g1") if each.state == "live"), None)
        live += [seen.version] if seen is not None else []
    assert live == sorted(live)
    highest = max(number for number, _ in arrivals)
    kept = [each for each in await bus.stores.passages.describe(KEY, "g1") if each.state in ("live", "deleted")]
    assert [(each.version, each.state) for each in kept][:1] == [(highest, "deleted" if highest in deleted else "live")]
    text = "\n".join(each.body for each in kept[0].chunks)
    assert (f"It is {highest} euro." in text) is (highest not in deleted)
    assert text.count("euro") <= 2  # of one version: as the page's text, and as its section
    assert bus.sent("documents", Document)[-1].change.version == highest
    told = {each.version: each.status for each in bus.sent("document-status", DocumentStatus)}
    assert set(told) == {number for number, _ in arrivals}
    assert told[highest] == ("deleted" if highest in deleted else "searchable")


LANES = (catalogue.DOCUMENT_CHANGES.name, catalogue.DOCUMENT_CHANGES_BULK.name)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 4), st.sampled_from(LANES)), min_size=1, max_size=6),
    st.sets(st.integers(1, 4)),
    st.lists(st.integers(0, 100), max_size=60),
)
async def test_in_any_order_of_arrival_and_of_work_a_document_ends_as_its_highest_version(
    arrivals: list[tuple[int, str]], deleted: set[int], choose: list[int]
) -> None:
    await ends_as_its_highest_version_says(arrivals, deleted, choose)


@pytest.mark.parametrize("delete", [False, True])
@pytest.mark.parametrize("steps", range(12))
async def test_an_edit_or_a_delete_wins_over_a_first_load_wherever_that_is_on_its_way(steps: int, delete: bool) -> None:
    """The first load goes `steps` steps, then the edit overtakes it, then the first load goes on."""
    bus = Bus()
    key = catalogue.document_key(KEY.tenant, KEY.source, KEY.doc_id)

    async def arrive(topic: str, change: DocumentChange) -> None:
        await bus.send(RawOutgoing(topic=topic, key=key, value=codec.encode(change), headers={}))

    async def work(most: int, *, first: str) -> None:
        for _ in range(most):
            behind = sorted(bus.behind(), key=lambda each: each.name.endswith("bulk") is not (first == "bulk"))
            if behind:
                await bus.step(behind[0])

    await arrive("document-changes.bulk", version(1, delete=False))
    await work(steps, first="bulk")
    await arrive("document-changes", version(2, delete=delete))
    await work(50, first="live")
    assert bus.behind() == []
    kept = (await bus.stores.passages.describe(KEY, "g1"))[0]
    assert (kept.version, kept.state) == (2, "deleted" if delete else "live")
    told = bus.sent("document-status", DocumentStatus)
    assert {each.version for each in told} == {1, 2}
    assert [each.status for each in told if each.version == 2][-1] == ("deleted" if delete else "searchable")
