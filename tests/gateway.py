"""A gateway on a pipeline, over real HTTP, for end-to-end tests."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from streams.gateways import keys
from streams.gateways.http.server import Gateway
from streams.settings import Settings


@dataclasses.dataclass(frozen=True, kw_only=True)
class Front:
    """A running gateway."""

    url: str
    settings: Settings

    async def key(self, tenant: str, *roles: str, agents: tuple[str, ...] = ()) -> str:
        """Return a new key."""
        async with keys.store(self.settings) as kept:
            return await keys.create(kept, tenant=tenant, roles=roles or ("read", "write"), agents=agents)

    def asking(self, key: str | None, **options: object) -> httpx.AsyncClient:
        """Return a client that sends a key."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=60.0, **options)  # type: ignore[arg-type]


@asynccontextmanager
async def serving(settings: Settings, **fields: object) -> AsyncIterator[Front]:
    """Run a gateway on a free port."""
    changed = dataclasses.replace(settings, **{"http": ("127.0.0.1", 0), "http_rate": 0.0} | fields)  # type: ignore[arg-type]
    gateway = Gateway(changed)
    url = await gateway.start()
    try:
        yield Front(url=url, settings=changed)
    finally:
        await gateway.stop()
