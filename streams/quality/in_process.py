"""All processors in one process without a bus: what one sends is handed to whoever reads its topic.

Handlers, runner, dispatcher, bytes, stores and models are the very ones of the pipeline, so its results are too. There
is no Kafka: nothing is kept for a replay, and nothing is delivered again after a crash.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import msgspec

from schemas import codec
from schemas.documents import DocumentChange, DocumentStatus
from schemas.queries import QueryRequest
from schemas.replies import ErrorInfo, QueryReply, error_reply
from streams import settings as names
from streams.adapters.migrations import migrate
from streams.bootstrap import Resources
from streams.dispatch import Dispatcher
from streams.domain import reports
from streams.errors import NoReply, RankstreamError
from streams.gateways import questions
from streams.gateways.publishing import Changes, Published
from streams.processor import Processor
from streams.processors import catalogue as processors
from streams.quality import routed
from streams.quality.cascade import CURRENT, Cascade
from streams.runner import Outcome, Runner
from streams.settings import Settings, need
from streams.wire import Outgoing, RawOutgoing, Record
from topics import catalogue

AT_ONCE = 32  # changes on their way, when many are delivered
GRACE = 0.15  # seconds after the deadline in which a reply still counts, as in the client
DRAIN = 5.0  # seconds in which late work may finish when this is closed

OnMessage = Callable[[Outgoing], None]


class _Counted(Runner):
    """A runner whose every record belongs to a cascade."""

    async def run(self, record: Record) -> Outcome:
        try:
            return await super().run(record)
        finally:
            CURRENT.get().finished()


ANSWERING = [each for each in processors.ALL if each not in processors.LOG]  # nobody reads the log of questions here


class InProcess:
    """The pipeline in this process; open it with `open`, close it with `close`."""

    def __init__(self, resources: Resources, deps: dict[str, Any], on_message: OnMessage | None = None) -> None:
        self.resources = resources
        self.on_message = on_message  # sees every message once, when it is sent, dead letters included
        self._offsets = itertools.count()
        self._open: set[Cascade] = set()
        self._readers: dict[str, list[Dispatcher]] = {}
        for processor in ANSWERING:
            self._readers.setdefault(processor.source.name, []).append(self._reader(processor, deps[processor.name]))

    @classmethod
    async def open(cls, settings: Settings, on_message: OnMessage | None = None) -> InProcess:
        """Bring the database up to date, open stores and models; raise ConfigurationError that names the setting."""
        await migrate(need(settings.postgres, names.POSTGRES))
        resources = Resources(replace(settings, tenant_quota=0.0))  # nobody else waits
        try:
            deps = {processor.name: await resources.deps(processor) for processor in ANSWERING}
        except BaseException:
            await resources.close()
            raise
        return cls(resources, deps, on_message)

    async def close(self) -> None:
        """Let late work finish, end what still waits, close the stores."""
        readers = [reader for group in self._readers.values() for reader in group]
        await asyncio.gather(*(reader.drain(DRAIN) for reader in readers))
        for cascade in self._open:
            cascade.fail(RankstreamError("it was closed"))
        await self.resources.close()

    async def __aenter__(self) -> InProcess:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def ingest(self, change: DocumentChange) -> DocumentStatus | None:
        """Carry a change through until nothing of it is left, and return its receipt; none when it was a repeat."""
        status: DocumentStatus | None = None
        with self._cascade() as cascade:
            await self._enter(change)
            async for result in cascade:
                if isinstance(result, DocumentStatus) and result.version >= change.version:
                    status = result
        return status

    async def deliver_many(
        self, changes: Changes, *, wait: bool = True, timeout: float = 60.0, bulk: bool = False
    ) -> AsyncIterator[Published]:
        """Carry changes through, several at once, and yield what became of each; the client's method of this name.

        It always waits, since there is nobody else to finish the work, and has no lanes, as nobody else waits.
        `timeout`: seconds a change may take.
        """
        running: set[asyncio.Task[Published]] = set()
        try:
            async for change in routed.each(changes):
                running.add(asyncio.create_task(self._deliver(change, timeout)))
                while len(running) >= AT_ONCE:
                    done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        yield task.result()
            for finished in asyncio.as_completed(running):
                yield await finished
        finally:
            for task in running:
                task.cancel()

    async def ask(self, request: QueryRequest) -> QueryReply:
        """Return the one outcome of a question, at the latest 0.2 s after its deadline; errors are in the reply."""
        began = time.time()
        request = msgspec.structs.replace(request, progressive=True)  # as the client does
        left = None if request.deadline is None else request.deadline - began + GRACE
        last: QueryReply | None = None
        with self._cascade() as cascade:
            try:
                async with asyncio.timeout(left):
                    await self._enter(request)
                    async for result in cascade:
                        shown = reports.following(last, result) if isinstance(result, QueryReply) else None
                        if shown is None:
                            continue
                        last = shown
                        if last.final or last.error is not None:
                            return last
            except TimeoutError:
                pass
        if last is not None:
            return reports.closing(last)
        info = ErrorInfo(error_class="no reply", message="no reply came by the deadline")
        return error_reply(request.query_id, info, (time.time() - began) * 1000, profile=request.profile)

    async def observe(self, message: DocumentChange | QueryRequest) -> tuple[Outgoing, ...]:
        """Route a message until nothing is left, and return everything that was sent on the way, itself first.

        A dead letter is returned as a `DeadLetter` on its topic.
        """
        with self._cascade(recorded=True) as cascade:
            await self._enter(message)
            async for _ in cascade:
                pass
            return tuple(cascade.recorded or ())

    async def _deliver(self, change: DocumentChange, timeout: float) -> Published:
        outcome = Published(key=change.key, version=change.version, delivered=True)
        try:
            async with asyncio.timeout(timeout):
                status = await self.ingest(change)
        except TimeoutError:
            return replace(outcome, error=NoReply(f"not done within {timeout:g} s"))
        return replace(outcome, status=status)

    @contextmanager
    def _cascade(self, *, recorded: bool = False) -> Iterator[Cascade]:
        cascade = Cascade(recorded=recorded)
        self._open.add(cascade)
        token = CURRENT.set(cascade)
        try:
            yield cascade
        finally:
            CURRENT.reset(token)
            self._open.discard(cascade)
            # Timers that a handler started keep the cascade for a while: let go of the texts in it.
            cascade.recorded = None
            cascade.results.clear()

    async def _enter(self, message: DocumentChange | QueryRequest) -> None:
        headers = {"traceparent": questions.new_traceparent().encode()}
        if isinstance(message, DocumentChange):
            topic, key = catalogue.DOCUMENT_CHANGES, routed.key_of(message)
        else:
            topic, key = catalogue.QUERIES, message.query_id.encode()
            headers = dict(questions.headers(message.query_id, 0, headers["traceparent"].decode()))
        await self._produce(RawOutgoing(topic=topic.name, key=key, value=codec.encode(message), headers=headers))

    async def _produce(self, raw: RawOutgoing) -> None:
        cascade = CURRENT.get()
        self._tell(raw, cascade)
        record = Record(
            topic=raw.topic,
            partition=raw.partition or 0,
            offset=next(self._offsets),
            timestamp=time.time(),
            key=raw.key,
            value=raw.value,
            headers=raw.headers,
        )
        for reader in self._readers.get(raw.topic, ()):
            cascade.running += 1
            try:
                reader.acks.receive(record.topic, record.partition, record.offset)
                await reader.submit(record, reader.acks.epoch)
            except BaseException:
                cascade.finished()
                raise

    def _tell(self, raw: RawOutgoing, cascade: Cascade) -> None:
        result = raw.topic in (catalogue.REPLIES.name, catalogue.DOCUMENT_STATUS.name)
        if not result and self.on_message is None and cascade.recorded is None:
            return
        outgoing = routed.decoded(raw)
        if self.on_message is not None:
            self.on_message(outgoing)
        if cascade.recorded is not None:
            cascade.recorded.append(outgoing)
        if isinstance(outgoing.message, QueryReply | DocumentStatus):
            cascade.results.append(outgoing.message)
            cascade.changed.set()

    def _reader(self, processor: Processor, deps: Any) -> Dispatcher:
        return Dispatcher(_Counted(processor, deps, self._produce), stop=lambda error: CURRENT.get().fail(error))
