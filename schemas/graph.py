"""The knowledge graph: what `extract` finds in a part of a version, and what the graph leg says of a question."""

from __future__ import annotations

from typing import Literal

from schemas.base import Value
from schemas.chunks import Part

EntityKind = Literal["name", "person", "organization", "place", "product", "code", "term"]


class Entity(Value, frozen=True, kw_only=True):
    """Something that a chunk speaks of."""

    key: str  # what mentions of the same thing share: normalised, lemmatised, lower case
    name: str  # as it is written, for people
    kind: EntityKind
    chunk_id: str  # the parent chunk that mentions it
    mentions: int = 1


class Relation(Value, frozen=True, kw_only=True):
    """How two entities of one chunk connect."""

    subject: str  # an entity's key
    object: str  # an entity's key
    label: str  # the words that connect them, for people; empty: they occur together
    chunk_id: str  # where it says so
    weight: float = 1.0


class GraphBatch(Part, tag=True, frozen=True, kw_only=True):
    """Entities and relations of one part of one version."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


class Fact(Value, frozen=True, kw_only=True):
    """One line of the graph's answer, with the chunk that says so; it is shown only while that chunk is live."""

    subject: str  # names, for people
    label: str
    object: str
    chunk_id: str
    score: float = 0.0


class Overview(Value, frozen=True, kw_only=True):
    """What a part of the graph is about, for a broad question; it is shown only while all its chunks are live."""

    title: str
    text: str
    evidence: tuple[str, ...]  # the chunks it was made from, those that say most first
    score: float = 0.0
