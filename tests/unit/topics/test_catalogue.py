"""The catalogue of topics."""

from __future__ import annotations

import itertools

from topics import catalogue


def test_every_name_is_used_once() -> None:
    names = [topic.name for topic in catalogue.ALL]
    assert len(names) == len(set(names))


def test_dead_letters_stay_on_the_partition_that_they_came_from() -> None:
    for topic, dead in zip(catalogue.CONSUMED, catalogue.DEAD_LETTERS, strict=True):
        assert dead.name == f"{topic.name}.dlq"
        assert dead.partitions == topic.partitions
        assert dead.largest_record > topic.largest_record  # room for what is said about it
        assert dead.retention_ms > topic.retention_ms


def test_retention_is_not_defeated_by_long_segments() -> None:
    for topic in catalogue.PIPELINE:
        if topic.cleanup == "delete" and topic.segment_ms is not None:
            assert topic.segment_ms < topic.retention_ms


def test_no_two_documents_share_a_key() -> None:
    parts = ["a", "b", "a/b", "1:a", "", "ab", "é"]
    triples = list(itertools.product(parts, repeat=3))
    assert len({catalogue.document_key(*triple) for triple in triples}) == len(triples)
