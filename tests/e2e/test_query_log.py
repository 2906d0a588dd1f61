"""The query log from the question to the labelled set."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from schemas import codec
from schemas.query_log import LoggedQuestion, LoggedReply
from streams.quality import dataset
from tests.pipeline import Pipeline, page, records
from topics.catalogue import QUERY_LOG

TENANT = "t-log"


async def logged(pipeline: Pipeline, count: int) -> list[LoggedQuestion | LoggedReply]:
    """Return the tenant's entries, once there are so many."""
    for _ in range(60):
        found = await records(pipeline.stack.endpoints.kafka, QUERY_LOG)
        entries = [codec.decode(record.value or b"", LoggedQuestion | LoggedReply) for record in found]  # type: ignore[type-var]
        if len(mine := [entry for entry in entries if entry.tenant == TENANT]) >= count:
            return mine
        await asyncio.sleep(0.25)
    raise AssertionError("the log lacks entries")


def run(pipeline: Pipeline, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "KAFKA_BOOTSTRAP_SERVERS": pipeline.stack.endpoints.kafka}
    command = [sys.executable, "-m", "streams.cli.main", "query-log", "sample", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


async def test_questions_and_answers_are_logged_and_drawn_as_a_set_to_label(pipeline: Pipeline, tmp_path: Path) -> None:
    await pipeline.publish(page("lamps.md", "# Lamps\n\nThe lamps of the quay burn whale oil.", tenant=TENANT))
    for number in range(6):
        await pipeline.client.ask(
            f"{number}: what do the lamps of the quay burn? my password is hunter{number}", tenant=TENANT, agent="front"
        )
    refused = await pipeline.client.ask("which lamps?", tenant=TENANT, profile="nonsense")
    assert refused.error is not None
    entries = await logged(pipeline, 14)
    said = b"".join(codec.encode(entry) for entry in entries).decode()
    assert "hunter" not in said
    assert "whale oil" not in said
    replies = {entry.query_id: entry for entry in entries if isinstance(entry, LoggedReply)}
    assert replies.keys() == {entry.query_id for entry in entries if isinstance(entry, LoggedQuestion)}
    error = replies[refused.query_id].error
    assert error is not None
    assert error.error_class == "validation"

    done = run(pipeline, "--n", "4", "--seed", "3", "--since", "1h", "--tenant", TENANT, "--out", str(tmp_path / "a"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 of 7 questions")
    again = run(pipeline, "--n", "4", "--seed", "3", "--since", "1h", "--tenant", TENANT, "--out", str(tmp_path / "b"))
    assert again.returncode == 0
    assert (tmp_path / "a/queries.jsonl").read_bytes() == (tmp_path / "b/queries.jsonl").read_bytes()
    lines = [json.loads(line) for line in (tmp_path / "a/queries.jsonl").read_text().splitlines()]
    assert len({line["id"] for line in lines}) == 4
    assert {line["tenant"] for line in lines} == {TENANT}
    answered = next(line for line in lines if line["answered"]["passages"])
    assert answered["answered"]["passages"][0]["doc_id"] == "lamps.md"

    # Labelled, and with its documents, it is what `rankstream evaluate` takes.
    judgements = (tmp_path / "a/qrels.tsv").read_text()
    assert f"{answered['id']}\tlamps.md\t\n" in judgements
    (tmp_path / "a/qrels.tsv").write_text(judgements.replace("\tlamps.md\t\n", "\tlamps.md\t1\n"))
    (tmp_path / "a/corpus.jsonl").write_text(
        json.dumps({"id": "lamps.md", "title": "Lamps", "text": "Whale oil."}) + "\n"
    )
    assert answered["text"] in {question.text for question in dataset.load(tmp_path / "a").questions}

    refused_again = run(pipeline, "--tenant", TENANT, "--out", str(tmp_path / "a"))
    assert refused_again.returncode == 2
    assert "is there already" in refused_again.stderr
    nothing = run(pipeline, "--tenant", "t-nobody", "--out", str(tmp_path / "c"))
    assert (nothing.returncode, nothing.stderr) == (1, "no question was logged in that time\n")
    assert not (tmp_path / "c").exists()
