"""rankstream up: everything on this machine, in one command."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streams import garbage, settings
from streams.cli import console
from streams.cli.ending import Ending
from streams.errors import ConfigurationError, RankstreamError
from streams.settings import Settings

if TYPE_CHECKING:
    from streams.cli.corpus import Corpus
    from streams.embedded.stack import Stack
    from streams.fleet import Fleet
    from streams.gateways.client import Client
    from streams.gateways.http.server import Gateway

FLEET_STOP = 5.0  # seconds the processors may take to stop; the servers take a second or two more
HARD_STOP = 9.0  # seconds after a signal in which this process ends, whatever hangs
SESSION = 6.0  # seconds: on one machine nobody is far away, and groups form sooner


@click.command("up", short_help="Start everything on this machine, index, ask, stay up.")
@click.option(
    "--docs", type=click.Path(path_type=Path), help="Index this folder or .jsonl file, not the demonstration."
)
@click.option("--no-docs", is_flag=True, help="Index nothing.")
@click.option("--tenant", default="demo", show_default=True, metavar="NAME", help="Whose documents they are.")
@click.option("--once", is_flag=True, help="Stop after the answers.")
def command(*, docs: Path | None, no_docs: bool, tenant: str, once: bool) -> int:
    """Start all servers and processors, index the demonstration corpus, ask three questions, and stay up.

    Servers that a setting names (KAFKA_BOOTSTRAP_SERVERS, QDRANT_URL, DATABASE_URL, REDIS_URL) are used instead of
    being started. Data lie in RANKSTREAM_DATA (.rankstream). The HTTP gateway is on 127.0.0.1:8400, or where
    RANKSTREAM_HTTP says. Ctrl-C stops everything.
    """
    if docs is not None and no_docs:
        raise click.UsageError("--docs and --no-docs exclude each other")
    from streams.cli import corpus as corpora  # noqa: PLC0415

    corpus = None if no_docs else corpora.of(docs, tenant) if docs is not None else corpora.demo(tenant)
    return asyncio.run(Up(corpus, tenant=tenant, once=once).run())


class Up:
    """One run of `up`: starts, shows, waits, stops."""

    def __init__(self, corpus: Corpus | None, *, tenant: str, once: bool) -> None:
        self._corpus = corpus
        self._tenant = tenant
        self._once = once
        self._stack: Stack | None = None
        self._fleet: Fleet | None = None
        self._gateway: Gateway | None = None
        self._url = ""  # of the gateway
        self._stopping = False
        self._ending = Ending()

    async def run(self) -> int:
        """Return the exit code; raise what kept it from starting, or from going on."""
        main = asyncio.current_task()
        assert main is not None
        loop = asyncio.get_running_loop()

        def end(*_: object) -> None:
            # The interpreter calls this between two instructions, also when the event loop is what hangs.
            self._ending.within(HARD_STOP)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self._leave)  # the second time is at once
            loop.call_soon_threadsafe(self._signal, main)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        try:
            return await self._run()
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            main.uncancel()
            console.note("stopping …")
            return 0
        finally:
            self._stopping = True
            await self._stop()

    def _signal(self, main: asyncio.Task[object]) -> None:
        self._stopping = True
        main.cancel()

    def _leave(self, *_: object) -> None:
        # The servers are in sessions of their own and end cleanly by SIGINT; the next start ends those that are left.
        for pid in self._stack.pids().values() if self._stack else ():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)
        os._exit(130)

    async def _run(self) -> int:
        began = time.monotonic()
        found = await self._start()
        console.note(f"up after {time.monotonic() - began:.0f} s")
        if not self._once:
            await self._open(found)
        garbage.settle()
        code = 0
        if self._corpus is not None:
            from streams.cli import connect  # noqa: PLC0415

            async with connect.client(found) as client:
                code = await self._show(client, found, self._corpus)
        if self._once:
            return code
        await self._hints(found)
        await self._watch()
        return 1

    async def _start(self) -> Settings:
        from streams.adapters import profiles  # noqa: PLC0415
        from streams.cli.topics import prepare  # noqa: PLC0415
        from streams.embedded import stack  # noqa: PLC0415

        given = settings.given()
        profiles.load(given.profiles)  # a wrong one is told before any server starts
        # A folder that is in use is refused at once; that is then the only line.
        telling = asyncio.get_running_loop().call_later(
            0.3, console.note, f"starting servers, data in {given.data_dir}"
        )
        try:
            self._stack = await stack.start(
                given.data_dir,
                kafka=str(given.kafka) if given.kafka else None,
                qdrant=given.qdrant,
                postgres=given.postgres,
                redis=given.redis,
                broker=given.broker,  # type: ignore[arg-type]  # checked when it was read
                progress=console.note,
            )
        finally:
            telling.cancel()
        for name, place in vars(self._stack.endpoints).items():
            console.note(f"  {name:<8} {_without_password(place)}")
        found = settings.load()
        found = replace(found, session_timeout=min(found.session_timeout, SESSION))
        await prepare(found)
        console.note("starting processors")
        from streams.fleet import Fleet  # noqa: PLC0415

        self._fleet = Fleet(found)
        await self._fleet.start()
        await self._fleet.ready()
        return found

    async def _open(self, found: Settings) -> None:
        """Start the HTTP gateway; where nobody named its address, one that is taken only costs the gateway."""
        from streams.gateways.http.server import ADDRESS, Gateway  # noqa: PLC0415

        gateway = Gateway(found)
        try:
            self._url = await gateway.start()
        except ConfigurationError as error:
            if found.http is not None:
                raise
            console.note(f"no HTTP gateway on {ADDRESS[0]}:{ADDRESS[1]}: {error}")
            return
        self._gateway = gateway

    async def _show(self, client: Client, found: Settings, corpus: Corpus) -> int:
        """Ingest, ask, print; return 1 when anything of it failed."""
        from streams.cli import answers, mirroring  # noqa: PLC0415

        code = 0
        for source in corpus.sources:
            outcome = await mirroring.run(client, found, source, wait=True, timeout=120)
            console.note(outcome.summary(waited=True))
            code |= not outcome.clean
        if corpus.remark:
            console.note(corpus.remark)
        for question in corpus.questions():
            reply = await client.ask(question, tenant=self._tenant, timeout=10)
            console.say()
            console.say(answers.render(question, reply, width=console.width()))
            code |= reply.error is not None
        return code

    async def _hints(self, found: Settings) -> None:
        tenant = f"--tenant {self._tenant}"
        where = _where()
        console.say()
        console.say("Everything is up; Ctrl-C stops it. From another terminal, in this folder:")
        for line in (
            f'ask "your question" {tenant}',
            f"ingest PATH {tenant} --wait",
            f"show SOURCE/DOC {tenant}",
            "status",
        ):
            console.say(f"  {where}{_program()} {line}")
        if self._gateway is not None:
            from streams.cli.keys import demonstration  # noqa: PLC0415

            key = await demonstration(found, self._tenant)
            console.say(f"Over HTTP, described at {self._url}/openapi.json:")
            console.say(
                f"  curl {self._url}/v1/query -H 'Authorization: Bearer {key}' -d '{{\"text\": \"your question\"}}'"
            )

    async def _watch(self) -> None:
        """Wait until a processor or a server cannot go on; raise RankstreamError that says which."""
        assert self._fleet is not None
        assert self._stack is not None
        watched = {asyncio.create_task(self._fleet.failed()): "a processor"}
        if self._gateway is not None:
            watched[asyncio.create_task(self._gateway.failed())] = "the HTTP gateway"
        try:
            while True:
                done, _ = await asyncio.wait(watched, timeout=1, return_when=asyncio.FIRST_COMPLETED)
                if dead := self._stack.dead():
                    raise RankstreamError("; ".join(dead))
                for task in done:
                    raise RankstreamError(f"{watched[task]} cannot go on: {task.result()}")
        finally:
            for task in watched:
                task.cancel()

    async def _stop(self) -> None:
        if self._fleet is not None:
            try:
                async with asyncio.timeout(FLEET_STOP):
                    parts = [part for part in (self._gateway, self._fleet) if part is not None]
                    await asyncio.gather(*(part.stop() for part in parts))
            except TimeoutError:
                console.note("the processors did not stop in time; what they had in hand comes again")
        if self._stack is not None:
            await self._stack.stop()


def _where() -> str:
    """Return the setting that another command needs to find this one's folder."""
    usual = settings.data_dir() == Path(".rankstream").absolute()
    return "" if usual else f"{settings.DATA_DIR}={settings.data_dir()} "


def _program() -> str:
    """Return how this command is called: by its name where the shell finds that, else by its place."""
    called = Path(sys.argv[0])
    if called.stem == "main":
        return "python -m streams.cli.main"
    found = shutil.which("rankstream")
    if found and Path(found).resolve() == called.resolve():
        return "rankstream"
    return os.path.relpath(called)


def _without_password(place: str) -> str:
    scheme, separator, rest = place.partition("://")
    user, at, host = rest.rpartition("@")
    return f"{scheme}{separator}{user.partition(':')[0]}{at}{host}" if at else place
