"""rankstream evaluate: measures the search on a labelled set, and compares it with an earlier run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from streams import settings
from streams.cli import connect, console
from streams.errors import ConfigurationError, RankstreamError
from streams.settings import Settings

if TYPE_CHECKING:
    from streams.gateways.client import Client
    from streams.quality.dataset import Dataset
    from streams.quality.evaluate import Asks
    from streams.quality.results import QueryResult


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is to be run, and how."""

    profile: str = "general"
    tenant: str | None = None  # `eval-` and the name of the set where absent
    limit: int | None = None
    out: Path | None = None
    against: Path | None = None
    in_process: bool = False
    no_ingest: bool = False
    concurrency: int = 4
    top_k: int = 100
    timeout: float = 10.0
    floored: bool = False


@click.command("evaluate", short_help="Measure the search on a labelled set.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--profile", default="general", show_default=True, help="The configuration of the search.")
@click.option("--tenant", metavar="NAME", help="Whose documents they become; `eval-` and the set's name where absent.")
@click.option("--limit", type=click.IntRange(1), help="Ask the first N questions only; the corpus is always whole.")
@click.option("--out", type=click.Path(path_type=Path), help="Where the results go, a question a line.")
@click.option("--against", type=click.Path(path_type=Path), help="Compare with the results of an earlier run.")
@click.option("--in-process", is_flag=True, help="Run the processors here, without Kafka.")
@click.option("--no-ingest", is_flag=True, help="Leave the index as it is.")
@click.option("--concurrency", default=4, show_default=True, type=click.IntRange(1, 64), help="Questions at once.")
@click.option("--top-k", default=100, show_default=True, type=click.IntRange(1, 100), help="Passages asked for.")
@click.option("--with-floor", "floored", is_flag=True, help="Drop what the profile's floor drops, as callers see it.")
@click.option("--timeout", default=10.0, show_default=True, help="Seconds until a question's deadline.")
def command(folder: Path, **options: Any) -> int:
    """Ask the questions of DIR and print Hit@1, Hit@5, MRR@5, nDCG@10, Recall@10, latency, and what went wrong.

    DIR has corpus.jsonl {"id", "title", "text"}, queries.jsonl {"id", "text"} and qrels.tsv (query-id, doc-id, grade,
    after a header line). Gold may be a section: doc-id#Heading > Sub heading.

    The corpus is published to a tenant of its own first, as far as it is not there. Questions go through the running
    pipeline (`rankstream up --no-docs`); with --in-process through the same processors in this process, on the stores
    of a running `up` or, where none runs, on embedded ones started for it. Latency is what a caller sees at this
    concurrency; for that of a single question say --concurrency 1. The whole ranking is measured, whatever the floor of
    the profile, unless --with-floor says otherwise.
    """
    from streams.quality.dataset import InvalidDataset  # noqa: PLC0415

    try:
        return asyncio.run(run(folder, Options(**options)))
    except InvalidDataset as error:
        for line in error.lines:
            console.note(console.printable(line))
        return 2


async def run(folder: Path, options: Options) -> int:
    """Check, ingest, ask, write, print; return the exit code."""
    from streams.adapters import profiles  # noqa: PLC0415
    from streams.quality import compare, dataset, evaluate, report, results  # noqa: PLC0415

    known = profiles.load(settings.given().profiles).by_name
    if options.in_process and options.profile not in known:
        raise ConfigurationError(f"--profile: there is no profile {options.profile!r}; there are {', '.join(known)}")
    found = dataset.load(folder)
    earlier = results.read(options.against) if options.against else None
    questions = found.questions[: options.limit]
    tenant = options.tenant or f"eval-{found.name}"
    async with (without_bus if options.in_process else over_bus)() as (at, publisher, asks):
        await _check_profile(asks, tenant, options.profile)
        if not options.no_ingest:
            await ingest(at, publisher, found, tenant)
        with console.progress("questions", len(questions)) as advance:
            measured = await evaluate.run(
                asks,
                questions,
                tenant=tenant,
                profile=options.profile,
                passages=options.top_k,
                concurrency=options.concurrency,
                timeout=options.timeout,
                floored=options.floored,
                advance=advance,
            )
    out = options.out or _default_out(at, found.name, options.profile)
    results.write(measured, out)
    console.say(_heading(found, measured, options))
    console.say(report.table(report.summary(measured)))
    if all(not result.passages for result in measured):
        console.note(f"no question found anything: are the documents of {tenant} there?")
    if earlier is not None and options.against is not None:
        console.say()
        console.say(report.comparison(compare.compare(measured, earlier), str(options.against)))
    console.note(f"results: {out}")
    return 0


async def _check_profile(asks: Asks, tenant: str, profile: str) -> None:
    """Ask anything under the profile: only the pipeline knows its own, and a corpus takes long to publish."""
    error = (await asks.ask("profile", tenant=tenant, profile=profile, top_k=1, timeout=5.0)).error
    if error is not None and error.field == "profile":
        raise ConfigurationError(f"--profile: {error.message}")


Opened = tuple[Settings, "Client", "Asks"]


@asynccontextmanager
async def over_bus() -> AsyncIterator[Opened]:
    found = settings.load()
    async with connect.client(found) as client:
        yield found, client, client


@asynccontextmanager
async def without_bus() -> AsyncIterator[Opened]:
    from streams.quality import stores  # noqa: PLC0415
    from streams.quality.evaluate import WithoutBus  # noqa: PLC0415
    from streams.quality.in_process import InProcess  # noqa: PLC0415

    async with stores.at_hand(console.note) as found, await InProcess.open(found) as pipeline:
        # Of a client, publishing takes `deliver_many` alone, which the pipeline has as well.
        yield found, cast("Client", pipeline), WithoutBus(pipeline)


async def ingest(found: Settings, client: Client, data: Dataset, tenant: str) -> None:
    from streams.cli import mirroring  # noqa: PLC0415

    source = mirroring.Source.of(data.corpus, tenant=tenant, name=data.name)
    again = found.postgres is not None and not await _has_documents(found, tenant)
    outcome = await mirroring.run(client, found, source, wait=True, timeout=120, again=again, allow_mass_delete=True)
    console.note(outcome.summary(waited=True))
    if not outcome.clean:
        raise RankstreamError(
            "not measured, as part of the corpus is not searchable; --no-ingest measures all the same"
        )


async def _has_documents(found: Settings, tenant: str) -> bool:
    """Tell whether a tenant has anything in the database, whatever is remembered of what was published."""
    from streams.adapters.postgres_generations import PostgresGenerations  # noqa: PLC0415
    from streams.cli import stored  # noqa: PLC0415

    async with stored.database(found) as pool:
        generations = PostgresGenerations(pool=pool)
        counts = await generations.counts((await generations.live()).id)
    return any(count.tenant == tenant for count in counts)


def _default_out(found: Settings, name: str, profile: str) -> Path:
    return found.data_dir / "evaluations" / f"{name}-{profile}-{time.strftime('%Y%m%d-%H%M%S')}.jsonl"


def _heading(found: Dataset, measured: list[QueryResult], options: Options) -> str:
    how = "in process" if options.in_process else "through Kafka"
    asked = f"{len(measured)} of {len(found.questions)} questions"
    left_out = f", {found.without_gold} without gold left out" if found.without_gold else ""
    return (
        f"{found.name}: {asked}{left_out}; {found.documents} documents\n"
        f"profile {options.profile}, {options.top_k} passages a question, {how}, {options.concurrency} at once"
    )
