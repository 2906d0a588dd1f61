"""Versions of documents: what a store is told when one is accepted, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal

from schemas.chunks import Chunk
from schemas.documents import DocumentChange, DocumentStatus, Kind, Trust


class Verdict(Enum):
    """What the version guard says of an arriving version. Only a lower one is stale."""

    NEW = auto()
    REPEAT = auto()  # the same version with the same hash: repeat every effect and output
    STALE = auto()  # lower than one already accepted: drop
    CONFLICT = auto()  # the same version with another hash: dead letter


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A version that asks to be accepted, with its chunks in reading order and the parts it will wait for."""

    change: DocumentChange
    content_hash: str
    generation: str
    language: str
    chunks: tuple[Chunk, ...]
    parts: int  # 0 for a deletion and for a document without text: it is published at once
    replayed: bool = False  # it comes from the log of accepted versions


@dataclass(frozen=True, kw_only=True)
class Admission:
    """The guard's verdict, and which chunks are in the live index already and need no embedding."""

    verdict: Verdict
    live: bool = False  # this very version is live already
    live_chunks: frozenset[str] = frozenset()
    accepted_version: int | None = None


@dataclass(frozen=True, kw_only=True)
class Publication:
    """A version became live, failed, or was live already: what to announce, and whether payloads must be rewritten."""

    status: DocumentStatus
    # Chunks whose filter payload (agents, tags) differs from what was written when they were first indexed.
    rewrite: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    # Lower versions that were still pending: this one overtook them, and nobody else will say so.
    overtaken: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LivePassage:
    """A passage as queries see it now, and the chunk that led to it."""

    passage_id: str
    heading_path: tuple[str, ...]
    body: str
    source: str
    doc_id: str
    version: int
    kind: Kind | Literal["graph"]
    title: str
    uri: str
    trust: Trust
    language: str
    context: str = ""  # where it stands, as a language model says; for the reranker, and never shown
    evidence_body: str = ""  # the text of the chunk that led here, where it is a piece of the passage
    terms: tuple[int, ...] = ()  # which of the question's terms it has, by their place in the question


@dataclass(frozen=True, kw_only=True)
class VersionView:
    """One version of a document, for people: `state` is pending, live, deleted, superseded or failed."""

    version: int
    state: str
    title: str
    kind: Kind
    waits: tuple[str, ...]
    reason: str | None
    chunks: tuple[Chunk, ...]
