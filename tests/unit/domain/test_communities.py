"""Communities and clusters: what falls together, in the same way each time, as arithmetic."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain import clusters
from streams.domain.clusters import Cluster
from streams.domain.communities import Bond, communities


def clique(*names: str, weight: float = 1.0) -> list[Bond]:
    return [Bond(a, b, weight) for a, b in itertools.combinations(names, 2)]


def modularity(bonds: list[Bond], found: list[list[str]]) -> float:
    """Q of Newman and Girvan (2004), from its definition."""
    m = sum(bond.weight for bond in bonds)
    home = {name: number for number, members in enumerate(found) for name in members}
    inside = [sum(b.weight for b in bonds if home[b.a] == home[b.b] == n) for n in range(len(found))]
    total = [sum(b.weight * ((home[b.a] == n) + (home[b.b] == n)) for b in bonds) for n in range(len(found))]
    return sum(i / m - (t / (2 * m)) ** 2 for i, t in zip(inside, total, strict=True))


def test_two_triangles_with_one_bond_between_them_are_two_communities() -> None:
    bonds = [*clique("a", "b", "c"), *clique("x", "y", "z"), Bond("c", "x", 1.0)]
    found = communities(bonds)
    assert found == [["a", "b", "c"], ["x", "y", "z"]]
    assert modularity(bonds, found) == pytest.approx(2 * (3 / 7 - (7 / 14) ** 2))


def test_a_strong_bond_outweighs_many_weak_ones() -> None:
    bonds = [Bond("a", "b", 9.0), Bond("c", "d", 9.0), Bond("a", "c", 0.1), Bond("a", "d", 0.1), Bond("b", "c", 0.1)]
    assert communities(bonds) == [["a", "b"], ["c", "d"]]


def test_a_ring_of_cliques_falls_apart_into_its_cliques() -> None:
    rings = [[f"{letter}{number}" for number in range(5)] for letter in "abcdefgh"]
    bonds = [bond for ring in rings for bond in clique(*ring)]
    bonds += [Bond(one[0], other[1], 1.0) for one, other in itertools.pairwise([*rings, rings[0]])]
    assert communities(bonds) == rings


def test_nothing_and_a_bond_with_itself_are_no_trouble() -> None:
    assert communities([]) == []
    assert communities([Bond("a", "a", 1.0)]) == [["a"]]
    assert communities([Bond("a", "b", 0.0)]) == [["a"], ["b"]]


NAMES = st.sampled_from("abcdefghij")
BONDS = st.lists(st.builds(Bond, NAMES, NAMES, st.sampled_from([0.25, 0.5, 1.0, 3.0])), max_size=40)


@given(BONDS, st.randoms(use_true_random=False))
def test_the_same_graph_falls_apart_in_the_same_way_whatever_its_order(bonds: list[Bond], by: random.Random) -> None:
    shuffled = [Bond(b, a, weight) if by.random() < 0.5 else Bond(a, b, weight) for a, b, weight in bonds]
    by.shuffle(shuffled)
    found = communities(bonds)
    assert communities(shuffled) == found
    assert sorted(name for members in found for name in members) == sorted({n for b in bonds for n in b[:2]})


@given(BONDS)
def test_communities_are_no_worse_than_each_by_itself_and_all_together(bonds: list[Bond]) -> None:
    bonds = [bond for bond in bonds if bond.a != bond.b]
    if bonds:
        names = sorted({name for bond in bonds for name in bond[:2]})
        found = modularity(bonds, communities(bonds))
        assert found >= modularity(bonds, [[name] for name in names]) - 1e-9
        assert found >= modularity(bonds, [names]) - 1e-9


def test_a_cluster_names_first_what_connects_most_and_the_heaviest_is_first() -> None:
    bonds = [*clique("a", "b", "c"), Bond("a", "d", 2.0), *clique("x", "y", "z", weight=0.5), Bond("p", "q", 9.0)]
    assert clusters.clusters(bonds) == [
        Cluster(keys=("a", "b", "c", "d"), weight=5.0),  # degrees 4, 2, 2, 2
        Cluster(keys=("x", "y", "z"), weight=1.5),
    ]  # p and q are two only


def test_a_community_too_large_to_speak_of_is_divided_and_what_cannot_be_is_cut() -> None:
    groups = [[f"{group:02d}-{number}" for number in range(6)] for group in range(40)]
    bonds = [bond for group in groups for bond in clique(*group)]
    bonds += [Bond(group[0], "hub", 0.9) for group in groups]
    found = clusters.clusters(bonds)
    assert len(found) >= 10
    assert max(len(cluster.keys) for cluster in found) <= clusters.MOST_ENTITIES
    star = [Bond("hub", f"leaf{number:03d}", 1.0) for number in range(200)]
    (whole,) = clusters.clusters(star)
    assert (len(whole.keys), whole.keys[0], whole.weight) == (clusters.MOST_ENTITIES, "hub", 200.0)


def test_there_are_only_so_many_clusters_and_they_are_the_heaviest() -> None:
    bonds = [b for n in range(clusters.MOST_CLUSTERS + 9) for b in clique(f"{n}a", f"{n}b", f"{n}c", weight=1.0 + n)]
    found = clusters.clusters(bonds)
    assert len(found) == clusters.MOST_CLUSTERS
    assert found[-1].weight == 3.0 * (1 + 9)
