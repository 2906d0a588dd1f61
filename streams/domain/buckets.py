"""Puts texts of like length together: a batch is padded to its longest, and padding costs as much as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def by_length(lengths: Sequence[int], size: int, *, most: int | None = None) -> Iterator[list[int]]:
    """Yield the numbers of texts in batches of at most `size`, shortest first; every number once.

    With `most`, a batch holds at most so much when each of its texts is as long as its longest; a text that is longer
    than that is alone.
    """
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda each: lengths[each]):
        too_much = most is not None and (len(batch) + 1) * lengths[number] > most
        if batch and (len(batch) == size or too_much):
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def in_order(lengths: Sequence[int], size: int, *, most: int) -> Iterator[list[int]]:
    """Yield the numbers of texts in batches of at most `size` and together `most`, in their order; one at least."""
    batch: list[int] = []
    total = 0
    for number, length in enumerate(lengths):
        if batch and (len(batch) == size or total + length > most):
            yield batch
            batch, total = [], 0
        batch.append(number)
        total += length
    if batch:
        yield batch
