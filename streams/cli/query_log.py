"""rankstream query-log: what was asked and answered."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import click

from streams import settings
from streams.cli import console, durations


@click.group("query-log", short_help="Draw a random sample of questions, for labelling.")
def command() -> None:
    """Look at what was asked and answered; it is kept for 90 days, without secrets."""


def _since(_: click.Context, __: click.Parameter, text: str) -> float:
    found = durations.seconds(text)
    if found is None:
        raise click.BadParameter(f"{text!r} must be a number and s, m, h or d, such as 7d")
    return found


@command.command("sample")
@click.option(
    "--n", "size", default=100, show_default=True, type=click.IntRange(1, 100_000), help="How many questions."
)
@click.option("--seed", default=1, show_default=True, help="The same seed draws the same questions.")
@click.option(
    "--since",
    default="7d",
    show_default=True,
    callback=_since,
    metavar="TIME",
    help="Asked in the last …: 90m, 12h, 7d.",
)
@click.option("--tenant", metavar="NAME", help="Of this organization only.")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="A new folder for queries.jsonl and qrels.tsv.",
)
def sample(*, size: int, seed: int, since: float, tenant: str | None, out: Path) -> int:
    """Draw questions at random, each as likely as any other, and write them as a set to be labelled.

    Fill in the grades of qrels.tsv (0: no answer, 1 or more: the better the higher; add a line for a document that
    should have been found), put the documents beside it as corpus.jsonl, and `rankstream evaluate` measures on it.
    """
    from streams.gateways import query_log  # noqa: PLC0415
    from streams.quality import sample as writing  # noqa: PLC0415

    found = settings.load()
    drawn = asyncio.run(
        query_log.sample(
            settings.need(found.kafka, settings.KAFKA), size=size, seed=seed, since=time.time() - since, tenant=tenant
        )
    )
    if not drawn.questions:
        off = "" if found.query_log else f"; {settings.QUERY_LOG} is off"
        console.note(f"no question was logged in that time{off}")
        return 1
    writing.write(drawn, out)
    unanswered = len(drawn.questions) - len(drawn.replies)
    console.say(f"{len(drawn.questions)} of {drawn.seen} questions, {unanswered} without an answer in the log: {out}")
    return 0
