"""The command as a service runs it: its lines, its exit codes, its metrics, its end. Nobody works on this broker."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.gateway import serving
from tests.otlp import collecting
from tests.pipeline import Pipeline

ROOT = Path(__file__).parents[2]


async def started(folder: Path, *arguments: str, **environment: str) -> asyncio.subprocess.Process:
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_URL", "_SERVERS"))}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "streams.cli.main", "probe", *arguments),
        cwd=ROOT,
        env={**kept, "RANKSTREAM_DATA": str(folder), **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def ran(folder: Path, *arguments: str, **environment: str) -> tuple[int, list[dict[str, Any]], str]:
    process = await started(folder, *arguments, **environment)
    said, complained = await asyncio.wait_for(process.communicate(), 90)
    lines = said.decode().splitlines()
    runs = [json.loads(line) for line in lines if line.startswith("{")]
    rest = "\n".join(line for line in lines if not line.startswith("{"))
    return process.returncode or 0, runs, rest + complained.decode()


async def test_a_run_is_one_line_with_figures_and_exit_0_where_it_passed(pipeline: Pipeline, tmp_path: Path) -> None:
    kafka = pipeline.stack.endpoints.kafka
    code, [line], said = await ran(tmp_path, "--timeout", "20", KAFKA_BOOTSTRAP_SERVERS=kafka)
    assert line["problems"] == [], (line, said)
    # A machine with other work to do may answer degraded, which is told, and is no failure.
    came = line["outcome"]
    assert (code, came) == ((1, "degraded") if line["degraded"] else (0, "passed"))
    steps = ["publish", "find", "edit", "find the edit", "delete", "find no more"]
    assert list(line["milliseconds"]) == steps
    assert all(value > 0 for value in line["milliseconds"].values())
    code, _, said = await ran(tmp_path, "--summary")
    assert code == 0
    counts = ", ".join(f"{int(name == came)} {name}" for name in ("passed", "degraded", "failed"))
    assert said.splitlines()[0] == f"the probe's last day: 1 runs, {counts}"
    assert said.splitlines()[-1] == "nothing to look at"


async def test_a_question_with_the_wrong_document_fails_and_a_file_that_is_wrong_is_named(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    kafka = pipeline.stack.endpoints.kafka
    file = tmp_path / "questions.jsonl"
    file.write_text('{"text": "Where is it?", "tenant": "nobody", "expect": "help/where"}\n')
    given = ("--questions", str(file), "--tenant", "probe-b", "--timeout", "20")
    code, [line], _ = await ran(tmp_path, *given, KAFKA_BOOTSTRAP_SERVERS=kafka)
    assert (code, line["outcome"]) == (1, "failed")
    assert line["problems"] == ["question 1: help/where is not among the 0 passages"]
    for text, says in (
        ("what?", "line 1 is not JSON"),
        ('{"text": "x"}', "line 1 needs text and tenant"),
        ("[]", "line 1 needs"),
    ):
        file.write_text(text)
        code, runs, said = await ran(tmp_path, *given, KAFKA_BOOTSTRAP_SERVERS=kafka)
        assert (code, runs) == (2, [])
        assert says in said


async def test_a_run_over_http_is_one_of_its_key_s_tenant(pipeline: Pipeline, tmp_path: Path) -> None:
    async with serving(pipeline.settings) as front:
        (tmp_path / "key").write_text(f"{await front.key('probe-http')}\n")
        given = ("--url", front.url, "--key-file", str(tmp_path / "key"), "--timeout", "20")
        code, [line], said = await ran(tmp_path, *given)
    assert line["problems"] == [], (line, said)
    assert (line["via"], code) == (front.url, 1 if line["degraded"] else 0)


@pytest.mark.parametrize("body", [b"<html>It works!</html>", b"[]", b"{}", b"\xff"])
async def test_whoever_answers_in_place_of_a_gateway_is_told_from_one(tmp_path: Path, body: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    (tmp_path / "key").write_text("key")
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        code, [line], _ = await ran(tmp_path, "--url", url, "--key-file", str(tmp_path / "key"))
    assert (code, line["outcome"]) == (1, "failed")
    assert line["problems"] == [
        f"{step}: the answer cannot be read: is this a gateway?" for step in ("publish", "delete")
    ]


async def test_who_cannot_be_reached_fails_in_a_row_as_metrics_say_and_a_signal_is_an_end_with_0(
    tmp_path: Path,
) -> None:
    with collecting() as collector:
        process = await started(
            tmp_path,
            *("--every", "1"),
            KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:9",
            RANKSTREAM_TELEMETRY=collector.url,
        )
        assert process.stdout is not None
        runs = [json.loads(await asyncio.wait_for(process.stdout.readline(), 60)) for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        assert await asyncio.wait_for(process.wait(), 20) == 0
        assert time.monotonic() - began < 9
        assert [(run["outcome"], run["failures_in_a_row"]) for run in runs] == [("failed", 1), ("failed", 2)]
        assert runs[0]["problems"][0].startswith("connect: ")
        assert "127.0.0.1:9" in runs[0]["problems"][0]
        points = {(name, labels.get("outcome")): point for name, labels, point in collector.points()}
        assert collector.services == {"rankstream-probe"}
        assert points["rankstream.probe.duration", "failed"].count >= 2
        # The last export comes at the end; how a process stands then is no longer read, its counts are.
        assert ("process.cpu.time", None) in points
    # After a restart it is known what came before.
    code, [line], _ = await ran(tmp_path, KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:9")
    assert (code, line["failures_in_a_row"] >= 3) == (1, True)
    code, _, said = await ran(tmp_path, "--summary")
    assert code == 1
    assert "failed at " in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "KAFKA_BOOTSTRAP_SERVERS is not set"),
        (("--url", "http://127.0.0.1:1"), "--url and --key-file go together"),
        (("--url", "http://127.0.0.1:1", "--key-file", "/nowhere"), "--key-file /nowhere cannot be read"),
        (("--questions", "/nowhere"), "--questions /nowhere cannot be read"),
        (("--every", "0"), "--every"),
    ],
)
async def test_a_wrong_argument_is_named_and_exit_2(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    set_up = {} if not arguments else {"KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9"}
    code, runs, said = await ran(tmp_path, *arguments, **set_up)
    assert (code, runs) == (2, [])
    assert says in said


async def test_without_a_run_the_summary_says_so(tmp_path: Path) -> None:
    code, _, said = await ran(tmp_path, "--summary")
    assert code == 1
    assert "the probe is not running" in said
