"""Calls to stores and models as spans of what is in work, and their times: one decorator on an adapter's class."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from time import perf_counter
from typing import Any, TypeVar

from streams.telemetry import signals
from streams.telemetry.instruments import CALL_DURATION
from streams.telemetry.signals import CURRENT, Backend

C = TypeVar("C", bound=type)

# What the semantic conventions call a store, where they know it: `db.system.name`.
STORES = frozenset({"postgresql", "qdrant", "redis"})
OPERATIONS: set[str] = set()  # every name that CALL_DURATION can have


def traced(system: str, *operations: str) -> Callable[[C], C]:
    """Wrap these async methods of a class; neither arguments nor results are looked at, since they hold texts."""

    def wrapped(kind: C) -> C:
        for operation in operations:
            method = getattr(kind, operation)
            # A function that asynccontextmanager made is no coroutine function, and returns what is held.
            wrap = _call if inspect.iscoroutinefunction(method) else _hold
            setattr(kind, operation, wrap(system, operation, method))
            OPERATIONS.add(operation)
        return kind

    return wrapped


def _call(system: str, operation: str, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(method)
    def call(*arguments: Any, **options: Any) -> Awaitable[Any]:
        backend = signals.backend()
        if backend is None:
            return method(*arguments, **options)
        return observed(backend, *arguments, **options)

    async def observed(backend: Backend, *arguments: Any, **options: Any) -> Any:
        async with _observed(backend, system, operation):
            return await method(*arguments, **options)

    return call


def _hold(
    system: str, operation: str, method: Callable[..., AbstractAsyncContextManager[Any]]
) -> Callable[..., AbstractAsyncContextManager[Any]]:
    @functools.wraps(method)
    def call(*arguments: Any, **options: Any) -> AbstractAsyncContextManager[Any]:
        backend = signals.backend()
        if backend is None:
            return method(*arguments, **options)
        return observed(backend, *arguments, **options)

    @asynccontextmanager
    async def observed(backend: Backend, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
        async with _observed(backend, system, operation), method(*arguments, **options) as held:
            yield held

    return call


class _observed:
    """Times a block, as a span where something sampled is in work."""

    __slots__ = ("_backend", "_began", "_operation", "_span", "_system")

    def __init__(self, backend: Backend, system: str, operation: str) -> None:
        self._backend, self._system, self._operation = backend, system, operation
        current = CURRENT.get()
        parent = None if current is None else current.span
        self._span = (
            backend.start(f"{operation} {system}", "client", parent, _attributes(system, operation))
            if parent is not None and parent.recording
            else None
        )
        self._began = perf_counter()

    async def __aenter__(self) -> None:
        return None

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        outcome = "ok" if kind is None else "cancelled" if issubclass(kind, asyncio.CancelledError) else "error"
        labels = {"system": self._system, "operation": self._operation, "outcome": outcome}
        self._backend.record(CALL_DURATION, perf_counter() - self._began, labels)
        if self._span is not None:
            self._span.end({}, error=None if kind is None else kind.__name__)


@functools.cache
def _attributes(system: str, operation: str) -> dict[str, str]:
    if system in STORES:
        return {"db.system.name": system, "db.operation.name": operation}
    if system == "llm":
        return {"gen_ai.operation.name": "chat", "rankstream.operation": operation}
    return {"rankstream.model": system, "rankstream.operation": operation}
