"""legs: each leg's store call at 5,000 and at 50,000 chunks, in turn; the recall that bounded ranking costs.

Two tenants in one database and one collection, as production has them. Of each as many passages of documents (dense,
sparse, fulltext, graph) and as many Q&A pairs (qa); questions of one kind for both.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from psycopg.rows import DictRow

from bench import filling, system
from bench.figures import Figure, Promise, median, percentile
from bench.synthetic import Base, Question
from schemas.chunks import Level
from schemas.documents import Kind
from streams.adapters import graph as graph_adapter
from streams.adapters import postgres, postgres_scope, qdrant, text_index
from streams.adapters.graph import PostgresGraph
from streams.adapters.qdrant import QdrantVectors
from streams.adapters.text_index import RANKED, PostgresTextIndex
from streams.domain import bm25, graph, lexemes, tokens
from streams.domain.scope import Scope

SIZES = {"small": 5_000, "large": 50_000}
QUESTIONS = 80  # of each tenant and leg
WARM_UP = 20
CANDIDATES = 100  # a leg, as the profile `general` has it
TOP = 10
PROMISE = Promise(bound=2.5)
_LEVELS: tuple[Level, ...] = ("document", "parent", "child")
_TEXT_LEGS: Mapping[str, Kind] = {"fulltext": "document", "qa": "qa"}
_INDEXES = {"fulltext": "chunks_lexemes", "qa": "chunks_pairs", "graph": "graph_mentions_of_key"}
_ENGINE = {"dense": "the embedded engine compares every vector, where a Qdrant server has an index (HNSW)"}
_EXACT = b"""
SELECT c.chunk_id::text FROM chunks c
WHERE c.lexemes @@ ((%(query)s)::tsquery && (%(owner)s)::tsquery) AND c.level = %(level)s
ORDER BY ts_rank_cd('{0.1, 0.2, 0.4, 1.0}', c.lexemes, (%(query)s)::tsquery) DESC, c.chunk_id
LIMIT %(limit)s
"""
_MATCHED = b"""
SELECT count(*) AS rows FROM chunks c
WHERE c.lexemes @@ ((%(query)s)::tsquery && (%(owner)s)::tsquery) AND c.level = %(level)s
"""


async def measure() -> list[Figure]:
    """Fill the stores, time every leg on both tenants in turn, and count what the bound loses."""
    bases = {name: Base(name, size) for name, size in SIZES.items()}
    async with system.servers() as settings:
        assert settings.postgres and settings.qdrant
        pool = await postgres.open_pool(settings.postgres)
        client = await qdrant.open_client(settings.qdrant)
        try:
            vectors = QdrantVectors(client=client)
            began = time.perf_counter()
            await filling.postgres(pool, list(bases.values()))
            half = time.perf_counter()
            await filling.vectors(vectors, list(bases.values()))
            print(f"  filled in {half - began:.0f} s and {time.perf_counter() - half:.0f} s", flush=True)
            bench = _Bench(pool=pool, vectors=vectors, bases=bases)
            figures = []
            for leg in ("dense", "sparse", "fulltext", "qa", "graph"):
                figures += await bench.leg(leg)
            for leg, kind in _TEXT_LEGS.items():
                figures += await bench.recall(leg, kind)
            return figures
        finally:
            await client.close()
            await pool.close()


@dataclass(frozen=True, kw_only=True)
class _Bench:
    pool: postgres.Pool
    vectors: QdrantVectors
    bases: Mapping[str, Base]

    async def leg(self, leg: str) -> list[Figure]:
        """Return how much longer a leg takes in the large tenant."""
        calls = {name: self._calls(leg, base) for name, base in self.bases.items()}
        took: dict[str, list[float]] = {name: [] for name in calls}
        for number in range(WARM_UP + QUESTIONS):
            for name in calls if number % 2 else reversed(calls):
                began = time.perf_counter()
                await calls[name][number]()
                if number >= WARM_UP:
                    took[name].append((time.perf_counter() - began) * 1000)
        p50 = {name: median(values) for name, values in took.items()}
        p95 = {name: percentile(values, 0.95) for name, values in took.items()}
        note = "; ".join(f"{SIZES[name]:,}: p50 {p50[name]:.1f} ms, p95 {p95[name]:.1f} ms" for name in SIZES)
        if leg in _ENGINE:
            note += f"; {_ENGINE[leg]}"
        if leg in _INDEXES:
            note += f"; {await self._index(leg)}"
        return [
            Figure(
                name=f"{leg}: 50,000 / 5,000 chunks",
                value=p50["large"] / p50["small"],
                unit="×",
                promise=PROMISE,
                note=note,
            )
        ]

    def _calls(self, leg: str, base: Base) -> list[Callable[[], Awaitable[object]]]:
        """Return one call a question, with everything prepared that another processor or a model does."""
        asked = base.questions(_TEXT_LEGS.get(leg, "document"), WARM_UP + QUESTIONS)
        where = scope(base)
        if leg == "dense":
            rows = [row.tolist() for row in base.vectors(asked)]
            return [partial(self.vectors.search_dense, where, row, _LEVELS, CANDIDATES) for row in rows]
        if leg == "sparse":
            sparse = [bm25.query_vector(question.text, filling.LANGUAGE) for question in asked]
            return [partial(self.vectors.search_sparse, where, each, CANDIDATES) for each in sparse]
        if leg == "graph":
            store = PostgresGraph(pool=self.pool)
            return [partial(store.search, where, each.entities, CANDIDATES) for each in asked]
        texts, kind = PostgresTextIndex(pool=self.pool), _TEXT_LEGS[leg]
        return [partial(texts.search, where, terms(each), CANDIDATES, kind=kind) for each in asked]

    async def _index(self, leg: str) -> str:
        """Return whether the query role's plan, below row-level security, reads the leg's index."""
        base = self.bases["large"]
        question = base.questions(_TEXT_LEGS.get(leg, "document"), 1)[0]
        if leg == "graph":
            keys = list(question.entities)
            statement, extra = postgres.sql("graph_around"), _around(keys)
        else:
            statement, extra = text_index.statement("search", _TEXT_LEGS[leg]), _words(base, terms(question))
        rows = await self._rows(b"EXPLAIN (COSTS OFF) " + statement, postgres_scope.visible(scope(base)) | extra)
        plan = "\n".join(row["QUERY PLAN"] for row in rows)
        used = _INDEXES[leg] in plan and "Seq Scan on chunks" not in plan and "Seq Scan on graph" not in plan
        return f"index {_INDEXES[leg]} used: {'yes' if used else 'NO'}"

    async def recall(self, leg: str, kind: Kind) -> list[Figure]:
        """Return what the bound costs over the questions that match more: of the top 10, and of the texts asked about.

        Cover density does not tell rare words from common ones, so that the order of all matches is not the better one.
        """
        base, store = self.bases["large"], PostgresTextIndex(pool=self.pool)
        asked = base.questions(kind, WARM_UP + QUESTIONS)
        kept, bounded, unbounded = [], [], []
        for question in asked:
            words = _words(base, terms(question)) | {"level": text_index.FILED[kind]}
            if (await self._rows(_MATCHED, words))[0]["rows"] <= RANKED:
                continue
            exact = [row["chunk_id"] for row in await self._rows(_EXACT, words)]
            hits = (await store.search(scope(base), terms(question), CANDIDATES, kind=kind)).hits
            found = [hit.chunk_id for hit in hits]
            kept.append(len({*exact[:TOP]}.intersection(found[:TOP])) / TOP)
            bounded.append(question.source in found)
            unbounded.append(question.source in exact)
        if not kept:
            return []
        note = f"{len(kept)} of {len(asked)} questions match more than {RANKED:,} of {base.size:,} texts"
        return [
            Figure(
                name=f"{leg}: top {TOP} of all matches that the bound keeps", value=_share(kept), unit="%", note=note
            ),
            Figure(
                name=f"{leg}: the text asked about is among {CANDIDATES} candidates",
                value=_share(bounded),
                unit="%",
                note=f"{_share(unbounded):.0f} % when all matches are ranked",
            ),
        ]

    async def _rows(self, statement: bytes, parameters: Mapping[str, object]) -> list[DictRow]:
        return await postgres.read(
            self.pool, "look", tenant="large", statement=statement, parameters=parameters, seconds=30, prepare=False
        )


def _share(values: Sequence[float]) -> float:
    return 100 * sum(values) / len(values)


def scope(base: Base) -> Scope:
    """Return what a question of a tenant may see."""
    return Scope(tenant=base.name, generation=filling.GENERATION)


def terms(question: Question) -> Sequence[str]:
    """Return what the text legs look for."""
    return tokens.question_terms(question.text, filling.LANGUAGE).terms


def _words(base: Base, words: Sequence[str]) -> dict[str, object]:
    return {
        "terms": [lexemes.tsquery([word]) for word in words],
        "query": lexemes.tsquery(words),
        "owner": postgres_scope.owner(base.name, filling.GENERATION),
        "bound": RANKED,
        "limit": CANDIDATES,
    }


def _around(keys: Sequence[str]) -> dict[str, object]:
    mentions, relations = graph_adapter.shares(len(keys))
    return {
        "keys": keys,
        "pairs": keys,
        "chunk_ids": [],
        "completed": [],
        "mentions": mentions,
        "relations": relations,
        "scanned": graph_adapter.SCANNED,
        "frequent": graph.FREQUENT,
    }
