"""An Embedder over a model that computes on the caller's thread: micro-batches, off the event loop.

Questions go first: they have a thread of their own. Then come the passages of edits, then those of the bulk lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from streams.batching import Counts, MicroBatcher, Run, in_thread
from streams.ports import Embedder, Vectors
from streams.telemetry.calls import traced

BULK = 4  # texts of the bulk lane in a batch: what an edit may have to wait for


@traced("embedder", "embed_queries", "embed_passages")
class BatchedEmbedder:
    """The Embedder port: questions and passages on a thread each, so that a question waits behind no passage.

    `queries` and `passages` take texts and return unit vectors, shape (texts, dimension), from any thread.
    """

    def __init__(self, *, model: str, dimension: int, queries: Run, passages: Run, bulk_size: int = BULK) -> None:
        self.model = model
        self.dimension = dimension
        self._threads = [ThreadPoolExecutor(1, "embed-queries"), ThreadPoolExecutor(1, "embed-passages")]
        # A question does not wait to fill a batch; those that come while the model is busy go together.
        self._queries = MicroBatcher(in_thread(self._threads[0], queries), kind="queries", size=16, wait=0.0)
        self._passages = MicroBatcher(
            in_thread(self._threads[1], passages),
            size=64,
            wait=0.005,
            patient=True,
            bulk_size=bulk_size,
            first=self._queries,
        )
        self.bulk: Embedder = BulkPassages(self, self._passages)

    @property
    def counts(self) -> dict[str, Counts]:
        """What went through the model, by the kind of text."""
        return {"queries": self._queries.counts, "passages": self._passages.counts}

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a question."""
        return await self._queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a passage."""
        return await self._passages(texts)

    async def close(self) -> None:
        """Give the threads back."""
        await self._queries.close()
        await self._passages.close()
        for thread in self._threads:
            thread.shutdown(wait=False, cancel_futures=True)


@traced("embedder", "embed_passages")
class BulkPassages:
    """The Embedder port over an embedder, with passages on the bulk lane of its batcher."""

    def __init__(self, embedder: Embedder, passages: MicroBatcher) -> None:
        self.model = embedder.model
        self.dimension = embedder.dimension
        self._embedder = embedder
        self._passages = passages

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a question."""
        return await self._embedder.embed_queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a passage, when nobody else wants the model."""
        return await self._passages(texts, bulk=True)
