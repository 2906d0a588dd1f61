"""The command, as far as it goes without a server."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from streams.cli.evaluate import command
from streams.quality import stores


def test_every_problem_of_a_set_is_a_line_and_nothing_is_asked(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"id": "a", "text": "A text."}\n')
    (tmp_path / "queries.jsonl").write_text('{"id": "q", "text": "What?"}\n')
    (tmp_path / "qrels.tsv").write_text("query-id\tdoc-id\tgrade\nq\tb\t1\nr\ta\t1\n")
    done = CliRunner().invoke(command, [str(tmp_path)], standalone_mode=False)
    assert done.return_value == 2
    assert done.stderr.splitlines() == [
        f"{tmp_path.name}/qrels.tsv line 2: document 'b' is not in corpus.jsonl",
        f"{tmp_path.name}/qrels.tsv line 3: query 'r' is not in queries.jsonl",
    ]


async def test_stores_that_are_given_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKSTREAM_DATA", str(tmp_path / "untouched"))
    monkeypatch.setenv("DATABASE_URL", "postgresql://one")
    monkeypatch.setenv("QDRANT_URL", "http://two")
    monkeypatch.delenv("KAFKA_BOOTSTRAP_SERVERS", raising=False)
    async with stores.at_hand() as found:
        assert (found.postgres, found.qdrant, found.kafka) == ("postgresql://one", "http://two", None)
