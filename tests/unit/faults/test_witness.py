"""What else held the system up: the kernel's count of waiting, and what the witness of the stores wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.witness import Pressure, held_up

LINE = "some avg10=52.39 avg60=24.32 avg300=20.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"


class Kernel:
    """A clock and the file in which the kernel counts for how long somebody waited for a processor."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "cpu"
        self.now = 1_000.0
        self.waited = 0.0
        self.passes(0.0, share=0.0)

    def passes(self, seconds: float, *, share: float) -> None:
        self.now += seconds
        self.waited += seconds * share
        self.file.write_text(LINE.format(int(self.waited * 1e6)))


def test_the_pressure_is_the_share_of_the_time_in_which_somebody_waited(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    pressure = Pressure(kernel.file, lambda: kernel.now)
    for share in (0.5, 0.95, 0.3):
        begun = kernel.now
        for _ in range(20):
            kernel.passes(0.1, share=share)
            pressure.sample()
        assert pressure.share(begun) == pytest.approx(share, abs=0.01)


def test_the_pressure_of_a_moment_is_that_of_a_second(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    pressure = Pressure(kernel.file, lambda: kernel.now)
    for _ in range(20):
        kernel.passes(0.1, share=0.4)
        pressure.sample()
    begun = kernel.now
    kernel.passes(0.1, share=1.0)
    assert pressure.share(begun) == pytest.approx(0.9 * 0.4 + 0.1, abs=0.01)


def test_stores_that_said_nothing_are_read_from_what_the_witness_wrote() -> None:
    said = "qdrant 100.000 103.500\npostgres 110.000 112.000\nqdrant 120.0"  # the last line is being written
    (found,) = held_up(said, since=105.0)
    assert (found.begin, found.end, found.what) == (110.0, 112.0, "postgres was held up for 2.0 s")
    assert found.legs == {"fulltext", "qa", "graph"} and not found.answers
    assert [each.what for each in held_up(said, since=0.0)] == ["qdrant was held up for 3.5 s", found.what]
