"""What each part of rankstream may do on Kafka."""

from __future__ import annotations

import pytest

from streams.cli import dlq_arguments
from streams.processor import Processor
from streams.processors import catalogue, rights
from topics import catalogue as topics


def granted(found: tuple[rights.Right, ...], operation: str) -> set[tuple[str, str]]:
    return {(right.kind, right.name) for right in found if operation in right.operations}


@pytest.mark.parametrize("processor", catalogue.ALL, ids=lambda processor: processor.name)
def test_a_processor_reads_its_source_in_its_group_and_writes_its_sinks_and_dead_letters(processor: Processor) -> None:
    found = rights.of_processor(processor)
    group = f"{processor.group}-" if processor.per_generation else processor.group
    assert granted(found, "Read") == {("topic", processor.source.name), ("group", group)}
    assert [right.name for right in found if right.begins] == [group] * processor.per_generation
    assert granted(found, "Write") == {
        ("topic", topic.name) for topic in (*processor.sinks, processor.source.dead_letters)
    }
    # It looks at all topics before it starts, and creates or changes none.
    assert granted(found, "DescribeConfigs") == {("topic", rights.EVERY)}
    assert not {"Create", "Alter", "AlterConfigs"} & {each for right in found for each in right.operations}


def test_whoever_asks_and_publishes_cannot_read_what_others_ask_and_publish() -> None:
    found = rights.of_clients()
    written = (topics.QUERIES, topics.DOCUMENT_CHANGES, topics.DOCUMENT_CHANGES_BULK)
    assert granted(found, "Write") == {("topic", topic.name) for topic in written}
    assert granted(found, "Read") == {("topic", topics.REPLIES.name), ("topic", topics.DOCUMENT_STATUS.name)}


def test_the_probe_is_a_user_of_its_own_with_the_rights_of_a_client() -> None:
    assert rights.of_everyone()["probe"] == rights.of_clients()


def test_the_gateway_publishes_on_both_lanes_and_reads_what_a_client_reads() -> None:
    found, client = rights.of_gateway(), rights.of_clients()
    bulk = ("topic", topics.DOCUMENT_CHANGES_BULK.name)
    assert granted(found, "Write") == granted(client, "Write") | {bulk}
    assert granted(found, "Read") == granted(client, "Read")
    assert not {"Create", "Alter", "AlterConfigs"} & {each for right in found for each in right.operations}


def test_the_operator_reads_and_marks_dead_letters_and_sends_them_back_and_touches_no_other_record() -> None:
    found = rights.of_operator()
    dead = {("topic", topic.dead_letters.name) for topic in topics.CONSUMED}
    assert granted(found, "Read") == dead
    assert granted(found, "Write") == dead | {("topic", name) for name in dlq_arguments.redrivable()}
    assert granted(found, "Describe") >= {("topic", rights.EVERY), ("group", rights.EVERY)}


def test_there_is_a_user_for_each_processor_and_no_right_is_listed_twice() -> None:
    everyone = rights.of_everyone()
    assert list(everyone) == [*(processor.name for processor in catalogue.ALL), *rights.OTHERS]
    for found in everyone.values():
        assert len(set(found)) == len(found)
