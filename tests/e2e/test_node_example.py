"""Another language: the Node.js example publishes, gets its receipt and its answer, by the topics alone."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import unavailable
from tests.pipeline import Pipeline

EXAMPLE = Path(__file__).parents[2] / "examples/node"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with the one package that it needs, from the registry by the lock file."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        unavailable("node and npm are not here")
    folder = tmp_path_factory.mktemp("node") / "example"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("node_modules"))
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        unavailable(f"npm cannot install kafkajs: {done.stderr.strip()}")
    return folder


async def run(folder: Path, kafka: str, *arguments: str) -> tuple[int, str, str]:
    environment = {**os.environ, "KAFKA_BOOTSTRAP_SERVERS": kafka, "KAFKAJS_NO_PARTITIONER_WARNING": "1"}
    process = await asyncio.create_subprocess_exec(
        "node",
        "ask.mjs",
        *arguments,
        cwd=folder,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, error = await asyncio.wait_for(process.communicate(), 90)
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode or 0, out.decode(), error.decode()


async def test_it_publishes_a_document_and_finds_it(pipeline: Pipeline, installed: Path) -> None:
    code, said, error = await run(installed, pipeline.stack.endpoints.kafka, "t-node")
    assert code == 0, error
    receipt, answer, first, *_ = said.splitlines()
    assert receipt.startswith("receipt: lockers version ")
    assert "is searchable" in receipt
    assert answer.startswith("answer after ")
    assert " Lockers - " in first
    assert "A locker key costs five euro." in first


async def test_a_question_that_is_refused_is_an_error_with_its_reason(pipeline: Pipeline, installed: Path) -> None:
    code, _, error = await run(installed, pipeline.stack.endpoints.kafka, "t-node", " ")
    assert code == 1
    assert "validation: text: the question is empty" in error or "validation: the question is empty" in error


def test_the_example_is_short_and_names_topics_and_headers_as_they_are() -> None:
    from topics import catalogue, record_headers

    text = (EXAMPLE / "ask.mjs").read_text()
    assert len(text.splitlines()) <= 70
    for topic in (catalogue.QUERIES, catalogue.REPLIES, catalogue.DOCUMENT_CHANGES, catalogue.DOCUMENT_STATUS):
        assert f'"{topic.name}"' in text
    for header in (record_headers.CORRELATION_ID, record_headers.REPLY_TOPIC, record_headers.REPLY_PARTITION):
        assert header in text
