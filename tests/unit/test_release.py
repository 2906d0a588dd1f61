"""Whether the code is what was released: a copy of it, changed in each way, asked by the command itself."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from streams import release
from streams.errors import ConfigurationError
from streams.telemetry import own_process
from streams.telemetry.instruments import ALL


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The packages as an image has them."""
    for package in release.PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(release.INSTALLED / package, tmp_path / "site" / package, ignore=ignored)
    return tmp_path / "site"


def command(site: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "streams.cli.main", "version", *arguments],
        cwd=site.parent,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_what_is_changed_added_or_taken_away_after_the_build_is_named(copy: Path) -> None:
    code, manifest = command(copy, "--manifest")
    assert code == 0
    kept = copy.parent / "rankstream.sha256"
    kept.write_text(manifest)
    verify = ("--verify", "--against", str(kept))
    code, said = command(copy, *verify)
    assert (code, said.splitlines()[-1]) == (0, f"as {kept} says")
    (copy / "streams" / "acks.py").write_text((copy / "streams" / "acks.py").read_text() + "\n")
    (copy / "streams" / "adapters" / "sql" / "visible.sql").unlink()
    (copy / "topics" / "planted.py").write_text("")
    code, said = command(copy, *verify)
    assert code == 1
    assert said.splitlines()[1:] == [
        "changed  streams/acks.py",
        "missing  streams/adapters/sql/visible.sql",
        "added    topics/planted.py",
        f"3 files differ from {kept}",
    ]


def test_the_manifest_is_what_sha256sum_checks(tmp_path: Path) -> None:
    (tmp_path / "streams").mkdir()
    (tmp_path / "streams" / "a b.py").write_bytes(b"x")
    assert release.text(release.hashes(tmp_path)) == f"{hashlib.sha256(b'x').hexdigest()}  streams/a b.py\n"
    (tmp_path / "manifest").write_text(release.text(release.hashes(tmp_path)))
    assert release.manifest(tmp_path / "manifest") == release.hashes(tmp_path)
    if (program := shutil.which("sha256sum")) is not None:
        subprocess.run([program, "--check", "manifest"], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.parametrize("text", [None, b"", b"what is this\n", b"\xff\xfe"])
def test_without_a_manifest_there_is_one_line_and_no_answer(tmp_path: Path, text: bytes | None) -> None:
    file = tmp_path / "manifest"
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(ConfigurationError, match=r"the manifest .*manifest"):
        release.manifest(file)


def test_a_process_tells_of_itself_what_is_listed_and_compares_its_code_once_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "rankstream.sha256"
    kept.write_text(release.text(release.hashes()))
    monkeypatch.setattr(own_process, "_code", own_process._Code())
    assert own_process.of_code(kept) == 0
    kept.write_text(f"{'0' * 64}  streams/acks.py\n")
    assert own_process.of_code(kept) == 0  # not looked at again today
    monkeypatch.setattr(own_process, "_code", own_process._Code())
    assert own_process.of_code(kept) == len(release.hashes())
    told = {instrument.name: value for instrument, value, labels in own_process.readings() if not labels}
    assert told.keys() <= {instrument.name for instrument in ALL}
    assert told["process.memory.usage"] > 10 * 2**20
    assert told["process.cpu.time"] > 0
    assert told["process.uptime"] > 0
    assert 3 <= told["process.open_file_descriptor.count"] < 10_000


def test_this_checkout_has_no_manifest_and_says_nothing_of_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(own_process, "_code", own_process._Code())
    assert own_process.of_code(tmp_path / "none") is None
