"""The epochs of tenants in Postgres: flips and deletions move them in their own transactions."""

from __future__ import annotations

from streams.adapters import postgres
from streams.adapters.postgres import sql
from streams.telemetry.calls import traced


@traced("postgresql", "current", "bump")
class PostgresEpochs:
    """The Epochs port on Postgres."""

    def __init__(self, *, pool: postgres.Pool) -> None:
        self._pool = pool

    async def current(self, tenant: str) -> int:
        """Return how often anything of a tenant changed; 0 for one that has nothing."""
        rows = await postgres.read(
            self._pool, "read an epoch", tenant=None, statement=sql("epoch_read"), parameters={"tenant": tenant}
        )
        return int(rows[0]["epoch"] or 0)

    async def bump(self, tenant: str) -> None:
        """Count one more change."""
        async with postgres.transaction(self._pool, "count a change") as connection:
            await connection.execute(sql("epoch_bump"), {"tenant": tenant})
