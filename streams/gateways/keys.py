"""Who may come in: from an Authorization header to the principal it stands for, for every front door.

async with keys.opened(settings) as doors:
    principal = await doors.authenticate(request.headers.get("authorization"))
    principal.need("read")
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Protocol

from streams.domain import api_keys
from streams.domain.api_keys import ApiKey, Principal, Role
from streams.errors import Transient, Unauthenticated
from streams.ports import KeyStore
from streams.settings import POSTGRES, Settings, need

FRESH = 2.0  # seconds that what was read of the table is used: a revocation holds everywhere after so long
AGAIN = 0.05  # seconds between two readings for keys that are not known
STALE = 10.0  # seconds that it is used at most while the database is away
_HOW = "send `Authorization: Bearer KEY`; `rankstream keys create` makes a key"


class Tokens(Protocol):
    """Tokens of an identity provider."""

    async def principal(self, token: str) -> Principal:
        """Return whom a token stands for; raise Unauthenticated, or Transient where its keys cannot be had."""


class Keys:
    """Checks keys against the table, which is read as a whole: a flood of wrong keys costs the database little.

    That suits some ten thousand keys, which is what people make by hand.
    """

    def __init__(
        self, store: KeyStore, tokens: Tokens | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._tokens = tokens
        self._clock = clock
        self._known: Mapping[str, ApiKey] = {}
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()

    async def authenticate(self, authorization: str | None) -> Principal:
        """Return whom a header stands for; raise Unauthenticated, or Transient where nobody can tell now."""
        if not authorization:
            raise Unauthenticated(f"no key: {_HOW}")
        scheme, _, given = authorization.partition(" ")
        given = given.strip()
        if scheme.lower() != "bearer" or not given:
            raise Unauthenticated(f"the Authorization header has no bearer key: {_HOW}")
        if not given.startswith(api_keys.PREFIX) and self._tokens is not None:
            return await self._tokens.principal(given)
        key_id = api_keys.id_of(given)
        found = await self._open(key_id, given) if key_id else None
        # One answer for all that is wrong with a key, and after the same time: which ids exist is nobody's business.
        if found is None:
            raise Unauthenticated("this key is wrong, was revoked or has expired")
        return found.principal

    async def _open(self, key_id: str, given: str) -> ApiKey | None:
        asked = self._clock()
        for since in (asked - FRESH, asked):
            key = (await self._table(since)).get(key_id)
            if key is not None and key.opens(given, datetime.now(UTC)):
                return key
            # It may be new, and counts from the moment in which it was made. Who guesses waits, and costs no reading.
            if since < asked:
                await asyncio.sleep(max(0.0, self._read_at + AGAIN - self._clock()))
        return None

    async def _table(self, since: float) -> Mapping[str, ApiKey]:
        """Return the table as it was at some moment after `since`."""
        async with self._reading:
            began = self._clock()
            if self._read_at <= since:
                try:
                    self._known = {key.key_id: key for key in await self._store.all()}
                    self._read_at = began
                except Transient:
                    if began - self._read_at > STALE:
                        raise
            return self._known


@asynccontextmanager
async def opened(found: Settings) -> AsyncIterator[Keys]:
    """Open the table of keys for the block; raise ConfigurationError that names the setting."""
    tokens = None
    if found.jwt is not None:
        from streams.gateways.tokens import JwtTokens  # noqa: PLC0415  only who uses tokens waits for cryptography

        tokens = JwtTokens(found.jwt)
    async with store(found) as kept:
        yield Keys(kept, tokens)


@asynccontextmanager
async def store(found: Settings) -> AsyncIterator[KeyStore]:
    """Open the table of keys alone."""
    from streams.adapters import postgres  # noqa: PLC0415  the help must not wait for the database's library
    from streams.adapters.postgres_keys import PostgresKeys  # noqa: PLC0415

    pool = await postgres.open_pool(need(found.postgres, POSTGRES), size=2)
    try:
        yield PostgresKeys(pool=pool)
    finally:
        await pool.close()


async def create(
    kept: KeyStore,
    *,
    tenant: str,
    agents: Sequence[str] = (),
    roles: Sequence[str] = ("read",),
    name: str = "",
    expires_at: datetime | None = None,
) -> str:
    """Make a key, keep its digest, and return it: nobody can show it again. Raises Invalid that names the field."""
    checked: tuple[Role, ...] = api_keys.checked_roles(roles, agents)
    api_keys.check_names(tenant, agents)
    key = api_keys.written(secrets.token_bytes(api_keys.ID_BYTES), secrets.token_bytes(api_keys.SECRET_BYTES))
    await kept.add(
        ApiKey(
            key_id=api_keys.id_of(key) or "",
            digest=api_keys.digest(key),
            tenant=tenant,
            agents=tuple(agents),
            roles=checked,
            name=name,
            created_at=datetime.now(UTC),
            expires_at=expires_at,
        )
    )
    return key
