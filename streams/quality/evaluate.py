"""Asks the questions of a labelled set, several at once, and measures every answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from schemas.replies import ErrorInfo, QueryReply, error_reply
from streams.errors import Invalid
from streams.gateways import questions as gateway
from streams.quality import metrics, ranking
from streams.quality.dataset import Question
from streams.quality.results import QueryResult

if TYPE_CHECKING:
    from streams.quality.in_process import InProcess

PASSAGES = 100  # asked for, so that ten documents are left when passages of one document share a place


class Asks(Protocol):
    """Whoever answers questions: a client of the pipeline, or the pipeline without its bus."""

    async def ask(self, text: str, *, tenant: str, **fields: Any) -> QueryReply: ...


class WithoutBus:
    """Asks the handlers in this process just what a client would ask over the bus."""

    def __init__(self, pipeline: InProcess) -> None:
        self._pipeline = pipeline

    async def ask(self, text: str, *, tenant: str, **fields: Any) -> QueryReply:
        """Return the one outcome of a question; takes the keywords of the client's `ask`, `timeout` among them."""
        now = time.time()
        query_id = gateway.new_id(now)
        deadline = now + fields.pop("timeout", 5.0)
        try:
            request, _ = gateway.encoded(
                {"query_id": query_id, "tenant": tenant, "text": text, "deadline": deadline, "progressive": True}
                | fields
            )
        except Invalid as error:
            info = ErrorInfo(error_class="validation", field=error.field, message=error.message)
            return error_reply(query_id, info)
        return await self._pipeline.ask(request)


async def run(
    asks: Asks,
    questions: Sequence[Question],
    *,
    tenant: str,
    profile: str,
    passages: int = PASSAGES,
    concurrency: int = 4,
    floored: bool = False,
    timeout: float = 10.0,
    advance: Callable[[], None] = lambda: None,
) -> list[QueryResult]:
    """Ask and measure all questions; the results come in the order of the questions.

    passages: asked for of each; timeout: seconds until a question's deadline; floored: leave out what the profile's
    floor leaves out; advance: called once for each. Raises Invalid when the profile does not exist; other errors are a
    question's result.
    """
    slots = asyncio.Semaphore(concurrency)

    async def one(question: Question) -> QueryResult:
        async with slots:
            began = time.perf_counter()
            reply = await asks.ask(
                question.text,
                tenant=tenant,
                profile=profile,
                top_k=passages,
                timeout=timeout,
                cache=False,
                floor=None if floored else 0.0,
                **question.fields,
            )
            spent = (time.perf_counter() - began) * 1000
        if reply.error is not None and reply.error.field == "profile":
            raise Invalid(reply.error.message, field="profile")
        advance()
        return measured(question, reply, profile=profile, ms=spent)

    tasks = [asyncio.create_task(one(question)) for question in questions]
    try:
        return [await task for task in tasks]
    finally:
        for task in tasks:
            task.cancel()


def measured(question: Question, reply: QueryReply, *, profile: str, ms: float) -> QueryResult:
    """Measure one reply."""
    found = ranking.of_documents(reply.passages, question.gold)
    error = reply.error
    return QueryResult(
        query_id=question.query_id,
        profile=profile,
        metrics=metrics.measure([place.id for place in found], question.gold),
        ms=round(ms, 2),
        degraded=reply.degraded,
        reasons=reply.reasons,
        error=None if error is None else f"{error.error_class}: {error.message}",
        passages=len(reply.passages),
        gold=dict(question.gold),
        ranking=found,
    )
