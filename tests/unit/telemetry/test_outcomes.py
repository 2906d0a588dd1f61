"""What replies say of the legs behind them, as readings."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.replies import ErrorInfo, LegReport, Milliseconds, QueryReply
from streams.domain import reports
from streams.telemetry import outcomes
from streams.telemetry.instruments import DEGRADED, LEG_RESULTS, QUESTION_DURATION, Instrument
from streams.wire import Outgoing
from topics import catalogue

LEGS = {
    "dense": LegReport(status="ok", milliseconds=9.0, reason="fallback: b instead of a"),
    "fulltext": LegReport(status="timeout", reason="no result in time"),
    "qa": LegReport(status="error", reason="overloaded"),
    "graph": LegReport(status="skipped", reason="off in profile"),
    "sparse": LegReport(status="empty", milliseconds=2.0),
}


def told(instrument: Instrument, **fields: Any) -> list[tuple[float, dict[str, str]]]:
    reply = QueryReply(query_id="q", milliseconds=Milliseconds(total=120.0), **{"legs": LEGS} | fields)
    outgoing = Outgoing(topic=catalogue.REPLIES, key=b"k", message=reply)
    return [
        (value, dict(labels)) for which, value, labels in outcomes.readings([outgoing], age=0.0) if which is instrument
    ]


def test_a_question_takes_as_long_as_its_reply_says() -> None:
    assert told(QUESTION_DURATION) == [(0.12, {"result": "answered", "cache": "off"})]
    failed = ErrorInfo(error_class="fence unavailable", message="x")
    assert told(QUESTION_DURATION, error=failed) == [(0.12, {"result": "fence unavailable", "cache": "off"})]


def test_each_leg_is_counted_once_by_its_status() -> None:
    assert [labels for _, labels in told(LEG_RESULTS)] == [
        {"leg": leg, "status": report.status} for leg, report in LEGS.items()
    ]


def test_reasons_are_counted_by_class_and_what_no_leg_gave_as_an_option_s() -> None:
    of_legs = ("dense: fallback", "fulltext: no result in time", "qa: overloaded")
    reasons = (*of_legs, "the rewrite took too long", reports.OVERTAKEN)
    assert [labels for _, labels in told(DEGRADED, degraded=True, reasons=reasons)] == [
        {"leg": "dense", "reason": "fallback"},
        {"leg": "fulltext", "reason": "timeout"},
        {"leg": "qa", "reason": "overloaded"},
        {"leg": "other", "reason": "overtaken"},
        {"leg": "other", "reason": "option"},
    ]
    assert told(DEGRADED) == []


@pytest.mark.parametrize("reason", [reports.OVERTAKEN, "the rewrite took too long"])
def test_what_a_leg_says_without_breaking_is_not_counted_in_place_of_a_reason(reason: str) -> None:
    unread = {"dense": LegReport(status="ok", reason="model-a does not read th: its scores do not count")}
    (labels,) = [labels for _, labels in told(DEGRADED, degraded=True, reasons=(reason,), legs=unread)]
    assert labels == {"leg": "other", "reason": "overtaken" if reason == reports.OVERTAKEN else "option"}


def test_a_kept_answer_s_legs_and_a_first_revision_count_for_nothing() -> None:
    assert told(LEG_RESULTS, cache="hit") == []
    assert told(QUESTION_DURATION, cache="hit") == [(0.12, {"result": "answered", "cache": "hit"})]
    assert told(QUESTION_DURATION, final=False) == []
