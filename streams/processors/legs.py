"""What the retrieval legs share: a result in every case, with its status and time, so that no leg gates another."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from schemas.dead_letters import ErrorClass
from schemas.documents import Kind
from schemas.graph import Fact, Overview
from schemas.queries import Hit, Leg, LegResult, LegStatus, PreparedQuery
from streams.domain import admission, tokens
from streams.errors import ModelUnavailable, NoVectors, Overloaded, RankstreamError
from streams.processor import Failure, OnFailure, Processor
from streams.wire import Outgoing
from topics import catalogue

log = logging.getLogger(__name__)

NO_WORDS = "no words in the question"
OTHER_KINDS = "filtered out by kinds"

Search = Callable[[PreparedQuery, Any], Awaitable["Found"]]


class Found:
    """What a search found, or why it did not look."""

    def __init__(
        self,
        hits: Sequence[Hit] = (),
        *,
        questions: Sequence[Hit] = (),
        lexical: Sequence[Hit] = (),
        skipped: str | None = None,
        fallback: str | None = None,
        model: str | None = None,
        frequencies: Sequence[int] = (),
        counted: int = 0,
        facts: Sequence[Fact] = (),
        overviews: Sequence[Overview] = (),
    ) -> None:
        self.hits = tuple(hits)
        self.questions = tuple(questions)
        self.lexical = tuple(lexical)
        self.skipped = skipped
        self.fallback = fallback
        self.model = model
        self.frequencies = tuple(frequencies)
        self.counted = counted
        self.facts = tuple(facts)
        self.overviews = tuple(overviews)


def looks_at(query: PreparedQuery, kind: Kind) -> bool:
    """Tell whether the caller's filters leave anything of a kind."""
    return not query.filters.kinds or kind in query.filters.kinds


def retrieval(leg: Leg, *, summary: str, search: Search, phrased: bool = True) -> Processor:
    """Return the processor of one leg; with `phrased` it searches the other phrasings of a question as well."""

    async def handle(query: PreparedQuery, deps: Any) -> Sequence[Outgoing]:
        if leg not in query.legs:
            return ()
        begun = time.perf_counter()
        found = await _search_all(query, deps, search) if phrased and query.phrasings else await search(query, deps)
        status: LegStatus = (
            "skipped" if found.skipped else "ok" if found.hits or found.questions or found.lexical else "empty"
        )
        result = LegResult(
            query_id=query.query_id,
            ticket=query.ticket,
            leg=leg,
            status=status,
            hits=found.hits,
            questions=found.questions,
            lexical=found.lexical,
            facts=found.facts,
            overviews=found.overviews,
            reason=found.skipped or found.fallback,
            milliseconds=(time.perf_counter() - begun) * 1000,
            model=found.model,
            frequencies=found.frequencies,
            counted=found.counted,
        )
        return [_outgoing(result)]

    def failed(failure: Failure, _: Any) -> Sequence[Outgoing]:
        query = failure.message
        if not isinstance(query, PreparedQuery) or leg not in query.legs:
            return ()
        status: LegStatus = "timeout" if failure.error_class == "timeout" else "error"
        reason = _REASONS.get(failure.error_class, "the search failed")
        if isinstance(failure.error, NoVectors):
            reason = failure.error.message
        elif isinstance(failure.error, Overloaded):
            reason = admission.REASON
        elif isinstance(failure.error, ModelUnavailable):
            reason = "its model is not available"
        log.warning("%s: %s", leg, failure.error)
        result = LegResult(query_id=query.query_id, ticket=query.ticket, leg=leg, status=status, reason=reason)
        return [_outgoing(result)]

    return Processor(
        name=f"retrieve-{leg}",
        summary=summary,
        source=catalogue.PREPARED,
        sinks=(catalogue.LEG_RESULTS,),
        handle=handle,
        failed=failed,
        on_failure=OnFailure.ANSWER,
        keyed=False,
        in_flight=64,
        time_limit=10.0,
        deadline=deadline,
        patience=lambda query, sent: admission.LEG_SECONDS,
        latency=True,
    )


async def _search_all(query: PreparedQuery, deps: Any, search: Search) -> Found:
    """Search the question and its other phrasings at the same time; only the question itself may fail.

    A phrasing that another model answered for is left out: scores of two models do not compare.
    """

    async def other(phrasing: str) -> Found:
        wanted = tokens.question_terms(phrasing, query.language)
        asked = msgspec.structs.replace(
            query, text=phrasing, expanded="", carried="", terms=wanted.terms, words=wanted.words, phrasings=()
        )
        try:
            return await search(asked, deps)
        except RankstreamError as error:
            log.warning("a phrasing was not searched: %s", error)
            return Found()

    found, *all_others = await asyncio.gather(search(query, deps), *(other(phrasing) for phrasing in query.phrasings))
    others = [each for each in all_others if found.model in (None, each.model)]
    hits = _merged([found.hits, *(each.hits for each in others)], query.candidates)
    questions = _merged([found.questions, *(each.questions for each in others)], query.candidates)
    lexical = _merged([found.lexical, *(each.lexical for each in others)], query.candidates)
    return Found(
        hits,
        questions=questions,
        lexical=lexical,
        skipped=None if hits or questions or lexical else found.skipped,
        fallback=found.fallback,
        model=found.model,
        frequencies=found.frequencies,
        counted=found.counted,
        facts=found.facts,
    )


def _merged(lists: Sequence[Sequence[Hit]], limit: int) -> list[Hit]:
    """Merge lists of one leg: a chunk has its best score of all of them."""
    best: dict[str, Hit] = {}
    for hit in (hit for each in lists for hit in each):
        if hit.chunk_id not in best or hit.score > best[hit.chunk_id].score:
            best[hit.chunk_id] = hit
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.chunk_id))[:limit]


# What a caller is told; hosts, ports and users of our stores stay in our logs.
_REASONS: Mapping[ErrorClass, str] = {
    "timeout": "no answer in time",
    "transient-exhausted": "its store is not available",
    "validation": "its store refused the question",
}


def _outgoing(result: LegResult) -> Outgoing:
    return Outgoing(topic=catalogue.LEG_RESULTS, key=result.ticket.encode(), message=result)


def deadline(query: PreparedQuery) -> float:
    """Return when the question expires."""
    return query.deadline
