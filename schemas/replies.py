"""The reply, with the whole arithmetic of how it came about."""

from __future__ import annotations

from typing import Literal

import msgspec

from schemas.base import Message, Value
from schemas.documents import Kind, Trust
from schemas.graph import Fact
from schemas.queries import LegStatus


class LegScore(Value, frozen=True, kw_only=True):
    """Where one leg ranked a passage (from 1) and the raw score it gave."""

    rank: int
    score: float


class LegReport(Value, omit_defaults=True, frozen=True, kw_only=True):
    """How one leg ran."""

    status: LegStatus
    milliseconds: float | None = None
    candidates: int = 0
    reason: str | None = None
    shortened: int = 0  # candidates that its model could not read whole


class Passage(Value, frozen=True, kw_only=True):
    """A scored passage; legs that did not find it are absent from `legs`."""

    rank: int
    passage_id: str
    source: str
    doc_id: str
    version: int
    kind: Kind | Literal["graph"]  # `graph`: a summary of how things connect, where a profile ranks it
    title: str
    heading_path: tuple[str, ...]
    uri: str
    trust: Trust
    text: str
    score: float  # what the passages are ordered by
    fused: float
    coverage: float | None = None  # share of the question's stems found in the text, scaled
    absolute: float | None = None
    boost: float | None = None
    rerank: float | None = None
    legs: dict[str, LegScore]
    evidence: tuple[str, ...]  # the chunks that were hit
    signals: dict[str, float] = {}  # what `absolute` was computed from (only with `explain`)


class Summary(Value, frozen=True, kw_only=True):
    """How the question's entities connect, or an overview for a broad one, in a few lines, and what is behind them."""

    text: str
    facts: tuple[Fact, ...]
    evidence: tuple[str, ...] = ()  # the chunks behind what the facts do not say


class Dropped(Value, frozen=True, kw_only=True):
    """A candidate that did not reach the reply, and the rule that dropped it (only with `explain`)."""

    passage_id: str
    rule: str
    legs: dict[str, LegScore]


ReplyError = Literal["validation", "decode", "timeout", "overloaded", "fence unavailable", "no reply", "internal"]


class ErrorInfo(Value, rename={"error_class": "class"}, frozen=True, kw_only=True):
    """Why there is no answer."""

    error_class: ReplyError
    message: str
    field: str | None = None


class Milliseconds(Value, frozen=True, kw_only=True):
    """Where the time went; `total` runs from the question's arrival at the broker to the reply's send."""

    total: float
    prepare: float | None = None
    legs: float | None = None
    fuse: float | None = None


class Models(Value, frozen=True, kw_only=True):
    """The models that took part."""

    embedder: str | None = None
    reranker: str | None = None


class QueryReply(Message, tag=True, rename={"schema_version": "version"}, frozen=True, kw_only=True):
    """The answer to a question, or the error that stands for it."""

    schema_version: int = 1
    query_id: str
    revision: int = 1
    final: bool = True
    degraded: bool = False
    reasons: tuple[str, ...] = ()
    profile: str = ""
    generation: str = ""
    models: Models = Models()
    cache: Literal["miss", "hit", "off"] = "off"
    rewritten: str | None = None  # the question as it was searched, where that is not what was asked
    stale: bool = False
    stale_versions: int = 0  # the largest lag behind `min_version`
    milliseconds: Milliseconds
    legs: dict[str, LegReport] = {}
    passages: tuple[Passage, ...] = ()
    pinned: tuple[Passage, ...] = ()  # documents that the agent always gets, beside what was found
    summary: Summary | None = None
    dropped: tuple[Dropped, ...] = ()
    error: ErrorInfo | None = None


def error_reply(query_id: str, error: ErrorInfo, total: float = 0.0, **fields: object) -> QueryReply:
    """Build a reply that carries an error and no passages."""
    reply = QueryReply(query_id=query_id, milliseconds=Milliseconds(total=total), error=error)
    return msgspec.structs.replace(reply, **fields) if fields else reply
