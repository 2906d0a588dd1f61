"""Answers that are kept for a while: which may be, how they are written, and whether one still holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schemas import codec
from schemas.queries import Expected
from schemas.replies import Passage, QueryReply
from streams.domain.versions import LivePassage


def may_be_kept(expected: Expected, reply: QueryReply) -> bool:
    """Tell whether the next one who asks the same may get this answer: it is whole, final, and about nobody alone."""
    whole = reply.final and reply.error is None and not reply.degraded and not reply.stale
    return expected.cache_key is not None and whole and not expected.explain and not expected.min_version


def written(key: str, reply: QueryReply) -> bytes:
    """Return an answer as it is kept; its key goes in front, so that a mixed-up reply of the server is noticed."""
    return key.encode() + b"\n" + codec.encode(reply)


def read(key: str, value: bytes | None) -> QueryReply | None:
    """Return the answer that was written under a key; none for anything else."""
    before, _, encoded = (value or b"").partition(b"\n")
    if before != key.encode():
        return None
    try:
        return codec.decode(encoded, QueryReply)
    except codec.InvalidMessage:
        return None  # another release wrote it


def evidence(reply: QueryReply) -> list[str]:
    """Return the ids of all chunks that an answer rests on."""
    ids = [chunk_id for passage in _passages(reply) for chunk_id in _behind(passage)]
    ids += behind_summary(reply)
    return list(dict.fromkeys(ids))


def holds(reply: QueryReply, live: Mapping[str, LivePassage]) -> bool:
    """Tell whether every chunk behind an answer is live, in the passage and the version that the answer shows."""
    return live.keys() >= set(behind_summary(reply)) and all(_stands(passage, live) for passage in _passages(reply))


def behind_summary(reply: QueryReply) -> list[str]:
    """Return the ids of the chunks that the summary of an answer rests on: it stands only with all of them."""
    found = reply.summary
    return [*(fact.chunk_id for fact in found.facts), *found.evidence] if found else []


def _passages(reply: QueryReply) -> Iterator[Passage]:
    yield from reply.passages
    yield from reply.pinned


def _behind(passage: Passage) -> tuple[str, ...]:
    # A graph summary among the passages is no chunk itself; what cannot be checked at all does not hold.
    return passage.evidence if passage.kind == "graph" else (passage.passage_id, *passage.evidence)


def _stands(passage: Passage, live: Mapping[str, LivePassage]) -> bool:
    found = [live.get(chunk_id) for chunk_id in _behind(passage)]
    if passage.kind == "graph":
        return bool(found) and None not in found
    shown = (passage.passage_id, passage.version)
    return all(each is not None and (each.passage_id, each.version) == shown for each in found)
