"""What the in-memory twins share: documents, their versions and texts, and what a scope sees of them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from schemas.chunks import Chunk
from schemas.documents import DocKey, DocumentChange, Kind
from streams.domain.graph import Link, Mention
from streams.domain.lexemes import TextRow
from streams.domain.overviews import Made
from streams.domain.scope import Scope


@dataclass(kw_only=True)
class Version:
    """One version of a document, as it stands."""

    change: DocumentChange
    language: str
    chunks: tuple[Chunk, ...]  # empty once superseded
    parts: int
    waits: list[str]
    state: str = "pending"
    reason: str | None = None
    count: int = 0
    rewrite: tuple[str, ...] = ()
    overtaken: tuple[int, ...] = ()
    replayed: bool = False

    @property
    def filtered_by(self) -> tuple[list[str], list[str]]:
        """The agents and tags that its chunks are filtered by."""
        return sorted(set(self.change.agents)), sorted(set(self.change.tags))


@dataclass(kw_only=True)
class Document:
    """A document in one generation."""

    key: DocKey
    accepted_version: int | None = None
    accepted_hash: str | None = None
    live_version: int | None = None
    versions: dict[int, Version] = field(default_factory=dict)
    garbage: set[str] = field(default_factory=set)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def wanted(self) -> set[str]:
        """The chunks of every version that is live or can still become live."""
        return {chunk.id for version in self.versions.values() for chunk in version.chunks}


@dataclass(kw_only=True)
class ChunkGraph:
    """What the graph holds of one chunk."""

    tenant: str
    generation: str
    mentions: dict[str, Mention] = field(default_factory=dict)  # by key
    links: dict[tuple[str, str, str], Link] = field(default_factory=dict)  # by subject, object, label


@dataclass(kw_only=True)
class State:
    """Everything the twins of Postgres hold."""

    documents: dict[tuple[str, DocKey], Document] = field(default_factory=dict)
    deletions: dict[DocKey, int] = field(default_factory=dict)
    texts: dict[str, TextRow] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)  # of the texts
    contexts: dict[str, tuple[str, str]] = field(default_factory=dict)  # tenant and context, by chunk id
    graph: dict[str, ChunkGraph] = field(default_factory=dict)  # by chunk id
    overviews: dict[tuple[str, str, str], Made] = field(default_factory=dict)  # by tenant, generation, hash
    epochs: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def document(self, key: DocKey, generation: str) -> Document:
        """Return a document, an unknown one as empty."""
        return self.documents.setdefault((generation, key), Document(key=key))

    def live(self, generation: str) -> Iterator[tuple[Document, Version]]:
        """Yield what the fence lets through: live documents that no higher deletion hides."""
        for (of, key), document in self.documents.items():
            version = document.versions.get(-1 if document.live_version is None else document.live_version)
            if of != generation or version is None or version.state != "live":
                continue
            if self.deletions.get(key, -1) <= version.change.version:
                yield document, version

    def visible(self, scope: Scope) -> Iterator[tuple[Document, Version]]:
        """Yield the live documents that a scope sees."""
        filters = scope.filters
        for document, version in self.live(scope.generation):
            change = version.change
            if (
                change.tenant == scope.tenant
                and (not change.agents or scope.agent in change.agents)
                and (not filters.sources or change.source in filters.sources)
                and (not filters.tags or set(filters.tags) & set(change.tags))
                and (not filters.kinds or change.kind in filters.kinds)
                and change.doc_id.startswith(scope.directory)
            ):
                yield document, version
