"""API keys in Postgres: one table for all gateways, so that a revocation holds everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from streams.adapters import postgres
from streams.adapters.postgres import sql
from streams.domain.api_keys import ApiKey

COLUMNS = ("key_id", "digest", "tenant", "agents", "roles", "name", "created_at", "expires_at", "revoked_at")


class PostgresKeys:
    """The KeyStore port on Postgres."""

    def __init__(self, *, pool: postgres.Pool) -> None:
        self._pool = pool

    async def add(self, key: ApiKey) -> None:
        """Keep a new key."""
        row = {name: getattr(key, name) for name in COLUMNS}
        row |= {"agents": list(key.agents), "roles": list(key.roles)}
        async with postgres.transaction(self._pool, "keep a key") as connection:
            await connection.execute(sql("key_insert"), row)

    async def all(self, *, revoked: bool = False) -> Sequence[ApiKey]:
        """Return the keys, oldest first; with `revoked`, those that were revoked too."""
        rows = await postgres.read(
            self._pool, "read keys", tenant=None, statement=sql("keys_all"), parameters={"revoked": revoked}
        )
        return list(map(_key, rows))

    async def some(self, key_ids: Sequence[str]) -> Sequence[ApiKey]:
        """Return those of these keys that there are and that were not revoked, in no order."""
        rows = await postgres.read(
            self._pool, "look up keys", tenant=None, statement=sql("keys_some"), parameters={"key_ids": list(key_ids)}
        )
        return list(map(_key, rows))

    async def revoke(self, key_id: str, now: datetime) -> bool:
        """Close a key from now on; return whether there is such a key. Twice is as once."""
        async with postgres.transaction(self._pool, "revoke a key") as connection:
            cursor = await connection.execute(sql("key_revoke"), {"key_id": key_id, "now": now})
            return await cursor.fetchone() is not None


def _key(row: Mapping[str, Any]) -> ApiKey:
    lists = {"agents": tuple(row["agents"]), "roles": tuple(row["roles"])}
    return ApiKey(**{**row, "digest": bytes(row["digest"]), **lists})
