"""What `rankstream dlq` is told."""

from __future__ import annotations

import pytest

from streams.cli import dlq_arguments
from streams.domain.letter_choice import Address, Choice
from streams.errors import ConfigurationError
from streams.processors.catalogue import INGEST
from topics import catalogue

NOW = 1_000_000.0


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("90s", 999_910_000),
        ("15m", 999_100_000),
        ("2h", 992_800_000),
        ("7d", 395_200_000),
        ("1970-01-02", 86_400_000),
        ("1970-01-01T00:00:05", 5_000),
        ("1970-01-01T00:00:05Z", 5_000),
        ("1970-01-01T02:00:05+02:00", 5_000),
    ],
)
def test_times_are_ago_or_iso_and_of_utc(text: str, milliseconds: int) -> None:
    assert dlq_arguments.since_of(text, NOW) == milliseconds


@pytest.mark.parametrize("text", ["", "tomorrow", "2", "h", "-1h", "1.5h", "2026-13-01", "\u0662h"])
def test_another_time_is_told_what_it_may_be(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--since"):
        dlq_arguments.since_of(text, NOW)


def test_an_address_is_a_topic_a_partition_or_a_record() -> None:
    assert dlq_arguments.address_of("chunks") == Address(topic="chunks")
    assert dlq_arguments.address_of("chunks.dlq/2") == Address(topic="chunks.dlq", partition=2)
    assert dlq_arguments.address_of("chunks/2/17") == Address(topic="chunks", partition=2, offset=17)


@pytest.mark.parametrize(
    "text", ["", "/", "chunks/", "chunks/a", "chunks/1/", "chunks/1/2/3", "chunks/-1/2", "chunks 1"]
)
def test_what_is_no_address_is_told_what_one_is(text: str) -> None:
    with pytest.raises(ConfigurationError, match="TOPIC/PARTITION/OFFSET"):
        dlq_arguments.address_of(text)


@pytest.mark.parametrize("text", ["query-log", "document-status", "chunks.dlq.dlq", "Chunks"])
def test_a_topic_without_dead_letters_is_named_beside_those_that_have_some(text: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{text}: .* has no dead letters; there are document-changes.dlq"):
        dlq_arguments.address_of(text)


def test_what_documents_go_through_may_go_back_and_questions_and_the_log_may_not() -> None:
    assert dlq_arguments.redrivable() == {processor.source.name for processor in INGEST} - {"documents"}
    for topic in catalogue.CONSUMED:
        choice = Choice(addresses=(dlq_arguments.address_of(topic.dead_letters.name),))
        if topic.name in dlq_arguments.redrivable():
            dlq_arguments.check_redrivable(choice)
        else:
            with pytest.raises(ConfigurationError, match="never goes back"):
                dlq_arguments.check_redrivable(choice)


def test_what_is_meant_must_be_said_in_one_way() -> None:
    dlq_arguments.check_is_said(Choice(), True)
    dlq_arguments.check_is_said(Choice(stage="embed"), False)
    for choice, everything in ((Choice(), False), (Choice(stage="embed"), True)):
        with pytest.raises(ConfigurationError, match="--all"):
            dlq_arguments.check_is_said(choice, everything)


@pytest.mark.parametrize("stage", ["replay", "replay-g2"])
def test_a_replay_by_name_is_told_that_the_log_takes_nothing_back(stage: str) -> None:
    with pytest.raises(ConfigurationError, match=f"--stage {stage}: .* never goes back"):
        dlq_arguments.check_redrivable(Choice(stage=stage))
