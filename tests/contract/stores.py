"""One of each store, real or twin, and the way of a version through them, as the processors go it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.chunks import Chunk
from schemas.documents import DocumentChange, Receipt
from streams.domain.generation import Generation
from streams.domain.versions import Admission, Publication
from streams.ports import (
    Contexts,
    Epochs,
    Graph,
    Outlines,
    Overviews,
    PassageReader,
    TextIndex,
    VectorIndex,
    VersionStore,
)
from tests.contract import building


@dataclass(kw_only=True)
class Stores:
    """The stores under test and, for the assertions, a look behind their ports."""

    versions: VersionStore
    texts: TextIndex
    passages: PassageReader
    vectors: VectorIndex
    graph: Graph
    outlines: Outlines
    overviews: Overviews
    contexts: Contexts
    generations: Any
    start: Callable[[Generation], Awaitable[None]]  # a generation beside the live one
    epochs: Epochs
    text_ids: Callable[[], Awaitable[set[str]]]
    vector_ids: Callable[[str], Awaitable[set[str]]]
    epoch: Callable[[str], Awaitable[int]]
    graph_ids: Callable[[], Awaitable[set[str]]]  # chunks that have mentions or relations

    async def accept(self, change: DocumentChange, **options: Any) -> Admission:
        return await self.versions.accept(building.candidate(change, **options))

    async def write(
        self, change: DocumentChange, chunks: Sequence[Chunk], embed: Sequence[Chunk] | None = None
    ) -> None:
        """Write texts and vectors of chunks, as the two writers do: not at all for a superseded version."""
        rows = building.text_rows(chunks)
        await self.texts.write(change.key, change.version, building.GENERATION, rows, kind=change.kind)
        async with self.versions.hold(change.key, change.version, building.GENERATION) as wanted:
            if wanted:
                await self.vectors.upsert(building.vector_batch(change, chunks if embed is None else embed))

    async def publish(self, receipt: Receipt) -> Publication | None:
        """Do what `publish-version` does with a receipt."""
        publication = await self.versions.complete(receipt)
        if publication is not None:
            if publication.rewrite:
                await self.vectors.rewrite(
                    receipt.generation, publication.rewrite, publication.agents, publication.tags
                )

            async def remove(ids: Sequence[str]) -> None:
                await self.vectors.remove(receipt.generation, ids)

            await self.versions.collect(receipt.key, receipt.generation, remove)
        return publication

    async def put(self, change: DocumentChange) -> Publication | None:
        """Bring a version all the way, in one part."""
        admission = await self.accept(change)
        chunks = building.cut(change) if change.op == "upsert" else ()
        if not chunks:
            return await self.publish(building.receipt(change))
        await self.write(change, chunks, [chunk for chunk in chunks if chunk.id not in admission.live_chunks])
        await self.publish(building.receipt(change, "text"))
        return await self.publish(building.receipt(change, "vectors"))

    async def seen(self, change: DocumentChange) -> building.Seen:
        """What there is of a document, in every store."""
        live = await self.passages.live_versions(change.tenant, building.GENERATION, [(change.source, change.doc_id)])
        vectors = await self.vector_ids(building.GENERATION)
        scope = building.scope(tenant=change.tenant)
        resolved = await self.passages.resolve(scope, sorted(vectors))
        return building.Seen(
            live=live.get((change.source, change.doc_id)),
            texts=frozenset(passage.body for passage in resolved.values()),
            text_ids=frozenset(await self.text_ids()),
            vector_ids=frozenset(vectors),
        )
