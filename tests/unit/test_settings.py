"""Settings that are read in a way of their own."""

from __future__ import annotations

import pytest

from streams import settings


@pytest.mark.parametrize(
    ("value", "reranker"),
    [(None, None), ("", None), ("none", None), (" None ", None), ("llm", "llm"), ("BAAI/bge", "BAAI/bge")],
)
def test_nothing_is_reranked_unless_a_reranker_is_named(value: str | None, reranker: str | None) -> None:
    environment = {} if value is None else {settings.RERANKER: value}
    assert settings.given(environment).reranker == reranker
    assert settings.load({**environment, settings.DATA_DIR: "/nonexistent"}).reranker == reranker


def test_a_running_stack_does_not_hide_it(tmp_path: object) -> None:
    environment = {settings.DATA_DIR: str(tmp_path), settings.RERANKER: "llm"}
    settings.endpoints_file(settings.data_dir(environment)).write_text('{"kafka": "k:1"}')
    found = settings.load(environment)
    assert (found.kafka, found.reranker) == ("k:1", "llm")
