"""Reaching the broker: connections that fail early, in one line that names the setting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from streams.errors import ConfigurationError, Unreachable
from streams.settings import KAFKA
from topics.connection import Kafka, client_settings
from topics.refusals import why_not
from topics.topic import LARGEST_RECORD

WITHIN = 4.5  # seconds to reach the broker in
REQUEST_TIMEOUT = 10_000  # milliseconds that a record may wait for its delivery
# What a record takes beside its value: key, headers and framing.
OVERHEAD = 65_536


@asynccontextmanager
async def reaching(kafka: Kafka) -> AsyncIterator[None]:
    """Give the block a few seconds to talk to the broker; raise ConfigurationError that names the setting.

    Unreachable where nobody answers; another one where somebody does, and refuses us, or where it is no address.
    """
    try:
        async with asyncio.timeout(WITHIN):
            yield
    except (KafkaError, OSError, ValueError, OverflowError) as error:  # the last one: a port beyond 65,535
        said = f"no Kafka broker answers at {kafka}; is it running, and is {KAFKA} right?"
        if isinstance(error, ValueError | OverflowError):
            raise ConfigurationError(said) from error
        if why := None if isinstance(error, TimeoutError) else await why_not(kafka):
            raise ConfigurationError(why) from error
        raise Unreachable(said) from error


async def open_producer(kafka: Kafka, *, linger_ms: int) -> AIOKafkaProducer:
    """Start a producer whose deliveries all replicas confirm; raise ConfigurationError."""
    producer = AIOKafkaProducer(
        **client_settings(kafka),
        acks="all",
        linger_ms=linger_ms,
        request_timeout_ms=REQUEST_TIMEOUT,
        max_request_size=LARGEST_RECORD + OVERHEAD,
    )
    try:
        async with reaching(kafka):
            await producer.start()
    except BaseException:
        await producer.stop()
        raise
    return producer
