"""rankstream run: processors of this process, until a signal."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from streams import garbage, settings
from streams.cli import console, logs
from streams.cli.ending import Ending
from streams.errors import ConfigurationError, RankstreamError, Transient

if TYPE_CHECKING:
    from streams.domain.vitals import Vitals
    from streams.fleet import Fleet
    from streams.gateways.health import Health
    from streams.gateways.http.server import Gateway

GATEWAY = "gateway"
STOP = 9.0  # seconds after a signal in which this process ends, whatever hangs


@click.command("run", short_help="Run processors, or the HTTP gateway, until a signal.")
@click.argument("processors", nargs=-1, required=True, metavar="PROCESSOR…|all|gateway")
def command(processors: tuple[str, ...]) -> int:
    """Run the processors named, in one process, until SIGTERM or Ctrl-C.

    `gateway` is the HTTP gateway, which `all` does not start.
    """
    return asyncio.run(_run(settings.load(), processors))


async def _run(found: settings.Settings, names: tuple[str, ...]) -> int:
    from streams.adapters import profiles  # noqa: PLC0415
    from topics import admin  # noqa: PLC0415

    profiles.load(found.profiles)  # a wrong one is told before any server is asked
    if found.jwt is not None and GATEWAY in names:
        from streams.gateways import tokens  # noqa: PLC0415  few wait for cryptography

        tokens.check_file(found.jwt.keys)
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
    running = _parts(found, names)

    def vitals() -> list[Vitals]:
        return [each for part in running for each in part.vitals()]

    health = await _health(found, vitals)
    working = asyncio.create_task(_work(running, names))
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
        await asyncio.gather(*(part.stop() for part in running))
        if health is not None:
            await health.stop()
    console.note("stopped")
    return 0


def _parts(found: settings.Settings, names: tuple[str, ...]) -> list[Fleet | Gateway]:
    """Return what the names stand for: processors, the gateway, or both."""
    parts: list[Fleet | Gateway] = []
    if processors := [name for name in names if name != GATEWAY]:
        from streams.fleet import Fleet  # noqa: PLC0415

        parts.append(Fleet(found, processors))
    if GATEWAY in names:
        from streams.gateways.http.server import LEAVING, Gateway  # noqa: PLC0415

        parts.append(Gateway(found, leaving=LEAVING))
    return parts


async def _check_rights(found: settings.Settings, names: tuple[str, ...]) -> None:
    """Raise ConfigurationError that names each right that is missing, where the broker knows who this is."""
    kafka = settings.need(found.kafka, settings.KAFKA)
    if not kafka.named:
        return
    from streams.fleet import chosen  # noqa: PLC0415
    from streams.gateways import permitted  # noqa: PLC0415
    from streams.processors import rights  # noqa: PLC0415

    processors = [name for name in names if name != GATEWAY]  # of none at all `chosen` makes everything
    wanted = [right for each in (chosen(processors) if processors else ()) for right in rights.of_processor(each)]
    wanted += rights.of_gateway() if GATEWAY in names else ()
    try:
        missing = await permitted.lacking(kafka, wanted)
    except Transient as error:
        console.note(f"rights are not known, going on: {error}")
        return
    if missing:
        raise ConfigurationError(
            f"Kafka gives {kafka.user} no right to {permitted.said(missing)}: "
            f"`rankstream acls {' '.join(f'--processor {name}' for name in names)}` prints what is needed".replace(
                " --processor all", ""
            )
        )


async def _check_store_rights(found: settings.Settings, names: tuple[str, ...]) -> None:
    """Raise ConfigurationError that names each right that the user of Postgres lacks."""
    from streams.adapters import postgres, postgres_rights, postgres_roles  # noqa: PLC0415
    from streams.processors import catalogue, store_roles  # noqa: PLC0415

    everything = [processor.name for processor in catalogue.ALL]
    roles = store_roles.of_users(everything if "all" in names else names)
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


async def _health(found: settings.Settings, vitals: Callable[[], Sequence[Vitals]]) -> Health | None:
    """Serve the health of what runs, if an address is set."""
    if found.health is None:
        return None
    from streams.gateways.health import Health  # noqa: PLC0415

    host, port = found.health
    health = Health(vitals, host=host, port=port)
    console.note(f"health: http://{host}:{await health.start()}/livez and /readyz")
    return health


async def _work(parts: Sequence[Fleet | Gateway], names: tuple[str, ...]) -> None:
    from streams.fleet import Fleet  # noqa: PLC0415

    for part in parts:
        address = await part.start()
        if isinstance(part, Fleet):
            await part.ready()
        else:
            console.note(f"gateway: {address}/v1/query, described at {address}/openapi.json")
    garbage.settle()
    console.note(f"running: {', '.join(names)}")
    watching = [asyncio.create_task(part.failed()) for part in parts]
    try:
        done, _ = await asyncio.wait(watching, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in watching:
            task.cancel()
    error = next(iter(done)).result()
    raise RankstreamError(f"{'a processor' if GATEWAY not in names else 'a part'} cannot go on: {error}") from error
