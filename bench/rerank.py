"""What a cross-encoder of bge-reranker-v2-m3's size costs, and how soon the first answer is there beside it.

Its weights are random: they take the same time, and say nothing. Needs the extra `bge`, and 6 GB of memory.
"""

from __future__ import annotations

import asyncio
import importlib.util
import random
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from bench import corpus
from bench.figures import Figure, median
from bench.system import System, servers
from streams.adapters.flag_reranker import FlagReranker
from streams.errors import RankstreamError
from streams.fleet import Fleet
from streams.gateways.client import Client
from streams.settings import Settings

DEPTHS = (5, 10, 15)
QUESTIONS = 3  # a depth
WORDS = 300  # tokens of a passage
LONGEST = 60.0  # seconds a question may take
DEFAULT = 5.0  # seconds that a profile gives a question
PAGES = 30


async def measure() -> list[Figure]:
    """Measure the model alone, then questions through the whole pipeline."""
    if not (importlib.util.find_spec("torch") and importlib.util.find_spec("FlagEmbedding")):
        print("  skipped: torch is not installed; run `pip install '.[bge]'`")
        return []
    from tests.bge import cross_encoder

    with tempfile.TemporaryDirectory(prefix="rankstream-bench-") as place:
        folder = cross_encoder.save(Path(place) / "random-568M", size=cross_encoder.LARGE)
        # The model alone first, so that no other process shares the cores with it.
        figures = await _alone(str(folder), cross_encoder.TEXT.split())
        return figures + await _in_pipeline(str(folder), Path(place))


async def _alone(folder: str, words: Sequence[str]) -> list[Figure]:
    began = time.perf_counter()
    reranker = await asyncio.to_thread(FlagReranker, folder)
    figures = [Figure(name="loading, from the disk's cache", value=time.perf_counter() - began, unit="s")]
    chance = random.Random(7)
    try:
        for depth in DEPTHS:
            walls, works = [], []
            for _ in range(QUESTIONS):
                passages = [" ".join(chance.choices(words, k=WORDS)) for _ in range(depth)]
                began, worked = time.perf_counter(), time.process_time()
                for start in range(0, depth, reranker.at_once or depth):
                    await reranker.score("how long does it take", passages[start:][: reranker.at_once], seconds=LONGEST)
                walls.append((time.perf_counter() - began) / depth)
                works.append((time.process_time() - worked) / depth)
            note = f"depth {depth}, {QUESTIONS} questions; {median(works):.2f} s of a core"
            figures.append(Figure(name=f"a passage of {WORDS} tokens", value=median(walls), unit="s", note=note))
    finally:
        await reranker.close()
    return figures


async def _in_pipeline(folder: str, place: Path) -> list[Figure]:
    profiles = place / "profiles"
    profiles.mkdir()
    for depth in DEPTHS:
        legs = 'legs = ["dense", "sparse"]\nlevels = ["parent"]\ncandidates = 30\nscore = "fused"\nbudget = 60.0'
        profile = f'name = "depth-{depth}"\nsummary = "bench"\nrerank_depth = {depth}\ncache_seconds = 0\n{legs}\n'
        (profiles / f"depth-{depth}.toml").write_text(profile)
    figures = []
    async with _running(reranker=folder, profiles=profiles) as system:
        await system.publish(corpus.demo_pages())
        source = corpus.pages()
        await system.publish([next(source) for _ in range(PAGES)])
        questions = corpus.questions()
        await system.client.ask(next(questions), tenant=corpus.TENANT)  # the legs are warm then
        for depth in DEPTHS:
            firsts, lasts, read = [], [], []
            for _ in range(QUESTIONS):
                first, last, scored = await _timed(system, next(questions), f"depth-{depth}", LONGEST)
                firsts.append(first * 1000)
                lasts.append(last * 1000)
                read.append(scored)
            note = f"depth {depth}, {QUESTIONS} questions; read {min(read)} to {max(read)}"
            figures.append(Figure(name="progressive: first answer", value=median(firsts), unit="ms", note=note))
            figures.append(Figure(name="progressive: reranked answer", value=median(lasts), unit="ms", note=note))
        in_time = [await _timed(system, next(questions), "depth-15", DEFAULT) for _ in range(QUESTIONS)]
    note = f"{QUESTIONS} questions; last answer after {median([last for _, last, _ in in_time]):.2f} s"
    read = [scored for _, _, scored in in_time]
    figures.append(Figure(name=f"read of 15 within {DEFAULT:g} s", value=median(read), unit="passages", note=note))
    return figures


@asynccontextmanager
async def _running(**fields: object) -> AsyncIterator[System]:
    async with servers() as found:
        settings: Settings = replace(found, **fields)  # type: ignore[arg-type]
        fleet = Fleet(settings)
        try:
            await fleet.start()
            await fleet.ready()
            async with Client(bootstrap=settings.kafka or "", fast_fetch=settings.fast_fetch) as client:
                yield System(settings=settings, client=client, broker="tansu" if settings.fast_fetch else "kafka")
        finally:
            await fleet.stop()


async def _timed(system: System, text: str, profile: str, seconds: float) -> tuple[float, float, int]:
    """Return the seconds to the first and to the last revision, and how many passages were read."""
    began = time.perf_counter()
    times, scored = [], 0
    async for reply in system.client.ask_stream(text, tenant=corpus.TENANT, profile=profile, timeout=seconds):
        if reply.error is not None:
            raise RankstreamError(f"{profile}: {reply.error.message}")
        times.append(time.perf_counter() - began)
        scored = reply.legs["rerank"].candidates if "rerank" in reply.legs else 0
    return times[0], times[-1], scored
