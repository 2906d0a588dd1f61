"""Texts of like length go together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streams.domain.buckets import by_length, in_order

LENGTHS = st.lists(st.integers(0, 40), max_size=50)


def test_batches_are_of_like_length_shortest_first() -> None:
    assert list(by_length([9, 1, 8, 2, 3], 2)) == [[1, 3], [4, 2], [0]]


def test_a_batch_counts_its_padding() -> None:
    assert list(by_length([2, 3, 4, 30], 10, most=9)) == [[0, 1], [2], [3]]


def test_batches_in_order_end_where_their_sum_would_be_too_much() -> None:
    assert list(in_order([3, 3, 3, 20, 1], 2, most=6)) == [[0, 1], [2], [3], [4]]
    assert list(in_order([], 2, most=6)) == []


@given(LENGTHS, st.integers(1, 7), st.integers(1, 60))
def test_every_text_is_in_one_batch_and_no_batch_is_too_large(lengths: list[int], size: int, most: int) -> None:
    for batches, cost in (
        (list(by_length(lengths, size, most=most)), lambda batch: len(batch) * max(lengths[each] for each in batch)),
        (list(in_order(lengths, size, most=most)), lambda batch: sum(lengths[each] for each in batch)),
    ):
        assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
        assert all(1 <= len(batch) <= size for batch in batches)
        assert all(len(batch) == 1 or cost(batch) <= most for batch in batches)
