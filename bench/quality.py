"""Quality of every profile on labelled sets, and of what was fitted on sets that it has not seen.

`python -m bench.quality FOLDER… [--limit N]` writes QUALITY.md. The weights of P(relevant) that `general` uses on a set
are fitted to the other sets alone, so its row says what a set is worth that nobody has seen. The stores are those at
hand (a running `rankstream up --no-docs`), or embedded ones started for it; each set becomes a tenant of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from bench import quality_page
from streams import settings
from streams.adapters import embedders
from streams.cli import console
from streams.cli.evaluate import ingest, without_bus
from streams.domain.relevance import Weights
from streams.errors import RankstreamError
from streams.quality import calibrate, dataset, evaluate
from streams.quality.dataset import Dataset
from streams.quality.fitting import Labelled
from streams.quality.results import QueryResult

FOLDER = Path(__file__).parent
PROFILES = ("general", "dense", "bm25", "rrf", "knowledge-base", "support")

Results = Mapping[str, Sequence[QueryResult]]  # by profile


async def run(folders: Sequence[Path], limit: int | None, own: Path) -> None:
    """Measure all sets and write the page."""
    sets = [dataset.load(folder) for folder in folders]
    seen = await _seen(sets, limit)
    measured: dict[str, Results] = {}
    unanswered: dict[str, float] = {}
    for number, each in enumerate(sets):
        others = [labelled for place, labelled in enumerate(seen) if _other(sets, place, number)]
        models = calibrate.models(others)
        _write_weights(own, Weights(embedder=embedders.DEFAULT, fitted_on=("the other sets",), models=models))
        measured[each.name] = await _measured(each, limit)
        unanswered[each.name] = calibrate.told_apart(models, seen[number])
        console.note(f"{each.name}: done")
    (FOLDER / "QUALITY.md").write_text(quality_page.page(measured, unanswered, PROFILES, _command(folders, limit)))


def _other(sets: Sequence[Dataset], place: int, number: int) -> bool:
    """Tell whether a set is another one; sets that begin with the same word are cut from one corpus."""
    return sets[place].name.split("_")[0].split("-")[0] != sets[number].name.split("_")[0].split("-")[0]


def _command(folders: Sequence[Path], limit: int | None) -> str:
    some = f" --limit {limit}" if limit else ""
    return f"python -m bench.quality {' '.join(folder.name for folder in folders)}{some}"


async def _seen(sets: Sequence[Dataset], limit: int | None) -> list[list[Labelled]]:
    """Ingest all sets and return what the running search sees of their questions."""
    seen = []
    async with without_bus() as (at, publisher, asks):
        for each in sets:
            await ingest(at, publisher, each, f"eval-{each.name}")
            with console.progress(each.name, len(each.questions[:limit])) as advance:
                seen.append(
                    await calibrate.labelled(
                        asks, each.questions[:limit], tenant=f"eval-{each.name}", profile="general", advance=advance
                    )
                )
    return seen


async def _measured(each: Dataset, limit: int | None) -> Results:
    """Ask the questions of a set under every profile, with the weights that are there now."""
    found = {}
    async with without_bus() as (_, _, asks):
        for profile in PROFILES:
            found[profile] = await evaluate.run(
                asks, each.questions[:limit], tenant=f"eval-{each.name}", profile=profile, timeout=30.0
            )
    return found


def _write_weights(own: Path, weights: Weights) -> None:
    folder = own / "weights"
    folder.mkdir(exist_ok=True)
    (folder / "weights.json").write_bytes(msgspec.json.encode(weights))


def main(arguments: Sequence[str]) -> int:
    """Run; return 2 where a set is wrong."""
    parser = argparse.ArgumentParser(prog="bench.quality", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--limit", type=int)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as own:
        shutil.copytree(FOLDER / "profiles", own, dirs_exist_ok=True)
        os.environ[settings.PROFILES] = own
        try:
            asyncio.run(run(given.folders, given.limit, Path(own)))
        except RankstreamError as error:
            console.note(f"bench.quality: {error}")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
