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
from streams.errors import StoreUnavailable, Transient, Unauthenticated
from streams.gateways.unknown_keys import UnknownKeys
from streams.ports import KeyStore
from streams.settings import POSTGRES, Settings, need

FRESH = 2.0  # seconds that what was read of the table is used: a revocation holds everywhere after so long
STALE = 10.0  # seconds that it is used at most while the database is away
PAUSE = 1.0  # seconds after a reading that failed in which none is tried: each costs the pool's time limit
_HOW = "send `Authorization: Bearer KEY`; `rankstream keys create` makes a key"


class Tokens(Protocol):
    """Tokens of an identity provider."""

    async def principal(self, token: str) -> Principal:
        """Return whom a token stands for; raise Unauthenticated, or Transient where its keys cannot be had."""


class Keys:
    """Checks keys against the table, which is read as a whole; of what is not in it, only that is looked up.

    That suits some ten thousand keys, which is what people make by hand.
    """

    def __init__(
        self, store: KeyStore, tokens: Tokens | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._tokens = tokens
        self._clock = clock
        self._known: Mapping[str, ApiKey] = {}
        self._read_at = self._failed_at = float("-inf")
        self._failure = ""  # of the last reading; empty: it went well
        self._reading: asyncio.Task[None] | None = None
        self._unknown = UnknownKeys(store, clock=clock, pause=PAUSE)

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
        key = (await self._table()).get(key_id)
        if key is not None and key.opens(given, datetime.now(UTC)):
            return key
        # It may be new, and counts from the moment in which it was made.
        key = await self._unknown.find(key_id)
        if key is None or not key.opens(given, datetime.now(UTC)):
            return None
        self._known = {**self._known, key_id: key}
        return key

    async def _table(self) -> Mapping[str, ApiKey]:
        """Return the table as it was less than FRESH ago, or up to STALE ago while the database is away."""
        now = self._clock()
        if now - self._read_at < FRESH:
            return self._known
        if now - self._failed_at < PAUSE:
            if now - self._read_at > STALE:
                raise StoreUnavailable(self._failure)
            return self._known
        reading = self._again()
        # Where it is known to be away, nobody waits to hear it once more.
        if not self._failure or now - self._read_at > STALE:
            await asyncio.shield(reading)
            if self._failure and now - self._read_at > STALE:
                raise StoreUnavailable(self._failure)
        return self._known

    def _again(self) -> asyncio.Task[None]:
        """Read the table, once for all who ask meanwhile."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read(), name="keys")
        return self._reading

    async def _read(self) -> None:
        began = self._clock()
        try:
            self._known = {key.key_id: key for key in await self._store.all()}
            self._read_at, self._failure = began, ""
        except Transient as error:
            self._failed_at, self._failure = self._clock(), str(error) or type(error).__name__


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
