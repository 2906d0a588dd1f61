"""What is read at an export, and at the end of who is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from streams.telemetry import aggregates, signals
from streams.telemetry.instruments import EXPIRED
from streams.telemetry.signals import Reading
from tests.unit.telemetry.backend import kept


@pytest.mark.parametrize("error", [RuntimeError("changed size"), ValueError("closed"), AttributeError("gone")])
def test_a_reader_that_fails_hides_neither_others_nor_the_end_of_who_is_read(error: Exception) -> None:
    def failing() -> Iterator[Reading]:
        yield EXPIRED, 1.0, {"processor": "fuse"}
        raise error

    with kept():
        unwatch = signals.watch(failing)
        other = signals.watch(lambda: [(EXPIRED, 2.0, {"processor": "chunk"})])
        assert [point.sum for point in aggregates.looked_up([failing, signals.reads()[-1]])[EXPIRED]] == [2.0]
        with pytest.raises(KeyError, match="why it ends"):
            try:
                raise KeyError("why it ends")
            finally:
                unwatch()
        other()
        assert failing not in signals.reads()
