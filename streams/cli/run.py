"""rankstream run: processors of this process, until a signal."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import click

from streams import settings
from streams.cli import console, logs
from streams.cli.ending import Ending
from streams.errors import ConfigurationError, RankstreamError, Transient

if TYPE_CHECKING:
    from streams.fleet import Fleet
    from streams.gateways.health import Health

STOP = 9.0  # seconds after a signal in which this process ends, whatever hangs


@click.command("run", short_help="Run processors until a signal.")
@click.argument("processors", nargs=-1, required=True, metavar="PROCESSOR…|all")
def command(processors: tuple[str, ...]) -> int:
    """Run the processors named, in one process, until SIGTERM or Ctrl-C."""
    return asyncio.run(_run(settings.load(), processors))


async def _run(found: settings.Settings, names: tuple[str, ...]) -> int:
    from streams.adapters import profiles  # noqa: PLC0415
    from topics import admin  # noqa: PLC0415

    profiles.load(found.profiles)  # a wrong one is told before any server is asked
    ended, ending = asyncio.Event(), Ending()
    loop = asyncio.get_running_loop()

    def end(*_: object) -> None:
        # The interpreter calls this between two instructions, also when the event loop is what hangs.
        ending.within(STOP)
        loop.call_soon_threadsafe(ended.set)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    await _check_rights(found, names)
    differences = await admin.check(settings.need(found.kafka, settings.KAFKA))
    if missing := [difference.topic for difference in differences if difference.kind == "missing"]:
        raise ConfigurationError(f"topics are missing ({', '.join(missing)}): run `rankstream topics apply`")
    await _check_store_rights(found, names)
    logs.let_libraries_speak()
    # A broker that is not there is named without waiting for these libraries.
    from streams.fleet import Fleet  # noqa: PLC0415

    fleet = Fleet(found, names)
    health = await _health(found, fleet)
    working = asyncio.create_task(_work(fleet, names))
    waiting = asyncio.create_task(ended.wait())
    try:
        await asyncio.wait([working, waiting], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        working.cancel()
        waiting.cancel()
        await asyncio.gather(working, waiting, return_exceptions=True)
        ending.within(STOP)
        await fleet.stop()
        if health is not None:
            await health.stop()
    console.note("stopped")
    return 0


async def _check_rights(found: settings.Settings, names: tuple[str, ...]) -> None:
    """Raise ConfigurationError that names each right that is missing, where the broker knows who this is."""
    kafka = settings.need(found.kafka, settings.KAFKA)
    if not kafka.named:
        return
    from streams.fleet import chosen  # noqa: PLC0415
    from streams.gateways import permitted  # noqa: PLC0415
    from streams.processors import rights  # noqa: PLC0415

    wanted = [right for processor in chosen(names) for right in rights.of_processor(processor)]
    try:
        missing = await permitted.lacking(kafka, wanted)
    except Transient as error:
        console.note(f"rights are not known, going on: {error}")
        return
    if missing:
        raise ConfigurationError(
            f"Kafka gives {kafka.user} no right to {'; '.join(dict.fromkeys(map(permitted.said, missing)))}: "
            f"`rankstream acls {' '.join(f'--processor {name}' for name in names)}` prints what is needed".replace(
                " --processor all", ""
            )
        )


async def _check_store_rights(found: settings.Settings, names: tuple[str, ...]) -> None:
    """Raise ConfigurationError that names each right that the user of Postgres lacks."""
    from streams.adapters import postgres, postgres_rights, postgres_roles  # noqa: PLC0415
    from streams.fleet import chosen  # noqa: PLC0415
    from streams.processors import store_roles  # noqa: PLC0415

    roles = store_roles.of_users([processor.name for processor in chosen(names)])
    if not roles:
        return
    pool = await postgres.open_pool(settings.need(found.postgres, settings.POSTGRES), size=1)
    try:
        if missing := await postgres_rights.lacking(pool, postgres_roles.of_roles(roles)):
            raise ConfigurationError(
                f"Postgres gives {await postgres_rights.user(pool)} no right to {postgres_rights.said(missing)}: "
                f"`rankstream acls --format postgres` makes users who have what they need"
            )
    finally:
        await pool.close()


async def _health(found: settings.Settings, fleet: Fleet) -> Health | None:
    """Serve the health of a fleet, if an address is set."""
    if found.health is None:
        return None
    from streams.gateways.health import Health  # noqa: PLC0415

    host, port = found.health
    health = Health(fleet.vitals, host=host, port=port)
    console.note(f"health: http://{host}:{await health.start()}/livez and /readyz")
    return health


async def _work(fleet: Fleet, names: tuple[str, ...]) -> None:
    await fleet.start()
    await fleet.ready()
    console.note(f"running: {', '.join(names)}")
    error = await fleet.failed()
    raise RankstreamError(f"a processor cannot go on: {error}") from error
