"""Choosing dead letters, and counting them."""

from __future__ import annotations

import pytest

from streams.domain.letter_choice import Address, Choice, grouped
from streams.domain.letters import Letter, Place, State


def letter(offset: int, *, stage: str = "embed", error_class: str = "bug", state: State = "open") -> Letter:
    return Letter(
        place=Place(topic="chunks.dlq", partition=1, offset=offset),
        origin=Place(topic="chunks", partition=1, offset=100 + offset),
        group=f"rankstream.{stage}",
        error_class=error_class,
        exception="E",
        message="",
        attempts=1,
        redrives=0,
        written_ms=0,
        died_ms=1_000 * offset,
        size=0,
        state=state,
    )


@pytest.mark.parametrize(
    ("choice", "found"),
    [
        (Choice(), [1, 2, 3]),
        (Choice(stage="extract"), [2]),
        (Choice(error_class="timeout"), [3]),
        (Choice(since_ms=2_000), [2, 3]),
        (Choice(stage="embed", since_ms=2_000), [3]),
        (Choice(addresses=(Address(topic="chunks.dlq"),)), [1, 2, 3]),
        (Choice(addresses=(Address(topic="chunks"),)), [1, 2, 3]),
        (Choice(addresses=(Address(topic="chunks.dlq", partition=0),)), []),
        (Choice(addresses=(Address(topic="chunks.dlq", partition=1, offset=2),)), [2]),
        (Choice(addresses=(Address(topic="chunks", partition=1, offset=102),)), [2]),
        (Choice(addresses=(Address(topic="chunks", partition=1, offset=2),)), []),
        (Choice(addresses=(Address(topic="vectors"), Address(topic="chunks", partition=1, offset=101))), [1]),
    ],
)
def test_what_is_said_narrows(choice: Choice, found: list[int]) -> None:
    all_of_them = [letter(1), letter(2, stage="extract"), letter(3, error_class="timeout")]
    assert [each.place.offset for each in all_of_them if choice.matches(each)] == found


def test_letters_are_counted_by_state_and_dated_by_those_that_wait() -> None:
    found = grouped(
        [
            letter(1, state="redriven"),
            letter(2),
            letter(3, state="parked"),
            letter(4, state="discarded"),
            letter(9, stage="extract", state="redriven"),
        ]
    )
    assert [(group.topic, group.stage, group.error_class) for group in found] == [
        ("chunks", "embed", "bug"),
        ("chunks", "extract", "bug"),
    ]
    assert dict(found[0].counts) == {"open": 1, "parked": 1, "redriven": 1, "discarded": 1}
    assert [(group.waiting, group.oldest_ms, group.newest_ms) for group in found] == [
        (2, 2_000, 3_000),
        (0, 9_000, 9_000),
    ]
