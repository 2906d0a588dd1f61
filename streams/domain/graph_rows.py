"""What of an extraction is kept: rows that a store and a record can hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from schemas.graph import Entity, Relation
from streams.domain.graph import Link

LONGEST_KEY = 120  # characters; three keys and labels of as many must fit into one row of an index
LONGEST_NAME = 200  # characters
MOST_ENTITIES = 64  # of a chunk
MOST_RELATIONS = 128  # of a chunk


def entities(found: Iterable[Entity]) -> list[Entity]:
    """Return an entity once a chunk, those mentioned most, without what nobody would ask for."""
    kept: dict[str, dict[str, Entity]] = {}
    for entity in sorted(found, key=lambda entity: (-entity.mentions, entity.key)):
        chunk = kept.setdefault(entity.chunk_id, {})
        if entity.key and len(entity.key) <= LONGEST_KEY and entity.mentions > 0 and len(chunk) < MOST_ENTITIES:
            chunk.setdefault(entity.key, entity)
    return [entity for _, chunk in sorted(kept.items()) for entity in chunk.values()]


def relations(found: Iterable[Relation], of: Iterable[Entity]) -> list[Relation]:
    """Return the relations between kept entities of their chunk, each once, the strongest of it."""
    known = {(entity.chunk_id, entity.key) for entity in of}
    kept: dict[str, dict[tuple[str, str, str], Relation]] = {}
    for relation in sorted(found, key=lambda each: (-each.weight, each.subject, each.object, each.label)):
        chunk_id, label = relation.chunk_id, relation.label[:LONGEST_KEY]
        chunk = kept.setdefault(chunk_id, {})
        if relation.subject == relation.object or relation.weight <= 0 or len(chunk) >= MOST_RELATIONS:
            continue
        if {(chunk_id, relation.subject), (chunk_id, relation.object)} <= known:
            bounded = msgspec.structs.replace(relation, label=label, weight=min(1.0, relation.weight))
            chunk.setdefault((relation.subject, relation.object, label), bounded)
    return [relation for _, chunk in sorted(kept.items()) for relation in chunk.values()]


def links(found: Iterable[Relation], of: Sequence[Entity]) -> list[Link]:
    """Return what is kept of the relations, with the entities' names as their chunk writes them."""
    names = {(entity.chunk_id, entity.key): entity.name[:LONGEST_NAME] for entity in of}
    return [
        Link(
            subject=relation.subject,
            object=relation.object,
            label=relation.label,
            weight=relation.weight,
            chunk_id=relation.chunk_id,
            subject_name=names[relation.chunk_id, relation.subject],
            object_name=names[relation.chunk_id, relation.object],
        )
        for relation in relations(found, of)
    ]
