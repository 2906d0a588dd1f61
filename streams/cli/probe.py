"""rankstream probe: the whole promise, from outside: a document is found, its edit is found, its deletion is not."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from streams import secret_urls, settings
from streams.cli import connect, console
from streams.errors import ConfigurationError, RankstreamError

if TYPE_CHECKING:
    from streams.domain.canary import Line, Question
    from streams.gateways.probing import Door

_log = logging.getLogger(__name__)

LONGEST = 600.0  # seconds of a run: what hangs is a failure too
ASKED = ("text", "tenant", "agent", "profile", "expect", "gone", "says")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the command line says of each run."""

    found: settings.Settings
    tenant: str
    questions: tuple[Question, ...]
    url: str | None
    key: str | None
    timeout: float
    receipt: float
    log: Path


@click.command("probe", short_help="Ask as agents do, and say whether all is well.")
@click.option("--tenant", default="rankstream-probe", show_default=True, help="Of the canary; nobody else's.")
@click.option(
    "--questions", "path", type=click.Path(path_type=Path), help='More questions: {"text", "tenant", "expect"} a line.'
)
@click.option("--url", help="Ask this HTTP gateway instead of Kafka; the canary's tenant is then the key's.")
@click.option("--key-file", type=click.Path(path_type=Path), help="With --url: a file that holds the key.")
@click.option("--timeout", default=5.0, show_default=True, type=click.FloatRange(0.1, 60), help="A question's seconds.")
@click.option(
    "--receipt", default=60.0, show_default=True, type=click.FloatRange(1, 120), help="Seconds to be searchable."
)
@click.option("--every", type=click.FloatRange(1), metavar="SECONDS", help="Run again and again, until a signal.")
@click.option(
    "--log", type=click.Path(path_type=Path), help="Where runs are kept.  [default: RANKSTREAM_DATA/probe.jsonl]"
)
@click.option("--summary", is_flag=True, help="Tell of the last day's runs, and run nothing.")
def command(
    *,
    tenant: str,
    path: Path | None,
    url: str | None,
    key_file: Path | None,
    timeout: float,
    receipt: float,
    every: float | None,
    log: Path | None,
    summary: bool,
) -> int:
    """Publish a document, ask for it, edit it, find the new text, delete it, find it gone. A line of JSON a run.

    Exit 0: every answer came by its deadline, was right and not degraded; 1: not so. Two runs of the same tenant at the
    same time disturb each other.
    """
    if (url is None) != (key_file is None):
        raise click.UsageError("--url and --key-file go together: the gateway asks for a key")
    connect.check_names(tenant)
    if url is not None:
        _check_url(url)
    found = settings.load()
    log = log or found.data_dir / "probe.jsonl"
    if summary:
        return _summary(log)
    if url is None:
        settings.need(found.kafka, settings.KAFKA)
    asked = Asked(
        found=found,
        tenant=tenant,
        questions=() if path is None else _questions(path),
        url=url,
        key=None if key_file is None else _key(key_file),
        timeout=timeout,
        receipt=receipt,
        log=log,
    )
    return asyncio.run(_once(asked) if every is None else _always(asked, every))


def _summary(log: Path) -> int:
    from streams.cli import probe_summary  # noqa: PLC0415

    told = list(probe_summary.lines(log))
    for line in told:
        console.say(line)
    return 0 if told[-1] == probe_summary.WELL else 1


async def _once(asked: Asked) -> int:
    return 0 if (await _run(asked))["outcome"] == "passed" else 1


async def _always(asked: Asked, every: float) -> int:
    """Run until a signal; what a day came to is said after the first run of the next one (UTC), whoever runs it."""
    from streams.cli import probe_summary  # noqa: PLC0415  the help must not wait for the schemas
    from streams.domain import canary  # noqa: PLC0415
    from streams.gateways import probe_log  # noqa: PLC0415
    from streams.telemetry import signals  # noqa: PLC0415

    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    unwatch = signals.watch(partial(probe_summary.readings, asked.log, time.time()))
    ending = asyncio.create_task(ended.wait())
    runs = probe_log.read(asked.log)
    told = canary.day_of(runs[-1]["at"] if runs else time.time())
    try:
        while not ended.is_set():
            began = time.monotonic()
            running = asyncio.create_task(_run(asked))
            await asyncio.wait([running, ending], return_when=asyncio.FIRST_COMPLETED)
            if ended.is_set() and not running.done():
                running.cancel()  # the canary stays; the next run replaces it
                await asyncio.gather(running, return_exceptions=True)
                break
            running.result()
            if (today := canary.day_of(time.time())) > told:
                told = today
                summary = list(probe_summary.lines(asked.log))
                console.say(json.dumps({"summary": summary}))
                _log.info("%s", "; ".join(summary))  # for those who read logs where telemetry brings them
            await asyncio.wait([ending], timeout=max(0.0, began + every - time.monotonic()))
    finally:
        ending.cancel()
        unwatch()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
    return 0


async def _run(asked: Asked) -> Line:
    """Run once, print and keep the line; that nothing can be reached is a failure like any other."""
    from streams.domain import canary  # noqa: PLC0415
    from streams.gateways import probe_log  # noqa: PLC0415
    from streams.gateways.probing import Probe  # noqa: PLC0415
    from streams.telemetry import signals  # noqa: PLC0415
    from streams.telemetry.instruments import PROBE_DURATION  # noqa: PLC0415

    at, began = time.time(), time.monotonic()
    bird = canary.Canary(tenant=asked.tenant, version=int(at * 1000))
    try:
        async with asyncio.timeout(LONGEST), _door(asked) as door:
            checks = await Probe(door, timeout=asked.timeout, receipt=asked.receipt).run(bird, asked.questions)
    except (RankstreamError, OSError, TimeoutError) as error:
        said = " ".join(str(error).split()) or f"the run took more than {LONGEST:g} s"
        checks = [canary.Check(name="connect", milliseconds=(time.monotonic() - began) * 1000, problems=(said,))]
    seconds = time.monotonic() - began
    before = probe_log.read(asked.log)
    line = canary.line(checks, at=at, via=asked.url or "kafka", seconds=seconds, before=before)
    console.say(probe_log.written(line))
    probe_log.add(asked.log, line, before)
    signals.record(PROBE_DURATION, seconds, {"outcome": line["outcome"]})
    return line


@asynccontextmanager
async def _door(asked: Asked) -> AsyncIterator[Door]:
    if asked.url is not None:
        from streams.gateways import probing_http  # noqa: PLC0415

        async with probing_http.opened(asked.url, asked.key or "") as door:
            yield door
    else:
        from streams.gateways.probing import KafkaDoor  # noqa: PLC0415

        async with connect.client(asked.found) as client:
            yield KafkaDoor(client)


def _questions(path: Path) -> tuple[Question, ...]:
    """Read the questions of an operator; raise ConfigurationError that names the line."""
    from streams.domain.canary import Question  # noqa: PLC0415

    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"--questions {path} cannot be read: {error}") from error
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            fields: Any = json.loads(line)
        except ValueError as error:
            raise ConfigurationError(f"--questions {path} line {number} is not JSON: {error}") from error
        texts = isinstance(fields, dict) and all(isinstance(each, str) for each in fields.values())
        if not texts or not {"text", "tenant"} <= fields.keys() <= set(ASKED):
            raise ConfigurationError(
                f"--questions {path} line {number} needs text and tenant, and may have "
                f"{', '.join(ASKED[2:])}, all of them texts"
            )
        found.append(Question(**fields))
    return tuple(found)


def _check_url(url: str) -> None:
    """Raise ConfigurationError for what is no address of a gateway: it would look like one that is down."""
    try:
        at = urlsplit(url)
        good = at.scheme in ("http", "https") and bool(at.hostname) and at.port != 0 and not (at.query or at.fragment)
    except ValueError:  # a port that is none
        good = False
    if not good or any(sign.isspace() or not sign.isprintable() for sign in url):
        raise ConfigurationError(
            f"--url {secret_urls.masked(url)!r} is no gateway's address, such as http://127.0.0.1:8400"
        )


def _key(path: Path) -> str:
    try:
        key = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"--key-file {path} cannot be read: {error}") from error
    if not key.isascii() or not key.isprintable() or len(key.split()) != 1:
        raise ConfigurationError(f"--key-file {path} must hold one key, on one line, and nothing else")
    return key
