"""W3C trace context: what is written is read, and nothing else is believed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.telemetry import w3c
from streams.telemetry.w3c import TraceContext


@given(st.integers(1, 2**128 - 1), st.integers(1, 2**64 - 1), st.booleans())
def test_what_is_written_is_read(trace_id: int, span_id: int, sampled: bool) -> None:
    found = w3c.read(w3c.written(trace_id, span_id, sampled=sampled))
    assert found == TraceContext(trace_id=trace_id, span_id=span_id, sampled=sampled)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00",
        f"00-{'0' * 32}-{'1' * 16}-01",  # no trace
        f"00-{'1' * 32}-{'0' * 16}-01",  # no span
        f"ff-{'1' * 32}-{'1' * 16}-01",  # a version that is forbidden
        f"00-{'A' * 32}-{'1' * 16}-01",  # capitals
        f"00-{'1' * 32}-{'1' * 16}-01-more",  # version 00 has no more
        f"01-{'1' * 32}-{'1' * 16}-01{'-more' * 100}",
        f"00-{'1' * 31}é-{'1' * 16}-01",
    ],
)
def test_what_is_malformed_is_no_place_in_a_trace(text: str) -> None:
    assert w3c.read(text) is None


def test_a_later_version_may_say_more() -> None:
    assert w3c.read(f"01-{'1' * 32}-{'1' * 16}-01-more") is not None


@given(st.text(max_size=80))
def test_no_text_breaks_the_reading(text: str) -> None:
    w3c.read(text)
