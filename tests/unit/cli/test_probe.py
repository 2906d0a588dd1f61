"""What the probe tells: a day in words, how it stands as metrics, and the day's summary while it goes on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from streams.cli import probe, probe_summary
from streams.domain import canary
from streams.gateways import probe_log
from streams.settings import Settings
from streams.telemetry import instruments
from topics.connection import KafkaConnection


def wrote(log: Path, *runs: tuple[float, str, list[str]]) -> None:
    """Write runs: how many seconds ago, the outcome, the reasons for being degraded."""
    before: list[canary.Line] = []
    for ago, outcome, degraded in runs:
        failed = outcome == "failed"
        line: dict[str, Any] = {
            "at": time.time() - ago,
            "outcome": outcome,
            "seconds": 2.0,
            "milliseconds": {"find": 40.0},
            "problems": ["find: probe/canary is not among the 0 passages"] if failed else [],
            "degraded": degraded,
            "failures_in_a_row": canary.failures(before) + 1 if failed else 0,
        }
        probe_log.add(log, line, before)
        before.append(line)


def told(log: Path, began: float = 0.0) -> dict[str, float]:
    return {instrument.name: value for instrument, value, _ in probe_summary.readings(log, began)}


def test_a_day_in_words_names_what_failed_and_what_was_degraded_for_more_than_two_hours(tmp_path: Path) -> None:
    log = tmp_path / "probe.jsonl"
    long = [(18_000.0 - 600 * step, "degraded", ["dense: timeout"]) for step in range(16)]
    wrote(log, *long, (8_000.0, "passed", []), (1_200.0, "failed", []), (600.0, "passed", []))
    lines = list(probe_summary.lines(log))
    assert lines[:2] == [
        "the probe's last day: 19 runs, 2 passed, 16 degraded, 1 failed",
        "  find: median 40 ms, p95 40 ms",
    ]
    assert lines[2].startswith("failed at 20")
    assert lines[2].endswith("Z: find: probe/canary is not among the 0 passages")
    assert lines[3].startswith("degraded for 2.8 h, ")  # (18,000 − 8,000) / 3,600
    assert lines[3].endswith(": dense: timeout")
    assert len(lines) == 4


def test_how_the_probe_stands_is_read_from_what_it_wrote(tmp_path: Path) -> None:
    log = tmp_path / "probe.jsonl"
    began = time.time() - 30.0
    assert told(log, began)["rankstream.probe.age"] == pytest.approx(30.0, abs=5.0)
    wrote(log, (7_300.0, "degraded", ["x"]), (500.0, "failed", ["x"]), (102.0, "failed", ["x"]))
    found = told(log)
    assert found["rankstream.probe.failures"] == 2
    assert found["rankstream.probe.degraded"] == pytest.approx(7_300.0, abs=5.0)
    assert found["rankstream.probe.age"] == pytest.approx(100.0, abs=5.0)
    assert found.keys() == {each.name for each in instruments.ALL if each.name.startswith("rankstream.probe.")} - {
        "rankstream.probe.duration"
    }
    # A process that has just begun has not been silent for as long as the last one's last run is past.
    assert told(log, time.time())["rankstream.probe.age"] == pytest.approx(0.0, abs=5.0)


def asked_of_nobody(folder: Path) -> probe.Asked:
    """A probe whose Kafka is not there: each of its runs fails."""
    return probe.Asked(
        found=Settings(data_dir=folder, kafka=KafkaConnection(bootstrap="127.0.0.1:9")),
        tenant="t",
        questions=(),
        url=None,
        key=None,
        timeout=1.0,
        receipt=1.0,
        log=folder / "probe.jsonl",
    )


async def said_until(asked: probe.Asked, wanted: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Run the probe again and again until it says what is wanted."""
    running = asyncio.create_task(probe._always(asked, 0.2))
    said: list[dict[str, Any]] = []
    for _ in range(100):
        await asyncio.sleep(0.2)
        said += [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        if any(wanted in each for each in said):
            break
    os.kill(os.getpid(), signal.SIGTERM)
    assert await asyncio.wait_for(running, 10) == 0
    return said


async def test_each_day_the_summary_is_said_among_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(canary, "DAY", 0.5)
    said = await said_until(asked_of_nobody(tmp_path), "summary", capsys)
    [summary, *_] = [each["summary"] for each in said if "summary" in each]
    assert summary[0].startswith("the probe's last day: ")
    assert any(line.startswith("failed at ") for line in summary)
    assert "outcome" in said[0]


@pytest.mark.parametrize(("days", "told"), [(1, True), (0, False)])
async def test_a_process_that_begins_again_says_the_summary_of_the_day_before_and_only_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, days: int, told: bool
) -> None:
    caplog.set_level("INFO")
    asked = asked_of_nobody(tmp_path)
    wrote(asked.log, (days * canary.DAY, "passed", []))
    said = await said_until(asked, "summary" if told else "outcome", capsys)
    assert any("summary" in each for each in said) is told
    assert any("the probe's last day: " in line for line in caplog.messages) is told
