"""rankstream keys: who may come in over HTTP and MCP."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from streams import settings
from streams.cli import connect, console

if TYPE_CHECKING:
    from streams.domain.api_keys import ApiKey


@click.group("keys", short_help="Create, list or revoke the API keys of HTTP and MCP.")
def command() -> None:
    """Create, list or revoke API keys. A key says which tenant it is for, which agents, and what it may do."""


@command.command("create")
@connect.tenant_option
@click.option(
    "--agent", "agents", multiple=True, metavar="NAME", help="It speaks for this agent only; may be repeated."
)
@click.option(
    "--role", "roles", multiple=True, default=("read",), show_default=True, metavar="ROLE", help="read, write or admin."
)
@click.option("--name", default="", help="Who has it, for the list.")
@click.option("--days", type=click.FloatRange(0, min_open=True), help="It expires after so many; never if absent.")
def create(tenant: str, agents: tuple[str, ...], roles: tuple[str, ...], name: str, days: float | None) -> None:
    """Make a key and print it, once: only its SHA-256 is kept."""
    from streams.gateways import keys  # noqa: PLC0415

    expires = None if days is None else datetime.now(UTC) + timedelta(days=days)

    async def make() -> str:
        async with keys.store(settings.load()) as kept:
            return await keys.create(kept, tenant=tenant, agents=agents, roles=roles, name=name, expires_at=expires)

    console.say(asyncio.run(make()))
    console.note("this key is shown once; keep it like a password")


@command.command("list")
@click.option("--tenant", metavar="NAME", help="Of this organization only.")
@click.option("--revoked", is_flag=True, help="Those that were revoked too.")
def show(tenant: str | None, revoked: bool) -> None:
    """List the keys by their public ids."""
    from streams.gateways import keys  # noqa: PLC0415

    async def read() -> list[ApiKey]:
        async with keys.store(settings.load()) as kept:
            return [key for key in await kept.all(revoked=revoked) if tenant in (None, key.tenant)]

    for key in asyncio.run(read()):
        console.say(console.printable(_line(key)))


@command.command("revoke")
@click.argument("key_id")
def revoke(key_id: str) -> int:
    """Close the key with this public id (or the whole key) on all gateways, within seconds."""
    from streams.domain import api_keys  # noqa: PLC0415
    from streams.gateways import keys  # noqa: PLC0415

    async def close() -> bool:
        async with keys.store(settings.load()) as kept:
            return await kept.revoke(api_keys.id_of(key_id) or key_id, datetime.now(UTC))

    if asyncio.run(close()):
        away = f"{keys.STALE:.0f} s on a gateway that cannot reach Postgres"
        console.say(f"revoked; it opens nothing after {keys.FRESH:.0f} s ({away})")
        return 0
    console.note("there is no key with this id; `rankstream keys list` shows them")
    return 1


async def demonstration(found: settings.Settings, tenant: str) -> str:
    """Return a key that this machine's own `rankstream up` shows: the last one, while it is good, else a new one."""
    from streams.errors import Unauthenticated  # noqa: PLC0415
    from streams.gateways import keys  # noqa: PLC0415

    file = found.data_dir / f"key-{tenant}"
    async with keys.store(found) as kept:
        try:
            key = file.read_text().strip()
            if (await keys.Keys(kept).authenticate(f"Bearer {key}")).tenant == tenant:
                return key
        except (OSError, Unauthenticated):
            pass
        key = await keys.create(kept, tenant=tenant, roles=["read", "write"], name="rankstream up")
    file.touch(mode=0o600)
    file.write_text(key)
    return key


def _line(key: ApiKey) -> str:
    agents = ",".join(key.agents) or "all agents"
    ends = f"until {key.expires_at:%Y-%m-%d %H:%M}Z" if key.expires_at else "does not expire"
    gone = f"  revoked {key.revoked_at:%Y-%m-%d %H:%M}Z" if key.revoked_at else ""
    return f"{key.key_id}  {key.tenant}  {','.join(key.roles)}  {agents}  {ends}  {key.name}{gone}".rstrip()
