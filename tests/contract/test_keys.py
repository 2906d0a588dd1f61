"""API keys: what is kept is read back, and a revocation stays."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from streams.adapters.memory_keys import MemoryKeys
from streams.adapters.postgres import Pool
from streams.adapters.postgres_keys import PostgresKeys
from streams.domain.api_keys import ApiKey
from streams.ports import KeyStore
from tests.contract.conftest import ByRole

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ONE = ApiKey(
    key_id="one",
    digest=b"1" * 32,
    tenant="acme",
    agents=("sales", "legal"),
    roles=("read",),
    name="Ann's front end",
    created_at=NOW,
    expires_at=NOW + timedelta(days=1),
)
TWO = ApiKey(key_id="two", digest=b"2" * 32, tenant="umbrella", roles=("read", "write"), created_at=NOW)


@pytest.fixture(params=["memory", "real"])
def store(request: pytest.FixtureRequest) -> KeyStore:
    found: KeyStore = request.getfixturevalue(f"{request.param}_keys")
    return found


@pytest.fixture
def memory_keys() -> MemoryKeys:
    return MemoryKeys()


@pytest.fixture
async def real_keys(shared_pool: Pool, by_role: Mapping[str, Pool]) -> KeyStore:
    """Keys that the operator makes and revokes, and the gateway reads."""
    async with shared_pool.connection() as connection:
        await connection.execute("TRUNCATE api_keys")
    made, read = (PostgresKeys(pool=by_role[role]) for role in ("operator", "gateway"))
    return ByRole({"add": made, "revoke": made, "all": read, "some": read})


async def test_keys_are_read_back_as_they_were_kept_oldest_first(store: KeyStore) -> None:
    await store.add(TWO)
    await store.add(ONE)
    assert list(await store.all()) == [ONE, TWO]


async def test_a_revoked_key_is_listed_only_when_asked_for_and_its_first_revocation_counts(store: KeyStore) -> None:
    await store.add(ONE)
    await store.add(TWO)
    assert await store.revoke("one", NOW + timedelta(hours=1))
    assert await store.revoke("one", NOW + timedelta(hours=2))
    assert [key.key_id for key in await store.all()] == ["two"]
    assert [key.revoked_at for key in await store.all(revoked=True)] == [NOW + timedelta(hours=1), None]


async def test_keys_are_looked_up_by_their_ids_unless_they_were_revoked(store: KeyStore) -> None:
    await store.add(ONE)
    await store.add(TWO)
    assert list(await store.some(["two", "three"])) == [TWO]
    assert list(await store.some([])) == []
    await store.revoke("two", NOW)
    assert list(await store.some(["one", "two"])) == [ONE]


async def test_an_unknown_key_cannot_be_revoked(store: KeyStore) -> None:
    assert not await store.revoke("one", NOW)


async def test_the_role_of_questions_cannot_read_keys(shared_pool: Pool) -> None:
    async with shared_pool.connection() as connection:
        rows = await (
            await connection.execute("SELECT has_table_privilege('rankstream_query', 'api_keys', 'SELECT') AS may")
        ).fetchall()
    assert rows == [{"may": False}]
