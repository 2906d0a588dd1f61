"""Clusters of the knowledge graph: communities of a size that a short text can speak of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from streams.domain.communities import Bond, communities

MOST_BONDS = 20_000  # that are looked at: the strongest
MOST_CLUSTERS = 48  # of one audience: those that connect most
LEAST_ENTITIES = 3
MOST_ENTITIES = 60  # a larger community is divided again
MOST_DIVISIONS = 3
KEYS = 16  # entities by which the passages of a cluster are found


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Entities that belong together: those that connect most inside of it first."""

    keys: tuple[str, ...]
    weight: float  # of all bonds inside


def clusters(bonds: Sequence[Bond]) -> list[Cluster]:
    """Return the clusters of a graph, those with most weight inside first; the same graph gives the same ones."""
    found = [_cluster(members, bonds_inside) for members, bonds_inside in _divided(bonds, MOST_DIVISIONS)]
    kept = [cluster for cluster in found if len(cluster.keys) >= LEAST_ENTITIES]
    return sorted(kept, key=lambda cluster: (-cluster.weight, cluster.keys))[:MOST_CLUSTERS]


def _divided(bonds: Sequence[Bond], divisions: int) -> Iterator[tuple[Sequence[str], Sequence[Bond]]]:
    found = communities(bonds)
    homes = {name: number for number, members in enumerate(found) for name in members}
    inside: list[list[Bond]] = [[] for _ in found]
    for bond in bonds:
        if homes[bond.a] == homes[bond.b]:
            inside[homes[bond.a]].append(bond)
    for members, own in zip(found, inside, strict=True):
        if len(members) > MOST_ENTITIES and len(found) > 1 and divisions:
            yield from _divided(own, divisions - 1)
        else:
            yield members, own


def _cluster(members: Iterable[str], bonds: Sequence[Bond]) -> Cluster:
    degrees = dict.fromkeys(members, 0.0)
    for bond in bonds:
        degrees[bond.a] += bond.weight
        degrees[bond.b] += bond.weight
    keys = sorted(degrees, key=lambda key: (-degrees[key], key))[:MOST_ENTITIES]
    return Cluster(keys=tuple(keys), weight=round(sum(bond.weight for bond in bonds), 6))
