"""Messages of the query side, up to the legs."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from schemas.base import END, Agent, DocId, Message, Source, Tenant, Value, Version
from schemas.documents import Language, Tag
from schemas.graph import Fact, Overview

MAX_QUESTION = 20_000  # characters
MAX_TOP_K = 100

Leg = Literal["dense", "sparse", "fulltext", "qa", "graph"]
LegStatus = Literal["ok", "empty", "timeout", "error", "skipped"]


Directory = Annotated[str, msgspec.Meta(pattern=rf"^[^\x00-\x1f\x7f]*{END}", max_length=512)]


class Turn(Value, frozen=True, kw_only=True):
    """An earlier turn of the conversation."""

    role: Literal["user", "assistant"]
    text: Annotated[str, msgspec.Meta(max_length=MAX_QUESTION)]


class Filters(Value, frozen=True, kw_only=True):
    """What the caller explicitly narrows the search to; nothing is ever guessed."""

    sources: tuple[Source, ...] = ()
    tags: tuple[Tag, ...] = ()  # any of them
    directory: Directory = ""  # a folder of doc ids
    kinds: tuple[Literal["document", "qa"], ...] = ()


class MinVersion(Value, frozen=True, kw_only=True):
    """A document that must be at least this fresh for the reply not to be stale."""

    source: Source = "default"
    doc_id: DocId
    version: Version


class ReplyTo(Value, frozen=True, kw_only=True):
    """Where the reply goes: the three headers of Spring's request/reply, decoded."""

    topic: str
    partition: int | None = None
    correlation_id: str = ""  # base64 of the header's bytes


class QueryRequest(Message, tag=True, rename={"schema_version": "version"}, frozen=True, kw_only=True):
    """A question."""

    schema_version: int = 1
    query_id: Annotated[str, msgspec.Meta(max_length=128, pattern=rf"^[\x21-\x7e]+{END}")]
    tenant: Tenant
    agent: Agent | None = None
    text: Annotated[str, msgspec.Meta(max_length=MAX_QUESTION)]
    history: tuple[Turn, ...] = ()
    profile: Annotated[str, msgspec.Meta(pattern=rf"^[a-z0-9-]+{END}", max_length=64)] = "general"
    language: Language | None = None
    top_k: Annotated[int, msgspec.Meta(ge=1, le=MAX_TOP_K)] | None = None  # absent: the profile's
    filters: Filters = Filters()
    deadline: float | None = None  # seconds since the epoch; absent: the profile's budget from now
    min_version: tuple[MinVersion, ...] = ()
    floor: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None  # absent: the profile's; 0: nothing is dropped
    progressive: bool = False  # where it is reranked: the fused answer first; without, one reply, after reranking
    explain: bool = False
    generation: str | None = None  # absent: the live one
    cache: bool = True  # false: search, even if an answer is kept


class PreparedQuery(Message, tag=True, rename={"schema_version": "version"}, frozen=True, kw_only=True):
    """A question ready for the legs."""

    schema_version: int = 1
    query_id: str
    ticket: str  # names the question's record: two questions may come with one query id
    tenant: Tenant
    agent: Agent | None
    text: str  # normalised
    expanded: str = ""  # with synonyms, for both vectors; empty: as `text`
    terms: tuple[str, ...]  # what the text legs look for
    words: tuple[int, ...] = ()  # the places in `terms` that stand for whole words, not for parts of one
    language: str
    profile: str
    generation: str
    filters: Filters
    deadline: float
    legs: tuple[Leg, ...]
    candidates: int  # per leg
    embedder: str = ""  # whose vectors are searched; empty: the generation's first
    carried: str = ""  # of an earlier turn, for a follow-up: beside `text`, for both vectors, counting half
    phrasings: tuple[str, ...] = ()  # other ways to ask the same: each leg searches them too


class Expected(Message, tag=True, rename={"schema_version": "version"}, frozen=True, kw_only=True):
    """What `fuse` waits for, how long, and whom it answers."""

    schema_version: int = 1
    query: PreparedQuery
    reply_to: ReplyTo
    top_k: int
    received: float  # seconds since the epoch, when `prepare` read the question
    prepared: float  # seconds since the epoch, when `prepare` was done
    asked: float | None = None  # seconds since the epoch, when the client sent it (Kafka's timestamp)
    min_version: tuple[MinVersion, ...] = ()
    behind: int | None = None  # versions that the index was behind `min_version` before the search; absent: not looked
    explain: bool = False
    floor: float | None = None  # in place of the profile's
    progressive: bool = False  # the fused answer is wanted before the reranked one
    skipped: dict[str, str] = {}  # legs that do not run, with the reason
    again: bool = False  # a search was made before this one
    searches: int = 1  # how many there were, with this one; each flip that overtakes one makes another, up to a limit
    cache_key: str | None = None  # where a complete answer is kept; absent: it is not
    rewritten: str | None = None  # the question as it is searched, where that is not what was asked
    reasons: tuple[str, ...] = ()  # why an option that the profile asks for did not do its work


class Hit(Value, frozen=True, kw_only=True):
    """A chunk that a leg found, best first."""

    chunk_id: str
    score: float  # the leg's raw score


class LegResult(Message, tag=True, rename={"schema_version": "version"}, frozen=True, kw_only=True):
    """What one leg found for one question."""

    schema_version: int = 1
    query_id: str
    ticket: str
    leg: Leg
    status: LegStatus
    hits: tuple[Hit, ...] = ()
    questions: tuple[Hit, ...] = ()  # of the dense leg: Q&A pairs by their question alone
    lexical: tuple[Hit, ...] = ()  # of the dense leg: passages by its model's lexical weights
    facts: tuple[Fact, ...] = ()  # of the graph leg
    overviews: tuple[Overview, ...] = ()  # of the graph leg, for a broad question
    reason: str | None = None
    milliseconds: float = 0.0
    model: str | None = None  # the embedder, for the dense leg
    frequencies: tuple[int, ...] = ()  # passages that have each of the question's terms, for the full-text leg
    counted: int = 0  # among this many
