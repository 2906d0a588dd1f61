"""The knowledge graph as a search: from what it says around a question's entities to scored chunks and facts.

A question's entities lead to chunks directly (they are mentioned, two of them are related there) and over one bridge:
an entity that is related to one of them, and the chunks that speak of it. So the graph finds the second of two
documents when only the bridge, which the question does not name, connects them.

Each piece of evidence is a weight from 0 to 1, and a chunk's score is 1 - Π(1 - w): the chance that at least one of
them is right, were they independent (noisy or; Pearl, "Probabilistic Reasoning in Intelligent Systems", 1988, §4.3.2).
To keep a long chunk from collecting many weak ones, it counts an entity's best relation and its best bridges only.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.graph import Fact
from schemas.queries import Hit

FREQUENT = 400  # chunks; an entity in as many counts hardly anything
LEAST = 0.05  # specificity of an entity, however common

MENTION = 0.6  # a chunk mentions an entity of the question, often
BOTH = 0.6  # it relates two of them
HOP = 0.4  # it relates one of them to a bridge
BRIDGED = 0.5  # it mentions a bridge, often

MOST_KEYS = 16  # entities of a question that are looked up
MOST_BRIDGES = 16
BRIDGES_COUNTED = 3  # in one chunk

MOST_FACTS = 12
BEYOND = 4  # of them, at most, that say something of a bridge alone
UNLABELLED = 0.5  # what a fact without words is worth: it says that two things occur together
NEAR, FAR = 0.6, 0.6  # a fact from an entity to a bridge, from a bridge on


@dataclass(frozen=True, kw_only=True)
class Mention:
    """An entity in a chunk, and how often."""

    key: str
    chunk_id: str
    mentions: int


@dataclass(frozen=True, kw_only=True)
class Link:
    """A relation in a chunk, with the names that it uses there; `weight` from 0 to 1."""

    subject: str
    object: str
    label: str
    weight: float
    chunk_id: str
    subject_name: str
    object_name: str


@dataclass(frozen=True, kw_only=True)
class Around:
    """What the graph says around some entities: visible rows, strongest first, so many an entity."""

    frequencies: Mapping[str, int] = field(default_factory=dict)  # chunks that mention each, up to FREQUENT
    mentions: Sequence[Mention] = ()
    links: Sequence[Link] = ()


@dataclass(frozen=True, kw_only=True)
class GraphFound:
    """What a search of the graph found: chunks and facts, best first."""

    hits: list[Hit]
    facts: list[Fact]


@functools.lru_cache(maxsize=FREQUENT + 1)
def specificity(frequency: int) -> float:
    """Return how much an entity says that so many chunks mention: 1 for one chunk, LEAST from FREQUENT chunks on."""
    return max(LEAST, 1.0 - math.log(max(1, frequency)) / math.log(FREQUENT))


def bridges(keys: Sequence[str], near: Around) -> list[str]:
    """Return the entities that relations lead to from the question's, strongest first, at most MOST_BRIDGES."""
    return _strongest(_reached(keys, near))


def rank(keys: Sequence[str], near: Around, far: Around, limit: int) -> GraphFound:
    """Score the chunks and facts around the question's entities (`near`) and around the bridges (`far`)."""
    asked = set(keys)
    worth = {key: specificity(near.frequencies.get(key, 0)) for key in asked}
    all_reached = _reached(keys, near)
    crossed = set(_strongest(all_reached))
    over = {key: specificity(far.frequencies.get(key, 0)) for key in crossed}
    reached = {key: strength * over[key] for key, strength in all_reached.items() if key in crossed}

    evidence: dict[str, dict[tuple[str, ...], float]] = {}  # by chunk, by what it is evidence of

    def add(chunk_id: str, of: tuple[str, ...], weight: float) -> None:
        known = evidence.setdefault(chunk_id, {})
        known[of] = max(known.get(of, 0.0), weight)

    for mention in (*near.mentions, *far.mentions):
        often = 1.0 - 0.5**mention.mentions
        if mention.key in asked:
            add(mention.chunk_id, ("mention", mention.key), MENTION * worth[mention.key] * often)
        elif mention.key in crossed:
            add(mention.chunk_id, ("bridge", mention.key), BRIDGED * reached[mention.key] * often)
    facts: list[Fact] = []
    for link in near.links:
        ends = [end for end in (link.subject, link.object) if end in asked]
        if len(ends) == 2:
            both = math.sqrt(worth[ends[0]] * worth[ends[1]]) * link.weight
            add(link.chunk_id, ("both", *sorted(ends)), BOTH * both)
            facts.append(_fact(link, both))
        elif (bridge := _other(link, asked)) in crossed:
            near_by = math.sqrt(worth[ends[0]] * over[bridge]) * link.weight
            add(link.chunk_id, ("hop", ends[0]), HOP * near_by)
            facts.append(_fact(link, NEAR * near_by))
    beyond = [
        _fact(link, FAR * max(reached.get(link.subject, 0.0), reached.get(link.object, 0.0)) * link.weight)
        for link in far.links
        if asked.isdisjoint((link.subject, link.object))
    ]
    scores = {chunk_id: _noisy_or(weights) for chunk_id, weights in evidence.items()}
    hits = [Hit(chunk_id=chunk_id, score=score) for chunk_id, score in scores.items() if score > 0]
    return GraphFound(hits=sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:limit], facts=_best(facts, beyond))


def _reached(keys: Sequence[str], near: Around) -> dict[str, float]:
    """Return how strongly relations lead to each other entity: noisy or over the question's, one relation from each."""
    asked = set(keys)
    strongest: dict[str, dict[str, float]] = {}
    for link in near.links:
        ends = {link.subject, link.object}
        if len(ends & asked) == 1:
            (start,), (bridge,) = ends & asked, ends - asked
            weight = HOP * specificity(near.frequencies.get(start, 0)) * link.weight
            known = strongest.setdefault(bridge, {})
            known[start] = max(known.get(start, 0.0), weight)
    return {bridge: 1.0 - math.prod(1.0 - weight for weight in by.values()) for bridge, by in strongest.items()}


def _strongest(reached: Mapping[str, float]) -> list[str]:
    return sorted(reached, key=lambda key: (-reached[key], key))[:MOST_BRIDGES]


def _other(link: Link, asked: set[str]) -> str:
    return link.object if link.subject in asked else link.subject


def _noisy_or(weights: Mapping[tuple[str, ...], float]) -> float:
    if len(weights) == 1:  # of most chunks
        return 1.0 - (1.0 - next(iter(weights.values())))
    direct = [weight for of, weight in sorted(weights.items()) if of[0] != "bridge"]
    over = sorted((weight for of, weight in weights.items() if of[0] == "bridge"), reverse=True)
    return 1.0 - math.prod(1.0 - weight for weight in (*direct, *over[:BRIDGES_COUNTED]))


def _fact(link: Link, score: float) -> Fact:
    return Fact(
        subject=link.subject_name,
        label=link.label,
        object=link.object_name,
        chunk_id=link.chunk_id,
        score=score if link.label else score * UNLABELLED,
    )


def _best(near: Iterable[Fact], beyond: Iterable[Fact]) -> list[Fact]:
    """Return the best facts, each once; some room is kept for those of a bridge alone: they are the second step."""
    first = _distinct(near)
    said = {_said(fact) for fact in first}
    second = [fact for fact in _distinct(beyond) if _said(fact) not in said][:BEYOND]
    return sorted([*first[: MOST_FACTS - len(second)], *second], key=_order)


def _distinct(facts: Iterable[Fact]) -> list[Fact]:
    kept: dict[tuple[str, str, str], Fact] = {}
    for fact in sorted(facts, key=_order):
        if fact.score > 0:
            kept.setdefault(_said(fact), fact)
    return list(kept.values())


def _said(fact: Fact) -> tuple[str, str, str]:
    return (fact.subject.casefold(), fact.label.casefold(), fact.object.casefold())


def _order(fact: Fact) -> tuple[float, str, str, str, str]:
    return (-fact.score, fact.chunk_id, fact.subject, fact.label, fact.object)
