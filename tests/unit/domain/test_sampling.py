"""Drawing a sample."""

from __future__ import annotations

import random
from collections import Counter

from streams.domain.sampling import Sample


def drawn(identities: list[str], size: int, seed: int) -> list[str]:
    sample: Sample[str] = Sample(size, seed)
    for identity in identities:
        sample.add(("acme", identity), identity)
    return [item for _, item in sample.items()]


def test_a_seed_draws_the_same_whatever_order_the_items_come_in_and_however_often() -> None:
    names = [str(number) for number in range(500)]
    shuffled = names * 2
    random.Random(7).shuffle(shuffled)
    assert drawn(names, 20, seed=1) == drawn(shuffled, 20, seed=1)
    assert len(set(drawn(shuffled, 20, seed=1))) == 20
    assert drawn(names, 20, seed=1) != drawn(names, 20, seed=2)


def test_where_there_are_fewer_all_are_drawn() -> None:
    assert set(drawn(["a", "b", "a"], 5, seed=1)) == {"a", "b"}


def test_each_item_is_as_likely_as_any_other() -> None:
    names = [str(number) for number in range(40)]
    counts = Counter(name for seed in range(2_000) for name in drawn(names, 10, seed=seed))
    # 500 times each, with a standard deviation of 19.4.
    assert min(counts[name] for name in names) > 500 - 5 * 20
    assert max(counts.values()) < 500 + 5 * 20


def test_equal_ids_of_two_tenants_are_two_items() -> None:
    sample: Sample[int] = Sample(5, 1)
    sample.add(("a", "q"), 1)
    sample.add(("b", "q"), 2)
    assert {item for _, item in sample.items()} == {1, 2}
