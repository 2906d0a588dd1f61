"""GET /v1/status: what a tenant has, and for its admins how the system does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from streams.gateways import servers
from streams.gateways.http.contracts import ProcessorLag, Status
from streams.gateways.http.documents import json
from streams.gateways.http.door import Door, only
from streams.gateways.lag import measure
from streams.ports import DocumentReader, Generations
from streams.settings import Settings

FRESH = 5.0  # seconds that what was measured is shown: asking often must not cost the servers anything
SECONDS = 4.0  # for each server


class Standing:
    """Tells how things stand; nothing of it concerns another tenant."""

    def __init__(self, found: Settings, door: Door, reader: DocumentReader, generations: Generations) -> None:
        self._found = found
        self._door = door
        self._reader = reader
        self._generations = generations
        self._measured: tuple[float, dict[str, str], tuple[ProcessorLag, ...]] | None = None
        self._measuring = asyncio.Lock()

    async def __call__(self, request: Request) -> Response:
        """Return the status."""
        principal = await self._door.admit(request, "read", "write")
        only(request)
        generation = (await self._generations.live()).id
        held = await self._reader.holdings(principal.tenant, generation)
        servers, processors = await self._system() if "admin" in principal.roles else (None, None)
        return json(
            Status(
                tenant=principal.tenant,
                generation=generation,
                documents=held.documents,
                chunks=held.chunks,
                servers=servers,
                processors=processors,
            )
        )

    async def _system(self) -> tuple[dict[str, str], tuple[ProcessorLag, ...]]:
        async with self._measuring:
            if self._measured is None or time.monotonic() - self._measured[0] > FRESH:
                servers, processors = await asyncio.gather(self._servers(), self._processors())
                self._measured = (time.monotonic(), servers, processors)
            return self._measured[1:]

    async def _servers(self) -> dict[str, str]:
        found = self._found
        asked: dict[str, Callable[[], Awaitable[None]] | None] = {
            "kafka": partial(servers.kafka, found.kafka) if found.kafka else None,
            "postgres": partial(servers.postgres, found.postgres) if found.postgres else None,
            "qdrant": partial(servers.qdrant, found.qdrant, key=found.qdrant_key, ca=found.qdrant_ca)
            if found.qdrant
            else None,
            "redis": partial(servers.valkey, found.redis) if found.redis else None,
        }

        async def state(name: str) -> str:
            probe = asked[name]
            if probe is None:
                return "not set"
            try:
                async with asyncio.timeout(SECONDS):
                    await probe()
            except Exception as error:  # where a server stands is not told
                return f"no answer ({type(error).__name__})"
            return "ok"

        return dict(zip(asked, await asyncio.gather(*map(state, asked)), strict=True))

    async def _processors(self) -> tuple[ProcessorLag, ...]:
        try:
            async with asyncio.timeout(SECONDS):
                lags = await measure(self._found.kafka or "")
        except Exception:
            return ()
        return tuple(ProcessorLag(processor=lag.processor, records=lag.records, state=lag.state) for lag in lags)
