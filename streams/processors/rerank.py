"""rerank: has a model order the candidates of a fused answer while there is time, and sends the final revision.

What cannot be scored in time keeps its fused place, and a model that fails costs the order, never the answer. What is
shown was checked against what is live after the model was done, as `fuse` checked it before.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from schemas.fused import Fused
from schemas.replies import LegReport, QueryReply, error_reply
from streams.domain import kept_answers, reports, reranking, scope
from streams.domain.profile import Profile
from streams.errors import RankstreamError
from streams.ports import PassageReader, Reranker
from streams.processor import Failure, OnFailure, Processor
from streams.processors import replying
from streams.processors.answer_cache import AnswerKeeper
from streams.wire import Outgoing
from topics import catalogue

log = logging.getLogger(__name__)

CHECK_SECONDS = 2.0  # at most, for the last check
LEAST_CHECK = 0.1  # seconds, however near the deadline


@dataclass(kw_only=True)
class Pace:
    """How long the model takes for a passage, as measured, in seconds; none before the first one."""

    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `rerank` needs; `pace` is its only state."""

    reranker: Reranker | None  # none: a wrong setting, as `fuse` hands over only where there is one
    passages: PassageReader
    profiles: Mapping[str, Profile]
    clock: Callable[[], float]
    answers: AnswerKeeper | None = None  # none: no answer is kept
    pace: Pace = field(default_factory=Pace)
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, kw_only=True)
class _Scores:
    """The scores of the first candidates, and how that went."""

    scores: Sequence[float]
    report: LegReport


async def handle(fused: Fused, deps: Deps) -> Sequence[Outgoing]:
    """Score the candidates, check them once more, and answer with them in their new order."""
    begun = deps.clock()
    found = await _score(fused, begun, deps)
    passages = reranking.merged([each.passage for each in fused.candidates], found.scores)
    whole = msgspec.structs.replace(fused.reply, passages=tuple(passages))
    query, joined = fused.expected.query, deps.clock()
    try:
        async with asyncio.timeout(min(CHECK_SECONDS, max(LEAST_CHECK, query.deadline - joined))):
            live = await deps.passages.resolve(scope.of(query), kept_answers.evidence(whole))
    except (RankstreamError, TimeoutError) as error:
        log.warning("fence unavailable: %s", error)
        return [_unchecked(fused, deps)]
    checked = reranking.still_live(whole, live)
    deps.counts["stale_hits_dropped"] += len(whole.passages) - len(checked.passages)
    model = deps.reranker.model if deps.reranker and found.scores else None
    reply = _answer(fused, checked, found.report, model, deps)
    if deps.answers is not None and checked == whole:
        deps.answers.keep(fused.expected, reply, deps.profiles[query.profile].cache_seconds)
    return [replying.outgoing(fused.expected.reply_to, reply, query.tenant)]


async def _score(fused: Fused, begun: float, deps: Deps) -> _Scores:
    """Score candidates, best first, while the deadline allows; raise nothing but bugs of ours."""
    reranker, question = deps.reranker, fused.expected.query.text
    if reranker is None:
        return _Scores(scores=(), report=LegReport(status="error", reason="no model"))
    read = [reranking.read(candidate) for candidate in fused.candidates]
    until = reranking.until(fused.expected.query.deadline, begun)
    scores: list[float] = []
    shortened = 0
    while True:
        now = deps.clock()
        size = reranking.batch(
            until - now, deps.pace.seconds, len(read) - len(scores), reranker.at_once, first=not scores
        )
        if not size:
            break
        batch, left = read[len(scores) : len(scores) + size], until - now
        try:
            async with asyncio.timeout(left):
                said = reranking.checked(await reranker.score(question, batch, seconds=left), size)
        except TimeoutError:
            deps.pace.seconds = reranking.measured(deps.pace.seconds, left, size)
            break
        except RankstreamError as error:
            log.warning("rerank: %s", error)
            milliseconds = replying.since(begun, deps.clock())
            reason = "the model failed"
            return _Scores(scores=(), report=LegReport(status="error", milliseconds=milliseconds, reason=reason))
        deps.pace.seconds = reranking.measured(deps.pace.seconds, deps.clock() - now, size)
        scores += said.scores
        shortened += said.shortened
    milliseconds = replying.since(begun, deps.clock())
    report = reranking.report(len(scores), len(read), shortened=shortened, milliseconds=milliseconds)
    return _Scores(scores=scores, report=report)


def _answer(fused: Fused, reply: QueryReply, report: LegReport, model: str | None, deps: Deps) -> QueryReply:
    """Return the final revision with the passages of `reply`, as many as were asked for."""
    expected = fused.expected
    reasons = (*reply.reasons, *reports.reasons({reranking.RERANK: report}))
    begun = expected.asked or expected.received
    final = msgspec.structs.replace(
        reply,
        revision=_revision(fused),
        final=True,
        degraded=reply.degraded or bool(reasons),
        reasons=reasons,
        legs={**reply.legs, reranking.RERANK: report},
        models=msgspec.structs.replace(reply.models, reranker=model),
        milliseconds=msgspec.structs.replace(reply.milliseconds, total=replying.since(begun, deps.clock())),
    )
    profile = deps.profiles[expected.query.profile]
    return reranking.shown(final, reply.passages, top_k=expected.top_k, profile=profile, explain=expected.explain)


def _unchecked(fused: Fused, deps: Deps) -> Outgoing:
    # As in `fuse`: without the fence a deleted text could get through.
    expected = fused.expected
    total = replying.since(expected.asked or expected.received, deps.clock())
    kept = {"profile": fused.reply.profile, "generation": fused.reply.generation, "legs": fused.reply.legs}
    return replying.outgoing(
        expected.reply_to,
        error_reply(expected.query.query_id, replying.UNCHECKED, total, revision=_revision(fused), **kept),
        expected.query.tenant,
    )


def _revision(fused: Fused) -> int:
    return fused.reply.revision + 1 if fused.expected.progressive else fused.reply.revision


def failed(failure: Failure, deps: Deps) -> Sequence[Outgoing]:
    """Answer with the fused order when reranking itself went wrong."""
    fused = failure.message
    if not isinstance(fused, Fused):
        return ()
    late = failure.error_class == "timeout"
    report = LegReport(status="timeout" if late else "error", reason="no answer in time" if late else "it failed")
    passages = tuple(each.passage for each in fused.candidates)
    reply = msgspec.structs.replace(fused.reply, passages=passages)
    expected = fused.expected
    return [replying.outgoing(expected.reply_to, _answer(fused, reply, report, None, deps), expected.query.tenant)]


def deadline(fused: Fused) -> float:
    """Return when the question expires."""
    return fused.expected.query.deadline


RERANK = Processor(
    name="rerank",
    summary="has a reranker order the best candidates while there is time",
    source=catalogue.FUSED,
    sinks=(catalogue.REPLIES,),
    handle=handle,
    failed=failed,
    on_failure=OnFailure.ANSWER,
    keyed=False,
    in_flight=64,
    time_limit=60.0,
    deadline=deadline,
    latency=True,
)
