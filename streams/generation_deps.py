"""What a process needs of generations that come and go: what writes to each of them, and their models."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from streams import settings as names
from streams.adapters.contexts import PostgresContexts
from streams.adapters.versions import PostgresVersions
from streams.domain.generation import NOTICED, Generation
from streams.domain.quota import Quotas
from streams.errors import ConfigurationError, Invalid, RankstreamError
from streams.ports import Embedder, Generations
from streams.processors import chunk, embed, replay
from streams.processors.reuse import Reuse

if TYPE_CHECKING:
    from streams.bootstrap import Resources
    from streams.settings import Settings

log = logging.getLogger(__name__)

QUOTA_BURST = 3.0  # seconds of its quota that a tenant may use at once: about a second of the default embedder
DELETION = 100.0  # tokens that a deletion stands for in the quota: it takes the way of a document, and no embedder
DELETIONS_BURST = 10.0  # seconds of that which a tenant may delete at once


async def chunk_deps(of: Resources, *, bulk: bool = False) -> chunk.Deps:
    """Return what `chunk` needs; the `bulk` lane has connections of its own, and no quotas."""
    known, rate = await of.known_generations(), of.settings.tenant_quota
    return chunk.Deps(
        versions=PostgresVersions(pool=await of.pool("bulk" if bulk else "writes")),
        generation=await known.live(),
        generations=known,
        quotas=Quotas(rate=rate, burst=QUOTA_BURST * rate) if rate and not bulk else None,
        deletions=Quotas(rate=rate / DELETION, burst=DELETIONS_BURST * rate / DELETION) if rate and not bulk else None,
    )


async def replay_deps(of: Resources) -> replay.Deps:
    """Return what `replay` needs, but for the generation."""
    versions = PostgresVersions(pool=await of.pool("bulk"))
    return replay.Deps(versions=versions, reader=versions, generations=await of.known_generations())


async def embed_deps(of: Resources, *, bulk: bool = False) -> embed.Deps:
    """Return what `embed` needs: for the live generation now, for any other one when its first part comes.

    For the `bulk` lane its passages stay behind questions and behind those of edits.
    """
    live = await (await of.generations()).live()
    mode = of.settings.chunk_context
    asker = await of.asker("ingest") if mode in ("vectors", "both") else None
    contexts = PostgresContexts(pool=await of.pool("writes")) if mode == "both" else None
    reuse = Reuse(generations=await of.known_generations(), vectors=await of.vectors())

    async def made(generation: Generation) -> embed.Deps:
        loaded = [await of.embedder(model.name) for model in generation.models]
        main, *also = [each.bulk for each in loaded] if bulk else loaded
        return embed.Deps(
            embedder=main,
            also=tuple(also),
            generation=generation,
            asker=asker,
            contexts=contexts,
            reuse=reuse,
            other=other,
        )

    async def other(name: str) -> embed.Deps | None:
        found = await of.generation(name)
        if found is None:
            return None
        try:
            return await made(found)
        except ConfigurationError as error:
            if found.state == "live":
                raise
            # A wrong model of a generation that is built must not stop the work for the live one.
            raise Invalid(f"generation {name}: {error}", field="model") from error

    return await made(live)


async def load_ahead(known: Generations, load: Callable[[str], Awaitable[Embedder]]) -> None:
    """Load the models of every generation that is started, before questions need them; runs until it is cancelled."""
    tried: set[str] = set()
    while True:
        try:
            for name in [model.name for each in await known.active() for model in each.models]:
                if name not in tried:
                    tried.add(name)
                    await load(name)
        except RankstreamError as error:
            log.warning("a model is not loaded ahead of questions: %s", error)
        await asyncio.sleep(NOTICED)


def tell_of_settings(given: Settings, live: Generation) -> None:
    """Say that settings which name other models count for the first generation only."""
    if given.embedder not in (None, live.model) or given.embed_also is not None:
        log.warning(
            "%s and %s count for the first generation; %s, which is live, was made with %s",
            names.EMBEDDER,
            names.EMBED_ALSO,
            live.id,
            " and ".join(map(str, live.models)),
        )


def tell_of_weights(live: Generation, lexical: Sequence[str]) -> None:
    """Say whose lexical weights the live generation was made without."""
    for name in sorted(set(lexical) - set(live.lexical)):
        log.warning(
            "embedders.%s.lexical: generation %s, which is live, has no lexical weights of it; one that "
            "`rankstream reindex start` builds does",
            name,
            live.id,
        )
