"""What `rankstream reindex` does: a generation beside the live one is started, seen through, promoted and dropped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from streams import settings
from streams.adapters import embedders, qdrant
from streams.adapters.postgres_generations import PostgresGenerations
from streams.adapters.postgres_reindex import Known, Lacking, PostgresReindex, Progress
from streams.adapters.qdrant import QdrantVectors
from streams.cli import stored
from streams.domain import chunker
from streams.domain.generation import NOTICED, Generation, Model, named, next_id
from streams.errors import ConfigurationError, RankstreamError
from streams.gateways.lag import Lag, asking
from streams.processors import replay
from streams.settings import Settings
from topics import admin
from topics.catalogue import DOCUMENTS
from topics.connection import KafkaConnection

LOOK_SECONDS = 0.5  # between two looks at how far a generation is
SHOWN = 10  # documents of a generation that failed, or are missing
REFUSED = "a generation is filled from the log `documents`, which this broker does not keep"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A generation, and how far it is."""

    generation: Generation
    progress: Progress
    log: Lag | None  # none: it is not filled from the log
    failures: tuple[Lacking, ...]
    missing: tuple[Lacking, ...]


class Reindex:
    """The generations of an installation, for its operator."""

    def __init__(self, found: Settings, *, generations: PostgresGenerations, table: PostgresReindex) -> None:
        self._settings = found
        self._generations = generations
        self._table = table

    async def start(
        self, *, model: str | None, also: Sequence[str] | None, sizes: str | None, rebuild: bool, fresh: bool
    ) -> Generation:
        """Begin to build a generation; raise ConfigurationError for what cannot be built, or could not be filled."""
        live = await self._generations.live()
        made = self._made(live, model=model, also=also, sizes=sizes)
        differs = made.models != live.models or set(made.lexical) != set(live.lexical)
        if not (rebuild or fresh or differs) and made.chunker == (live.chunker or chunker.named("")):
            raise ConfigurationError(
                f"{live.id} has these models and sizes already: name another --model, --also or --chunker, or --rebuild"
            )
        made = replace(made, id=next_id([each.id for each in await self._table.known()]), fresh=fresh)
        await self._check_log(live)
        async with self._vectors() as vectors:
            await vectors.drop(made.id)  # of a start that was cut short, with other models perhaps
            # Before the row is there: whoever sees that writes.
            await vectors.ensure_collection(made.id, made.model, made.dimension, made.also, lexical=made.lexical)
            await self._table.start(made)
        await asyncio.sleep(NOTICED)
        return made

    def _made(
        self, live: Generation, *, model: str | None, also: Sequence[str] | None, sizes: str | None
    ) -> Generation:
        known = embedders.known(self._settings.models)
        main = embedders.model_of(model, "--model", known) if model else live.models[0]
        further: Sequence[Model] = [each for each in live.models if each in live.also and each.name != main.name]
        if also is not None:
            further = [embedders.model_of(name, "--also", known) for name in also]
        names = [main.name, *(each.name for each in further)]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ConfigurationError(f"--also: {twice[0]} is named twice; name each model once, beside --model")
        way = live.chunker or chunker.named("")
        return replace(
            live,
            model=main.name,
            dimension=main.dimension,
            also=tuple(further),
            lexical=embedders.lexical((main, *further), known),
            chunker=way if sizes is None else chunker.named("" if sizes == "default" else sizes),
            state="building",
            replayed=True,
        )

    async def _check_log(self, live: Generation) -> None:
        """Raise ConfigurationError unless the broker keeps the last version of every document."""
        for difference in await admin.check(self._kafka, (DOCUMENTS,)):
            if difference.kind == "missing" or difference.setting == "cleanup.policy":
                raise ConfigurationError(f"{REFUSED} ({difference}); `rankstream topics apply` sets it, where it can")
        wanted = (await self._table.progress("", live.id)).behind
        async with asking(self._kafka) as broker:
            log = broker.partitions(DOCUMENTS.name)
            records = sum((await broker.ends(log)).values()) - sum((await broker.begins(log)).values())
            # Tansu says that the topic is compacted, and keeps it in memory as it comes.
            if self._settings.fast_fetch or "tansu" in await broker.cluster():
                raise ConfigurationError(f"{REFUSED}: Tansu has no compaction; use Apache Kafka")
        if records < wanted:
            raise ConfigurationError(
                f"{REFUSED}: it has {records} records, and {live.id} {wanted} documents; publish everything again"
            )

    async def standings(self) -> tuple[Standing, ...]:
        """Return all active generations, the live one first."""
        live, *_ = active = await self._generations.active()
        lags: dict[str, Lag] = {}
        if any(each.replayed for each in active):
            async with asking(self._kafka) as broker:
                log = broker.partitions(DOCUMENTS.name)
                begins, ends = await broker.begins(log), await broker.ends(log)
                for each in active:
                    if each.replayed:
                        lags[each.id] = await broker.lag(replay.of(each.id), begins, ends)
        return tuple(
            [
                Standing(
                    generation=each,
                    progress=await self._table.progress(each.id, live.id),
                    log=lags.get(each.id),
                    failures=await self._table.failures(each.id, SHOWN),
                    missing=await self._table.missing(each.id, live.id, SHOWN),
                )
                for each in active
            ]
        )

    async def building(self) -> str:
        """Return the id of the generation that is being built; raise ConfigurationError without one."""
        for each in await self._table.known():
            if each.state == "building":
                return each.id
        raise ConfigurationError("no generation is being built: name one, or begin with `rankstream reindex start`")

    async def previous(self) -> str:
        """Return the id of the generation that was live before; raise ConfigurationError without one."""
        kept = [each for each in await self._table.known() if each.state == "kept" and each.live_until is not None]
        if not kept:
            raise ConfigurationError("no earlier generation is kept: there is nothing to go back to")
        return max(kept, key=_left).id

    async def promote(self, name: str, *, wait: bool, seconds: float, anyway: bool, recent: float = 0.0) -> str:
        """Make a generation the live one, once it has all that is searchable now; return who was live.

        It has then the log up to the moment when this was asked, and every version whose source was told `searchable`,
        but for what was accepted in the last `recent` seconds. Raises RankstreamError with what is missing, unless it
        may `wait`; ConfigurationError for one that cannot be.
        """
        active = await self._generations.active()
        generation = named(name, active)
        if generation is None or generation.state == "live":
            others = ", ".join(each.id for each in active[1:]) or "none; `rankstream reindex start` builds one"
            what = "is live already" if generation else "is not there"
            raise ConfigurationError(f"{name} {what}; there are beside the live one: {others}")
        async with asking(self._kafka) as broker:
            log = broker.partitions(DOCUMENTS.name)
            goal = await broker.ends(log)
            until = time.monotonic() + seconds
            while True:
                lag = await broker.lag(replay.of(name), await broker.begins(log), goal) if generation.replayed else None
                before = await self._table.now() - timedelta(seconds=recent) if recent else None
                # As of now, each time: what is accepted later goes to both, and to this one on the slower lane.
                progress = await self._table.progress(name, active[0].id, before)
                missing = _missing(progress, lag)
                if anyway or (missing is None and not progress.failed):
                    was = await self._table.promote(name, whole=not anyway, recent=recent)
                    if was is not None:
                        break
                    missing = "what became searchable just now is missing"
                if missing is None:
                    raise RankstreamError(
                        f"{name}: {progress.failed} documents failed in it; `rankstream reindex status` names them, "
                        "--anyway promotes it without them"
                    )
                if not wait or time.monotonic() >= until:
                    hint = f"not within {seconds:g} s" if wait else "--wait waits for them, --anyway does not"
                    if lag is None or lag.records == 0:
                        hint += ", --recent SECONDS leaves out what was accepted last"
                    raise RankstreamError(f"{name} is behind: {missing}; {hint}")
                await asyncio.sleep(LOOK_SECONDS)
        await asyncio.sleep(NOTICED)
        return was

    async def drop(self, name: str) -> int:
        """Remove a generation that is not live; return how many documents it had. What was cut short goes on."""
        await self._table.forget(name)
        await asyncio.sleep(NOTICED)
        removed = last = 0
        while True:
            swept, last = await self._table.sweep(name, last)
            removed += swept
            if not swept:
                break
        async with self._vectors() as vectors:
            await vectors.drop(name)
        return removed

    @property
    def _kafka(self) -> KafkaConnection:
        return settings.need(self._settings.kafka, settings.KAFKA)

    @asynccontextmanager
    async def _vectors(self) -> AsyncIterator[QdrantVectors]:
        url = settings.need(self._settings.qdrant, settings.QDRANT)
        client = await qdrant.open_client(url, self._settings.qdrant_key, ca=self._settings.qdrant_ca)
        try:
            yield QdrantVectors(client=client)
        finally:
            await client.close()


def _left(known: Known) -> float:
    return known.live_until.timestamp() if known.live_until else 0.0


def _missing(progress: Progress, lag: Lag | None) -> str | None:
    """Return what a generation has not got yet; none when it has all."""
    if lag is not None and lag.records is None:
        return "the broker does not say how far its replay is"
    records = lag.records if lag is not None else 0
    if not records and not progress.behind:
        return None
    idle = "" if lag is None or lag.state != "Empty" else ", and nobody replays (`rankstream run replay`)"
    return f"{records} records of the log and {progress.behind} documents are missing{idle}"


@asynccontextmanager
async def opened(found: Settings) -> AsyncIterator[Reindex]:
    """Give the generations of an installation; raise ConfigurationError that names a setting."""
    settings.need(found.kafka, settings.KAFKA)
    async with stored.database(found) as pool:
        yield Reindex(found, generations=PostgresGenerations(pool=pool), table=PostgresReindex(pool=pool))
