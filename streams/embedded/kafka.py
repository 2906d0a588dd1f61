"""Apache Kafka in KRaft mode, one node on loopback, from the jars of its Maven artefact."""

import asyncio
import os
import re
import shutil
import subprocess
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path

from streams.embedded import kafka_probe, maven
from streams.embedded.kafka_settings import JVM_OPTIONS, LOGGING, properties
from streams.embedded.processes import HOST, EmbeddedError, folder_at, spawn
from streams.embedded.server import Server

VERSION = "4.3.1"
# The broker logs through slf4j and does not bring a binding for it.
ARTEFACTS = (f"org.apache.kafka:kafka_2.13:{VERSION}", "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4")
_OLDEST_JAVA = 17


class KafkaUnavailable(EmbeddedError):
    """Kafka cannot be had on this machine: no Java, or no jars."""


async def prepare(progress: Callable[[str], None]) -> Path:
    """Make sure of Java and the jars and return the folder of the jars; raise KafkaUnavailable with why not."""
    try:
        await asyncio.to_thread(_check_java)
        jars = maven.cache_folder() / f"kafka-{VERSION}"
        await maven.fetch(ARTEFACTS, jars, lambda: progress(f"fetching Apache Kafka {VERSION} (about 45 MB, once)"))
    except EmbeddedError as error:
        raise KafkaUnavailable(str(error)) from error
    return jars


async def start(folder: Path, *, jars: Path, port: int, controller_port: int, log: Path) -> Server:
    """Start the broker on the data in the folder; formatted once, it keeps topics and records over restarts."""
    config = folder_at(folder) / "server.properties"
    config.write_text(properties(folder / "data", port=port, controller_port=controller_port))
    (folder / "log4j2.yaml").write_text(LOGGING)
    java = [_java(), *JVM_OPTIONS, f"-Dlog4j2.configurationFile={folder / 'log4j2.yaml'}", "-cp", f"{jars}/*"]
    if not _is_formatted(folder):
        await _format(java, config, log)
    child = spawn("kafka", [*java, "kafka.Kafka", config], log=log, cwd=folder)
    try:
        # After a crash it checks its segments first.
        await child.ready(lambda: kafka_probe.answers(port), within=90)
    except BaseException:
        await child.stop(2)
        raise
    return Server(url=f"{HOST}:{port}", child=child)


async def _format(java: list[str], config: Path, log: Path) -> None:
    cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "_")
    tool = spawn("kafka format", [*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", config], log=log)
    try:
        ended = await tool.ended(60)
    finally:
        await tool.kill()
    if not ended or tool.process.returncode != 0:
        raise tool.error("failed")


def _is_formatted(folder: Path) -> bool:
    return (folder / "data" / "meta.properties").exists()


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return str(Path(home) / "bin" / "java")
    return shutil.which("java") or "java"


def _check_java() -> None:
    try:
        said = subprocess.run([_java(), "-version"], check=False, capture_output=True, text=True, timeout=20).stderr
    except (OSError, subprocess.TimeoutExpired):
        raise EmbeddedError(f"Java {_OLDEST_JAVA} or newer is not installed") from None
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found is None or int(found[1]) < _OLDEST_JAVA:
        raise EmbeddedError(f"Java {_OLDEST_JAVA} or newer is needed, found {found[1] if found else 'none'}")
