"""The knowledge graph in Postgres."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.rows import DictRow

from schemas.graph import Entity, GraphBatch
from streams.adapters import postgres, postgres_scope, versions
from streams.adapters.postgres import Connection
from streams.domain import graph, graph_rows
from streams.domain.graph import Around, GraphFound, Link, Mention
from streams.domain.scope import Scope
from streams.telemetry.calls import traced

MENTIONS, RELATIONS = 40, 24  # rows read of each entity of a question, relations in each direction; at most,
ALL_MENTIONS, ALL_RELATIONS = 160, 96  # and of all of them
BRIDGE_MENTIONS, BRIDGE_RELATIONS = 10, 4  # rows read of each bridge
SCANNED = 1_000  # rows looked at to find so many that the caller may see


@traced("postgresql", "write", "search")
class PostgresGraph:
    """The Graph port on Postgres."""

    def __init__(self, *, pool: postgres.Pool) -> None:
        self._pool = pool

    async def write(self, batch: GraphBatch) -> bool:
        """Insert what is not there yet of the chunks that a kept version has; rows are never updated.

        The batch's own version may have been replaced: no version waits for the graph, and the one that replaced it
        may have chunks of it, which nobody extracts again.
        """
        entities = graph_rows.entities(batch.entities)
        links = graph_rows.links(batch.relations, entities)
        async with postgres.transaction(self._pool, "write the graph") as connection:
            found = await connection.execute(
                postgres.sql("document_share"), versions.key_of(batch.key, batch.generation)
            )
            row = await found.fetchone()
            if row is None:
                return False
            at = {"document": row["id"], "generation": batch.generation, "tenant": batch.tenant}
            chunk_ids = sorted({entity.chunk_id for entity in entities})
            found = await connection.execute(postgres.sql("graph_wanted"), at | {"chunk_ids": chunk_ids})
            wanted = {each["chunk_id"] for each in await found.fetchall()}
            await _insert_mentions(connection, at, [entity for entity in entities if entity.chunk_id in wanted])
            await _insert_links(connection, at, [link for link in links if link.chunk_id in wanted])
        return bool(wanted)

    async def search(self, scope: Scope, keys: Sequence[str], limit: int) -> GraphFound:
        """Look around the question's entities, then around the bridges they lead to: two statements."""
        keys = list(dict.fromkeys(key for key in keys if key and "\0" not in key))[: graph.MOST_KEYS]
        if not keys or limit < 1:
            return GraphFound(hits=[], facts=[])
        mentions, relations = shares(len(keys))
        near = await self._around(scope, keys, mentions=mentions, relations=relations, pairs=keys)
        if not near.mentions and not near.links:
            return GraphFound(hits=[], facts=[])
        # A chunk that came by one of the question's entities may mention others too.
        chunk_ids = {mention.chunk_id for mention in near.mentions} | {link.chunk_id for link in near.links}
        far = await self._around(
            scope,
            graph.bridges(keys, near),
            mentions=BRIDGE_MENTIONS,
            relations=BRIDGE_RELATIONS,
            chunk_ids=sorted(chunk_ids),
            completed=keys,
        )
        return graph.rank(keys, near, far, limit)

    async def _around(
        self,
        scope: Scope,
        keys: Sequence[str],
        *,
        mentions: int,
        relations: int,
        pairs: Sequence[str] = (),
        chunk_ids: Sequence[str] = (),
        completed: Sequence[str] = (),
    ) -> Around:
        rows = await postgres.read(
            self._pool,
            "search the graph",
            tenant=scope.tenant,
            statement=postgres.sql("graph_around"),
            parameters=postgres_scope.visible(scope)
            | {
                "keys": list(keys),
                "pairs": list(pairs),
                "chunk_ids": list(chunk_ids),
                "completed": list(completed),
                "mentions": mentions,
                "relations": relations,
                "scanned": SCANNED,
                "frequent": graph.FREQUENT,
            },
            planned_once=True,
        )
        return Around(
            frequencies={row["key"]: int(row["number"]) for row in rows if row["what"] == "frequency"},
            mentions=[
                Mention(key=row["key"], chunk_id=row["chunk_id"], mentions=int(row["number"]))
                for row in rows
                if row["what"] == "mention"
            ],
            links=[_link(row) for row in rows if row["what"] == "relation"],
        )


def shares(keys: int) -> tuple[int, int]:
    """Return how many mentions and relations are read of each of so many entities of a question."""
    return min(MENTIONS, ALL_MENTIONS // keys), min(RELATIONS, ALL_RELATIONS // keys)


def _link(row: DictRow) -> Link:
    return Link(
        subject=row["key"],
        object=row["object"],
        label=row["label"],
        weight=row["number"],
        chunk_id=row["chunk_id"],
        subject_name=row["subject_name"],
        object_name=row["object_name"],
    )


async def _insert_mentions(connection: Connection, at: DictRow, entities: Sequence[Entity]) -> None:
    if entities:
        await connection.execute(
            postgres.sql("graph_mentions_insert"),
            at
            | {
                "chunk_ids": [entity.chunk_id for entity in entities],
                "keys": [entity.key for entity in entities],
                "names": [entity.name[: graph_rows.LONGEST_NAME] for entity in entities],
                "kinds": [entity.kind for entity in entities],
                "mentions": [entity.mentions for entity in entities],
            },
        )


async def _insert_links(connection: Connection, at: DictRow, links: Sequence[Link]) -> None:
    if links:
        await connection.execute(
            postgres.sql("graph_relations_insert"),
            at
            | {
                "chunk_ids": [link.chunk_id for link in links],
                "subjects": [link.subject for link in links],
                "objects": [link.object for link in links],
                "labels": [link.label for link in links],
                "weights": [link.weight for link in links],
                "subject_names": [link.subject_name for link in links],
                "object_names": [link.object_name for link in links],
            },
        )
