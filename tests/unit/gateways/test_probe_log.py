"""The probe's memory: what it knows after a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streams.errors import ConfigurationError
from streams.gateways import probe_log


def run(number: int) -> dict[str, Any]:
    lists: dict[str, list[str]] = {"problems": [], "degraded": []}
    return {
        "at": float(number),
        "outcome": "passed",
        "milliseconds": {},
        "failures_in_a_row": 0,
        "seconds": 1.0,
        **lists,
    }


def test_runs_are_read_as_they_were_written_and_what_a_crash_cut_short_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "new" / "probe.jsonl"
    assert probe_log.read(path) == []
    for number in range(3):
        probe_log.add(path, run(number), probe_log.read(path))
    with path.open("a") as file:
        file.write('{"at": 3.0, "outco')
    assert probe_log.read(path) == [run(0), run(1), run(2)]


def test_a_line_of_something_else_is_no_run(tmp_path: Path) -> None:
    path = tmp_path / "probe.jsonl"
    path.write_text('[]\n7\n{"at": 1}\n\xff\n')
    assert probe_log.read(path) == []


def test_the_oldest_go_and_as_many_as_two_weeks_have_stay(tmp_path: Path) -> None:
    path = tmp_path / "probe.jsonl"
    kept = probe_log.KEPT
    path.write_text("".join(f"{probe_log.written(run(number))}\n" for number in range(2 * kept)))
    probe_log.add(path, run(2 * kept), probe_log.read(path))
    assert [each["at"] for each in probe_log.read(path)] == [float(number) for number in range(kept, 2 * kept + 1)]
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"--log .* cannot be written"):
        probe_log.add(tmp_path, run(1), [])
    with pytest.raises(ConfigurationError, match=r"--log .* cannot be read"):
        probe_log.read(tmp_path)
