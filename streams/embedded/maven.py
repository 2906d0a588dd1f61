"""The jars of Maven artefacts with all they depend on, fetched once into a folder."""

import asyncio
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from streams.embedded.processes import EmbeddedError, spawn

QUIET_LIMIT = 45.0
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>rankstream</groupId><artifactId>embedded</artifactId><version>1</version>
<dependencies>{dependencies}</dependencies></project>
"""
_DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
_OPTIONS = ("-B", "-Dmaven.wagon.http.retryHandler.count=1", "-Daether.connector.connectTimeout=10000")


def cache_folder() -> Path:
    """The folder of this user for what can be fetched again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rankstream"


async def fetch(artefacts: Sequence[str], folder: Path, progress: Callable[[], None]) -> None:
    """Put the jars of artefacts `group:name:version` into the folder, all of them or none.

    `progress` is called when there is something to fetch. Raises EmbeddedError with a one-line reason.
    """
    if _exists(folder):
        return
    if shutil.which("mvn") is None:
        raise EmbeddedError("Maven (mvn) is not installed")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        await _acquire(lock.fileno())
        if _exists(folder):
            return
        progress()
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-") as name:
            work = Path(name)
            dependencies = "".join(_DEPENDENCY.format(*artefact.split(":")) for artefact in artefacts)
            (work / "pom.xml").write_text(_POM.format(dependencies=dependencies))
            await _run(work)
            (work / "jars").rename(folder)


async def _acquire(descriptor: int) -> None:
    # Polled, since a blocking call could not be cancelled; the kernel lets go when the other process ends.
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            await asyncio.sleep(0.1)


async def _run(work: Path) -> None:
    log = work / "maven.log"
    goal = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={work / 'jars'}")
    child = spawn("maven", ["mvn", *_OPTIONS, *goal], log=log, cwd=work)
    try:
        seen, since = -1, time.monotonic()
        while not await child.ended(2.0):
            # A slow download goes on as long as bytes arrive; a dead network brings none.
            arrived = log.stat().st_size + await asyncio.to_thread(_bytes_under, Path.home() / ".m2" / "repository")
            if arrived != seen:
                seen, since = arrived, time.monotonic()
            elif time.monotonic() - since > QUIET_LIMIT:
                raise EmbeddedError(f"the Maven registry sent nothing for {QUIET_LIMIT:.0f} s")
    finally:
        await child.kill()
    if child.process.returncode != 0:
        raise EmbeddedError(f"Maven failed: {_reason(log)}")


def _exists(folder: Path) -> bool:
    return folder.is_dir()


def _bytes_under(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(root, name).stat().st_size
            except OSError:
                continue
    return total


def _reason(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    errors = (line.removeprefix("[ERROR] ")[:200] for line in lines if line.startswith("[ERROR]"))
    return next(errors, "no reason given")
