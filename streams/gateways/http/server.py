"""The gateway as a part of a process: started, watched and stopped like the processors."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack

from streams import settings as names
from streams.adapters import postgres
from streams.adapters.cached_generations import CachedGenerations
from streams.adapters.live_documents import PostgresDocuments
from streams.adapters.passages import PostgresPassages
from streams.adapters.postgres_generations import PostgresGenerations
from streams.domain.vitals import Vitals
from streams.gateways import keys
from streams.gateways.agent_tools import AgentTools
from streams.gateways.client import Client
from streams.gateways.http import app
from streams.gateways.http.door import Door
from streams.gateways.http.listener import Listener, listen
from streams.gateways.mcp_server import McpDoor
from streams.settings import Settings, need

NAME = "gateway"
ADDRESS = ("127.0.0.1", 8400)  # loopback: whoever wants it elsewhere puts TLS before it
IN_FLIGHT = 1_024  # questions at once
LEAVING = 2.0  # seconds that it says it is stopping and still serves: who sends requests here hears of it later


class Gateway:
    """One HTTP gateway; many may stand side by side."""

    def __init__(self, found: Settings, *, leaving: float = 0.0) -> None:
        """Nothing is opened before `start`; told to stop, it serves for `leaving` seconds more."""
        self._found = found
        self._leaving = leaving
        self._opened = AsyncExitStack()
        self._client: Client | None = None
        self._listener: Listener | None = None
        self._deaf_since: float | None = None

    async def start(self) -> str:
        """Listen, and return the address as a URL; raise ConfigurationError that names the setting."""
        found = self._found
        listening = listen(found.http or ADDRESS)  # first: a port that is taken is told before anything is opened
        self._opened.callback(listening.close)
        try:
            bootstrap = need(found.kafka, names.KAFKA)
            client = Client(bootstrap=bootstrap, max_in_flight=IN_FLIGHT, fast_fetch=found.fast_fetch)
            self._client = await self._opened.enter_async_context(client)
            # Later, while the broker is away, one request after another would wait for it.
            await client.open_publishing()
            doors = await self._opened.enter_async_context(keys.opened(found))
            pool = await postgres.open_pool(need(found.postgres, names.POSTGRES))
            self._opened.push_async_callback(pool.close)
            documents, passages = PostgresDocuments(pool=pool), PostgresPassages(pool=pool)
            generations = CachedGenerations(PostgresGenerations(pool=pool))
            tools = AgentTools(client=client, documents=documents, passages=passages, generations=generations)
            door = Door(doors, rate=found.http_rate)
            mcp = await self._opened.enter_async_context(McpDoor(tools, lambda request: door.admit(request, "read")))
            application = app.build(
                app.Deps(
                    settings=found,
                    client=client,
                    keys=doors,
                    documents=documents,
                    generations=generations,
                    mcp=mcp,
                    unready=self._unready,
                )
            )
        except BaseException:
            await self._opened.aclose()
            raise
        self._listener = Listener(application, listening)
        return self._listener.url

    async def stop(self) -> None:
        """End what is under way, then close; stopping twice is fine."""
        if self._listener is not None:
            await self._listener.stop(after=self._leaving)
        await self._opened.aclose()
        self._client = None

    async def failed(self) -> BaseException:
        """Wait until the gateway ends of itself, and return why."""
        assert self._listener is not None
        return await self._listener.failed()

    def vitals(self) -> list[Vitals]:
        """Return what there is to say of it: that it waits, while the broker is away."""
        client = self._client
        if client is None:
            return []
        now = time.monotonic()
        self._deaf_since = None if client.listening else self._deaf_since or now
        waiting = None if self._deaf_since is None else now - self._deaf_since
        stopping = self._listener is not None and self._listener.stopping
        return [Vitals(processor=NAME, stopping=stopping, joined=True, waiting=waiting, in_flight=client.in_flight)]

    def _unready(self) -> tuple[str, ...]:
        if self._client is None or (self._listener is not None and self._listener.stopping):
            return ("stopping",)
        return () if self._client.listening else ("the broker does not answer",)
