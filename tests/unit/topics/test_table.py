"""The catalogue for people."""

from __future__ import annotations

import pytest

from topics import catalogue
from topics.table import duration, render_table, retention
from topics.topic import DAY, MINUTE


def test_every_topic_has_one_line_under_the_heading() -> None:
    heading, *lines = render_table(catalogue.ALL).splitlines()
    assert heading.split() == ["name", "carries", "key", "partitions", "cleanup", "retention"]
    assert [line.split()[0] for line in lines] == [topic.name for topic in catalogue.ALL]
    assert lines[0].split() == [
        "document-changes",
        "DocumentChange",
        "tenant/source/doc_id",
        "4",
        "delete",
        "7",
        "days",
    ]


def test_columns_stand_under_their_heading() -> None:
    heading, *lines = render_table(catalogue.ALL).splitlines()
    start = heading.index("partitions")
    for line, topic in zip(lines, catalogue.ALL, strict=True):
        assert line[start:].split()[0] == str(topic.partitions)
        assert line[start - 1] == " "


def test_a_compacted_topic_keeps_the_last_record_of_each_key() -> None:
    assert retention(catalogue.DOCUMENTS) == "last of each key"


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (7 * DAY, "7 days"),
        (DAY, "1 day"),
        (60 * MINUTE, "1 hour"),
        (90 * MINUTE, "90 minutes"),
        (1_000, "1 second"),
        (1_500, "1500 milliseconds"),
        (-1, "for ever"),
    ],
)
def test_a_duration_is_in_the_largest_unit_that_divides_it(milliseconds: int, words: str) -> None:
    assert duration(milliseconds) == words
