"""rankstream reindex: another index beside the live one, from the log, without a moment in which nothing answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from streams import settings
from streams.cli import console
from streams.errors import ConfigurationError, Invalid

if TYPE_CHECKING:
    from streams.cli.generations import Reindex, Standing

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any])


@click.group("reindex", short_help="Build another index beside the live one, and switch to it.")
def command() -> None:
    """Fill another generation of all indexes from the log `documents`, beside the live one, and switch to it.

    Both answer questions (`rankstream ask --generation`), and changes go to both.
    """


@command.command("start")
@click.option("--model", metavar="NAME", help="The main embedder; the live generation's where absent.")
@click.option("--also", multiple=True, metavar="NAME", help="A further embedder, or `none`; the live one's if absent.")
@click.option("--chunker", metavar="SIZES", help="How texts are cut: child_max=600,child_target=450, or `default`.")
@click.option("--rebuild", is_flag=True, help="Even if it is made as the live one is.")
@click.option("--fresh", is_flag=True, help="Take over no vector: embed everything again.")
def start(model: str | None, also: tuple[str, ...], chunker: str | None, rebuild: bool, fresh: bool) -> None:
    """Begin to build a generation."""
    names = [name for name in also if name != "none"] if also else None

    async def begin(reindex: Reindex) -> None:
        made = await reindex.start(model=model, also=names, sizes=chunker, rebuild=rebuild, fresh=fresh)
        console.say(f"{made.id} is being built: {' and '.join(map(str, made.models))}, chunker {made.chunker}")
        console.say(
            f"`rankstream reindex status` shows how far it is, `rankstream ask --generation {made.id}` asks it, "
            "`rankstream reindex promote --wait` makes it live"
        )

    _run(begin)


@command.command("status")
def status() -> None:
    """Show the generations, how far each is, and which documents failed in it."""
    for line in _run(_status):
        console.say(line)


def _switching(*, timeout: float) -> Callable[[Command], Command]:
    """Return the options of what makes another generation the live one; `timeout`: seconds, unless told."""

    def decorated(function: Command) -> Command:
        for option in (
            click.option(
                "--recent",
                type=click.FloatRange(min=0),
                default=0.0,
                help="What was accepted in the last SECONDS may follow.",
                metavar="SECONDS",
            ),
            click.option("--anyway", is_flag=True, help="Even if documents are missing or failed in it."),
            click.option("--timeout", default=timeout, show_default=True, help="With --wait: seconds."),
            click.option(
                "--wait", is_flag=True, help="Wait until it has everything, in place of saying what it lacks."
            ),
        ):
            function = option(function)
        return function

    return decorated


@command.command("promote")
@click.argument("generation", required=False)
@_switching(timeout=3600.0)
def promote(generation: str | None, wait: bool, timeout: float, anyway: bool, recent: float) -> None:
    """Make GENERATION (the one that is being built) the live one, once it has all that is searchable."""

    async def switch(reindex: Reindex) -> None:
        name = generation or await reindex.building()
        _switched(name, await reindex.promote(name, wait=wait, seconds=timeout, anyway=anyway, recent=recent))

    _run(switch)


@command.command("rollback")
@_switching(timeout=60.0)
def rollback(wait: bool, timeout: float, anyway: bool, recent: float) -> None:
    """Make the generation live again that was before; it was kept up to date."""

    async def switch(reindex: Reindex) -> None:
        name = await reindex.previous()
        _switched(name, await reindex.promote(name, wait=wait, seconds=timeout, anyway=anyway, recent=recent))

    _run(switch)


@command.command("drop")
@click.argument("generation")
def drop(generation: str) -> None:
    """Remove GENERATION, which must not be live, with all its rows and vectors."""

    async def remove(reindex: Reindex) -> None:
        removed = await reindex.drop(generation)
        console.say(f"{generation} is dropped, with {removed} documents")

    _run(remove)


def _switched(name: str, before: str) -> None:
    console.say(f"{name} is live; {before} is kept up to date until `rankstream reindex drop {before}`")


async def _status(reindex: Reindex) -> list[str]:
    standings = await reindex.standings()
    head = ("generation", "state", "models", "chunker", "ready", "behind", "failed", "log")
    rows: list[tuple[str, ...]] = [head, *(_row(each) for each in standings)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    for each in standings:
        # While the log is read they are many, and on their way.
        missing = each.missing if each.log is None or each.log.records == 0 else ()
        told = [*(("failed", one) for one in each.failures), *(("missing", one) for one in missing)]
        for what, one in told:
            name = f"{one.tenant} {one.source}/{one.doc_id} version {one.version}"
            reason = f": {one.reason}" if one.reason else ""
            lines.append(console.printable(f"{what} in {each.generation.id}: {name}{reason}"))
    return lines


def _row(standing: Standing) -> tuple[str, ...]:
    generation, progress, log = standing.generation, standing.progress, standing.log
    said = "-"
    if log is not None:
        said = "unknown" if log.records is None else f"{log.records} records behind"
        if log.state in ("Empty", "Dead"):
            said += ", nobody replays: `rankstream run replay`"
    models = ", ".join(model.name for model in generation.models)
    counts = (progress.ready, progress.behind, progress.failed)
    return (generation.id, generation.state, models, generation.chunker or "-", *map(str, counts), said)


def _run(work: Callable[[Any], Awaitable[T]]) -> T:
    from streams.cli import generations  # noqa: PLC0415

    async def run() -> T:
        async with generations.opened(settings.load()) as reindex:
            return await work(reindex)

    try:
        return asyncio.run(run())
    except Invalid as error:
        raise ConfigurationError(f"--{error}") from error
