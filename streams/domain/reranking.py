"""From a reranker's scores to the final answer: how much is scored in time, the order, what is shown; pure.

Candidates are scored from the first fused place on. Those that were scored take the first places among themselves;
the others keep theirs, which come after.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from schemas.chunks import chunk_text
from schemas.fused import Candidate
from schemas.replies import Dropped, LegReport, Passage, QueryReply
from streams.domain import excerpt, kept_answers, texts
from streams.domain.profile import Profile
from streams.domain.ranking import Ranked
from streams.domain.versions import LivePassage
from streams.errors import Transient

RERANK = "rerank"  # the name of its report, beside those of the legs
NO_MODEL = LegReport(status="skipped", reason="no model")
NO_CANDIDATES = LegReport(status="skipped", reason="no candidates")
NO_TIME = LegReport(status="timeout", reason="no time left")

KEPT_BACK = 0.15  # seconds before the deadline, for the last check and the way back
LEAST_SECONDS = 0.05  # with less left it is not begun
LONGEST_CONTEXT = 400  # characters
SHARE_OF_PACE = 0.3  # of the estimate, that a new measurement replaces


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What a reranker says of passages, in their order."""

    scores: Sequence[float]
    shortened: int = 0  # passages that it could not read whole


def until(deadline: float, now: float) -> float:
    """Return until when (seconds since the epoch) passages are scored."""
    return deadline - min(KEPT_BACK, max(0.0, deadline - now) * 0.25)


def batch(left: float, pace: float | None, remaining: int, at_once: int | None, *, first: bool) -> int:
    """Return how many passages to score next in the `left` seconds; 0: stop.

    The first batch is never left out for its pace alone: one slow moment would be believed for ever.
    """
    if remaining == 0 or left < LEAST_SECONDS:
        return 0
    if at_once is None:
        return remaining
    if pace is None:
        return 1
    fitting = math.floor(left / pace) if pace > 0 else remaining
    return min(max(fitting, 1 if first else 0), remaining, at_once)


def measured(pace: float | None, seconds: float, passages: int) -> float:
    """Return the estimated seconds a passage after another batch."""
    latest = seconds / passages
    return latest if pace is None else pace + SHARE_OF_PACE * (latest - pace)


def checked(scored: Scored, wanted: int) -> Scored:
    """Return what a reranker said; raise Transient when that is not one finite number a passage."""
    if len(scored.scores) != wanted:
        raise Transient(f"the reranker gave {len(scored.scores)} scores for {wanted} passages")
    if not all(math.isfinite(score) for score in scored.scores):
        raise Transient("the reranker gave a score that is no number")
    return scored


def whole_room(profile: Profile) -> Profile:
    """Return the profile under which candidates are collected: the room for all texts is shared out at the end."""
    return msgspec.structs.replace(profile, total_chars=None)


def candidates(ranked: Ranked, *, in_context: bool = False) -> tuple[Candidate, ...]:
    """Return the candidates of a ranked list, each with its whole text where it shows less, and on demand its context.

    A context is cut to what leaves most of a language model's room to the passage.
    """
    found = []
    for passage, whole, context in zip(ranked.passages, ranked.whole, ranked.contexts, strict=True):
        uncut = whole == texts.unmarked(passage.text, passage.trust)
        stands = excerpt.head(context, LONGEST_CONTEXT) if in_context else ""
        found.append(Candidate(passage=passage, text=None if uncut else whole, context=stands or None))
    return tuple(found)


def read(candidate: Candidate) -> str:
    """Return what a reranker reads of a candidate: whole, without the warning of an external text.

    Headings come first and its context second, so that a cut at the end keeps both.
    """
    shown = candidate.passage
    text = texts.unmarked(shown.text, shown.trust) if candidate.text is None else candidate.text
    if candidate.context is None:
        return text
    headings = chunk_text(shown.heading_path, "")
    return f"{headings}{candidate.context}\n\n{text.removeprefix(headings)}"


def merged(passages: Sequence[Passage], scores: Sequence[float]) -> list[Passage]:
    """Order passages, of which the first `len(scores)` were scored.

    A scored passage is ordered by its rerank score. The others stay behind, in their order, so that what they are
    ordered by is at most the least of those.
    """
    scored = [
        msgspec.structs.replace(each, rerank=score, score=score) for each, score in zip(passages, scores, strict=False)
    ]
    scored.sort(key=lambda each: (-each.score, each.passage_id))
    least = scored[-1].score if scored else math.inf
    rest = passages[len(scored) :]
    return scored + [msgspec.structs.replace(each, score=min(each.score, least)) for each in rest]


def report(scored: int, of: int, *, shortened: int, milliseconds: float) -> LegReport:
    """Return how reranking ran; with fewer than all scored it ran into its time limit, which degrades the answer."""
    late = None if scored == of else f"{scored} of {of} in time"
    return LegReport(
        status="timeout" if late else "ok",
        milliseconds=milliseconds,
        candidates=scored,
        reason=late,
        shortened=shortened,
    )


def current(passage: Passage, live: Mapping[str, LivePassage]) -> Passage | None:
    """Return a passage as it is live now; none when it is deleted, replaced or no longer visible."""
    if passage.kind == "graph":
        return passage if passage.evidence and all(each in live for each in passage.evidence) else None
    now = live.get(passage.passage_id)
    if now is None or now.passage_id != passage.passage_id or now.trust != passage.trust:
        return None
    # An id stands for a text, which later versions of a document may share.
    return msgspec.structs.replace(passage, version=now.version, title=now.title, uri=now.uri)


def still_live(reply: QueryReply, live: Mapping[str, LivePassage]) -> QueryReply:
    """Return the reply with what is live now: its passages, pinned ones, the summary while all behind it is."""
    return msgspec.structs.replace(
        reply,
        passages=tuple(now for each in reply.passages if (now := current(each, live))),
        pinned=tuple(now for each in reply.pinned if (now := current(each, live))),
        summary=reply.summary if live.keys() >= set(kept_answers.behind_summary(reply)) else None,
    )


def shown(
    reply: QueryReply, passages: Sequence[Passage], *, top_k: int, profile: Profile, explain: bool = False
) -> QueryReply:
    """Return the reply with the first `top_k` of ordered passages, as far as there is room for their texts.

    Pinned passages come first: they were collected without a limit for all texts.
    """
    left = profile.total_chars
    pinned: list[Passage] = []
    for passage in reply.pinned:
        if text := passage.text if left is None else _cut(passage, left):
            left = None if left is None else left - len(text)
            pinned.append(msgspec.structs.replace(passage, rank=len(pinned) + 1, text=text))
    kept: list[Passage] = []
    dropped = list(reply.dropped)
    for passage in passages:
        text = passage.text if left is None else _cut(passage, left)
        rule = "below the number of passages" if len(kept) == top_k else None
        if rule is None and not text:
            rule = f"no room within {profile.total_chars} characters"
        if rule is not None:
            dropped.append(Dropped(passage_id=passage.passage_id, rule=rule, legs=passage.legs))
            continue
        left = None if left is None else left - len(text)
        kept.append(msgspec.structs.replace(passage, rank=len(kept) + 1, text=text))
    return msgspec.structs.replace(
        reply, passages=tuple(kept), pinned=tuple(pinned), dropped=tuple(dropped) if explain else ()
    )


def _cut(passage: Passage, room: int) -> str:
    if len(passage.text) <= room:
        return passage.text
    room -= len(texts.marked("", passage.trust))
    head = excerpt.head(texts.unmarked(passage.text, passage.trust), room)
    return texts.marked(head, passage.trust) if head else ""
