"""All servers of the one-machine default, started together and stopped together."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from streams.embedded import kafka as kafka_process
from streams.embedded import postgres as postgres_process
from streams.embedded import qdrant as qdrant_process
from streams.embedded import tansu, valkey
from streams.embedded.lock import FolderLock, held
from streams.embedded.ports import Ports
from streams.embedded.processes import EmbeddedError, folder_at
from streams.embedded.server import Server

__all__ = ["Broker", "EmbeddedError", "Endpoints", "Stack", "running", "start"]

Broker = Literal["auto", "kafka", "tansu"]
Progress = Callable[[str], None]
_STOP_SECONDS = 5.5
_ENDPOINTS = "endpoints.json"


@dataclass(frozen=True, kw_only=True)
class Endpoints:
    """Where the servers are."""

    kafka: str  # host:port, for bootstrap_servers
    qdrant: str  # http URL
    postgres: str  # postgresql URL of a superuser and the database `rankstream`
    redis: str  # redis URL
    broker: str  # "kafka" | "tansu" | "external"


class Stack:
    """Running servers. `stop` ends those that were started here, never those that were given."""

    endpoints: Endpoints

    def __init__(self, folder: Path, lock: FolderLock) -> None:
        self._folder = folder
        self._logs = folder / "logs"
        self._lock = lock
        self._ports = Ports(folder)
        self._starters: dict[str, Callable[[], Awaitable[Server]]] = {}
        self._servers: dict[str, Server] = {}
        self._stopped = False
        # Those of a run that was killed.
        (folder / _ENDPOINTS).unlink(missing_ok=True)

    def pids(self) -> dict[str, int]:
        """The process of every server started here, by name: kafka or tansu, qdrant, postgres, valkey."""
        return {name: server.child.pid for name, server in self._servers.items()}

    def dead(self) -> list[str]:
        """One line for every server that has ended by itself, with its last words."""
        ended = (server.child for server in self._servers.values() if not server.child.alive)
        return [str(child.error(f"ended with exit code {child.process.returncode}")) for child in ended]

    async def kill(self, name: str) -> None:
        """End one server as a crash would."""
        await self._servers[name].child.kill()

    async def revive(self, name: str) -> None:
        """Start one server again, on its old port and data."""
        await self._servers[name].child.stop(_STOP_SECONDS)
        await self._start_one(name)

    async def stop(self) -> None:
        """End all servers started here, at the same time, and let go of the folder."""
        if self._stopped:
            return
        self._stopped = True
        (self._folder / _ENDPOINTS).unlink(missing_ok=True)
        await asyncio.gather(*(server.child.stop(_STOP_SECONDS) for server in self._servers.values()))
        self._servers.clear()
        self._ports.release()
        self._lock.release()

    async def fill(self, given: dict[str, str], broker: Broker, progress: Progress) -> None:
        """Start what is not given, all at the same time; called by `start`."""
        tasks = [
            asyncio.create_task(self._start_one(name))
            for name, key in (("qdrant", "qdrant"), ("postgres", "postgres"), ("valkey", "redis"))
            if key not in given
        ]
        if "kafka" not in given:
            tasks.append(asyncio.create_task(self._start_broker(broker, progress)))
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        urls = {name: server.url for name, server in self._servers.items()}
        self.endpoints = Endpoints(
            kafka=given.get("kafka") or urls.get("kafka") or urls["tansu"],
            qdrant=given.get("qdrant") or urls["qdrant"],
            postgres=given.get("postgres") or urls["postgres"],
            redis=given.get("redis") or urls["valkey"],
            broker="external" if "kafka" in given else "kafka" if "kafka" in urls else "tansu",
        )
        (self._folder / _ENDPOINTS).write_text(json.dumps(asdict(self.endpoints), indent=1))

    async def _start_broker(self, broker: Broker, progress: Progress) -> None:
        if broker != "tansu":
            try:
                jars = await kafka_process.prepare(progress)
            except kafka_process.KafkaUnavailable as error:
                if broker == "kafka":
                    raise EmbeddedError(f"kafka: {error}") from error
                progress(f"no Apache Kafka ({error}): using Tansu, which keeps topics in memory only")
            else:
                await self._start_one("kafka", jars)
                return
        await self._start_one("tansu")

    async def _start_one(self, name: str, jars: Path | None = None) -> None:
        if name not in self._starters:
            self._starters[name] = self._starter(name, jars)
        self._servers[name] = await self._starters[name]()
        self._lock.record(self.pids())

    def _starter(self, name: str, jars: Path | None) -> Callable[[], Awaitable[Server]]:
        data, log = self._folder / name, self._logs / f"{name}.log"
        # Tansu cannot bind a port on which old connections still fade, so it gets a new one in every run.
        port = self._ports.take(name, again=name != "tansu")
        if name == "kafka" and jars is not None:
            controller = self._ports.take("kafka-controller")
            return lambda: kafka_process.start(data, jars=jars, port=port, controller_port=controller, log=log)
        return {
            "tansu": lambda: tansu.start(port=port, log=log),
            "qdrant": lambda: qdrant_process.start(data, port=port, log=log),
            "postgres": lambda: postgres_process.start(data, port=port, log=log),
            "valkey": lambda: valkey.start(data, port=port, log=log),
        }[name]


async def start(
    data_dir: Path,
    *,
    kafka: str | None = None,
    qdrant: str | None = None,
    postgres: str | None = None,
    redis: str | None = None,
    broker: Broker = "auto",
    progress: Progress = lambda message: None,
) -> Stack:
    """Start every server for which no URL is given, keeping data, logs and ports under data_dir.

    Call it on a thread that lives as long as the servers should: on Linux they end with it. Raises EmbeddedError with
    one line that names the server; whatever was started is then stopped again.
    """
    folder = _absolute(data_dir)
    lock = FolderLock(folder_at(folder))
    await asyncio.to_thread(lock.acquire)
    stack = Stack(folder, lock)
    given = {"kafka": kafka, "qdrant": qdrant, "postgres": postgres, "redis": redis}
    try:
        await stack.fill({name: url for name, url in given.items() if url}, broker, progress)
    except BaseException:
        await stack.stop()
        raise
    return stack


def running(data_dir: Path) -> Endpoints | None:
    """The endpoints of the stack that some process has started on this folder, if one has."""
    folder = _absolute(data_dir)
    if not held(folder):
        return None
    try:
        return Endpoints(**json.loads((folder / _ENDPOINTS).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _absolute(folder: Path) -> Path:
    # Servers have working directories of their own.
    return folder.absolute()
