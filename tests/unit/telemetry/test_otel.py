"""The backend over the SDK: traces are kept by share and by their caller's word, and an end is bounded."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from streams import release
from streams.embedded.processes import free_port
from streams.telemetry import instruments, signals, w3c
from streams.telemetry.deliveries import Deliveries
from streams.telemetry.otel import Otel
from streams.telemetry.signals import Reading
from tests.otlp import collecting
from tests.unit.telemetry.backend import kept

LOW, HIGH = 1, 2**64 - 1  # trace ids that any share keeps, and that only all keeps


def context(trace_id: int, *, sampled: bool = True) -> str:
    return w3c.written(trace_id, 5, sampled=sampled)


@pytest.mark.parametrize(
    ("share", "parent", "recording"),
    [
        (1.0, None, True),
        (0.0, None, False),
        (1.0, context(HIGH), True),
        (0.5, context(HIGH), False),  # its caller samples more than we do
        (0.5, context(LOW), True),
        (1.0, context(LOW, sampled=False), False),
    ],
)
def test_a_trace_is_kept_if_its_caller_keeps_it_and_the_share_does(
    share: float, parent: str | None, recording: bool
) -> None:
    backend = Otel("http://127.0.0.1:9", service="test", sample=share)
    try:
        span = backend.start("x", "consumer", parent, {})
        child = backend.start("y", "client", span, {})
        assert (span.recording, child.recording) == (recording, recording)
        assert span.traceparent.endswith("-01" if recording else "-00")
        if parent is not None:
            assert span.traceparent[:35] == parent[:35]
    finally:
        backend.close(0.1)


def test_an_end_is_bounded_when_the_collector_is_away() -> None:
    backend = Otel("http://127.0.0.1:9", service="test", sample=1.0)
    backend.start("x", "internal", None, {}).end({})
    began = time.monotonic()
    backend.close(0.5)
    assert time.monotonic() - began < 2.0


def test_what_was_counted_is_told_after_its_worker_stopped_and_how_it_stood_is_not() -> None:
    def worker() -> Iterator[Reading]:
        yield instruments.REFUSED, 2, {"processor": "prepare"}
        yield instruments.READY, 1, {"processor": "prepare"}

    before = len(signals.reads())
    with kept():
        signals.watch(worker)()
        told = [reading for read in signals.reads()[before:] for reading in read()]
    assert told == [(instruments.REFUSED, 2, {"processor": "prepare"})]
    signals.watch(worker)()
    assert len(signals.reads()) == before + 1  # without a backend nothing is kept


def test_a_process_says_which_code_it_runs() -> None:
    with collecting() as collector:
        backend = Otel(collector.url, service="test", sample=1.0)
        signals.install(backend)
        signals.record(instruments.EXPIRED, 1, {"processor": "fuse"})
        signals.install(None)
        backend.close(5.0)
    told = [each["service.version"] for each in collector.resources()]
    assert set(told) == {release.identity(release.hashes())}


def test_readings_of_equal_labels_are_one_and_a_reader_that_fails_takes_nothing_from_others() -> None:
    def worker() -> Iterator[Reading]:
        yield instruments.EXPIRED, 2, {"processor": "fuse"}
        yield instruments.TIME_LAG, 3.0, {"processor": "fuse"}

    def broken() -> Iterator[Reading]:
        raise ValueError

    ends = [signals.watch(read) for read in (worker, broken, worker)]
    try:
        with collecting() as collector:
            backend = Otel(collector.url, service="test", sample=1.0)
            backend.flush()
            backend.close(5.0)
    finally:
        for end in ends:
            end()
    found = {(name, labels.get("processor")): point for name, labels, point in collector.points()}
    assert found["rankstream.expired", "fuse"].as_double == 4
    assert found["rankstream.time_lag", "fuse"].as_double == 3.0


def test_an_end_without_a_collector_is_short_and_one_line_names_the_setting(caplog: pytest.LogCaptureFixture) -> None:
    backend = Otel(f"http://127.0.0.1:{free_port()}", service="test", sample=1.0)
    backend.start("x", "consumer", None, {}).end({})
    backend.record(instruments.PROBE_DURATION, 1.0, {"outcome": "passed"})
    began = time.monotonic()
    backend.close(5.0)
    assert time.monotonic() - began < 1.5  # 0.3, and a busy machine
    said = [each.getMessage() for each in caplog.records if each.name.startswith("streams")]
    assert len(said) == 1
    assert said[0].startswith("RANKSTREAM_TELEMETRY: ")


def test_a_collector_that_refuses_counts_as_one_that_is_away_and_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    noted = Deliveries()
    for _ in range(3):
        noted.bad("status 404")
    assert (noted.failed, noted.delivered, len(caplog.records)) == (True, False, 1)
    noted.good()
    assert noted.delivered
