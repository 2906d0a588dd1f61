"""The command as a shell sees it: its exit codes, its one line for what is wrong, its start."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# What a question on the command line must not wait for.
HEAVY = ("numpy", "onnxruntime", "faust", "qdrant_client", "psycopg", "rich", "aiohttp", "markdown_it", "streams.app")


def run(
    *arguments: str, data: Path, code: tuple[str, ...] = ("-m", "streams.cli.main"), **environment: str
) -> tuple[int, str]:
    """Return the exit code and everything that was said."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_URL", "_SERVERS"))}
    done = subprocess.run(
        [sys.executable, *code, *arguments],
        cwd=ROOT,
        env={**kept, "RANKSTREAM_DATA": str(data), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout


def test_help_names_every_command(tmp_path: Path) -> None:
    code, said = run("--help", data=tmp_path)
    assert code == 0
    for name in ("up", "run", "topics", "ingest", "publish", "show", "ask", "delete", "status", "graph"):
        assert f"\n  {name} " in said


@pytest.mark.parametrize(
    ("arguments", "environment", "says"),
    [
        (("ask", "x", "--tenant", "t"), {}, "KAFKA_BOOTSTRAP_SERVERS is not set, and no `rankstream up` is running"),
        (("show", "s/d", "--tenant", "t"), {}, "DATABASE_URL is not set"),
        (("delete", "s/d", "--tenant", "t"), {}, "KAFKA_BOOTSTRAP_SERVERS is not set"),
        (("topics", "check"), {}, "KAFKA_BOOTSTRAP_SERVERS is not set"),
        (("ask", "x", "--tenant", "t"), {"RANKSTREAM_BROKER": "nats"}, "RANKSTREAM_BROKER is 'nats'"),
        (("status",), {"RANKSTREAM_LOG_LEVEL": "LOUD"}, "RANKSTREAM_LOG_LEVEL is 'LOUD'; use DEBUG, INFO"),
        (("run", "chunk"), {}, "KAFKA_BOOTSTRAP_SERVERS is not set"),
        (("graph", "summarize"), {}, "graph summarize needs a language model; set RANKSTREAM_LLM_URL and"),
        (("graph", "summarize", "--dry-run"), {}, "DATABASE_URL is not set"),
        (("reindex", "status"), {}, "KAFKA_BOOTSTRAP_SERVERS is not set"),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it_and_exit_2(
    tmp_path: Path, arguments: tuple[str, ...], environment: dict[str, str], says: str
) -> None:
    code, said = run(*arguments, data=tmp_path, **environment)
    assert code == 2
    assert said.startswith(f"rankstream: {says}")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [("ask", "x", "--tenant", "t"), ("topics", "apply"), ("publish", "-"), ("run", "chunk")]
)
def test_a_broker_that_is_not_there_is_named_within_five_seconds(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    began = time.monotonic()
    code, said = run(*arguments, data=tmp_path, KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:9")
    assert time.monotonic() - began < 8  # five, and the start of a process on a busy machine
    assert code == 2
    assert (
        said
        == "rankstream: no Kafka broker answers at 127.0.0.1:9; is it running, and is KAFKA_BOOTSTRAP_SERVERS right?\n"
    )


def test_a_traceback_is_shown_only_when_it_is_asked_for(tmp_path: Path) -> None:
    quiet = run("topics", "check", data=tmp_path)[1]
    loud = run("topics", "check", data=tmp_path, RANKSTREAM_LOG_LEVEL="DEBUG")[1]
    assert "Traceback" not in quiet
    assert "Traceback" in loud
    assert quiet.strip() in loud


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("ask",), "what is the QUESTION?"),
        (("ask", "x"), "--tenant is missing"),
        (("ingest", "docs"), "Missing option '--tenant'"),
        (("up", "--docs", "x", "--no-docs"), "exclude each other"),
        (("nonsense",), "No such command 'nonsense'"),
    ],
)
def test_a_wrong_argument_is_exit_2(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    code, said = run(*arguments, data=tmp_path)
    assert code == 2
    assert says in said


def test_a_path_that_is_not_there_publishes_nothing(tmp_path: Path) -> None:
    code, said = run("ingest", "/nowhere/at/all", "--tenant", "t", data=tmp_path)
    assert (code, said) == (1, "rankstream: path: /nowhere/at/all does not exist; nothing was published\n")
    code, said = run("up", "--docs", "/nowhere/at/all", data=tmp_path)
    assert (code, said) == (1, "rankstream: path: /nowhere/at/all does not exist; nothing was published\n")


def test_topics_are_listed_without_a_broker(tmp_path: Path) -> None:
    code, said = run("topics", "list", data=tmp_path)
    assert code == 0
    assert "document-changes" in said


def test_a_question_does_not_wait_for_the_libraries_of_the_processors(tmp_path: Path) -> None:
    script = (
        "import sys, streams.cli.ask, streams.cli.answers, streams.gateways.client; "
        "print([name for name in sys.argv[1:] if name in sys.modules])"
    )
    assert run(*HEAVY, data=tmp_path, code=("-c", script)) == (0, "[]\n")
