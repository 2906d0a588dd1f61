"""Dead letters: read from headers, settled by marks, sent back as they were."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from streams.domain import letters
from streams.domain.letters import Letter, Mark, Place

GROUP = "rankstream.embed"


def headers(**said: object) -> list[tuple[str, bytes | None]]:
    given = {
        "kafka_dlt-original-topic": "chunks",
        "kafka_dlt-original-partition": 2,
        "kafka_dlt-original-offset": 17,
        "kafka_dlt-original-timestamp": 1_000,
        "kafka_dlt-original-consumer-group": GROUP,
        "kafka_dlt-exception-fqcn": "builtins.ZeroDivisionError",
        "kafka_dlt-exception-message": "division by zero",
        "rankstream-error-class": "bug",
        "rankstream-attempts": 3,
    } | {name.replace("__", "-"): value for name, value in said.items()}
    return [(name, str(value).encode()) for name, value in given.items() if value is not ...]


def read(offset: int, given: list[tuple[str, bytes | None]] | None = None, *, at: int = 5_000) -> Letter:
    found = _read(offset, headers() if given is None else given, at=at)
    assert isinstance(found, Letter)
    return found


def _read(offset: int, given: list[tuple[str, bytes | None]], *, at: int = 5_000) -> Letter | Mark:
    place = Place(topic="chunks.dlq", partition=2, offset=offset)
    return letters.read(place, "chunks", timestamp=at, value=b"abc", headers=given)


def mark(of: Letter, *, offset: int, what: Any = "redriven") -> Mark:
    found = _read(offset, [*letters.mark_headers(of, what)], at=9_000)
    assert isinstance(found, Mark)
    return found


def test_a_letter_is_what_its_headers_say() -> None:
    letter = read(4)
    assert (letter.stage, letter.error_class, letter.attempts, letter.size) == ("embed", "bug", 3, 3)
    assert (letter.exception, letter.message) == ("builtins.ZeroDivisionError", "division by zero")
    assert (str(letter.place), str(letter.origin)) == ("chunks.dlq/2/4", "chunks/2/17")
    assert (letter.written_ms, letter.died_ms, letter.state, letter.redrives) == (1_000, 5_000, "open", 0)


@pytest.mark.parametrize("junk", [b"", b"x", b"-1", b"\xff\xfe", b"1" * 40, "٣".encode()])
def test_a_record_that_somebody_else_put_there_is_a_letter_of_no_known_stage(junk: bytes) -> None:
    letter = read(4, [("kafka_dlt-original-offset", junk), ("kafka_dlt-original-topic", b"elsewhere"), ("own", None)])
    assert (letter.stage, letter.error_class) == ("unknown", "unknown")
    assert str(letter.origin) == "chunks/2/4", "it can go back nowhere but to its own topic"


def test_a_mark_settles_what_came_before_it() -> None:
    letter = read(4)
    (settled,) = letters.settled([letter, mark(letter, offset=5)])
    assert (settled.state, settled.settled_ms, settled.place) == ("redriven", 9_000, letter.place)
    (settled,) = letters.settled([letter, mark(letter, offset=5), mark(letter, offset=6, what="discarded")])
    assert settled.state == "discarded"


def test_the_same_record_that_dies_again_after_the_mark_is_open_again() -> None:
    first = read(4)
    (again,) = letters.settled([first, mark(first, offset=5), read(6)])
    assert (again.state, again.times, again.place.offset) == ("open", 2, 6)


def test_a_letter_that_was_written_while_another_was_marked_is_not_covered_by_the_mark() -> None:
    first, second = read(4), read(5)
    (letter,) = letters.settled([first, second, mark(first, offset=6)])
    assert letter.state == "open"


def test_repeats_are_one_letter_and_one_mark_settles_them_all() -> None:
    repeats = [read(4), read(5), read(6)]
    for order in itertools.permutations([*repeats, mark(repeats[-1], offset=7)]):
        (letter,) = letters.settled(order)
        assert (letter.state, letter.times, letter.place.offset) == ("redriven", 3, 6)


def test_a_mark_is_of_one_record_and_one_stage() -> None:
    others = [
        read(5, headers(**{"kafka_dlt-original-offset": 18})),
        read(6, headers(**{"kafka_dlt-original-consumer-group": "rankstream.extract"})),
        read(7, headers(**{"kafka_dlt-original-timestamp": 1_001})),  # a topic that was made anew counts from 0
    ]
    found = letters.settled([read(4), *others, mark(read(4), offset=9)])
    assert [letter.state for letter in found] == ["redriven", "open", "open", "open"]


def test_what_goes_back_has_its_own_headers_and_how_it_died() -> None:
    own: list[tuple[str, bytes | None]] = [
        ("traceparent", b"00-1-2-01"),
        ("twice", b"1"),
        ("twice", b"2"),
        ("no", None),
    ]
    sent = letters.redriven_headers([*own, *headers()], [read(4)])
    assert sent == [*own, ("rankstream-redrives", b"1"), ("rankstream-died", b"rankstream.embed=bug")]


def test_deaths_add_up_over_redrives_and_stages() -> None:
    carried = headers(**{"rankstream-redrives": 2, "rankstream-died": "rankstream.embed=timeout"})
    other = read(5, headers(**{"kafka_dlt-original-consumer-group": "rankstream.extract"}))
    sent = dict(letters.redriven_headers(carried, [read(4, carried), other]))
    assert sent["rankstream-redrives"] == b"3"
    assert sent["rankstream-died"] == b"rankstream.embed=timeout rankstream.embed=bug rankstream.extract=bug"
    again = dict(letters.redriven_headers([*sent.items()], [read(6)]))
    assert again["rankstream-died"] == sent["rankstream-died"], "each way to die is told once"


def test_a_record_is_parked_when_it_dies_the_same_way_at_the_same_stage() -> None:
    died = {"rankstream-died": b"rankstream.embed=bug"}
    assert letters.died_so_before(died, group=GROUP, error_class="bug")
    assert not letters.died_so_before(died, group=GROUP, error_class="timeout")
    assert not letters.died_so_before(died, group="rankstream.extract", error_class="bug")
    assert not letters.died_so_before({}, group=GROUP, error_class="bug")
    assert not letters.died_so_before({"rankstream-died": b"\xff\xfe"}, group=GROUP, error_class="bug")
    assert read(4, headers(**{"rankstream-parked": "true"})).state == "parked"
