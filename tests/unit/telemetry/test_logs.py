"""Log lines for machines: with their trace, on one line, without secrets and without end."""

from __future__ import annotations

import json
import logging
import sys

from streams.telemetry import w3c
from streams.telemetry.logs import LONGEST, JsonLines, line
from streams.telemetry.signals import CURRENT, Current


def logged(message: str, *arguments: object, raised: bool = False) -> dict[str, str]:
    try:
        if raised:
            raise ValueError("password=hunter2")
        error = None
    except ValueError:
        error = sys.exc_info()
    record = logging.LogRecord("streams.x", logging.WARNING, __file__, 1, message, arguments, error)
    text = JsonLines().format(record)
    assert "\n" not in text
    found: dict[str, str] = json.loads(text)
    return found


def test_a_line_belongs_to_the_record_in_work() -> None:
    at = w3c.written(255, 15, sampled=True)
    token = CURRENT.set(Current(processor="fuse", incoming=at, span=None))
    try:
        found = logged("late: %s", "dense")
    finally:
        CURRENT.reset(token)
    assert (found["message"], found["processor"], found["level"]) == ("late: dense", "fuse", "WARNING")
    assert (found["trace_id"], found["span_id"]) == (f"{255:032x}", f"{15:016x}")
    assert "trace_id" not in logged("nothing in work")


def test_secrets_are_hidden_in_messages_and_in_exceptions() -> None:
    found = logged("cannot reach %s", "postgresql://me:hunter2@db/x", raised=True)
    assert "hunter2" not in json.dumps(found)
    assert "ValueError" in found["exception"]


def test_a_long_line_is_cut() -> None:
    assert len(logged("x" * 100_000)["message"]) == LONGEST + 1


def test_no_part_of_a_secret_is_shown_wherever_the_line_is_cut() -> None:
    url = "postgresql://app:Zq9Zq9Zq9Zq9@db.example/x"
    for before in range(LONGEST - len(url) - 2, LONGEST + 2):
        assert "Zq9" not in logged("x" * before + " " + url)["message"]
    # What is hidden is shorter than it was, so that what comes after it moves up.
    for before in range(2_900, 3_020):
        long = "token=" + "t" * 2_500 + " "
        assert "Zq9" not in logged(long + "x" * (before - len(long)) + " " + url + " y" * 900)["message"]


def test_a_line_for_two_handlers_is_made_once() -> None:
    class Counting:
        said = 0

        def __str__(self) -> str:
            self.said += 1
            return "a=1"

    counting = Counting()
    record = logging.LogRecord("streams.x", logging.WARNING, __file__, 1, "%s", (counting,), None)
    line(record).pop("message")
    assert line(record)["message"] == "a=1"
    assert counting.said == 1
