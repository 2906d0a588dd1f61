"""Communities of a weighted graph: entities that connect more with each other than with the rest.

Source: Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks" (2008), known as
Louvain. Nothing is random here: nodes are visited in the order of their names and ties go to the first community, so
the same graph always falls apart in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

MOST_PASSES = 20  # over all nodes, at one level
MOST_LEVELS = 10
LEAST_GAIN = 1e-9  # of modularity, in units of the graph's weight; less is rounding

_Near = list[dict[int, float]]  # by node: the weight of its links, by the other end


class Bond(NamedTuple):
    """How strongly two entities connect, over all that is said of them."""

    a: str
    b: str
    weight: float


def communities(bonds: Sequence[Bond]) -> list[list[str]]:
    """Return the communities of a graph, each sorted by name, in the order of their first names.

    Modularity grows with each move: Q = Σ_c (inside_c / m - (total_c / 2m)²), m being the weight of all bonds. Bonds of
    a name with itself, and those without weight, do not count.
    """
    names = sorted({name for bond in bonds for name in (bond.a, bond.b)})
    places = {name: place for place, name in enumerate(names)}
    near: _Near = [{} for _ in names]
    for bond in sorted(bonds):
        a, b = places[bond.a], places[bond.b]
        if a != b and bond.weight > 0:
            near[a][b] = near[a].get(b, 0.0) + bond.weight
            near[b][a] = near[b].get(a, 0.0) + bond.weight
    members = [[place] for place in range(len(names))]
    loops = [0.0] * len(names)  # the weight inside of each node, counted twice as its degree counts it
    for _ in range(MOST_LEVELS):
        labels = _moved(near, loops)
        if len(set(labels)) == len(labels):
            break
        near, loops, members = _merged(near, loops, members, labels)
    found = [sorted(names[place] for place in each) for each in members]
    return sorted(found)


def _moved(near: _Near, loops: Sequence[float]) -> list[int]:
    """Return the community of each node after moving nodes, one by one, to where modularity grows most."""
    degrees = [sum(links.values()) + loop for links, loop in zip(near, loops, strict=True)]
    twice = sum(degrees)
    labels = list(range(len(near)))
    if not twice:
        return labels
    totals = dict(enumerate(degrees))
    for _ in range(MOST_PASSES):
        moved = False
        for node, links in enumerate(near):
            own = labels[node]
            totals[own] -= degrees[node]
            to: dict[int, float] = {own: 0.0}
            for other, weight in links.items():
                to[labels[other]] = to.get(labels[other], 0.0) + weight
            gains = {label: weight - degrees[node] * totals[label] / twice for label, weight in to.items()}
            best = min(gains, key=lambda label: (-gains[label], label))
            if gains[best] <= gains[own] + LEAST_GAIN * twice:
                best = own
            totals[best] += degrees[node]
            moved |= best != own
            labels[node] = best
        if not moved:
            break
    return labels


def _merged(
    near: _Near, loops: Sequence[float], members: Sequence[Sequence[int]], labels: Sequence[int]
) -> tuple[_Near, list[float], list[list[int]]]:
    """Return the graph with each community as one node."""
    order: Mapping[int, int] = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    merged: _Near = [{} for _ in order]
    inside = [0.0] * len(order)
    joined: list[list[int]] = [[] for _ in order]
    for node, links in enumerate(near):
        place = order[labels[node]]
        inside[place] += loops[node]
        joined[place] += members[node]
        for other, weight in links.items():
            there = order[labels[other]]
            if there == place:
                inside[place] += weight
            else:
                merged[place][there] = merged[place].get(there, 0.0) + weight
    return merged, inside, joined
