"""Makes the overviews of a tenant's graph: clusters, their passages, and what a language model says of these.

Run by `rankstream graph summarize`, not by a processor: no change and no question waits for an overview, each costs
money, and what a cluster is follows from the whole graph, not from one event. So an operator says when, by hand or by a
schedule. It is idempotent: only what changed is asked for again, and what changed is not shown meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from streams.domain import clusters, overviews
from streams.domain.clusters import Cluster
from streams.domain.overviews import Made, Source
from streams.errors import RankstreamError
from streams.ports import Outlines, Overviews
from streams.processors.asking import Asker

log = logging.getLogger(__name__)

AT_ONCE = 4  # questions to the model
SECONDS = 120.0  # for one
FAILURES = 3  # of the model in a row after which the others are left for the next run


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What making overviews needs."""

    outlines: Outlines
    overviews: Overviews
    model: str  # its name; overviews of another model are made again
    asker: Asker | None  # none: it is only counted what would be made


@dataclass(kw_only=True)
class Done:
    """What became of a tenant's overviews."""

    clusters: int = 0  # that have passages enough
    kept: int = 0  # of them, unchanged
    made: int = 0
    refused: int = 0  # the model's answer was not believed; it is not asked for again
    overtaken: int = 0  # a passage changed meanwhile
    failed: int = 0  # the model did not answer; the next run asks again
    dropped: int = 0  # of those that were there
    reason: str = ""  # of the last failure

    @property
    def wanted(self) -> int:
        """How many the model has to be asked for."""
        return self.clusters - self.kept


@dataclass(kw_only=True)
class _Run:
    tenant: str
    generation: str
    done: Done = field(default_factory=Done)
    failures: int = 0  # in a row


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    hash: str
    cluster: Cluster
    seen: Sequence[Source]


async def summarise(tenant: str, generation: str, deps: Deps) -> Done:
    """Bring the overviews of a tenant up to date; raise StoreUnavailable, and nothing of the model's failures.

    While any is missing the earlier ones stay: they are shown as long as what they tell of is live.
    """
    planned = await _plan(tenant, generation, deps)
    kept = await deps.overviews.kept(tenant, generation)
    missing = [each for name, each in planned.items() if name not in kept]
    done = Done(clusters=len(planned), kept=len(planned) - len(missing))
    run = _Run(tenant=tenant, generation=generation, done=done)
    if deps.asker is None:
        return run.done
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(wanted: _Wanted, asker: Asker) -> None:
        async with slots:
            await _make(wanted, run, deps, asker)

    await asyncio.gather(*(one(each, deps.asker) for each in missing))
    if not run.done.failed:
        run.done.dropped = await deps.overviews.retain(tenant, generation, planned.keys())
    return run.done


async def _plan(tenant: str, generation: str, deps: Deps) -> dict[str, _Wanted]:
    """Return what there should be, by hash."""
    planned: dict[str, _Wanted] = {}
    for audience in await deps.outlines.audiences(tenant, generation):
        bonds = await deps.outlines.bonds(tenant, generation, audience, clusters.MOST_BONDS)
        # Off the event loop: a large graph takes a second or two.
        for cluster in await asyncio.to_thread(clusters.clusters, bonds):
            keys = cluster.keys[: clusters.KEYS]
            found = await deps.outlines.sources(tenant, generation, audience, keys, overviews.MOST_PASSAGES)
            if seen := overviews.seen_of(found):
                name = overviews.hash_of(seen, deps.model)
                planned.setdefault(name, _Wanted(hash=name, cluster=cluster, seen=seen))
    return planned


async def _make(wanted: _Wanted, run: _Run, deps: Deps, asker: Asker) -> None:
    tenant, done, seen = run.tenant, run.done, wanted.seen
    if run.failures >= FAILURES:
        done.failed += 1
        return
    try:
        found = await asker.ask(
            tenant,
            lambda mark: overviews.prompt(seen, mark),
            lambda said: overviews.read(said, seen, wanted.cluster.keys),
            max_tokens=overviews.MOST_TOKENS,
            seconds=SECONDS,
        )
    except RankstreamError as error:
        log.warning("an overview of %s is not made: %s", tenant, error)
        run.failures += 1
        done.failed, done.reason = done.failed + 1, str(error)
        return
    run.failures = 0
    title, text = found or ("", "")
    made = Made(
        hash=wanted.hash,
        title=title,
        text=text,
        language=overviews.language_of(seen),
        weight=wanted.cluster.weight,
        evidence=tuple(source.chunk_id for source in seen),
        model=deps.model,
    )
    if not await deps.overviews.put(tenant, run.generation, made):
        done.overtaken += 1
    elif found is None:
        done.refused += 1
    else:
        done.made += 1
