"""What the processors need of the outside world.

Every port has a twin in adapters/memory_*.py and shared contract tests.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from schemas.chunks import Level, SparseVector, VectorBatch
from schemas.documents import DocKey, DocumentStatus, Kind, Receipt
from schemas.graph import GraphBatch
from schemas.queries import Hit
from streams.domain.api_keys import ApiKey
from streams.domain.communities import Bond
from streams.domain.generation import Generation
from streams.domain.graph import GraphFound
from streams.domain.lexemes import TextFound, TextRow
from streams.domain.live_document import Holdings, LiveDocument
from streams.domain.overviews import Made, OverviewsFound, Source
from streams.domain.reranking import Scored
from streams.domain.scope import Scope
from streams.domain.versions import Admission, Candidate, LivePassage, Publication, VersionView

Vectors = NDArray[np.float32]  # shape (texts, dimension), rows of unit length
Vector = NDArray[np.float32]  # shape (dimension,)


class Embedder(Protocol):
    """A text embedding model."""

    @property
    def model(self) -> str:
        """The name that vectors of this model are kept under."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a question; raise Transient."""

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a passage; raise Transient."""


@runtime_checkable
class LexicalModel(Protocol):
    """An embedder that says in one pass over a text its vector and how much each of its tokens counts."""

    async def weigh_queries(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[SparseVector]]:
        """Return one unit vector and the token weights of each question; raise Transient."""

    async def weigh_passages(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[SparseVector]]:
        """Return one unit vector and the token weights of each passage; raise Transient."""


class LanguageModel(Protocol):
    """A chat model. What it says is a suggestion: callers check it against what the model was given."""

    @property
    def model(self) -> str:
        """The name that the endpoint knows the model by."""

    async def complete(self, system: str, user: str, *, max_tokens: int, seconds: float) -> str:
        """Return what the model says, of at most `max_tokens`, within `seconds`; raise Transient or Invalid."""


class Reranker(Protocol):
    """A model that reads a question together with passages."""

    @property
    def model(self) -> str:
        """The name that replies show."""

    @property
    def at_once(self) -> int | None:
        """How many passages a call had best have; none: all of a question, as it compares them with each other."""

    async def score(self, question: str, passages: Sequence[str], *, seconds: float) -> Scored:
        """Return a score in 0..1 a passage; after `seconds` nobody waits. Raises Transient or Invalid."""


class Generations(Protocol):
    """Which generation questions read, and which ones changes are written to. Raises StoreUnavailable."""

    async def live(self) -> Generation:
        """Return the live generation: what a question reads that names none."""

    async def active(self) -> Sequence[Generation]:
        """Return all generations that changes are written to and questions may name, the live one first."""


class VersionStore(Protocol):
    """The authority on which version of a document is accepted, pending and live. Raises StoreUnavailable."""

    async def accept(self, candidate: Candidate) -> Admission:
        """Judge a version and, when it is new, record it as pending in the same transaction.

        A deletion is recorded at once for all generations, so that the fence holds before anything is removed.
        """

    def hold(self, key: DocKey, version: int, generation: str) -> AbstractAsyncContextManager[bool]:
        """Hold the document still while a writer works; yields false when the version is superseded: skip it."""

    def last(self, key: DocKey, version: int) -> AbstractAsyncContextManager[bool]:
        """Keep higher versions from being accepted while this one is logged; yields false when one was already.

        In whatever generation: processes may differ for a moment on which one is live.
        """

    async def complete(self, receipt: Receipt) -> Publication | None:
        """Record that a writer finished its part; when it was the last one, flip the version to live.

        Repeating a receipt of a version that is live returns its publication again. None: others are waited for, or a
        higher version is live already.
        """

    async def collect(self, key: DocKey, generation: str, remove: Callable[[Sequence[str]], Awaitable[None]]) -> None:
        """Hand the chunk ids that no pending or live version has to `remove`, under the document's lock."""


class VersionReader(Protocol):
    """Tells how versions stand, and changes nothing. Raises StoreUnavailable."""

    async def unreplayed(self, key: DocKey, version: int, generation: str) -> bool:
        """Tell whether a version of the log has still to be brought into a generation.

        Not where a higher one is live in any generation, a deletion came after it, or this generation took it from
        whoever accepts changes. What a replay brought itself, it brings again until it is live.
        """

    async def standing(self, key: DocKey, version: int, generation: str) -> DocumentStatus | None:
        """Return what is to be said of a version in a generation; none while nothing is."""


class TextIndex(Protocol):
    """Chunk texts and their full-text index. Raises StoreUnavailable."""

    async def write(self, key: DocKey, version: int, generation: str, rows: Sequence[TextRow], *, kind: Kind) -> bool:
        """Write chunks of a pending version; false when the version is superseded and nothing was written."""

    async def search(
        self, scope: Scope, terms: Sequence[str], limit: int, *, kind: Kind, prefix: bool = False
    ) -> TextFound:
        """Return the live parents of a kind that share any of the `terms`, best first, by cover density rank.

        With `prefix` a word that begins with a term counts as that term.
        """


class Graph(Protocol):
    """Entities of chunks and their relations. Advisory: no version waits for it. Raises StoreUnavailable."""

    async def write(self, batch: GraphBatch) -> bool:
        """Write what chunks say; false when no version that is live or can become it has any of them."""

    async def search(self, scope: Scope, keys: Sequence[str], limit: int) -> GraphFound:
        """Return the live chunks and facts around the entities of a question, best first, chunks scored in (0, 1]."""


class Outlines(Protocol):
    """Reads the whole graph of a tenant, to find what belongs together. Raises StoreUnavailable or Transient.

    One audience at a time: the passages that the very same agents may see (none: all may). What is made of them is then
    seen by as many as each of them is.
    """

    async def audiences(self, tenant: str, generation: str) -> Sequence[tuple[str, ...]]:
        """Return the audiences that live passages have, each sorted, those with most passages first; 16 at most."""

    async def bonds(self, tenant: str, generation: str, audience: Sequence[str], limit: int) -> Sequence[Bond]:
        """Return how strongly entities connect in the live passages of an audience, the strongest first."""

    async def sources(
        self, tenant: str, generation: str, audience: Sequence[str], keys: Sequence[str], limit: int
    ) -> Sequence[Source]:
        """Return the live passages of an audience that mention most of some entities, two at least, most first."""


class Overviews(Protocol):
    """Keeps overviews of parts of the graph; none outlives a chunk it was made from. Raises StoreUnavailable."""

    async def kept(self, tenant: str, generation: str) -> frozenset[str]:
        """Return the hashes of the overviews, without a text too, whose chunks are all live."""

    async def put(self, tenant: str, generation: str, overview: Made) -> bool:
        """Keep an overview; false when one of its chunks is not live any more, and nothing was kept."""

    async def retain(self, tenant: str, generation: str, hashes: Collection[str]) -> int:
        """Drop all others, and return how many."""

    async def search(self, scope: Scope, terms: Sequence[str], limit: int) -> OverviewsFound:
        """Return those with most of the `terms`, the largest first among equals; without terms the largest.

        Only those with a text whose every chunk is live and visible in `scope`.
        """


class Contexts(Protocol):
    """Where passages stand in their documents, as a language model says. Advisory. Raises StoreUnavailable."""

    async def read(self, tenant: str, chunk_ids: Sequence[str]) -> Mapping[str, str]:
        """Return what is kept, by chunk id; empty where a model was asked and nothing was believed."""

    async def write(self, key: DocKey, generation: str, contexts: Mapping[str, str]) -> None:
        """Keep contexts of the passages that a kept version has; what is there stays as it is."""


class PassageReader(Protocol):
    """Reads live text: the fence at fusion. Raises StoreUnavailable."""

    async def resolve(
        self, scope: Scope, chunk_ids: Sequence[str], terms: Sequence[str] = ()
    ) -> Mapping[str, LivePassage]:
        """Return, by chunk id, the passage it leads to, and which of `terms` it has.

        Absent: not live, deleted or not visible in `scope`.
        """

    async def gone(self, scope: Scope, chunk_ids: Sequence[str]) -> bool:
        """Tell whether any of these chunks belongs to no version any more: a flip or a deletion overtook the search."""

    async def live_versions(
        self, tenant: str, generation: str, keys: Sequence[tuple[str, str]]
    ) -> Mapping[tuple[str, str], int]:
        """Return the live version by (source, doc id); a deletion counts as live from when it is accepted."""

    async def describe(self, key: DocKey, generation: str) -> tuple[VersionView, ...]:
        """Return the versions of a document that are kept, newest first; the live one with its chunks."""


class PinnedReader(Protocol):
    """Reads the documents that an agent always gets. Raises StoreUnavailable."""

    async def pinned(self, scope: Scope, limit: int) -> Sequence[LivePassage]:
        """Return up to `limit` live passages of the documents pinned for the agent of `scope`, in reading order.

        What the caller narrows the search to does not narrow these. None without an agent.
        """


class Epochs(Protocol):
    """Counts the changes of a tenant's documents; flips and deletions move it themselves. Raises StoreUnavailable."""

    async def current(self, tenant: str) -> int:
        """Return how often anything that the tenant's questions may see has changed; 0 for an unknown tenant."""

    async def bump(self, tenant: str) -> None:
        """Count one more change: answers that were kept before are not found any more."""


class DocumentReader(Protocol):
    """Live documents as a whole. Raises StoreUnavailable."""

    async def read(self, scope: Scope, source: str, doc_id: str) -> LiveDocument | None:
        """Return a document as the scope sees it; none where it sees none, whatever the reason."""

    async def holdings(self, tenant: str, generation: str) -> Holdings:
        """Return how much of a tenant is live; documents without text do not count."""


class KeyStore(Protocol):
    """The API keys of all tenants. Raises StoreUnavailable."""

    async def add(self, key: ApiKey) -> None:
        """Keep a new key."""

    async def all(self, *, revoked: bool = False) -> Sequence[ApiKey]:
        """Return the keys, oldest first; with `revoked`, those that were revoked too."""

    async def some(self, key_ids: Sequence[str]) -> Sequence[ApiKey]:
        """Return those of these keys that there are and that were not revoked, in no order."""

    async def revoke(self, key_id: str, now: datetime) -> bool:
        """Close a key from now on; return whether there is such a key. Twice is as once."""


class Answers(Protocol):
    """Answers that are kept for a while, shared by all processes; any may be forgotten. Raises Transient, and soon."""

    async def get(self, key: str) -> bytes | None:
        """Return what is kept under a key."""

    async def put(self, key: str, value: bytes, seconds: int) -> None:
        """Keep a value for so many seconds, in place of an earlier one."""


class VectorReader(Protocol):
    """Reads vectors that were made before. Raises StoreUnavailable."""

    async def read(
        self, generation: str, chunk_ids: Sequence[str], models: Sequence[str]
    ) -> Mapping[str, Mapping[str, Vector]]:
        """Return the vectors by these models of the chunks that have any, by chunk id and model."""


class VectorIndex(Protocol):
    """Dense and sparse vectors of chunks. Raises StoreUnavailable."""

    async def upsert(self, batch: VectorBatch) -> None:
        """Write the vectors of a batch under their chunk ids."""

    async def rewrite(
        self, generation: str, chunk_ids: Sequence[str], agents: Sequence[str], tags: Sequence[str]
    ) -> None:
        """Replace what the chunks are filtered by, without their vectors."""

    async def remove(self, generation: str, chunk_ids: Sequence[str]) -> None:
        """Remove chunks by id; unknown ids are no error."""

    async def search_dense(
        self, scope: Scope, vector: Sequence[float], levels: Sequence[Level], limit: int, *, model: str | None = None
    ) -> list[Hit]:
        """Return the nearest chunks by the vectors of one model, best first, scored by cosine.

        Without a model by the generation's main one. Raises NoVectors for a model that the generation does not have.
        """

    async def search_sparse(
        self, scope: Scope, vector: SparseVector, limit: int, *, model: str | None = None
    ) -> list[Hit]:
        """Return the parents with the highest BM25 score, best first; with a model, by its lexical weights.

        Raises NoVectors for a model whose weights the generation does not have.
        """
