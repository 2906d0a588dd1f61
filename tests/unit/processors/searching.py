"""The query side on the stores' twins, and the way of a version through them, step by step."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from schemas.documents import DocumentChange
from schemas.queries import Expected, PreparedQuery, QueryRequest, ReplyTo
from schemas.replies import QueryReply
from streams.adapters import profiles
from streams.adapters.memory import MemoryStores
from streams.domain.profile import Profile
from streams.ports import Embedder
from streams.processors import (
    fuse,
    prepare,
    publish_version,
    retrieve_dense,
    retrieve_fulltext,
    retrieve_graph,
    retrieve_qa,
    retrieve_sparse,
)
from streams.processors.answer_cache import AnswerFinder, AnswerKeeper
from tests.contract.building import candidate, cut, receipt, text_rows, vector_batch

_numbers = itertools.count()


class Search:
    """The query side on twins, and the way of a version through them."""

    def __init__(self, *, known: dict[str, Profile] | None = None, clock: Callable[[], float] = time.time) -> None:
        self.stores = MemoryStores()
        self.answers: Any = self.stores.answers
        self.epochs: Any = self.stores.epochs
        self.passages: Any = self.stores.passages
        self.legs_ran = 0
        self.asker: Any = None
        self._profiles = known or dict(profiles.shipped())
        self._clock = clock

    async def _embedder(self, _: str) -> Embedder:
        return self.stores.embedder

    async def open(self) -> Search:
        embedder = self.stores.embedder
        await self.stores.generations.ensure(model=embedder.model, dimension=embedder.dimension, average_length=5.0)
        finder = AnswerFinder(answers=self.answers, epochs=self.epochs, passages=self.passages, clock=self._clock)
        keeper = AnswerKeeper(answers=self.answers, clock=self._clock)
        self._prepare = prepare.Deps(
            profiles=self._profiles,
            generations=self.stores.generations,
            clock=self._clock,
            answers=finder,
            passages=self.passages,
            asker=self.asker,
        )
        self.fuse = fuse.Deps(
            passages=self.stores.passages,
            pinned=self.stores.passages,
            profiles=self._profiles,
            clock=self._clock,
            answers=keeper,
        )
        self._dense = retrieve_dense.Deps(embedder=self._embedder, vectors=self.stores.vectors, profiles=self._profiles)
        self._sparse = retrieve_sparse.Deps(vectors=self.stores.vectors)
        self._fulltext = retrieve_fulltext.Deps(texts=self.stores.texts)
        self._graph = retrieve_graph.Deps(graph=self.stores.graph)
        self._qa = retrieve_qa.Deps(texts=self.stores.texts, profiles=self._profiles)
        self.publisher = publish_version.Deps(
            versions=self.stores.versions, vectors=self.stores.vectors, epochs=self.stores.epochs
        )
        return self

    async def prepared(self, **fields: Any) -> QueryReply | tuple[Expected, PreparedQuery]:
        number = next(_numbers)
        given = {"query_id": f"q{number}", "tenant": "acme", "text": "stone", "agent": "desk", "top_k": 50, **fields}
        asked = prepare.Asked(
            request=QueryRequest(**given),
            reply_to=ReplyTo(topic="replies", partition=number % 64, correlation_id=""),
            at=self._clock(),
            ticket=f"0-{number}",
        )
        sent = await prepare.handle(asked, self._prepare)
        if isinstance(sent[0].message, QueryReply):
            assert (sent[0].topic.name, sent[0].partition) == ("replies", number % 64)
            return sent[0].message
        expected, query = (each.message for each in sent)
        assert isinstance(expected, Expected) and isinstance(query, PreparedQuery)
        return expected, query

    async def legs(self, query: PreparedQuery) -> list[Any]:
        self.legs_ran += 1
        sent = [
            *await retrieve_dense.RETRIEVE_DENSE.handle(query, self._dense),
            *await retrieve_sparse.RETRIEVE_SPARSE.handle(query, self._sparse),
            *await retrieve_fulltext.RETRIEVE_FULLTEXT.handle(query, self._fulltext),
            *await retrieve_qa.RETRIEVE_QA.handle(query, self._qa),
            *await retrieve_graph.RETRIEVE_GRAPH.handle(query, self._graph),
        ]
        return [each.message for each in sent]

    async def fused(self, expected: Expected, results: Sequence[Any]) -> QueryReply:
        for result in results:
            await fuse.handle(result, self.fuse)
        sent = [each.message for each in await fuse.handle(expected, self.fuse)]
        if isinstance(sent[0], QueryReply):
            await settled()
            return sent[0]
        again, query = sent  # a flip overtook the search
        assert isinstance(again, Expected) and isinstance(query, PreparedQuery)
        return await self.fused(again, await self.legs(query))

    async def ask(self, **fields: Any) -> QueryReply:
        found = await self.prepared(**fields)
        if isinstance(found, QueryReply):
            return found
        expected, query = found
        return await self.fused(expected, await self.legs(query))

    def steps(self, of: DocumentChange) -> list[Callable[[], Awaitable[object]]]:
        """The way of a version, one effect on the stores after the other."""
        versions, chunks = self.stores.versions, cut(of)

        async def write() -> None:
            await self.stores.texts.write(of.key, of.version, "g1", text_rows(chunks), kind=of.kind)
            await self.stores.vectors.upsert(vector_batch(of, [chunk for chunk in chunks if chunk.id in fresh]))

        async def accept() -> None:
            admission = await versions.accept(candidate(of))
            fresh.update(chunk.id for chunk in chunks if chunk.id not in admission.live_chunks)

        fresh: set[str] = set()
        last = receipt(of, "vectors" if chunks else "chunk")
        flip = [lambda: versions.complete(last), lambda: publish_version.handle(last, self.publisher)]
        if not chunks:
            return [accept, *flip]
        return [accept, write, lambda: versions.complete(receipt(of, "text")), *flip]

    async def put(self, of: DocumentChange) -> None:
        for step in self.steps(of):
            await step()


async def settled() -> None:
    """Let what was begun beside the work come to its end."""
    for _ in range(5):
        await asyncio.sleep(0)
