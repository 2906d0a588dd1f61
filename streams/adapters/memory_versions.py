"""The in-memory twins of versions and generations."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from schemas.documents import DocKey, DocumentStatus, Receipt
from streams.adapters import postgres_generations, versions_rules
from streams.adapters.memory_state import Document, State, Version
from streams.adapters.postgres_generations import TenantCounts
from streams.adapters.versions_rules import Step
from streams.domain.generation import Generation, Model, named
from streams.domain.versions import Admission, Candidate, Publication, Verdict
from streams.errors import ConfigurationError


class MemoryVersions:
    """The VersionStore port in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def accept(self, candidate: Candidate) -> Admission:
        """Judge a version; record a new one, and reopen a repeated one that is not live."""
        change = candidate.change
        document = self._state.document(change.key, candidate.generation)
        async with document.lock:
            verdict = versions_rules.judge(candidate, document.accepted_version, document.accepted_hash)
            if verdict in (Verdict.STALE, Verdict.CONFLICT):
                return Admission(verdict=verdict, accepted_version=document.accepted_version)
            if verdict is Verdict.NEW:
                document.accepted_version, document.accepted_hash = change.version, candidate.content_hash
                document.versions[change.version] = _recorded(candidate)
                if change.op == "delete":
                    deleted = self._state.deletions.get(change.key, -1)
                    self._state.deletions[change.key] = max(deleted, change.version)
                    self._state.epochs[change.tenant] += 1
            elif document.live_version != change.version:
                _reopen(document, candidate)
            live = document.versions.get(-1 if document.live_version is None else document.live_version)
            return Admission(
                verdict=verdict,
                live=document.live_version == change.version,
                live_chunks=frozenset(chunk.id for chunk in (live.chunks if live else ()))
                & {chunk.id for chunk in candidate.chunks},
                accepted_version=change.version,
            )

    @asynccontextmanager
    async def hold(self, key: DocKey, version: int, generation: str) -> AsyncIterator[bool]:
        """Keep others from the document; unlike Postgres, other writers too."""
        document = self._state.document(key, generation)
        async with document.lock:
            yield open_to(document, version)

    @asynccontextmanager
    async def last(self, key: DocKey, version: int) -> AsyncIterator[bool]:
        """Keep others from the document, in all generations, while its version is logged."""
        everywhere = [document for (_, of), document in sorted(self._state.documents.items()) if of == key]
        async with AsyncExitStack() as held:
            for document in everywhere:
                await held.enter_async_context(document.lock)
            accepted = [each.accepted_version for each in everywhere if each.accepted_version is not None]
            yield version == max(accepted, default=None)

    async def complete(self, receipt: Receipt) -> Publication | None:
        """Record a receipt; flip its version when it was the last one."""
        document = self._state.document(receipt.key, receipt.generation)
        async with document.lock:
            version = document.versions.get(receipt.version)
            if version is None:
                return None
            step = versions_rules.settle(receipt, live_version=document.live_version, waiting=version.waits)
            if step is Step.FAILED:
                version.state, version.reason = "failed", receipt.error
                return _failure(document, receipt)
            if step is Step.WAITING:
                version.waits = versions_rules.remaining(version.waits, receipt)
            if step is Step.FLIPPED:
                _flip(document, receipt.version)
                self._state.epochs[receipt.tenant] += 1
            if step not in (Step.FLIPPED, Step.REPEATED):
                return None
            agents, tags = version.filtered_by
            return versions_rules.publication(
                receipt,
                op=version.change.op,
                chunks=version.count,
                agents=agents,
                tags=tags,
                rewrite=version.rewrite,
                overtaken=version.overtaken,
            )

    async def collect(self, key: DocKey, generation: str, remove: Callable[[Sequence[str]], Awaitable[None]]) -> None:
        """Remove, here and by `remove`, what flips took out."""
        document = self._state.document(key, generation)
        async with document.lock:
            unwanted = sorted(document.garbage - document.wanted())
            if unwanted:
                await remove(unwanted)
            for chunk_id in unwanted:
                self._state.texts.pop(chunk_id, None)
                self._state.kinds.pop(chunk_id, None)
                self._state.graph.pop(chunk_id, None)
                self._state.contexts.pop(chunk_id, None)
            for name, overview in list(self._state.overviews.items()):
                if not set(unwanted).isdisjoint(overview.evidence):
                    del self._state.overviews[name]
            document.garbage.clear()

    async def unreplayed(self, key: DocKey, version: int, generation: str) -> bool:
        """Tell whether a version of the log has still to be brought into a generation."""
        everywhere = [document for (_, of), document in self._state.documents.items() if of == key]
        live = [document.live_version for document in everywhere if document.live_version is not None]
        if max([self._state.deletions.get(key, -1), *live]) > version:
            return False
        document = self._state.document(key, generation)
        if document.accepted_version is None or document.accepted_version < version:
            return True
        if document.accepted_version > version or document.live_version == version:
            return False
        return document.versions[version].replayed

    async def standing(self, key: DocKey, version: int, generation: str) -> DocumentStatus | None:
        """Return what is to be said of a version in a generation."""
        found = self._state.document(key, generation).versions.get(version)
        if found is None:
            return None
        return versions_rules.standing(
            key, version, generation, op=found.change.op, state=found.state, chunks=found.count, reason=found.reason
        )


class MemoryGenerations:
    """The Generations port in memory."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._live: Generation | None = None
        self._others: list[Generation] = []

    async def live(self) -> Generation:
        """Return the live generation."""
        if self._live is None:
            raise ConfigurationError("no generation is live")
        return self._live

    async def active(self) -> tuple[Generation, ...]:
        """Return all generations that are not dropped, the live one first."""
        return (await self.live(), *self._others)

    async def start(self, generation: Generation) -> None:
        """Build a generation beside the live one."""
        self._others.append(replace(generation, state="building", replayed=True))

    async def promote(self, name: str) -> None:
        """Make another generation the live one, and keep the one that was."""
        live, found = await self.live(), named(name, self._others)
        assert found is not None
        self._others = [each for each in self._others if each.id != name] + [replace(live, state="kept")]
        self._live = replace(found, state="live")

    def drop(self, name: str) -> None:
        """Forget a generation that is not live."""
        self._others = [each for each in self._others if each.id != name]

    async def find(self) -> Generation | None:
        """Return the live generation, if there is one."""
        return self._live

    async def ensure(
        self,
        *,
        model: str,
        dimension: int,
        average_length: float,
        also: Sequence[Model] = (),
        lexical: Sequence[str] = (),
        id: str = postgres_generations.FIRST,
        chunker: str = "",
    ) -> Generation:
        """Return the live generation, making the first one."""
        if self._live is None:
            self._live = Generation(
                id=id,
                model=model,
                dimension=dimension,
                average_length=average_length,
                also=tuple(also),
                lexical=tuple(lexical),
                chunker=chunker,
            )
        postgres_generations.check(self._live, model=model, dimension=dimension, also=also, lexical=lexical)
        postgres_generations.check_chunker(self._live, chunker)
        return self._live

    async def counts(self, generation: str) -> tuple[TenantCounts, ...]:
        """Return the live documents and chunks of every tenant that has any."""
        found: dict[str, list[int]] = {}
        for document, version in self._state.live(generation):
            if version.chunks:
                found.setdefault(document.key.tenant, []).append(len(version.chunks))
        return tuple(
            TenantCounts(tenant=tenant, documents=len(chunks), chunks=sum(chunks))
            for tenant, chunks in sorted(found.items())
        )


def open_to(document: Document, version: int) -> bool:
    """Whether a version can still become live, or is."""
    accepted, live = document.accepted_version, document.live_version
    return accepted is not None and version <= accepted and (live is None or version >= live)


def _recorded(candidate: Candidate) -> Version:
    return Version(
        change=candidate.change,
        language=candidate.language,
        chunks=candidate.chunks,
        parts=candidate.parts,
        waits=versions_rules.waits(candidate.parts),
        count=len(candidate.chunks),
        replayed=candidate.replayed,
    )


def _reopen(document: Document, candidate: Candidate) -> None:
    known = document.versions[candidate.change.version]
    repeated = _recorded(candidate)
    repeated.replayed = known.replayed
    if (known.parts, [c.id for c in known.chunks]) == (repeated.parts, [c.id for c in repeated.chunks]):
        repeated.waits = known.waits
    document.garbage |= {chunk.id for chunk in known.chunks}
    document.versions[candidate.change.version] = repeated


def _flip(document: Document, number: int) -> None:
    flipped = document.versions[number]
    flipped.rewrite = _shared(document, number)
    lower = {key: version for key, version in document.versions.items() if key < number}
    flipped.overtaken = tuple(sorted(key for key, version in lower.items() if version.state == "pending"))
    for version in lower.values():
        document.garbage |= {chunk.id for chunk in version.chunks}
        version.chunks, version.waits, version.state = (), [], "superseded"
    document.live_version = number
    flipped.state = "deleted" if flipped.change.op == "delete" else "live"
    flipped.waits, flipped.reason = [], None
    document.garbage -= document.wanted()


def _failure(document: Document, receipt: Receipt) -> Publication:
    if document.live_version is None:
        return versions_rules.failure(receipt)
    agents, tags = document.versions[document.live_version].filtered_by
    rewrite = _shared(document, document.live_version)
    return versions_rules.failure(receipt, agents=agents, tags=tags, rewrite=rewrite)


def _shared(document: Document, number: int) -> tuple[str, ...]:
    mine = document.versions[number]
    others = [version for key, version in document.versions.items() if key != number]
    theirs = {chunk.id for other in others if other.filtered_by != mine.filtered_by for chunk in other.chunks}
    return tuple(sorted(theirs & {chunk.id for chunk in mine.chunks}))
