"""The client for programs without asyncio: the same calls, blocking, from any number of threads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from schemas.documents import DocumentChange, DocumentStatus
from schemas.queries import Filters, MinVersion, Turn
from schemas.replies import QueryReply
from streams.errors import RankstreamError
from streams.gateways.client import IN_FLIGHT, Client
from topics.connection import Kafka

T = TypeVar("T")

START = 30.0  # seconds
STOP = 15.0  # seconds in which what was taken is delivered


class SyncClient:
    """A `Client` whose event loop runs in a thread of its own; use it as `with SyncClient(bootstrap=...) as client`.

    All calls have limits of their own in time, and raise what those of `Client` raise.
    """

    def __init__(
        self,
        *,
        bootstrap: Kafka | None = "localhost:9092",
        instance: str | None = None,
        max_in_flight: int = IN_FLIGHT,
        fast_fetch: bool = False,
    ) -> None:
        """Nothing is opened before `start`; the arguments are those of `Client`."""
        self._client = Client(
            bootstrap=bootstrap, instance=instance, max_in_flight=max_in_flight, fast_fetch=fast_fetch
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._changing = threading.Lock()

    def start(self) -> None:
        """Connect; raise ConfigurationError that names the setting. Starting twice is fine."""
        with self._changing:
            if self._loop is not None:
                return
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="rankstream client", daemon=True)
            self._thread.start()
            try:
                self._run(self._client.start(), START)
            except BaseException:
                self._end()
                raise

    def stop(self) -> None:
        """Deliver what was taken, end what waits, close; stopping twice is fine."""
        with self._changing:
            if self._loop is None:
                return
            try:
                self._run(self._client.stop(), STOP)
            finally:
                self._end()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def in_flight(self) -> int:
        """How many questions wait for their reply."""
        return self._client.in_flight

    def ask(
        self,
        text: str,
        *,
        tenant: str,
        agent: str | None = None,
        profile: str = "general",
        top_k: int | None = None,
        history: Sequence[Turn | Mapping[str, str]] = (),
        filters: Filters | Mapping[str, Any] | None = None,
        min_version: Sequence[MinVersion | Mapping[str, Any]] = (),
        timeout: float = 5.0,
        raise_invalid: bool = False,
        **fields: Any,
    ) -> QueryReply:
        """Return the one outcome of a question, at the latest a quarter of a second after its deadline.

        As `Client.ask`, whose further keywords it takes.
        """
        asked = self._client.ask(
            text,
            tenant=tenant,
            agent=agent,
            profile=profile,
            top_k=top_k,
            history=history,
            filters=filters,
            min_version=min_version,
            timeout=timeout,
            raise_invalid=raise_invalid,
            **fields,
        )
        return self._run(asked)

    def ask_stream(self, text: str, *, tenant: str, **fields: Any) -> Iterator[QueryReply]:
        """Yield the revisions of the answer as they come, as `Client.ask_stream` does."""
        return self._each(self._client.ask_stream(text, tenant=tenant, **fields))

    def publish(
        self, change: DocumentChange, *, wait: bool = False, timeout: float = 60.0, bulk: bool = False
    ) -> DocumentStatus | None:
        """Publish a change and return once the broker has it, or with `wait` once its receipt is there."""
        return self._run(self._client.publish(change, wait=wait, timeout=timeout, bulk=bulk))

    def publish_many(
        self, changes: Iterable[DocumentChange], *, wait: bool = True, timeout: float = 60.0, bulk: bool = False
    ) -> Iterator[DocumentStatus]:
        """Publish changes in order and yield their receipts as they come, as `Client.publish_many` does.

        `changes` is read in the client's thread, where what blocks holds up its other calls: give it a list, or what is
        quickly made.
        """
        return self._each(self._client.publish_many(changes, wait=wait, timeout=timeout, bulk=bulk))

    def _each(self, items: AsyncIterator[T]) -> Iterator[T]:
        async def following() -> list[T]:
            async for item in items:
                return [item]
            return []

        try:
            while found := self._run(following()):
                yield found[0]
        finally:
            if (close := getattr(items, "aclose", None)) is not None and self._loop is not None:
                self._run(close())

    def _run(self, work: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
        """Run a coroutine in the client's loop and return its result; a thread that is interrupted gives it up."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            work.close()
            raise RankstreamError("the client is not started")
        if threading.current_thread() is thread:
            work.close()
            raise RankstreamError("the client was called from its own thread, which would wait for itself")
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result(seconds)
        except TimeoutError:
            if future.done():
                raise
            raise RankstreamError(f"the client did not get ready or close within {seconds:g} s") from None
        except concurrent.futures.CancelledError:
            raise RankstreamError("the client was stopped meanwhile") from None
        finally:
            future.cancel()

    def _end(self) -> None:
        """Stop the loop and its thread."""
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join(STOP)
        if not thread.is_alive():
            loop.run_until_complete(_cancel_rest())
            loop.close()


async def _cancel_rest() -> None:
    """End what still runs in the loop."""
    rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
