"""rankstream profiles, and what commands say of profiles that are wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest

from streams.adapters import profiles
from streams.cli.profiles import resolved
from streams.domain.profile import Profile
from tests.unit.cli.test_main import ROOT, run

GOOD = 'name = "short"\nsummary = "two passages"\nlegs = ["dense", "sparse"]\nscore = "coverage"\nfloor = 0.4\n'


def test_profiles_are_listed_with_what_tells_them_apart(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(GOOD)
    code, said = run("profiles", data=tmp_path, RANKSTREAM_PROFILES=str(tmp_path))
    assert code == 0
    rows = [re.split(r"  +", line) for line in said.splitlines()]
    assert rows[0] == ["profile", "legs", "score", "floor", "summary"]
    assert ["short", "dense, sparse", "coverage", "0.4", "two passages"] in rows
    assert {row[0] for row in rows[1:]} == {*profiles.shipped(), "short"}


def test_a_profile_is_printed_as_toml_that_reads_the_same(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(GOOD)
    code, said = run("profiles", "short", data=tmp_path, RANKSTREAM_PROFILES=str(tmp_path))
    assert code == 0
    assert said.startswith(f"# {tmp_path / 'short.toml'}\n")
    assert profiles.read("short.toml", said.encode(), name="short") == profiles.load(tmp_path).by_name["short"]


def test_any_profile_reads_the_same_when_printed() -> None:
    odd = Profile(
        name="p", summary='"quoted" \\ \x7f é', legs=("dense", "qa"), weights={"dense": 2.0, "qa": 0.5}, budget=1e-3
    )
    for profile in (odd, *profiles.shipped().values()):
        assert msgspec.convert(tomllib.loads(resolved(profile)), Profile) == profile


def test_a_profile_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    code, said = run("profiles", "nope", data=tmp_path)
    assert (code, said) == (2, f"rankstream: there is no profile 'nope'; there are {', '.join(profiles.shipped())}\n")


@pytest.mark.parametrize(
    "command",
    [("up", "--no-docs"), ("run", "prepare"), ("evaluate", "set", "--in-process"), ("evaluate", "set"), ("profiles",)],
)
def test_a_wrong_folder_is_one_line_before_any_server_starts(tmp_path: Path, command: tuple[str, ...]) -> None:
    places = {"RANKSTREAM_PROFILES": str(tmp_path / "none"), "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9"}
    code, said = run(*command, data=tmp_path / "data", **places)
    assert code == 2
    missing = f"{tmp_path}/none does not exist; name the folder of your profiles, or unset it"
    assert said == f"rankstream: RANKSTREAM_PROFILES: {missing}\n"
    assert not (tmp_path / "data").exists()


def test_a_wrong_file_is_one_line_too(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(GOOD + "pasages = 2\n")
    code, said = run("up", "--no-docs", data=tmp_path / "data", RANKSTREAM_PROFILES=str(tmp_path))
    assert code == 2
    assert said == (f"rankstream: {tmp_path}/short.toml: pasages: is no field of a profile; did you mean passages?\n")


def test_evaluating_under_a_profile_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"id": "a", "text": "A text."}\n')
    (tmp_path / "queries.jsonl").write_text('{"id": "q", "text": "What?"}\n')
    (tmp_path / "qrels.tsv").write_text("query-id\tdoc-id\tgrade\nq\ta\t1\n")
    code, said = run("evaluate", str(tmp_path), "--in-process", "--profile", "nope", data=tmp_path / "data")
    known = ", ".join(profiles.shipped())
    assert (code, said) == (2, f"rankstream: --profile: there is no profile 'nope'; there are {known}\n")


def test_the_example_of_the_page_works(tmp_path: Path) -> None:
    blocks = re.findall(r"```bash\n(.*?)```", (ROOT / "docs/profiles.md").read_text(), re.DOTALL)
    (block,) = (block for block in blocks if "RANKSTREAM_PROFILES" in block)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.replace("/tmp/profiles", str(tmp_path))],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "short dense, sparse" in " ".join(done.stdout.split())
    assert 'synonyms = "short.synonyms.txt"' in done.stdout
