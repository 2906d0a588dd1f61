"""The asyncio client: ask questions, publish documents, wait for receipts."""

from __future__ import annotations

import asyncio
import hashlib
import math
import random
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from schemas.documents import DocumentChange, DocumentStatus
from schemas.queries import Filters, MinVersion, QueryRequest, Turn
from schemas.replies import ErrorInfo, QueryReply, error_reply
from streams.domain import reports
from streams.errors import Invalid, RankstreamError
from streams.gateways import questions
from streams.gateways.broker import open_producer
from streams.gateways.publishing import Changes, Published, Publisher
from streams.gateways.questions import Pending, Waiting
from streams.gateways.tail import Tail
from streams.settings import KAFKA, need
from streams.telemetry.asking import Sending, asking
from topics.catalogue import QUERIES, REPLIES
from topics.connection import Kafka

IN_FLIGHT = 256  # questions that may wait at once
TIMEOUT = 5.0  # seconds until the deadline
RETRIES = 2
FIRST_PAUSE = 0.05  # seconds before a question is tried again; doubled each time
GRACE = 0.15  # seconds after the deadline in which a reply that was sent at the deadline still counts


class Client:
    """One connection for questions and documents; use it as `async with Client(bootstrap=...) as client`.

    All clients share the reply topic: each reads, without a group, the one partition that its instance id hashes to.
    """

    def __init__(
        self,
        *,
        bootstrap: Kafka | None = "localhost:9092",
        instance: str | None = None,
        max_in_flight: int = IN_FLIGHT,
        fast_fetch: bool = False,
    ) -> None:
        """Nothing is opened before `start`.

        bootstrap: host:port, comma-separated, or a KafkaConnection with a login and certificates.
        instance: tells this client apart; made up where absent. max_in_flight: questions that may wait at once; more
        are refused at once. fast_fetch: for a broker whose long poll does not wake on new data (Tansu).
        """
        self._kafka = kafka = bootstrap or ""
        self._instance = instance or uuid.uuid4().hex
        self._pending = Pending(max_in_flight)
        self._replies = Tail(kafka, REPLIES, self._pending.deliver, choose=self._choose, fast_fetch=fast_fetch)
        self._publisher = Publisher(kafka, fast_fetch=fast_fetch)
        self._producer: AIOKafkaProducer | None = None

    async def start(self) -> None:
        """Connect, and stand at the end of the reply partition; raise ConfigurationError that names the setting."""
        need(self._kafka, KAFKA)
        opening = asyncio.create_task(open_producer(self._kafka, linger_ms=0))
        outcomes = await asyncio.gather(opening, self._replies.start(), return_exceptions=True)
        if errors := [outcome for outcome in outcomes if isinstance(outcome, BaseException)]:
            await self._replies.stop()
            if opening.exception() is None:
                await opening.result().stop()
            raise errors[0]
        self._producer = opening.result()

    async def stop(self) -> None:
        """Deliver what was taken, end what waits, close; stopping twice is fine."""
        self._pending.end("the client was stopped")
        await self._replies.stop()
        await self._publisher.stop()
        if self._producer is not None:
            producer, self._producer = self._producer, None
            await producer.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def in_flight(self) -> int:
        """How many questions wait for their reply."""
        return len(self._pending)

    @property
    def listening(self) -> bool:
        """Whether replies are read now: not before `start`, and not while the broker is away."""
        return self._replies.reading

    async def ask(
        self, text: str, *, tenant: str, raise_invalid: bool = False, retries: int = RETRIES, **fields: Any
    ) -> QueryReply:
        """Return the one outcome of a question, at the latest a quarter of a second after its deadline.

        Takes the keywords of `ask_stream`. What goes wrong is in the reply's `error`; with `raise_invalid`, a question
        that cannot be asked raises Invalid instead. A question that certainly was not sent (too many wait here, or no
        broker was there to send it to) is tried again, `retries` times, with the same id and until the same deadline;
        one that may have been sent is not.
        """
        last: QueryReply | None = None
        # One id and one deadline for all attempts: whatever comes back answers this question.
        now, deadline = time.time(), fields.get("deadline")
        fields["deadline"] = deadline = now + fields.pop("timeout", TIMEOUT) if deadline is None else deadline
        if fields.get("query_id") is None:
            fields["query_id"] = questions.new_id(now)
        for attempt in range(1 + retries):
            async for reply in self.ask_stream(text, tenant=tenant, **fields):
                last = reply
            pause = FIRST_PAUSE * 2**attempt * random.uniform(0.5, 1.0)
            if not questions.was_not_sent(last) or attempt == retries or time.time() + pause >= deadline:
                break
            await asyncio.sleep(pause)
        if last is None:  # the stream yields at least once; this is for the type checker
            raise RankstreamError("no outcome")
        if raise_invalid and last.error is not None and last.error.error_class == "validation":
            raise Invalid(last.error.message, field=last.error.field)
        return last

    async def ask_stream(
        self,
        text: str,
        *,
        tenant: str,
        agent: str | None = None,
        profile: str = "general",
        top_k: int | None = None,
        language: str | None = None,
        history: Sequence[Turn | Mapping[str, str]] = (),
        filters: Filters | Mapping[str, Any] | None = None,
        min_version: Sequence[MinVersion | Mapping[str, Any]] = (),
        explain: bool = False,
        floor: float | None = None,
        generation: str | None = None,
        cache: bool = True,
        query_id: str | None = None,
        timeout: float = TIMEOUT,
        deadline: float | None = None,
        traceparent: str | None = None,
    ) -> AsyncIterator[QueryReply]:
        """Yield the revisions of the answer as they come: first as fused, last as reranked. The last one is final.

        timeout: seconds; deadline: seconds since the epoch, instead of a timeout. Errors are yielded as a reply that
        carries one: `validation` names the field, `overloaded` when too many wait, `no reply` at the deadline. Without
        `cache`, a question is searched even if its answer is kept. floor: in place of the profile's; 0 drops nothing.
        """
        began, loop_began = time.time(), asyncio.get_running_loop().time()
        deadline = began + timeout if deadline is None else deadline
        query_id = questions.new_id(began) if query_id is None else query_id
        fields = {
            "query_id": query_id,
            "tenant": tenant,
            "agent": agent,
            "text": text,
            "history": history,
            "profile": profile,
            "language": language,
            "top_k": top_k,
            "filters": {} if filters is None else filters,
            "deadline": deadline,
            "min_version": min_version,
            "progressive": True,  # always: a dead reranker then costs the order, not the answer
            "explain": explain,
            "generation": generation,
            "cache": cache,
            "floor": floor,
        }
        producer = self._producer
        if producer is None:
            raise RankstreamError("the client is not started")

        def failed(error_class: Any, message: str, field: str | None = None) -> QueryReply:
            total = round((time.time() - began) * 1000, 3)
            info = ErrorInfo(error_class=error_class, message=message, field=field)
            return error_reply(str(query_id), info, total, profile=str(profile))

        if self._pending.full:
            waits = f"{len(self._pending)} questions of this client wait already; ask again later"
            yield failed("overloaded", questions.NOT_SENT + waits)
            return
        try:
            if not math.isfinite(deadline):
                raise Invalid("must be a number of seconds", field="deadline")
            request, value = questions.encoded(fields)
            with asking("ask", traceparent) as asked, self._pending.open(request.query_id) as waiting:
                ends = loop_began + (deadline - began)
                last: QueryReply | None = None
                try:
                    async with asyncio.timeout_at(ends + GRACE):
                        sending = asked.send(QUERIES.name, traceparent)
                        delivery = await self._send(producer, waiting, request, value, sending)
                except TimeoutError:
                    untaken = failed("no reply", "the broker did not take the question by the deadline")
                    asked.replied(untaken)
                    yield untaken
                    return
                while True:
                    reply = await waiting.next(ends + GRACE if last is None else ends)
                    if reply is None:
                        break
                    if (reply := reports.following(last, reply)) is None:
                        continue
                    last = reply
                    asked.replied(reply, waiting.traceparent)
                    yield reply
                    if reply.final or reply.error is not None:
                        return
                late = "no reply came by the deadline"
                if delivery is not None and not delivery.done():
                    late = "the broker did not take the question by the deadline"
                closing = reports.closing(last) if last else failed("no reply", late)
                asked.replied(closing)
                yield closing
        except Invalid as error:
            yield failed("validation", error.message, error.field)

    async def _send(
        self, producer: AIOKafkaProducer, waiting: Waiting, request: QueryRequest, value: bytes, sending: Sending
    ) -> asyncio.Future[Any] | None:
        """Hand a question to the producer and return its delivery; that it was not possible is its outcome."""

        def failed(error: BaseException, prefix: str = "") -> None:
            sending.ended(error)
            said = " ".join(str(error).split()) or type(error).__name__
            info = ErrorInfo(error_class="no reply", message=f"{prefix}the broker did not take the question: {said}")
            if isinstance(error, MessageSizeTooLargeError):
                info = ErrorInfo(error_class="validation", field="history", message="the question is too large")
            waiting.put(error_reply(request.query_id, info, profile=request.profile))

        def delivered(delivery: asyncio.Future[Any]) -> None:
            if not delivery.cancelled() and (error := delivery.exception()) is not None:
                failed(error)
            sending.ended()

        (partition,) = self._replies.partitions
        headers = questions.headers(request.query_id, partition, sending.traceparent or questions.new_traceparent())
        try:
            delivery = await producer.send(QUERIES.name, value, key=request.query_id.encode(), headers=headers)
        except (KafkaError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            failed(error, questions.NOT_SENT)  # it was not even queued; what fails later may have arrived
            return None
        delivery.add_done_callback(delivered)
        sent: asyncio.Future[Any] = delivery
        return sent

    async def publish(
        self, change: DocumentChange, *, wait: bool = False, timeout: float = 60.0, bulk: bool = False
    ) -> DocumentStatus | None:
        """Publish a change and return once the broker has it, or with `wait` once its receipt is there.

        The receipt may be of a higher version, which then has replaced this one; it says which. Raises Invalid (names
        the field), Transient (not delivered) and NoReply (no receipt within `timeout` seconds).
        """
        return await self._publisher.publish(change, wait=wait, timeout=timeout, bulk=bulk)

    async def publish_many(
        self, changes: Changes, *, wait: bool = True, timeout: float = 60.0, bulk: bool = False
    ) -> AsyncIterator[DocumentStatus]:
        """Publish changes in order and yield their receipts as they come; one that fails has `failed` and the reason.

        Without `wait`, only failures are yielded. `timeout`: seconds without a receipt of any. bulk: for first loads,
        on the lane that edits and questions do not queue behind.
        """
        async for published in self.deliver_many(changes, wait=wait, timeout=timeout, bulk=bulk):
            status = published.as_status()
            if status is not None:
                yield status

    async def open_publishing(self) -> None:
        """Open now what publishing and waiting for receipts need, which else happens when they are first used."""
        await self._publisher.open()

    def deliver_many(
        self, changes: Changes, *, wait: bool = True, timeout: float = 60.0, bulk: bool = False
    ) -> AsyncIterator[Published]:
        """Publish changes in order and yield what became of each: delivered or not, its receipt, its error."""
        return self._publisher.publish_many(changes, wait=wait, timeout=timeout, bulk=bulk)

    def _choose(self, partitions: int) -> set[int]:
        digest = hashlib.sha256(self._instance.encode()).digest()
        # `prepare` refuses partitions beyond those of the catalogue.
        return {int.from_bytes(digest[:8], "big") % min(partitions, REPLIES.partitions)}
