"""The services of docker-compose.yml as plain processes: their own commands and environment, on embedded servers.

What a container adds (its file system, its limits, its names) is not tested here: that takes an engine.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from schemas.documents import DocumentChange
from streams.embedded.ports import Ports
from streams.embedded.stack import Endpoints, Stack
from streams.gateways.client import Client
from tests.composed import ROOT, SERVICES, environment
from tests.otlp import collecting

TOPICS = SERVICES["topics"]
PROCESSORS = {
    name: service
    for name, service in SERVICES.items()
    if service.get("command", [""])[0] == "run" and "profiles" not in service
}
AT_ONCE = 4  # processes that start together
SECONDS = 90.0  # until a process is ready, on a machine that has other things to do


class Place:
    """Where the services run instead: the servers of this test, a folder, a port."""

    def __init__(self, at: Endpoints, folder: Path, port: int, collector: str) -> None:
        self.folder, self.port = folder, port
        self._instead = {
            "KAFKA_BOOTSTRAP_SERVERS": at.kafka,
            "QDRANT_URL": at.qdrant,
            "DATABASE_URL": at.postgres,
            "REDIS_URL": at.redis,
            "RANKSTREAM_DATA": str(folder),
            "RANKSTREAM_HEALTH": f"127.0.0.1:{port}",
            "RANKSTREAM_TELEMETRY": collector,
        }

    def environment(self, service: dict[str, Any]) -> dict[str, str]:
        """Return a service's environment, complete, with the addresses of here."""
        given = environment(service)
        assert given.keys() >= self._instead.keys()
        image = {"PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
        free = {"RANKSTREAM_HTTP": "127.0.0.1:0"} if "RANKSTREAM_HTTP" in given else {}
        return {**image, **given, **self._instead, **free}


class Process:
    """A service's command as a process."""

    def __init__(self, name: str, service: dict[str, Any], place: Place) -> None:
        self.name, self._service, self._place = name, service, place
        self.environment = place.environment(service)
        self.log = place.folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "streams.cli.main", *service["command"]],
                cwd=place.folder,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    @property
    def healthy(self) -> bool:
        """Whether the service's own health check says so."""
        kind, program, *arguments = self._service["healthcheck"]["test"]
        assert (kind, program) == ("CMD", "python")
        arguments = [each.replace("127.0.0.1:8080", f"127.0.0.1:{self._place.port}") for each in arguments]
        done = subprocess.run([sys.executable, *arguments], capture_output=True, check=False, timeout=60)
        return done.returncode == 0

    def wait_until_healthy(self) -> None:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            if self.healthy:
                return
            if self.process.poll() is not None:
                break
            time.sleep(1)
        pytest.fail(f"{self.name} did not become healthy:\n{self.said}")

    @property
    def mebibytes(self) -> float:
        """The memory that the process has now."""
        return psutil.Process(self.process.pid).memory_info().rss / 2**20

    @property
    def limit(self) -> int:
        """The memory that the service may have, in MiB."""
        return int(str(self._service["mem_limit"]).removesuffix("m"))

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def started(stack: Stack, folder: Path, ports: Ports, running: ExitStack, collector: str) -> list[Process]:
    processes: list[Process] = []
    names: Sequence[str] = list(PROCESSORS)
    for begin in range(0, len(names), AT_ONCE):
        for name in names[begin : begin + AT_ONCE]:
            own = folder / name
            own.mkdir()
            place = Place(stack.endpoints, own, ports.take(name), collector)
            processes.append(Process(name, PROCESSORS[name], place))
            running.callback(processes[-1].kill)
        for process in processes[begin:]:
            process.wait_until_healthy()
    return processes


@pytest.fixture
def running() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.mark.timeout(900)
async def test_the_services_index_a_document_answer_a_question_and_end_when_told(
    stack: Stack, tmp_path: Path, running: ExitStack
) -> None:
    collector = running.enter_context(collecting())
    place = Place(stack.endpoints, tmp_path, 0, collector.url)
    topics = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "streams.cli.main", *TOPICS["command"]],
        env=place.environment(TOPICS),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert topics.returncode == 0, topics.stderr
    ports = Ports(tmp_path)
    running.callback(ports.release)
    processes = await asyncio.to_thread(started, stack, tmp_path, ports, running, collector.url)

    async with Client(bootstrap=stack.endpoints.kafka) as client:
        change = DocumentChange(
            tenant="compose", source="wiki", doc_id="vpn", version=1, title="VPN", content="Use the gateway south-gate."
        )
        receipt = await asyncio.wait_for(client.publish(change, wait=True), 60)
        assert receipt is not None
        assert receipt.status == "searchable"
        reply = await client.ask("which gateway does the VPN use?", tenant="compose", timeout=20.0)
        assert reply.error is None
        assert [passage.doc_id for passage in reply.passages] == ["vpn"]

    # The probe as its service runs it: it goes on until it is told to end.
    own = tmp_path / "probe"
    own.mkdir()
    probe = Process("probe", SERVICES["probe"], Place(stack.endpoints, own, 0, collector.url))
    running.callback(probe.kill)
    for _ in range(120):
        if '"outcome": ' in probe.said or probe.process.poll() is not None:
            break
        await asyncio.sleep(0.5)
    assert '"problems": []' in probe.said
    assert '"failures_in_a_row": 0' in probe.said
    probe.process.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(probe.process.wait, 20) == 0, probe.said

    for process in processes:
        assert process.mebibytes < process.limit, f"{process.name}: mem_limit in deploy/sizes.py is too low"
        process.process.send_signal(signal.SIGTERM)
    for process in processes:
        await asyncio.to_thread(process.process.wait, SECONDS)
        assert process.process.returncode == 0, f"{process.name}:\n{process.said}"
        assert process.said.endswith("stopped\n")
    # Each was seen under its own name, up to its end; a gateway that nobody asks has nothing to tell.
    assert {f"rankstream-{name}" for name in PROCESSORS if name != "gateway"} <= collector.services
    assert not await asyncio.to_thread(lambda: processes[0].healthy)
