"""Turns a processor into a Faust app. Only this file and consumer.py import Faust.

What Faust gets wrong for us, and what is done instead, is pinned by tests/integration/test_faust_facts.py.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any

import aiokafka
import aiokafka.errors
import faust
import faust.auth
from faust.exceptions import ProducerSendError
from faust.types import EventT, StreamT

from streams.consumer import Consumer, QuickConsumer
from streams.dispatch import Dispatcher
from streams.domain.vitals import Vitals
from streams.errors import BrokerUnavailable, CannotContinue, ConfigurationError, Undeliverable
from streams.processor import Ack, Processor
from streams.runner import Runner
from streams.settings import KAFKA, Settings, need
from streams.telemetry import signals, watching
from streams.watchdog import Watchdog
from streams.wire import RawOutgoing, Record, all_headers
from topics.connection import KafkaConnection, Password, client_settings, of
from topics.topic import DEAD_LETTER_HEADERS, LARGEST_RECORD

log = logging.getLogger(__name__)

DRAIN = 2.0  # seconds in which a stopping worker may finish what it has in flight
# Seconds in which a stopping worker still reads, if its records are parts of what it has in flight: until that has
# ended (more than the legs of a shipped profile have), then parts alone, for what came meanwhile.
LEAVE, LEAVE_LAST = 3.5, 1.5
COMMIT_INTERVAL = 0.5  # seconds; what was acknowledged since the last commit is repeated after a crash


class Worker:
    """One processor running in this process: its Faust app, its runner, its dispatcher."""

    def __init__(self, processor: Processor, deps: Any, settings: Settings) -> None:
        self.processor = processor
        self.failed: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        self.assigned = asyncio.Event()
        self._stopping = False
        self._watching: asyncio.Future[tuple[None, None]] | None = None
        self._app = _app(processor, settings)
        runner = Runner(processor, deps, self._produce)
        self._dispatcher = Dispatcher(runner, stop=self._fail)
        self._watchdog = Watchdog(
            runner, lambda: self._app.consumer, self._fail, handed_over=lambda: self._dispatcher.acks.in_flight
        )
        self._unwatch = signals.watch(partial(watching.of_worker, runner, self._watchdog.vitals, deps))
        self._app.transport.Consumer = self._keeping_book(QuickConsumer if settings.fast_fetch else Consumer)
        topic = self._app.topic(processor.source.name, value_serializer="raw", key_serializer="raw")
        self._app.agent(topic, name=processor.group, concurrency=1)(self._consume)
        self._app.on_partitions_assigned.connect(self._assigned, weak=False)

    async def start(self) -> None:
        """Join the consumer group and begin to work."""
        await self._app.start()
        self._watching = asyncio.gather(self._watch(), self._watchdog.run())

    @property
    def vitals(self) -> Vitals:
        """What there is to say of this worker now."""
        return self._watchdog.vitals()

    async def _watch(self) -> None:
        """Notice that Faust gave up by itself: nothing would be consumed any more."""
        await self._app.wait_until_stopped()
        if not self._stopping:
            crash = self._app.crash_reason or RuntimeError(f"{self.processor.name}: the consumer stopped")
            self._fail(_explained(self.processor, crash))

    async def stop(self) -> None:
        """Take no more, finish what is in flight, commit, leave the group."""
        if self.processor.ack is Ack.ON_RECEIPT:
            await self._dispatcher.leave(LEAVE, LEAVE_LAST)
        self._stopping = self._watchdog.stopping = True
        self._unwatch()
        if self._watching is not None:
            self._watching.cancel()
        try:
            await self._dispatcher.drain(DRAIN)
        finally:
            await self._app.stop()

    async def _consume(self, stream: StreamT[bytes]) -> None:
        async for event in stream.noack().events():
            if self._stopping:
                return
            await self._dispatcher.submit(_record(event), event.message.epoch)

    async def _produce(self, outgoing: RawOutgoing) -> None:
        try:
            await self._app.producer.send_and_wait(
                outgoing.topic,
                key=outgoing.key,
                value=outgoing.value,
                partition=outgoing.partition,
                timestamp=None,
                headers=list(outgoing.pairs),
            )
        except (aiokafka.errors.KafkaError, ProducerSendError, OSError) as error:
            raise _translated(outgoing, error) from error

    def _keeping_book(self, base: type[Consumer]) -> type[Consumer]:
        """Return the consumer class that keeps its book with this worker's dispatcher."""
        fields = {"acks": self._dispatcher.acks, "forgotten": staticmethod(self._dispatcher.forgotten)}
        return type(base.__name__, (base,), fields)

    async def _assigned(self, *_: Any, **__: Any) -> None:
        self._watchdog.joined = True
        self.assigned.set()

    def _fail(self, error: BaseException) -> None:
        if not self.failed.done():
            self._watchdog.failed = str(error)
            self.failed.set_result(error)


def _explained(processor: Processor, crash: BaseException) -> BaseException:
    """Return why Faust gave up; that a right was taken away in words that say what to do."""
    what = {
        aiokafka.errors.TopicAuthorizationFailedError: f"read topic {processor.source.name}",
        aiokafka.errors.GroupAuthorizationFailedError: f"read in group {processor.group}",
    }.get(type(crash))
    if what is None:
        return crash
    return CannotContinue(f"{processor.name}: Kafka gives no right to {what}; `rankstream acls` prints what is needed")


def _translated(outgoing: RawOutgoing, error: Exception) -> Exception:
    # Faust wraps what the client library raises before it sends.
    cause = error.__cause__ if isinstance(error, ProducerSendError) and error.__cause__ else error
    if isinstance(cause, aiokafka.errors.TopicAuthorizationFailedError):
        return ConfigurationError(f"Kafka gives no right to write to {outgoing.topic}; `rankstream acls` prints it")
    if isinstance(cause, aiokafka.errors.MessageSizeTooLargeError | aiokafka.errors.RecordTooLargeError):
        return Undeliverable(f"a record of {len(outgoing.value or b'')} bytes is too large for {outgoing.topic}")
    return BrokerUnavailable(f"{outgoing.topic}: {cause or type(cause).__name__}")


def _record(event: EventT[bytes]) -> Record:
    message = event.message
    headers = message.headers or {}
    last, came = all_headers(headers.items() if hasattr(headers, "items") else headers)
    return Record(
        topic=message.topic,
        partition=message.partition,
        offset=message.offset,
        timestamp=message.timestamp,
        key=message.key,
        value=message.value,
        headers=last,
        came=came,
    )


def _credentials(kafka: KafkaConnection) -> faust.auth.Credentials | None:
    """Return what Faust wants for the arguments that aiokafka's other clients are given."""
    settings = client_settings(kafka)
    tls = settings.get("ssl_context")
    if isinstance(kafka.login, Password):
        return faust.auth.SASLCredentials(
            username=kafka.login.username,
            password=kafka.login.password,
            mechanism=kafka.login.mechanism,
            ssl_context=tls,
        )
    if kafka.login is not None:
        return faust.auth.OAuthCredentials(oauth_cb=settings["sasl_oauth_token_provider"], ssl_context=tls)
    return faust.auth.SSLCredentials(tls) if tls is not None else None


def _app(processor: Processor, settings: Settings) -> faust.App:
    folder = settings.data_dir / "faust" / processor.name
    folder.mkdir(parents=True, exist_ok=True)
    kafka = of(need(settings.kafka, KAFKA))
    app = faust.App(
        processor.group,
        datadir=str(folder),
        # Without a prefix Faust reads variables such as WEB_PORT, which a Kubernetes service of that name sets.
        env_prefix="RANKSTREAM_FAUST",
        broker=";".join(f"kafka://{server}" for server in kafka.servers),
        broker_credentials=_credentials(kafka),
        store="memory://",
        key_serializer="raw",
        value_serializer="raw",
        processing_guarantee="at_least_once",
        topic_disable_leader=True,
        topic_allow_declare=False,
        table_standby_replicas=0,
        stream_wait_empty=False,  # True hangs for ever on an event that is never acknowledged
        stream_buffer_maxsize=256,
        broker_max_poll_records=200,
        broker_commit_interval=COMMIT_INTERVAL,
        broker_session_timeout=settings.session_timeout,
        broker_heartbeat_interval=settings.session_timeout / 4,
        broker_rebalance_timeout=settings.session_timeout,
        producer_acks=-1,
        producer_linger=0.0 if processor.latency else 0.005,
        producer_request_timeout=15.0,
        producer_max_request_size=LARGEST_RECORD + 2 * DEAD_LETTER_HEADERS,
        consumer_max_fetch_size=LARGEST_RECORD,
        consumer_auto_offset_reset="earliest",
        web_enabled=False,
    )
    return app
