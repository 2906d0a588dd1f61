"""prepare: reads a question, refuses a bad one, and tells the legs what to search and `fuse` what to expect."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

import msgspec

from schemas.base import Message
from schemas.codec import InvalidMessage
from schemas.queries import Expected, Leg, PreparedQuery, QueryRequest, ReplyTo
from schemas.replies import ErrorInfo, LegReport, Milliseconds, QueryReply, ReplyError, error_reply
from streams import wire
from streams.domain import admission, greetings, language, normalise, tokens
from streams.domain.generation import Generation, listed, named
from streams.domain.profile import Profile
from streams.domain.synonyms import Synonyms
from streams.errors import Invalid, Overloaded, RankstreamError
from streams.ports import Generations, PassageReader
from streams.processor import Failure, OnFailure, Processor
from streams.processors import freshness, replying
from streams.processors.answer_cache import AnswerFinder, Looked
from streams.processors.asking import Asker
from streams.processors.rephrasing import rephrase
from streams.wire import Outgoing, Record
from topics import catalogue
from topics.topic import Topic

log = logging.getLogger(__name__)

UNSAID = 5.0  # seconds that a question without a deadline is taken to have, as in most profiles
LONGEST_BUDGET = 60.0  # seconds; a deadline further away is brought forward
FRESHNESS_SECONDS = 0.5  # at most, for how fresh the index is
FRESHNESS_SHARE = 0.25  # at most, of the time left to the deadline


class Asked(Message, frozen=True, kw_only=True):
    """A question with what its record's headers say."""

    request: QueryRequest
    reply_to: ReplyTo
    at: float  # seconds since the epoch, when it was sent
    ticket: str


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `prepare` needs."""

    profiles: Mapping[str, Profile]
    generations: Generations
    clock: Callable[[], float]
    synonyms: Mapping[str, Synonyms] = field(default_factory=dict)  # of the profiles that have a dictionary
    answers: AnswerFinder | None = None  # none: every question is searched
    passages: PassageReader | None = None  # none: nobody looks how fresh the index is before it is searched
    asker: Asker | None = None  # none: no language model is set, and its options are skipped
    reranker: str | None = None  # the model that profiles with a `rerank_depth` are reranked by


def read(record: Record, topic: Topic) -> Asked:
    """Read a question and its reply address, which must be one of ours."""
    reply_to = _allowed_reply(record)
    if reply_to is None:
        raise Invalid(
            f"must name one of {', '.join(sorted(catalogue.REPLY_TOPICS))} and a partition of it",
            field=wire.REPLY_TOPIC,
        )
    request = wire.read(record, topic)
    assert isinstance(request, QueryRequest)
    return Asked(request=request, reply_to=reply_to, at=record.timestamp, ticket=f"{record.partition}-{record.offset}")


def _allowed_reply(record: Record) -> ReplyTo | None:
    reply_to = wire.reply_address(record.headers)
    if reply_to is None or reply_to.topic not in catalogue.REPLY_TOPICS:
        return None
    if reply_to.partition is not None and reply_to.partition >= catalogue.REPLIES.partitions:
        return None
    return reply_to


async def handle(asked: Asked, deps: Deps) -> Sequence[Outgoing]:
    """Normalise a question and send it to the legs of its profile, or answer it where an answer is kept."""
    received = deps.clock()
    request = asked.request
    profile = deps.profiles.get(request.profile)
    if profile is None:
        known = ", ".join(sorted(deps.profiles))
        raise Invalid(f"there is no profile {request.profile!r}; there are {known}", field="profile")
    text = normalise.normalise_question(request.text)
    if not text:
        raise Invalid("the question is empty", field="text")
    generation = await _generation(request, deps)
    if profile.embedder and "dense" in profile.legs and not generation.has(profile.embedder):
        raise Invalid(_lacks(profile.name, profile.embedder, generation.id), field="profile")
    if request.floor and profile.score == "fused":
        raise Invalid(f"{profile.name!r} orders by fused ranks, which support no floor; leave it out", field="floor")
    if profile.greeting_gate and greetings.is_greeting(text):
        said = _not_a_question(asked, profile, generation.id, received, deps.clock())
        return [replying.outgoing(asked.reply_to, said, request.tenant)]
    spoken = language.detect(text, request.language or profile.language)
    until = _deadline(request, profile, received)
    rephrased = await rephrase(
        text, request, profile=profile, language=spoken, seconds=until - received, asker=deps.asker
    )
    rewritten = rephrased.differs(text)
    if rephrased.text != text:
        text = rephrased.text
        spoken = language.detect(text, request.language or profile.language)
    wanted = tokens.question_terms(text, spoken)
    top_k = request.top_k or profile.passages
    query = PreparedQuery(
        query_id=request.query_id,
        ticket=asked.ticket,
        tenant=request.tenant,
        agent=request.agent,
        text=text,
        expanded=_expanded(text, spoken, len(wanted.terms), deps.synonyms.get(profile.name)),
        terms=wanted.terms,
        words=wanted.words,
        language=spoken,
        profile=profile.name,
        generation=generation.id,
        filters=request.filters,
        deadline=until,
        legs=profile.legs,
        candidates=_candidates(profile, top_k),
        embedder=profile.embedder or generation.model,
        carried=rephrased.carried,
        phrasings=rephrased.phrasings,
    )
    looked = Looked()
    if deps.answers is not None:
        models = (query.embedder,) if profile.rerank_depth is None else (query.embedder, deps.reranker or "")
        looked = await deps.answers.look(query, request, profile=profile, models=models, top_k=top_k)
    if looked.reply is not None:
        kept = _stamped(looked.reply, asked, rewritten, received, deps.clock())
        return [replying.outgoing(asked.reply_to, kept, request.tenant)]
    expected = Expected(
        query=query,
        reply_to=asked.reply_to,
        top_k=top_k,
        received=received,
        prepared=deps.clock(),
        asked=asked.at,
        min_version=request.min_version,
        behind=await _behind(request, generation.id, until - deps.clock(), deps),
        explain=request.explain,
        floor=request.floor,
        progressive=request.progressive,
        skipped={leg: "off in profile" for leg in get_args(Leg) if leg not in profile.legs},
        cache_key=looked.key,
        rewritten=rewritten,
        reasons=rephrased.reasons,
    )
    key = asked.ticket.encode()
    return [
        Outgoing(topic=catalogue.LEG_RESULTS, key=key, message=expected),
        Outgoing(topic=catalogue.PREPARED, key=key, message=query),
    ]


async def _generation(request: QueryRequest, deps: Deps) -> Generation:
    """Return the generation that a question is answered from to its end, whatever is promoted meanwhile."""
    live = await deps.generations.live()
    if request.generation in (None, live.id):
        return live
    active = await deps.generations.active()
    found = named(request.generation or "", active)
    if found is None:
        raise Invalid(f"there is no generation {request.generation!r}; there are {listed(active)}", field="generation")
    return found


async def _behind(request: QueryRequest, generation: str, left: float, deps: Deps) -> int | None:
    """Return how far the index is behind what is asked for; none where that is not known, which `fuse` makes good."""
    if not request.min_version or deps.passages is None:
        return None
    try:
        async with asyncio.timeout(min(FRESHNESS_SECONDS, FRESHNESS_SHARE * left)):
            return await freshness.behind(deps.passages, request.tenant, generation, request.min_version)
    except (RankstreamError, TimeoutError) as error:
        log.warning("how fresh the index is is not known: %s", str(error) or "no answer in time")
        return None


def _expanded(text: str, spoken: str, terms: int, synonyms: Synonyms | None) -> str:
    """Return the question with its synonyms; empty where that is the question as it is."""
    expanded = synonyms.expand(text, spoken, terms) if synonyms else text
    return "" if expanded == text else expanded


def _candidates(profile: Profile, top_k: int) -> int:
    if profile.candidates_per_passage is None:
        return profile.candidates
    return min(profile.candidates, profile.candidates_per_passage * top_k)


def _not_a_question(asked: Asked, profile: Profile, generation: str, received: float, now: float) -> QueryReply:
    """Return the reply to a greeting: nothing was searched."""
    return QueryReply(
        query_id=asked.request.query_id,
        profile=profile.name,
        generation=generation,
        milliseconds=Milliseconds(total=replying.since(asked.at, now), prepare=replying.since(received, now)),
        legs={leg: LegReport(status="skipped", reason="not a question") for leg in profile.legs},
    )


def _stamped(kept: QueryReply, asked: Asked, rewritten: str | None, received: float, now: float) -> QueryReply:
    """Return a kept answer as one to this question; its legs ran when it was made."""
    spent = Milliseconds(total=replying.since(asked.at, now), prepare=replying.since(received, now))
    return msgspec.structs.replace(
        kept, query_id=asked.request.query_id, cache="hit", rewritten=rewritten, milliseconds=spent
    )


def _lacks(profile: str, embedder: str, generation: str) -> str:
    return (
        f"{profile!r} searches the vectors of {embedder}, which generation {generation} does not have: build one with "
        f"`rankstream reindex start --also {embedder}`, or use another profile"
    )


def _deadline(request: QueryRequest, profile: Profile, now: float) -> float:
    if request.deadline is None:
        return now + profile.budget
    return min(request.deadline, now + LONGEST_BUDGET)


def deadline(asked: Asked) -> float | None:
    """Return when the question expires."""
    return asked.request.deadline


def patience(asked: Asked, sent: float) -> float:
    """Return for how many seconds the question may have waited: questions that come faster than they are read."""
    until = asked.request.deadline
    return admission.to_prepare(sent + UNSAID if until is None else until, sent)


_QUERY_ID = re.compile(rb'"query_id"\s*:\s*"([\x21\x23-\x5b\x5d-\x7e]{1,128})"')


def failed(failure: Failure, deps: Deps) -> Sequence[Outgoing]:
    """Answer a question that cannot be searched for, if its record says where to."""
    reply_to = _allowed_reply(failure.record)
    if reply_to is None:
        return ()
    query_id = _query_id(failure)
    total = max(0.0, (deps.clock() - failure.record.timestamp) * 1000)
    tenant = failure.message.request.tenant if isinstance(failure.message, Asked) else ""
    return [replying.outgoing(reply_to, error_reply(query_id, error_of(failure), total), tenant)]


def _query_id(failure: Failure) -> str:
    if isinstance(failure.message, Asked):
        return failure.message.request.query_id
    found = _QUERY_ID.search((failure.record.value or b"")[:100_000])
    return found[1].decode("ascii") if found else "unknown"


def error_of(failure: Failure) -> ErrorInfo:
    """Return what a caller is told of a failure; the inside of a bug stays in our logs."""
    error = failure.error
    if isinstance(error, InvalidMessage | Invalid):
        error_class: ReplyError = "decode" if failure.error_class == "decode" else "validation"
        return ErrorInfo(error_class=error_class, field=error.field, message=error.message)
    if isinstance(error, Overloaded):
        return ErrorInfo(error_class="overloaded", message=f"too many questions: {error}; ask again later")
    if failure.error_class == "timeout":
        return ErrorInfo(error_class="timeout", message="the question could not be prepared in time")
    return ErrorInfo(error_class="internal", message=f"prepare failed: {type(error).__name__}")


PREPARE = Processor(
    name="prepare",
    summary="normalises questions, stamps profile and generation, refuses bad ones",
    source=catalogue.QUERIES,
    sinks=(catalogue.PREPARED, catalogue.LEG_RESULTS, catalogue.REPLIES),
    handle=handle,
    reads=read,
    failed=failed,
    on_failure=OnFailure.ANSWER,
    keyed=False,
    in_flight=128,
    time_limit=5.0,
    deadline=deadline,
    patience=patience,
    latency=True,
)
