"""The in-memory twins of the graph as a whole, and of the overviews made of its parts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from streams.adapters.memory_state import State
from streams.adapters.memory_texts import found_terms
from streams.adapters.overviews import MOST_AUDIENCES
from streams.domain import lexemes
from streams.domain.communities import Bond
from streams.domain.overviews import Made, Matched, OverviewsFound, Source
from streams.domain.scope import Scope


class MemoryOutlines:
    """The Outlines port in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def audiences(self, tenant: str, generation: str) -> Sequence[tuple[str, ...]]:
        """Return the audiences of live passages, those with most first."""
        counts = Counter(audience for _, audience, _ in self._passages(tenant, generation))
        return sorted(counts, key=lambda audience: (-counts[audience], audience))[:MOST_AUDIENCES]

    async def bonds(self, tenant: str, generation: str, audience: Sequence[str], limit: int) -> Sequence[Bond]:
        """Sum up the relations of every two entities."""
        weights: dict[tuple[str, str], list[float]] = {}
        for chunk_id, whose, _ in self._passages(tenant, generation):
            if whose == tuple(audience) and chunk_id in self._state.graph:
                for link in self._state.graph[chunk_id].links.values():
                    ends = (min(link.subject, link.object), max(link.subject, link.object))
                    weights.setdefault(ends, []).append(link.weight)
        bonds = [Bond(a=a, b=b, weight=round(math.fsum(each), 6)) for (a, b), each in weights.items()]
        return sorted(bonds, key=lambda bond: (-bond.weight, bond.a, bond.b))[:limit]

    async def sources(
        self, tenant: str, generation: str, audience: Sequence[str], keys: Sequence[str], limit: int
    ) -> Sequence[Source]:
        """Return the passages that mention most of the keys."""
        found: list[tuple[int, int, Source]] = []
        for chunk_id, whose, language in self._passages(tenant, generation):
            said = self._state.graph[chunk_id].mentions if chunk_id in self._state.graph else {}
            mentions = [said[key].mentions for key in set(keys) if key in said]
            if whose == tuple(audience) and len(mentions) > 1:
                text = self._state.texts[chunk_id]
                source = Source(chunk_id=chunk_id, heading_path=text.heading_path, body=text.body, language=language)
                found.append((len(mentions), sum(min(5, each) for each in mentions), source))
        found.sort(key=lambda each: (-each[0], -each[1], each[2].chunk_id))
        return [source for _, _, source in found[:limit]]

    def _passages(self, tenant: str, generation: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
        for _, version in self._state.live(generation):
            if version.change.tenant == tenant:
                for chunk in version.chunks:
                    if chunk.id == chunk.parent_id:
                        yield chunk.id, tuple(version.filtered_by[0]), version.language


class MemoryOverviews:
    """The Overviews port in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def kept(self, tenant: str, generation: str) -> frozenset[str]:
        """Return the hashes of those that stand."""
        live = self._live(tenant, generation)
        return frozenset(each.hash for each in self._of(tenant, generation) if live.issuperset(each.evidence))

    async def put(self, tenant: str, generation: str, overview: Made) -> bool:
        """Keep one whose chunks are live."""
        if not self._live(tenant, generation).issuperset(overview.evidence):
            return False
        self._state.overviews[tenant, generation, overview.hash] = overview
        return True

    async def retain(self, tenant: str, generation: str, hashes: Collection[str]) -> int:
        """Drop all others."""
        others = [each.hash for each in self._of(tenant, generation) if each.hash not in hashes]
        for hash_of in others:
            del self._state.overviews[tenant, generation, hash_of]
        return len(others)

    async def search(self, scope: Scope, terms: Sequence[str], limit: int) -> OverviewsFound:
        """Find by terms."""
        visible = {chunk.id for _, version in self._state.visible(scope) for chunk in version.chunks}
        every = [each for each in self._of(scope.tenant, scope.generation) if each.text]
        found = [
            Matched(
                hash=each.hash,
                title=each.title,
                text=each.text,
                weight=each.weight,
                evidence=each.evidence,
                terms=found_terms(terms, lexemes.tsvector((each.title,), each.text, each.language)),
            )
            for each in every
            if visible.issuperset(each.evidence)
        ]
        matched = [each for each in found if each.terms or not terms]
        matched.sort(key=lambda each: (-len(each.terms), -each.weight, each.hash))
        return OverviewsFound(matched=matched[:limit], known=bool(every))

    def _of(self, tenant: str, generation: str) -> list[Made]:
        return [each for name, each in self._state.overviews.items() if name[:2] == (tenant, generation)]

    def _live(self, tenant: str, generation: str) -> set[str]:
        return {
            chunk.id
            for _, version in self._state.live(generation)
            if version.change.tenant == tenant
            for chunk in version.chunks
        }
