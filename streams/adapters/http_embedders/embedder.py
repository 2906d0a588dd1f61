"""The Embedder port over a provider: instructions, limits, requests, and a check of every vector."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from streams.adapters.batched_embedder import BulkPassages
from streams.adapters.embedder_specs import Spec
from streams.adapters.http_embedders.endpoint import Endpoint
from streams.adapters.http_embedders.protocols import PROTOCOLS, Malformed
from streams.batching import Counts, MicroBatcher
from streams.domain import buckets, token_limit
from streams.errors import ConfigurationError, Invalid
from streams.ports import Vectors
from streams.telemetry.calls import traced

log = logging.getLogger(__name__)

PASSAGE_SECONDS = 60.0  # of a batch of passages, with all attempts; then its writer tries again, however long
QUESTIONS = 16  # at once in a request
REQUESTS = 4  # on their way at once, of each kind of text
QUEUED = 1_024  # texts


@traced("embedder", "embed_queries", "embed_passages")
class HttpEmbedder:
    """Questions and passages go in requests of their own, so that a question waits behind no passage."""

    def __init__(self, name: str, spec: Spec) -> None:
        self.model = name
        self.dimension = spec.dimension
        self.truncated = 0  # texts that were longer than the model reads
        self.tokens = {"queries": 0, "passages": 0}  # that the provider says it read, good answers or not
        self._where = f"embedders.{name}"
        self._spec = spec
        self._protocol = PROTOCOLS[spec.kind]
        key = spec.key(name)
        self.endpoint = Endpoint(
            self._where,
            self._protocol.url(spec),
            headers=self._protocol.headers(key),
            secret=key,
            timeout=spec.timeout,
            attempts=spec.attempts,
        )
        ask = partial(MicroBatcher, at_once=REQUESTS, most_queued=QUEUED)
        self._queries = ask(
            partial(self._vectors, query=True), kind="queries", size=min(QUESTIONS, spec.batch), wait=0.0
        )
        self._passages = ask(
            partial(self._vectors, query=False),
            size=spec.batch,
            wait=0.005,
            patient=True,
            bulk_size=spec.batch,
            first=self._queries,
        )
        self.bulk = BulkPassages(self, self._passages)

    @property
    def counts(self) -> dict[str, Counts]:
        """What went to the provider, by the kind of text."""
        return {"queries": self._queries.counts, "passages": self._passages.counts}

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a question; raise ModelUnavailable within the `query_timeout` of its spec."""
        return await self._queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a passage; raise ModelUnavailable within a minute."""
        return await self._passages(texts)

    async def close(self) -> None:
        """Close the connections."""
        await self._queries.close()
        await self._passages.close()
        await self.endpoint.close()

    async def _vectors(self, texts: Sequence[str], *, query: bool) -> Vectors:
        spec = self._spec
        options = {**spec.options, **(spec.query_options if query else spec.passage_options)}
        seconds = spec.query_timeout if query else PASSAGE_SECONDS
        sent = self._cut(texts, spec.query_instruction if query else spec.passage_instruction)
        rows = np.empty((len(sent), self.dimension), dtype=np.float32)
        lengths = [token_limit.estimate(text) for text in sent]
        for numbers in buckets.in_order(lengths, spec.batch, most=spec.request_tokens):
            body = self._protocol.body(spec, [sent[number] for number in numbers], options, query)
            read = partial(self._read, wanted=len(numbers), kind="queries" if query else "passages")
            found = await self.endpoint.post(body, read, seconds=seconds)
            rows[numbers] = found
        return rows

    def _cut(self, texts: Sequence[str], instruction: str) -> list[str]:
        # An empty text is an error to most providers.
        whole = [instruction + (text or " ") for text in texts]
        sent = [token_limit.cut(text, self._spec.max_tokens) for text in whole]
        cut = sum(len(after) < len(before) for before, after in zip(whole, sent, strict=True))
        if cut:
            self.truncated += cut
            log.info(
                "%s: %d texts cut to %d tokens, %d so far", self._where, cut, self._spec.max_tokens, self.truncated
            )
        return sent

    def _read(self, answer: Any, *, wanted: int, kind: str) -> Vectors:
        """Return the unit vectors of an answer; raise ValueError where another attempt may be better."""
        self.tokens[kind] += self._protocol.tokens(answer)
        try:
            found = self._protocol.rows(answer)
            if len(found) != wanted:
                raise ValueError(f"it has {len(found)} vectors for {wanted} texts")
            lengths = {len(each) for each in found}
            if lengths == {self.dimension}:
                rows = np.array(found, dtype=np.float32)
        except (KeyError, TypeError, AttributeError, IndexError, Malformed) as error:
            raise ValueError(f"it is not what {self._spec.kind} answers ({error})") from None
        if lengths != {self.dimension}:
            raise ConfigurationError(
                f"{self._where}: dimension: the provider gives {'/'.join(map(str, sorted(lengths)))}, the file says "
                f"{self.dimension}; correct one of them"
            )
        if not np.isfinite(rows).all():
            raise Invalid(f"{self._where}: the provider gives a vector that is not finite")
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not norms.all():
            raise Invalid(f"{self._where}: the provider gives a vector of no length")
        unit: Vectors = (rows / norms).astype(np.float32)
        return unit
