"""The in-memory twin of the knowledge graph."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from schemas.graph import GraphBatch
from streams.adapters import graph as postgres_graph
from streams.adapters.memory_state import ChunkGraph, State
from streams.domain import graph, graph_rows
from streams.domain.graph import Around, GraphFound, Link, Mention
from streams.domain.scope import Scope


class MemoryGraph:
    """The Graph port in memory; reads as many rows as Postgres does, without a bound on those looked at."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def write(self, batch: GraphBatch) -> bool:
        """Keep what is not there yet of the chunks that a kept version has."""
        wanted = self._state.document(batch.key, batch.generation).wanted()
        entities = [each for each in graph_rows.entities(batch.entities) if each.chunk_id in wanted]
        for entity in entities:
            kept = self._state.graph.setdefault(
                entity.chunk_id, ChunkGraph(tenant=batch.tenant, generation=batch.generation)
            )
            mention = Mention(key=entity.key, chunk_id=entity.chunk_id, mentions=entity.mentions)
            kept.mentions.setdefault(entity.key, mention)
        for link in graph_rows.links(batch.relations, entities):
            self._state.graph[link.chunk_id].links.setdefault((link.subject, link.object, link.label), link)
        return bool(entities)

    async def search(self, scope: Scope, keys: Sequence[str], limit: int) -> GraphFound:
        """Look around the question's entities, then around the bridges they lead to."""
        keys = list(dict.fromkeys(key for key in keys if key))[: graph.MOST_KEYS]
        if not keys or limit < 1:
            return GraphFound(hits=[], facts=[])
        near = self._around(scope, keys, *postgres_graph.shares(len(keys)), pairs=keys)
        far = self._around(
            scope,
            graph.bridges(keys, near),
            postgres_graph.BRIDGE_MENTIONS,
            postgres_graph.BRIDGE_RELATIONS,
            found=_chunks(near.mentions, near.links),
            completed=keys,
        )
        return graph.rank(keys, near, far, limit)

    def _around(
        self,
        scope: Scope,
        keys: Sequence[str],
        mentions: int,
        relations: int,
        *,
        pairs: Collection[str] = (),
        found: Collection[str] = (),
        completed: Collection[str] = (),
    ) -> Around:
        visible = {chunk.id for _, version in self._state.visible(scope) for chunk in version.chunks}
        rows = [self._state.graph[chunk_id] for chunk_id in sorted(visible & self._state.graph.keys())]
        mentioned = [
            mention
            for key in keys
            for mention in _most((row.mentions[key] for row in rows if key in row.mentions), mentions)
        ]
        every = [link for row in rows for link in row.links.values()]
        ends = [
            *([link for link in every if link.subject == key] for key in keys),
            *([link for link in every if link.object == key] for key in keys),
            *([link for link in every if (link.subject, link.object) == (a, b)] for a in pairs for b in pairs),
        ]
        related = list(dict.fromkeys(link for links in ends for link in _strongest(links, relations)))
        chunk_ids = _chunks(mentioned, related) | set(found)
        also = [row.mentions[key] for row in rows for key in completed if key in row.mentions]
        return Around(
            frequencies={key: min(graph.FREQUENT, self._frequency(scope, key)) for key in keys},
            mentions=[*mentioned, *(mention for mention in also if mention.chunk_id in chunk_ids)],
            links=related,
        )

    def _frequency(self, scope: Scope, key: str) -> int:
        """Return how many chunks of the tenant mention an entity, visible or not: they weigh it, and are not shown."""
        return sum(
            (row.tenant, row.generation) == (scope.tenant, scope.generation) and key in row.mentions
            for row in self._state.graph.values()
        )


def _chunks(mentions: Iterable[Mention], links: Iterable[Link]) -> set[str]:
    return {mention.chunk_id for mention in mentions} | {link.chunk_id for link in links}


def _most(mentions: Iterable[Mention], limit: int) -> list[Mention]:
    return sorted(mentions, key=lambda mention: (-mention.mentions, mention.chunk_id))[:limit]


def _strongest(links: Iterable[Link], limit: int) -> list[Link]:
    def order(link: Link) -> tuple[float, str, str, str, str]:
        return (-link.weight, link.chunk_id, link.subject, link.object, link.label)

    return sorted(links, key=order)[:limit]
