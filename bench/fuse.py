"""fuse: merging, scoring and ordering 5 lists of 100 candidates, none of which two legs share; and the fence.

`ranking.rank` is timed alone, as the handler calls it after the fence. It computes and waits for nothing, so that its
processor time counts: what others do on the machine meanwhile adds little. Then the fence on Postgres, for as many ids.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Mapping, Sequence

from bench import filling, system
from bench.figures import Figure, Promise, median, percentile
from bench.synthetic import Base
from schemas.graph import Fact
from schemas.queries import Filters, Hit, Leg, LegResult, PreparedQuery
from streams.adapters import postgres, profiles
from streams.adapters.passages import PostgresPassages
from streams.domain import ranking
from streams.domain.scope import Scope
from streams.domain.versions import LivePassage

LEGS: tuple[Leg, ...] = ("dense", "sparse", "fulltext", "qa", "graph")
CANDIDATES = 100  # a leg
WORDS = 400  # of each passage
TOP = 5
TERMS = 8  # of the question
ROUNDS = 300
FENCE_ROUNDS = 60
PROMISE = Promise(bound=2.0)
_SEED = 20_240_503


async def measure() -> list[Figure]:
    """Time the ranking in three settings, in turn, and the fence."""
    by_name, (weights,) = profiles.shipped(), profiles.weights().values()
    results, live, query = searched(weights.embedder)

    def ranked(profile: str, *, explain: bool = False) -> Callable[[], ranking.Ranked]:
        settings = {"profile": by_name[profile], "weights": weights, "explain": explain}
        return lambda: ranking.rank(query, results, live, top_k=TOP, **settings)  # type: ignore[arg-type]

    sides = {
        "general": ranked("general"),
        "general with explain": ranked("general", explain=True),
        "support": ranked("support"),
    }
    found = timed(sides)
    return [
        Figure(
            name=f"rank {len(LEGS)} × {CANDIDATES} candidates, {name}, p50",
            value=median(values),
            unit="ms",
            promise=PROMISE,
            note=f"p95 {percentile(values, 0.95):.2f}, least {min(values):.2f} ms, of {len(values)}",
        )
        for name, values in found.items()
    ] + [await fence()]


def timed(sides: Mapping[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Return the milliseconds of processor time of every side, called in turn."""
    took: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(ROUNDS):
        for name in list(sides) if number % 2 else list(sides)[::-1]:
            began = time.thread_time()
            sides[name]()
            took[name].append((time.thread_time() - began) * 1000)
    return {name: values[ROUNDS // 10 :] for name, values in took.items()}


def searched(embedder: str) -> tuple[dict[Leg, LegResult], dict[str, LivePassage], PreparedQuery]:
    """Return what five legs found, the passages behind it, and the question."""
    chance = random.Random(_SEED)
    base = Base("fuse", len(LEGS) * CANDIDATES)
    words = " ".join(base.text("document", number).body for number in range(20)).split()
    results: dict[Leg, LegResult] = {}
    live: dict[str, LivePassage] = {}
    for leg in LEGS:
        ids = [str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(CANDIDATES)]
        scores = sorted((chance.uniform(0.2, 0.9) for _ in ids), reverse=True)
        hits = tuple(Hit(chunk_id=chunk, score=score) for chunk, score in zip(ids, scores, strict=True))
        facts = [
            Fact(subject=f"A{place}", label="uses", object=f"B{place}", chunk_id=chunk, score=0.5)
            for place, chunk in enumerate(ids[:12])
        ]
        results[leg] = LegResult(
            query_id="q",
            ticket="q",
            leg=leg,
            status="ok",
            hits=hits,
            facts=tuple(facts) if leg == "graph" else (),
            frequencies=tuple(chance.randrange(1, 5_000) for _ in range(TERMS)) if leg in ("fulltext", "qa") else (),
            counted=50_000 if leg in ("fulltext", "qa") else 0,
        )
        live |= {chunk: _passage(chunk, leg, " ".join(chance.choices(words, k=WORDS)), chance) for chunk in ids}
    query = PreparedQuery(
        query_id="q",
        ticket="q",
        tenant="bench",
        agent=None,
        text="How do I cancel an annual plan of team E1042?",
        terms=("cancel", "annual", "plan", "team", "e1042", "1042", "refund", "month"),
        words=tuple(range(TERMS)),
        language="en",
        profile="general",
        generation="g1",
        filters=Filters(),
        deadline=0.0,
        legs=LEGS,
        candidates=CANDIDATES,
        embedder=embedder,
    )
    return results, live, query


def _passage(chunk: str, leg: Leg, body: str, chance: random.Random) -> LivePassage:
    return LivePassage(
        passage_id=chunk,
        heading_path=("Plans", "Annual plans"),
        body=body,
        source="help",
        doc_id=f"page-{chunk}",
        version=1,
        kind="qa" if leg == "qa" else "document",
        title="Plans",
        uri="https://help.example/plans",
        trust="internal",
        language="en",
        terms=tuple(sorted(chance.sample(range(TERMS), chance.randrange(TERMS)))),
    )


async def fence() -> Figure:
    """Return how long it takes to read as many passages, and which of the terms they have, from Postgres."""
    base = Base("fence", 2 * len(LEGS) * CANDIDATES)
    async with system.servers() as settings:
        assert settings.postgres
        pool = await postgres.open_pool(settings.postgres)
        try:
            await filling.postgres(pool, [base])
            reader, where = PostgresPassages(pool=pool), Scope(tenant=base.name, generation=filling.GENERATION)
            took = []
            for number in range(FENCE_ROUNDS):
                ids = _some_ids(base, number)
                terms = base.text("document", number).body.lower().split()[:TERMS]
                began = time.perf_counter()
                found = await reader.resolve(where, ids, terms)
                took.append((time.perf_counter() - began) * 1000)
                assert len(found) == len(ids)
        finally:
            await pool.close()
    return Figure(
        name=f"the fence for {len(LEGS) * CANDIDATES} ids, p50",
        value=median(took),
        unit="ms",
        note=f"p95 {percentile(took, 0.95):.1f} ms; Postgres, below row-level security",
    )


def _some_ids(base: Base, seed: int) -> Sequence[str]:
    numbers = random.Random(seed).sample(range(base.size), len(LEGS) * CANDIDATES)
    return [base.text("document", number).id for number in numbers]
