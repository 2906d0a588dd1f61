"""What `fuse` hands to `rerank`: an answer that is only fused, and what else could be in it."""

from __future__ import annotations

from schemas.base import Message, Value
from schemas.queries import Expected
from schemas.replies import Passage, QueryReply


class Candidate(Value, frozen=True, kw_only=True):
    """A passage that is to be reranked."""

    passage: Passage
    text: str | None = None  # what the reranker reads, where the passage shows less of it
    context: str | None = None  # where it stands in its document; read with it, and never shown


class Fused(Message, tag=True, rename={"schema_version": "version"}, frozen=True, kw_only=True):
    """A fused answer with all candidates that are reranked, best first."""

    schema_version: int = 1
    expected: Expected  # its cache key is absent where the answer must not be kept
    reply: QueryReply  # as it stands, without its passages
    candidates: tuple[Candidate, ...]
