"""Fetching jars: all or none, one process at a time, a reason in one line."""

import asyncio
import os
from pathlib import Path

import pytest

from streams.embedded import maven
from streams.embedded.processes import EmbeddedError

ARTEFACTS = ("org.example:broker:1.0",)


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for mvn, to be written by the test."""
    path = tmp_path / "bin" / "mvn"
    path.parent.mkdir()
    path.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    return path


def write(script: Path, *lines: str) -> None:
    script.write_text("\n".join(("#!/bin/sh", *lines)) + "\n")


async def test_two_that_want_the_same_jars_fetch_them_once(script: Path, tmp_path: Path) -> None:
    write(script, f"echo ran >> {tmp_path}/runs", "mkdir jars", "echo jar > jars/broker.jar", "cp pom.xml jars")
    folder = tmp_path / "cache" / "broker-1.0"
    said: list[str] = []
    await asyncio.gather(*(maven.fetch(ARTEFACTS, folder, lambda: said.append("fetching")) for _ in range(2)))
    await maven.fetch(ARTEFACTS, folder, lambda: said.append("again"))
    assert said == ["fetching"]
    assert (tmp_path / "runs").read_text() == "ran\n"
    assert "<artifactId>broker</artifactId><version>1.0</version>" in (folder / "pom.xml").read_text()


async def test_a_failure_is_one_line_and_leaves_nothing(script: Path, tmp_path: Path) -> None:
    write(
        script,
        "mkdir jars",
        "echo [INFO] trying",
        "echo '[ERROR] Unknown host example.org'",
        "echo '[ERROR] more'",
        "exit 1",
    )
    folder = tmp_path / "cache" / "broker-1.0"
    with pytest.raises(EmbeddedError, match=r"^Maven failed: Unknown host example\.org$"):
        await maven.fetch(ARTEFACTS, folder, lambda: None)
    assert [each.name for each in folder.parent.iterdir()] == ["broker-1.0.lock"]


async def test_a_registry_that_sends_nothing_is_given_up(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maven, "QUIET_LIMIT", 0.5)
    write(script, "sleep 60")
    with pytest.raises(EmbeddedError, match="the Maven registry sent nothing for"):
        await maven.fetch(ARTEFACTS, tmp_path / "cache" / "broker-1.0", lambda: None)


async def test_a_slow_download_goes_on_while_bytes_arrive(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maven, "QUIET_LIMIT", 1.5)
    part = f"{tmp_path}/.m2/repository/broker.jar.part"
    write(
        script,
        f"mkdir -p {tmp_path}/.m2/repository jars",
        f"for i in 1 2 3 4 5 6; do echo x >> {part}; sleep 0.5; done",
    )
    await maven.fetch(ARTEFACTS, tmp_path / "cache" / "broker-1.0", lambda: None)
