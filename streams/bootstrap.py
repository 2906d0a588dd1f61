"""Builds what each processor needs from the settings; resources are opened once and shared within a process."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from streams import generation_deps
from streams import settings as names
from streams.adapters import embedders, postgres, profiles, redis_answers, rerankers
from streams.adapters.cached_generations import CachedGenerations, ExactGenerations
from streams.adapters.chat import ChatModel
from streams.adapters.contexts import PostgresContexts
from streams.adapters.embedders import OpenEmbedder
from streams.adapters.flag_reranker import FlagReranker
from streams.adapters.graph import PostgresGraph
from streams.adapters.overviews import PostgresOverviews
from streams.adapters.passages import PostgresPassages
from streams.adapters.postgres_epochs import PostgresEpochs
from streams.adapters.postgres_generations import PostgresGenerations
from streams.adapters.redis_answers import RedisAnswers
from streams.adapters.shared_space import SharedSpace
from streams.adapters.text_index import PostgresTextIndex
from streams.adapters.versions import PostgresVersions
from streams.domain import chunking
from streams.domain.generation import Generation, named
from streams.ports import Embedder, Reranker
from streams.processor import Processor
from streams.processors import (
    add_context,
    extract,
    fuse,
    index_graph,
    index_text,
    index_vectors,
    prepare,
    publish_version,
    query_log,
    rerank,
    retrieve_dense,
    retrieve_fulltext,
    retrieve_graph,
    retrieve_qa,
    retrieve_sparse,
)
from streams.processors.answer_cache import AnswerFinder, AnswerKeeper
from streams.processors.asking import Asker
from streams.settings import Settings, need
from streams.telemetry import signals, watching

if TYPE_CHECKING:
    from streams.adapters.qdrant import QdrantVectors

log = logging.getLogger(__name__)
T = TypeVar("T")

AVERAGE_LENGTH = 120.0  # words a passage, in help centres and handbooks; frozen when the first generation is made
_CONNECTIONS = {"reads": 8, "writes": 8, "bulk": 2}


class Resources:
    """The stores and models of one process, opened when first asked for, closed together."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        loaded = profiles.load(settings.profiles)
        self.profiles, self.synonyms = loaded.by_name, loaded.synonyms
        self.embedders = embedders.known(settings.models)
        self._opened: dict[str, Any] = {}
        self._loads: dict[str, asyncio.Task[OpenEmbedder]] = {}
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._loading = asyncio.Lock()  # questions may ask for one model at the same time
        self._loader: asyncio.Task[None] | None = None
        self._unwatch = signals.watch(partial(watching.of_models, self._opened))

    async def deps(self, processor: Processor) -> Any:
        """Return what a processor needs."""
        return await _DEPS[processor.name](self)

    async def close(self) -> None:
        """Close what was opened, last first."""
        self._unwatch()
        for loading in (*self._loads.values(), *filter(None, [self._loader])):
            loading.cancel()
        self._loads.clear()
        for closer in reversed(self._closers):
            await closer()
        self._closers.clear()
        self._opened.clear()

    async def _once(self, name: str, build: Callable[[], Awaitable[tuple[T, Callable[[], Awaitable[None]]]]]) -> T:
        if name not in self._opened:
            self._opened[name], closer = await build()
            self._closers.append(closer)
        opened: T = self._opened[name]
        return opened

    async def pool(self, work: Literal["reads", "writes", "bulk"]) -> postgres.Pool:
        """Return the connections to Postgres: questions never wait behind writers, nor edits behind the bulk lane."""

        async def build() -> tuple[postgres.Pool, Callable[[], Awaitable[None]]]:
            opened = await postgres.open_pool(need(self.settings.postgres, names.POSTGRES), size=_CONNECTIONS[work])
            return opened, opened.close

        return await self._once(f"pool of {work}", build)

    async def vectors(self) -> QdrantVectors:
        """Return the vector index, its collection in place."""
        from streams.adapters import qdrant  # noqa: PLC0415 - it takes half of a start, and most do without

        async def build() -> tuple[QdrantVectors, Callable[[], Awaitable[None]]]:
            url, given = need(self.settings.qdrant, names.QDRANT), self.settings
            client = await qdrant.open_client(url, given.qdrant_key, ca=given.qdrant_ca)
            index = qdrant.QdrantVectors(client=client)
            for each in await (await self.generations()).active():
                await index.ensure_collection(each.id, each.model, each.dimension, each.also, lexical=each.lexical)
            return index, client.close

        return await self._once("vectors", build)

    async def embedder(self, name: str = "") -> OpenEmbedder:
        """Return an embedding model, loaded; without a name the live generation's main one."""
        name = name or (await (await self.generations()).live()).model

        async def build() -> tuple[OpenEmbedder, Callable[[], Awaitable[None]]]:
            embedder = await asyncio.to_thread(embedders.build, name, self.embedders)
            return embedder, embedder.close

        async def load() -> OpenEmbedder:
            async with self._loading:
                return await self._once(f"embedder {name}", build)

        # A question that gives up must not end what is half read: the next one would begin anew.
        loading = self._loads.get(name)
        if loading is None or (loading.done() and (loading.cancelled() or loading.exception())):
            loading = self._loads[name] = asyncio.create_task(load())
        return await asyncio.shield(loading)

    async def question_embedder(self, name: str = "") -> Embedder:
        """Return an embedding model with those that stand in for it, once they were compared with it."""
        embedder = await self.embedder(name)
        others = embedders.stand_ins(embedder.model, self.embedders)
        if not others:
            return embedder
        hosted = [await self.embedder(other) for other in others]

        async def build() -> tuple[SharedSpace, Callable[[], Awaitable[None]]]:
            space = SharedSpace(embedder, hosted)
            await space.prove()
            return space, _nothing

        async with self._loading:
            return await self._once(f"space of {embedder.model}", build)

    @property
    def reranker_name(self) -> str | None:
        """The name of the reranker, which takes no loading; none where nothing is reranked."""
        llm = self.settings.llm
        return rerankers.label(self.settings.reranker, llm.model if llm else None)

    async def reranker(self) -> Reranker | None:
        """Return the reranker, loaded; none where nothing is reranked."""
        setting = self.settings.reranker
        if setting is None:
            return None

        async def build() -> tuple[Reranker, Callable[[], Awaitable[None]]]:
            asker = await self.asker("questions")
            reranker = await asyncio.to_thread(rerankers.build, setting, asker.model if asker else None)
            return reranker, reranker.close if isinstance(reranker, FlagReranker) else _nothing

        return await self._once("reranker", build)

    async def generations(self) -> PostgresGenerations:
        """Return the generations; the first start makes the first one."""

        async def build() -> tuple[PostgresGenerations, Callable[[], Awaitable[None]]]:
            generations = PostgresGenerations(pool=await self.pool("writes"))
            given, live = self.settings, await generations.find()
            if live is not None and live.replayed:
                generation_deps.tell_of_settings(given, live)
                given = dataclasses.replace(given, embedder=None, embed_also=None)
            main, also = embedders.wanted(live, main=given.embedder, also=given.embed_also, among=self.embedders)
            lexical = embedders.lexical((main, *also), self.embedders)
            made = await generations.ensure(
                model=main.name,
                dimension=main.dimension,
                also=also,
                lexical=lexical,
                average_length=AVERAGE_LENGTH,
                chunker=chunking.CHUNKER,
            )
            generation_deps.tell_of_weights(made, lexical)
            return generations, _nothing

        return await self._once("generations", build)

    async def known_generations(self) -> CachedGenerations:
        """Return the generations as this process knows them: what is started or promoted is noticed within a second."""

        async def build() -> tuple[CachedGenerations, Callable[[], Awaitable[None]]]:
            return CachedGenerations(await self.generations()), _nothing

        return await self._once("known generations", build)

    async def generation(self, name: str) -> Generation | None:
        """Return an active generation by its id; none for one that was dropped."""
        found = named(name, await (await self.known_generations()).active())
        return found or named(name, await (await self.generations()).active())

    async def load_ahead(self) -> None:
        """Load, from now on, the models of every generation that is started, before questions need them."""
        known = await self.known_generations()
        self._loader = self._loader or asyncio.create_task(generation_deps.load_ahead(known, self.question_embedder))

    async def answers(self) -> RedisAnswers | None:
        """Return the kept answers; none where no Redis is given: then every question is searched."""
        url = self.settings.redis
        if url is None:
            return None

        async def build() -> tuple[RedisAnswers, Callable[[], Awaitable[None]]]:
            answers = redis_answers.open_answers(url)
            return answers, answers.close

        return await self._once("answers", build)

    async def asker(self, work: Literal["questions", "ingest"]) -> Asker | None:
        """Return who asks the language model; none where no endpoint is given: then its options are skipped.

        Questions have requests of their own, so that they never wait behind documents.
        """
        found = self.settings.llm
        if found is None:
            return None

        async def build() -> tuple[Asker, Callable[[], Awaitable[None]]]:
            model = ChatModel(url=found.url, model=found.model, key=found.key)
            return Asker(model=model, answers=await self.answers()), model.close

        return await self._once(f"language model for {work}", build)


async def _nothing() -> None:
    return None


async def _index_vectors(of: Resources) -> index_vectors.Deps:
    return index_vectors.Deps(versions=PostgresVersions(pool=await of.pool("writes")), vectors=await of.vectors())


async def _index_text(of: Resources, pool: Literal["writes", "bulk"] = "writes") -> index_text.Deps:
    return index_text.Deps(texts=PostgresTextIndex(pool=await of.pool(pool)))


async def _add_context(of: Resources, pool: Literal["writes", "bulk"] = "writes") -> add_context.Deps:
    asker = await of.asker("ingest") if of.settings.chunk_context == "reranker" else None
    return add_context.Deps(contexts=PostgresContexts(pool=await of.pool(pool)), asker=asker)


async def _extract(of: Resources) -> extract.Deps:
    return extract.Deps(asker=await of.asker("ingest") if of.settings.graph_llm else None)


async def _index_graph(of: Resources) -> index_graph.Deps:
    return index_graph.Deps(graph=PostgresGraph(pool=await of.pool("writes")))


async def _publish_version(of: Resources) -> publish_version.Deps:
    pool = await of.pool("writes")
    versions = PostgresVersions(pool=pool)
    return publish_version.Deps(
        versions=versions,
        vectors=await of.vectors(),
        epochs=PostgresEpochs(pool=pool),
        generations=ExactGenerations(await of.known_generations(), await of.generations()),
        standing=versions,
    )


async def _prepare(of: Resources) -> prepare.Deps:
    await of.generations()
    pool, answers = await of.pool("reads"), await of.answers()
    epochs, passages = PostgresEpochs(pool=pool), PostgresPassages(pool=pool)
    return prepare.Deps(
        profiles=of.profiles,
        synonyms=of.synonyms,
        generations=CachedGenerations(PostgresGenerations(pool=pool)),
        clock=time.time,
        asker=await of.asker("questions"),
        reranker=of.reranker_name,
        passages=passages,
        answers=None
        if answers is None
        else AnswerFinder(answers=answers, epochs=epochs, passages=passages, clock=time.time),
    )


async def _retrieve_dense(of: Resources) -> retrieve_dense.Deps:
    # Loaded now, so that no question waits for it; what a later generation brings is loaded when it is started.
    generation = await (await of.generations()).live()
    for model in generation.models:
        await of.question_embedder(model.name)
    await of.load_ahead()
    return retrieve_dense.Deps(
        embedder=of.question_embedder,
        vectors=await of.vectors(),
        profiles=of.profiles,
        generations=CachedGenerations(PostgresGenerations(pool=await of.pool("reads"))),
    )


async def _retrieve_sparse(of: Resources) -> retrieve_sparse.Deps:
    return retrieve_sparse.Deps(vectors=await of.vectors())


async def _retrieve_fulltext(of: Resources) -> retrieve_fulltext.Deps:
    return retrieve_fulltext.Deps(texts=PostgresTextIndex(pool=await of.pool("reads")))


async def _retrieve_qa(of: Resources) -> retrieve_qa.Deps:
    return retrieve_qa.Deps(texts=PostgresTextIndex(pool=await of.pool("reads")), profiles=of.profiles)


async def _retrieve_graph(of: Resources) -> retrieve_graph.Deps:
    pool = await of.pool("reads")
    wanted = [name for name, profile in of.profiles.items() if profile.graph_global]
    if wanted and of.settings.llm is None:
        log.warning(
            "graph_global (profile %s): no language model is set; only overviews made elsewhere are found; "
            "set %s and %s for `rankstream graph summarize`",
            ", ".join(wanted),
            names.LLM_URL,
            names.LLM_MODEL,
        )
    graph, overviews = PostgresGraph(pool=pool), PostgresOverviews(pool=pool)
    return retrieve_graph.Deps(graph=graph, overviews=overviews, profiles=of.profiles)


async def _fuse(of: Resources) -> fuse.Deps:
    await of.generations()
    passages, answers = PostgresPassages(pool=await of.pool("reads")), await of.answers()
    return fuse.Deps(
        passages=passages,
        pinned=passages,
        profiles=of.profiles,
        weights=profiles.weights(of.settings.profiles),
        in_context=of.settings.chunk_context in ("reranker", "both"),
        reads=partial(embedders.reads, among=of.embedders),
        clock=time.time,
        reranker=of.reranker_name,
        answers=None if answers is None else AnswerKeeper(answers=answers, clock=time.time),
    )


async def _rerank(of: Resources) -> rerank.Deps:
    passages, answers = PostgresPassages(pool=await of.pool("reads")), await of.answers()
    return rerank.Deps(
        reranker=await of.reranker(),
        passages=passages,
        profiles=of.profiles,
        clock=time.time,
        answers=None if answers is None else AnswerKeeper(answers=answers, clock=time.time),
    )


async def _query_log(of: Resources) -> query_log.Deps:
    return query_log.Deps(on=of.settings.query_log)


_DEPS: Mapping[str, Callable[[Resources], Awaitable[Any]]] = {
    "chunk": generation_deps.chunk_deps,
    "chunk-bulk": partial(generation_deps.chunk_deps, bulk=True),
    "replay": generation_deps.replay_deps,
    "embed": generation_deps.embed_deps,
    "embed-bulk": partial(generation_deps.embed_deps, bulk=True),
    "index-vectors": _index_vectors,
    "index-text": _index_text,
    "add-context": _add_context,
    "index-text-bulk": partial(_index_text, pool="bulk"),
    "add-context-bulk": partial(_add_context, pool="bulk"),
    "extract": _extract,
    "extract-bulk": _extract,
    "index-graph": _index_graph,
    "publish-version": _publish_version,
    "prepare": _prepare,
    "retrieve-dense": _retrieve_dense,
    "retrieve-sparse": _retrieve_sparse,
    "retrieve-fulltext": _retrieve_fulltext,
    "retrieve-qa": _retrieve_qa,
    "retrieve-graph": _retrieve_graph,
    "fuse": _fuse,
    "rerank": _rerank,
    **dict.fromkeys(("log-questions", "log-replies"), _query_log),
}
