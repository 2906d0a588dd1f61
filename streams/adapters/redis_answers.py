"""Kept answers in Redis or Valkey: asked for at most 50 ms, and left alone for a second after it failed.

A caller that leaves does not end the command: it comes to its end, or to its own limit, behind the scenes. So no
connection is ever given back with a reply still in it, and one that takes long to open is open for the next question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

import redis
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.maint_notifications import MaintNotificationsConfig

from streams import secret_urls
from streams.errors import ConfigurationError, Transient
from streams.telemetry.calls import traced

T = TypeVar("T")

SETTING = "REDIS_URL"
PATIENCE = 0.05  # seconds that a question waits
REST = 1.0  # seconds without asking after a failure
LIMIT = 1.0  # seconds until a connection that says nothing is closed
CONNECTIONS = 16


def open_answers(url: str) -> RedisAnswers:
    """Return the answers at a redis://, rediss:// or unix:// URL; raise ConfigurationError when it is none.

    Nothing is connected yet, and a server that is not there is no error: the search does without.
    """
    return RedisAnswers(connections(url))


def connections(url: str) -> BlockingConnectionPool:
    """Return the connections to a URL, none open yet; raise ConfigurationError that does not repeat it."""
    try:
        at = urlsplit(secret_urls.checked(url, SETTING))
        number = at.path.strip("/")
        if at.scheme != "unix" and number and not number.isdecimal():
            raise ValueError(number)  # redis-py would take database 0
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=CONNECTIONS,
            timeout=LIMIT,
            socket_timeout=LIMIT,
            socket_connect_timeout=LIMIT,
            retry=Retry(NoBackoff(), 0),
            protocol=2,  # also of servers before Redis 6
            driver_info=None,
            maint_notifications_config=MaintNotificationsConfig(enabled=False),
        )
        pool.make_connection()  # type: ignore[no-untyped-call]  # reads the options of the URL; opens nothing
    except (ConfigurationError, ValueError, TypeError, redis.RedisError):
        # The message would repeat the URL, password and all.
        said = f"{SETTING} is no URL like redis://:password@host:6379/0 (or rediss://, unix://), percent-encoded"
        raise ConfigurationError(said) from None
    return pool


@traced("redis", "get", "put")
class RedisAnswers:
    """The Answers port on Redis."""

    def __init__(self, pool: BlockingConnectionPool) -> None:
        self._pool = pool
        self._client: Redis = Redis(connection_pool=pool)
        self._running: set[asyncio.Task[Any]] = set()
        self._rests_until = 0.0
        self._why = ""

    async def get(self, key: str) -> bytes | None:
        """Return what is kept under a key; raise Transient within 50 ms."""
        value = await self._ask(lambda: self._client.get(key))
        return value.encode() if isinstance(value, str) else value

    async def put(self, key: str, value: bytes, seconds: int) -> None:
        """Keep a value for a while; raise Transient within 50 ms."""
        await self._ask(lambda: self._client.set(key, value, ex=seconds))

    async def close(self) -> None:
        """End what is under way and close the connections."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._pool.aclose()

    async def _ask(self, command: Callable[[], Awaitable[T]]) -> T:
        now = asyncio.get_running_loop().time()
        if now < self._rests_until:
            raise Transient(self._why)
        task = asyncio.ensure_future(command())
        self._running.add(task)
        task.add_done_callback(self._ended)
        try:
            async with asyncio.timeout(PATIENCE):
                return await asyncio.shield(task)
        except redis.ResponseError as error:  # it is there, and refuses: out of memory, for one
            raise Transient(f"redis: {_line(error)}") from error
        except TimeoutError as error:
            raise self._failed(f"redis did not answer within {PATIENCE * 1000:.0f} ms") from error
        except (redis.RedisError, OSError) as error:
            raise self._failed(f"redis: {_line(error)}") from error

    def _failed(self, why: str) -> Transient:
        self._why = why
        self._rests_until = asyncio.get_running_loop().time() + REST
        return Transient(why)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # seen: nobody may be waiting for it any more


def _line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
