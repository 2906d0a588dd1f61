"""fuse: joins a question's leg results under its deadline, checks every hit against what is live, and answers.

Where a reranker is to order them it hands the best candidates on; whoever takes revisions has the fused answer then.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from schemas.fused import Candidate, Fused
from schemas.queries import Expected, Leg, LegResult
from schemas.replies import ErrorInfo, LegReport, Milliseconds, Models, QueryReply, error_reply
from streams.domain import admission, ranking, reports, reranking, scope
from streams.domain.join import Join, wait_until
from streams.domain.overtaken import found_chunk_ids, of_one_version
from streams.domain.profile import Profile
from streams.domain.ranking import Ranked
from streams.domain.relevance import Weights
from streams.errors import Invalid, RankstreamError
from streams.ports import PassageReader, PinnedReader
from streams.processor import Ack, Failure, OnFailure, Processor
from streams.processors import freshness, replying, searching_again
from streams.processors.answer_cache import AnswerKeeper
from streams.telemetry.meeting import Meeting
from streams.wire import Outgoing
from topics import catalogue

log = logging.getLogger(__name__)

OPEN_JOINS = 500  # beyond these a question is answered as overloaded
REMEMBERED = 60.0  # seconds for which results without a question, and answered questions, are kept
FENCE_SECONDS = 2.0  # at most, for reading the passages
LEAST_FENCE = 0.1  # seconds, however near the deadline
LATE = 1.0  # seconds after a deadline from which nobody reads the reply
MOST_REMEMBERED = 20_000  # tickets
MOST_PINNED = 50  # passages
OVERLOADED = ErrorInfo(error_class="overloaded", message="too many questions are open; ask again later")


@dataclass(eq=False)
class Open:
    """A join with what wakes its question up."""

    join: Join = field(default_factory=Join)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    answered: bool = False
    hurried: bool = False  # it must not wait any longer


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `fuse` needs, and its state: `joins` (each kept for REMEMBERED seconds), `counts` and `meeting`."""

    passages: PassageReader
    pinned: PinnedReader
    profiles: Mapping[str, Profile]
    clock: Callable[[], float]
    weights: Mapping[str, Weights] = field(default_factory=dict)  # by embedder, also where the dense leg is silent
    answers: AnswerKeeper | None = None  # none: no answer is kept
    reranker: str | None = None  # none: what a profile would have reranked is answered as it is fused
    in_context: bool = False  # a reranker reads passages with the contexts that were made of them
    reads: Callable[[str, str], bool] = lambda embedder, language: True  # whether one is made for a language
    joins: dict[str, Open] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    meeting: Meeting = field(default_factory=Meeting)


async def handle(message: Expected | LegResult, deps: Deps) -> Sequence[Outgoing]:
    """Take a leg's result; or take a question, wait for its legs and answer it."""
    opened = _open(message, deps)
    if opened.answered or not opened.join.add(message):
        deps.counts["late or repeated"] += 1
        return ()
    if isinstance(message, LegResult):
        deps.meeting.note(message.ticket)
        opened.changed.set()
        return ()
    if message.query.deadline + LATE < deps.clock():
        deps.counts["expired"] += 1
        opened.answered = True
        return ()
    waited = deps.clock() - message.prepared
    if deps.counts["waiting"] >= OPEN_JOINS or waited > admission.to_fuse(message.query.deadline, message.prepared):
        deps.counts["overloaded"] += 1
        opened.answered = True
        return [_error(message, deps, OVERLOADED)]
    deps.counts["waiting"] += 1
    try:
        await _wait(opened, message, deps)
    finally:
        deps.counts["waiting"] -= 1
        join, opened.join = opened.join, Join()  # what is remembered is that it was answered, not its hits
        opened.answered = True
        deps.meeting.link(message.query.ticket)
    return await _answer(message, join, deps.clock(), deps)


def _open(message: Expected | LegResult, deps: Deps) -> Open:
    ticket = message.query.ticket if isinstance(message, Expected) else message.ticket
    opened = deps.joins.get(ticket)
    if opened is None:
        opened = deps.joins[ticket] = Open()
        asyncio.get_running_loop().call_later(REMEMBERED, deps.joins.pop, ticket, None)
        if len(deps.joins) > MOST_REMEMBERED:
            # The oldest was answered or never asked: an open question is not that old.
            del deps.joins[next(iter(deps.joins))]
    return opened


async def _wait(opened: Open, expected: Expected, deps: Deps) -> None:
    until = wait_until(expected, deps.profiles[expected.query.profile].legs_budget)
    while not opened.join.complete and not opened.hurried:
        left = until - deps.clock()
        if left <= 0:
            return
        opened.changed.clear()
        try:
            async with asyncio.timeout(left):
                await opened.changed.wait()
        except TimeoutError:
            return


async def _answer(expected: Expected, join: Join, joined: float, deps: Deps) -> Sequence[Outgoing]:
    query, profile = expected.query, deps.profiles[expected.query.profile]
    results = {leg: join.results[leg] for leg in query.legs if leg in join.results}
    if _no_leg_had_a_turn(results):
        deps.counts["overloaded"] += 1
        return [_error(expected, deps, OVERLOADED, legs=reports.reports(expected, results))]
    wanted, within = found_chunk_ids(results), scope.of(query)
    try:
        async with asyncio.timeout(min(FENCE_SECONDS, max(LEAST_FENCE, query.deadline - joined))):
            behind = await _behind(expected, deps)
            # What was asked for became searchable while the legs searched: they may have missed it.
            caught_up = bool(expected.min_version) and behind == 0 and expected.behind != 0
            live = await deps.passages.resolve(within, wanted, query.terms) if wanted else {}
            room = max(expected.top_k, (profile.rerank_depth or 0) if deps.reranker else 0)
            missing = await searching_again.is_missing(deps.passages, within, results, frozenset(live), room=room)
            pinned = await deps.pinned.pinned(within, MOST_PINNED) if profile.pinned and query.agent else ()
            # Two statements see two moments: no reply shows two versions of a document.
            agreed = of_one_version(live, pinned)
            overtaken = missing or agreed != (live, pinned)
            live, pinned = agreed
            now, legs_budget, fence = deps.clock(), profile.legs_budget, FENCE_SECONDS / 4
            if (caught_up or overtaken) and searching_again.is_worth_it(expected, joined, now, legs_budget, fence):
                return searching_again.outgoing(expected, behind, now)
            lag = (expected.behind or 1) if caught_up else behind
    except Invalid as error:
        info = ErrorInfo(error_class="validation", message=error.message, field=error.field)
        return [_error(expected, deps, info, legs=reports.reports(expected, results))]
    except (RankstreamError, TimeoutError) as error:
        log.warning("fence unavailable: %s", error)
        return [_error(expected, deps, replying.UNCHECKED, legs=reports.reports(expected, results))]
    depth = profile.rerank_depth if deps.reranker else None
    model = _embedder(results) or query.embedder
    unread = profile.route_by_language and not deps.reads(model, query.language)
    ranked = ranking.rank(
        query,
        results,
        live,
        profile=reranking.whole_room(profile) if depth else profile,
        top_k=depth or expected.top_k,
        weights=deps.weights.get(model),  # none: by the fused ranks
        unread=unread,
        pinned=pinned,
        floor=expected.floor,
        explain=expected.explain,
    )
    for leg, number in ranked.stale_hits.items():
        deps.counts[f"stale_hits_dropped.{leg}"] += number
    legs = reports.reports(expected, results)
    now = deps.clock()
    if skipped := _not_reranked(ranked, profile, left=query.deadline - now, reranker=deps.reranker):
        legs[reranking.RERANK] = skipped
    reasons = (*expected.reasons, *reports.reasons(legs), *([reports.OVERTAKEN] if overtaken else ()))
    if unread and (dense := legs.get("dense")) is not None and dense.status == "ok" and dense.reason is None:
        # Told after the reasons: nothing is broken.
        said = f"{model} does not read {query.language}: its scores do not count"
        legs["dense"] = msgspec.structs.replace(dense, reason=said)
    reply = QueryReply(
        query_id=query.query_id,
        degraded=bool(reasons),
        reasons=reasons,
        profile=query.profile,
        generation=query.generation,
        models=Models(embedder=_embedder(results)),
        cache="miss" if expected.cache_key else "off",
        rewritten=expected.rewritten,
        stale=lag > 0,
        stale_versions=lag,
        milliseconds=Milliseconds(
            total=replying.since(expected.asked or expected.received, now),
            prepare=replying.since(expected.received, expected.prepared),
            legs=replying.since(expected.prepared, joined),
            fuse=replying.since(joined, now),
        ),
        legs=legs,
        passages=() if depth else ranked.passages,
        pinned=ranked.pinned,
        summary=ranked.summary,
        dropped=ranked.dropped if expected.explain else (),
    )
    # Hits that were dropped may have taken the place of others, which are found as soon as those are collected.
    if any(ranked.stale_hits.values()):
        expected = msgspec.structs.replace(expected, cache_key=None)
    if depth:
        answer = reranking.shown(
            reply, ranked.passages, top_k=expected.top_k, profile=profile, explain=expected.explain
        )
        if skipped is None:
            return _handed_over(expected, reply, answer, reranking.candidates(ranked, in_context=deps.in_context))
        reply = answer
    if deps.answers is not None:
        deps.answers.keep(expected, reply, profile.cache_seconds)
    return [replying.outgoing(expected.reply_to, reply, expected.query.tenant)]


def _no_leg_had_a_turn(results: Mapping[Leg, LegResult]) -> bool:
    """Tell whether nothing was searched because of overload: an answer without passages would say the wrong thing."""
    return not any(result.status in ("ok", "empty") for result in results.values()) and any(
        result.reason == admission.REASON for result in results.values()
    )


def _not_reranked(ranked: Ranked, profile: Profile, *, left: float, reranker: str | None) -> LegReport | None:
    """Return why an answer is not reranked though its profile has a depth for it; none where it is, or has none."""
    if profile.rerank_depth is None:
        return None
    if reranker is None:
        return reranking.NO_MODEL
    if not ranked.passages:
        return reranking.NO_CANDIDATES
    # Who waits for one reply only would get none, if it were handed over too late.
    return reranking.NO_TIME if left < reranking.LEAST_SECONDS else None


def _handed_over(
    expected: Expected, reply: QueryReply, answer: QueryReply, candidates: tuple[Candidate, ...]
) -> Sequence[Outgoing]:
    """Return what has an answer reranked, and the answer as it is fused for those who take more than one."""
    fused = Fused(expected=expected, reply=reply, candidates=candidates)
    sent = Outgoing(topic=catalogue.FUSED, key=expected.query.ticket.encode(), message=fused)
    if not expected.progressive:
        return [sent]
    first = msgspec.structs.replace(answer, final=False)
    return [replying.outgoing(expected.reply_to, first, expected.query.tenant), sent]


def _embedder(results: Mapping[Leg, LegResult]) -> str | None:
    """Return whose vectors were searched: a fallback's where the question's own model was silent."""
    return next((result.model for result in results.values() if result.model), None)


async def _behind(expected: Expected, deps: Deps) -> int:
    """Return by how many versions the index is behind what the caller asked for."""
    if expected.behind == 0:
        return 0
    query = expected.query
    return await freshness.behind(deps.passages, query.tenant, query.generation, expected.min_version)


def _error(expected: Expected, deps: Deps, error: ErrorInfo, **fields: object) -> Outgoing:
    query = expected.query
    total = replying.since(expected.asked or expected.received, deps.clock())
    fields |= {"profile": query.profile, "generation": query.generation}
    return replying.outgoing(expected.reply_to, error_reply(query.query_id, error, total, **fields), query.tenant)


def hurry(deps: Deps) -> None:
    """Answer every open question with the legs that came."""
    for opened in deps.joins.values():
        opened.hurried = True
        opened.changed.set()


def failed(failure: Failure, deps: Deps) -> Sequence[Outgoing]:
    """Answer with an error when fusing itself went wrong."""
    if not isinstance(failure.message, Expected):
        return ()
    info = ErrorInfo(error_class="internal", message=f"fuse failed: {type(failure.error).__name__}")
    return [_error(failure.message, deps, info)]


FUSE = Processor(
    name="fuse",
    summary="joins the legs under the deadline, fences, fuses and answers",
    source=catalogue.LEG_RESULTS,
    sinks=(catalogue.REPLIES, catalogue.FUSED, catalogue.PREPARED, catalogue.LEG_RESULTS),
    handle=handle,
    failed=failed,
    on_failure=OnFailure.ANSWER,
    ack=Ack.ON_RECEIPT,
    joins=lambda message: isinstance(message, LegResult),
    hurry=hurry,
    keyed=False,
    in_flight=2 * OPEN_JOINS,
    time_limit=90.0,
    latency=True,
)
