"""lanes: another tenant queues 10,000 documents, then deletes them: when is an edit searchable, a question answered?"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

import msgspec
import psycopg

from bench import corpus, system
from bench.figures import Figure, Promise, percentile, spread
from schemas.documents import DocumentChange
from streams.errors import RankstreamError
from streams.settings import DEFAULT_TENANT_QUOTA

QUEUED = 10_000  # small documents of another tenant, on the bulk lane
OVER_QUOTA = 2_000  # the same, on the live lane: far more than a quota allows at once
DELETED = 10_000  # deletions of what was queued first, on the live lane
EDITS = 40  # a phase; two questions after each
PAUSE = 0.05  # seconds between an edit and the next question: one person's edits, not a second load
WARM_UP = 10
LEAST_BEHIND = 100  # documents that must still wait at the end of a phase, or it was no load
WITHIN = 60.0  # seconds for a receipt
PUBLISHED = 300.0  # seconds to publish what is to be queued

DONE = """
SELECT count(*) FROM documents d JOIN document_versions v ON v.document = d.id AND v.version = d.live_version
WHERE d.tenant = %(tenant)s AND (v.state = 'deleted') = %(deleted)s
"""

Took = dict[str, list[float]]


async def measure() -> list[Figure]:
    """Measure a tenant's edits and questions while idle, behind a first load, one over the quota, and deletions."""
    asked = corpus.questions()
    async with system.running(tenant_quota=DEFAULT_TENANT_QUOTA) as running:
        await running.publish(corpus.demo_pages())
        await _phase(running, asked, WARM_UP)
        idle = await _phase(running, asked, EDITS)
        figures = [figure for name, values in idle.items() for figure in spread(f"idle: {name}", values)]
        # What is left of the first one goes on on its own lane beside the others.
        for load in (
            _Load(running, "first load", QUEUED, bulk=True),
            _Load(running, "over the quota", OVER_QUOTA),
            _Load(running, "deletions", DELETED, deletes="first load"),
        ):
            await load.publish()
            figures += await _under(load, running, asked, idle)
    return figures


async def _under(load: _Load, running: system.System, asked: Iterator[str], idle: Took) -> list[Figure]:
    before, began = await load.done(), time.perf_counter()
    loaded = await _phase(running, asked, EDITS)
    seconds = time.perf_counter() - began
    done = await load.done()
    waiting = load.queued - done
    if waiting < LEAST_BEHIND:
        raise RankstreamError(f"{load.name}: only {waiting} documents waited at the end; queue more")
    note = f"{waiting:,} of {load.queued:,} still waited"
    figures = [figure for name, values in loaded.items() for figure in spread(f"{load.name}: {name}", values)]
    for name in idle:
        for share, label in ((0.5, "p50"), (0.95, "p95")):
            ratio = percentile(loaded[name], share) / percentile(idle[name], share)
            promise = Promise(bound=2) if load.bulk and label == "p95" else None
            figures.append(
                Figure(name=f"{load.name} / idle: {name}, {label}", value=ratio, unit="×", promise=promise, note=note)
            )
    rate = (done - before) / seconds
    figures.append(Figure(name=f"{load.name}: of its own documents", value=rate, unit="documents/s"))
    return figures


async def _phase(running: system.System, asked: Iterator[str], edits: int) -> Took:
    """Edit a page and ask two questions, over and over; return the milliseconds of each."""
    took: Took = defaultdict(list)
    for number in range(edits):
        content = f"# Notice\n\nThe word of the day is number {number} at {time.time_ns()}."
        edited = corpus.page(f"notice-{number % 10}", content, source="edited")
        took["edit → receipt"].append(await _receipt(running, edited))
        for _ in range(2):
            await asyncio.sleep(PAUSE)
            began = time.perf_counter()
            reply = await running.client.ask(next(asked), tenant=corpus.TENANT, cache=False)
            took["question"].append((time.perf_counter() - began) * 1000)
            if reply.error is not None:
                raise RankstreamError(reply.error.message)
    return took


async def _receipt(running: system.System, change: DocumentChange) -> float:
    began = time.perf_counter()
    status = await running.client.publish(change, wait=True, timeout=WITHIN)
    if status is None or status.status != "searchable":
        raise RankstreamError(f"{change.doc_id}: {status}")
    return (time.perf_counter() - began) * 1000


class _Load:
    """Changes of another tenant that are published at once, and worked off while others edit and ask."""

    def __init__(
        self, running: system.System, name: str, queued: int, *, bulk: bool = False, deletes: str | None = None
    ) -> None:
        self.name = name
        self.queued = queued
        self.bulk = bulk
        self._op: Literal["upsert", "delete"] = "delete" if deletes else "upsert"
        self._tenant = (deletes or name).replace(" ", "-")
        self._running = running

    async def publish(self) -> None:
        """Return when the broker has them all: nobody waits for their receipts, which would be work of this process."""
        async with asyncio.timeout(PUBLISHED):
            async for status in self._running.client.publish_many(self._changes(), wait=False, bulk=self.bulk):
                raise RankstreamError(f"{status.doc_id}: {status.reason}")

    async def done(self) -> int:
        """Return how many are live, or are gone."""
        async with await psycopg.AsyncConnection.connect(self._running.settings.postgres or "") as connection:
            found = await connection.execute(DONE, {"tenant": self._tenant, "deleted": self._op == "delete"})
            (count,) = await found.fetchone() or (0,)
        return int(count)

    def _changes(self) -> Iterator[DocumentChange]:
        for number in range(self.queued):
            page = corpus.page(f"small-{number}", f"# Note {number}\n\nRoom {number} is closed today.", source="small")
            if self._op == "upsert":
                yield msgspec.structs.replace(page, tenant=self._tenant)
            else:
                named = {"source": page.source, "doc_id": page.doc_id, "version": page.version}
                yield DocumentChange(op="delete", tenant=self._tenant, **named)
