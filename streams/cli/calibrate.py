"""rankstream calibrate: fits the weights by which a profile turns the legs' signals into P(relevant)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from streams.cli import console
from streams.cli.evaluate import Options, ingest, over_bus, without_bus
from streams.errors import RankstreamError

if TYPE_CHECKING:
    from streams.domain.relevance import Weights
    from streams.quality.calibrate import LeftOut


@click.command("calibrate", short_help="Fit P(relevant) to labelled sets.")
@click.argument("folders", metavar="DIR…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Where the weights go (JSON).")
@click.option("--profile", default="general", show_default=True, help="The search whose embedder is fitted.")
@click.option("--limit", type=click.IntRange(1), help="Ask the first N questions of each set only.")
@click.option("--in-process", is_flag=True, help="Run the processors here, without Kafka.")
@click.option("--no-ingest", is_flag=True, help="Leave the index as it is.")
def command(
    folders: tuple[Path, ...], *, out: Path, profile: str, limit: int | None, in_process: bool, no_ingest: bool
) -> int:
    """Ask the questions of labelled sets (as `evaluate` reads them), fit the weights to their answers, write them.

    Each set counts the same, however large. What is fitted belongs to the embedder that answered. With three sets or
    more it prints what a model fitted to the others reaches on each (nDCG@10), beside each leg alone and rank fusion.
    """
    options = Options(profile=profile, limit=limit, in_process=in_process, no_ingest=no_ingest)
    weights = asyncio.run(run(folders, options))
    out.write_bytes(msgspec.json.format(msgspec.json.encode(weights), indent=1) + b"\n")
    console.note(f"weights: {out}")
    return 0


async def run(folders: tuple[Path, ...], options: Options) -> Weights:
    """Collect and fit."""
    from streams.domain import relevance  # noqa: PLC0415
    from streams.quality import calibrate, dataset  # noqa: PLC0415

    sets = [dataset.load(folder) for folder in folders]
    seen = []
    async with (without_bus if options.in_process else over_bus)() as (at, publisher, asks):
        for each in sets:
            tenant = f"eval-{each.name}"
            if not options.no_ingest:
                await ingest(at, publisher, each, tenant)
            questions = each.questions[: options.limit]
            with console.progress(each.name, len(questions)) as advance:
                seen.append(
                    await calibrate.labelled(asks, questions, tenant=tenant, profile=options.profile, advance=advance)
                )
            if not any(question.grades.any() for question in seen[-1]):
                raise RankstreamError(f"{each.name}: no question found any of its documents; nothing can be fitted")
    if len(sets) > 2:
        _say_left_out([each.name for each in sets], calibrate.left_out(seen))
    return relevance.Weights(
        embedder=calibrate.embedder(seen),
        fitted_on=tuple(each.name for each in sets),
        models=calibrate.models(seen),
    )


def _say_left_out(names: list[str], rows: list[LeftOut]) -> None:
    width = max(map(len, names))
    console.say(f"{'fitted to the other sets':{max(width, 24)}}  dense  bm25   rrf    model  to the best leg")
    for name, row in zip(names, rows, strict=True):
        gain = row.model - max(row.dense, row.sparse)
        figures = "  ".join(f"{value:.3f}" for value in (row.dense, row.sparse, row.rrf, row.model))
        console.say(f"{name:{max(width, 24)}}  {figures}  {gain:+.3f}")
