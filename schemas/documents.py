"""Messages of the ingest side: what a source publishes, and what became of it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from schemas.base import END, Agent, DocId, Message, Metadata, Source, Tenant, Value, Version

MAX_CONTENT = 2_000_000  # characters; a larger document is refused by name, not cut
MAX_TITLE = 2_000

Op = Literal["upsert", "delete"]
Kind = Literal["document", "qa"]
Trust = Literal["internal", "external"]
ContentType = Literal["text/markdown", "text/plain", "text/html"]
Language = Annotated[str, msgspec.Meta(pattern=rf"^[a-z]{{2,3}}{END}", description="ISO 639 code, lower case")]
Content = Annotated[str, msgspec.Meta(max_length=MAX_CONTENT)]
Title = Annotated[str, msgspec.Meta(max_length=MAX_TITLE)]
Tag = Annotated[str, msgspec.Meta(pattern=rf"^[^\x00-\x1f\x7f]+{END}", min_length=1, max_length=256)]


class DocKey(Value, order=True, frozen=True, kw_only=True):
    """The identity of a document."""

    tenant: Tenant
    source: Source
    doc_id: DocId


class DocumentChange(Message, tag=True, frozen=True, kw_only=True):
    """A new version of a document or Q&A pair, or its deletion, as its source publishes it.

    A Q&A pair (`kind: qa`) may be given as `question` and `answer` or as `title` and `content`.
    """

    schema_version: int = 1
    tenant: Tenant
    source: Source = "default"
    doc_id: DocId
    version: Version
    op: Op = "upsert"
    kind: Kind = "document"
    title: Title = ""
    content: Content = ""
    content_type: ContentType = "text/markdown"
    question: Title = ""
    answer: Content = ""
    uri: Annotated[str, msgspec.Meta(max_length=4_000)] = ""
    language: Language | None = None  # detected where absent
    agents: tuple[Agent, ...] = ()  # empty = visible to all agents of the tenant
    trust: Trust = "internal"
    pinned: tuple[Agent, ...] = ()  # agents that always get this document
    tags: tuple[Tag, ...] = ()
    metadata: Metadata = {}
    updated_at: str | None = None  # ISO 8601

    @property
    def key(self) -> DocKey:
        return DocKey(tenant=self.tenant, source=self.source, doc_id=self.doc_id)


class Document(Message, tag=True, frozen=True, kw_only=True):
    """An accepted version on the compacted `documents` topic, the only source of a replay."""

    schema_version: int = 1
    change: DocumentChange
    content_hash: str  # hex SHA-256 of the normalised change


class OfVersion(Message, frozen=True, kw_only=True):
    """What every message about one version in one generation says first."""

    schema_version: int = 1
    tenant: Tenant
    source: Source
    doc_id: DocId
    version: Version
    generation: str

    @property
    def key(self) -> DocKey:
        return DocKey(tenant=self.tenant, source=self.source, doc_id=self.doc_id)


class Receipt(OfVersion, tag=True, frozen=True, kw_only=True):
    """One writer finished (or gave up) one part of one version in one generation."""

    writer: Literal["chunk", "text", "vectors"]
    part: int = 0
    error: str | None = None

    @classmethod
    def of(
        cls, about: OfVersion, writer: Literal["chunk", "text", "vectors"], part: int = 0, error: str | None = None
    ) -> Receipt:
        """Return the receipt of a writer for the version that a message is about."""
        return cls(
            tenant=about.tenant,
            source=about.source,
            doc_id=about.doc_id,
            version=about.version,
            generation=about.generation,
            writer=writer,
            part=part,
            error=error,
        )


class DocumentStatus(OfVersion, tag=True, frozen=True, kw_only=True):
    """What became of exactly this version of a document: the receipt that its source waits for."""

    status: Literal["searchable", "deleted", "failed"]
    chunks: int = 0
    reason: str | None = None

    @classmethod
    def failed(cls, key: DocKey, version: int, generation: str, reason: str) -> DocumentStatus:
        """Return the status of a version that will not be searchable."""
        return cls(
            tenant=key.tenant,
            source=key.source,
            doc_id=key.doc_id,
            version=version,
            generation=generation,
            status="failed",
            reason=reason[:1000],
        )
