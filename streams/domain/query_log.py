"""What is kept of a question and of an answer: masked, cut, and without texts of documents."""

from __future__ import annotations

import msgspec

from schemas.queries import Filters, QueryRequest, Turn
from schemas.query_log import LoggedError, LoggedPassage, LoggedQuestion, LoggedReply
from schemas.replies import QueryReply
from streams.domain.masking import masked

LONGEST = 4_000  # characters of a question
LONGEST_TURN = 1_000
TURNS = 10  # the last ones


def question(request: QueryRequest, at: float) -> LoggedQuestion:
    """Return what is kept of a question that came at a time, in seconds since the epoch."""
    return LoggedQuestion(
        query_id=request.query_id,
        tenant=request.tenant,
        at=at,
        agent=request.agent,
        text=_kept(request.text, LONGEST),
        history=tuple(Turn(role=turn.role, text=_kept(turn.text, LONGEST_TURN)) for turn in request.history[-TURNS:]),
        profile=request.profile,
        language=request.language,
        top_k=request.top_k,
        filters=_filters(request.filters),
    )


def reply(answer: QueryReply, tenant: str, at: float) -> LoggedReply:
    """Return what is kept of an answer that was given at a time, in seconds since the epoch."""
    error = answer.error
    return LoggedReply(
        query_id=answer.query_id,
        tenant=tenant,
        at=at,
        revision=answer.revision,
        final=answer.final,
        profile=answer.profile,
        generation=answer.generation,
        cache=answer.cache,
        degraded=answer.degraded,
        reasons=tuple(masked(reason) for reason in answer.reasons),
        rewritten=None if answer.rewritten is None else _kept(answer.rewritten, LONGEST),
        milliseconds=answer.milliseconds.total,
        legs={name: leg.status for name, leg in answer.legs.items()},
        passages=tuple(
            LoggedPassage(
                rank=passage.rank,
                passage_id=passage.passage_id,
                source=passage.source,
                doc_id=passage.doc_id,
                version=passage.version,
                kind=passage.kind,
                score=passage.score,
            )
            for passage in answer.passages
        ),
        error=None
        if error is None
        else LoggedError(error_class=error.error_class, message=_kept(error.message, LONGEST_TURN)),
    )


def _filters(given: Filters) -> Filters:
    return msgspec.structs.replace(
        given, tags=tuple(masked(tag) for tag in given.tags), directory=masked(given.directory)
    )


def _kept(text: str, longest: int) -> str:
    """Return a text masked, then cut: a secret that the cut went through would not be known for one any more."""
    is_cut = len(text) > 2 * longest
    if is_cut:  # masking reads all that it is given, and questions wait meanwhile where processors share a process
        text = text[: 2 * longest].rsplit(None, 1)[0]
    text = masked(text)
    return f"{text[:longest]}…" if is_cut or len(text) > longest else text
