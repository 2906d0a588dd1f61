"""The audit of pins and secrets finds what it should, and nothing in this project."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy import audit
from deploy.audit import ROOT


def project(*dependencies: str) -> str:
    listed = ", ".join(f'"{each}"' for each in dependencies)
    return (
        f"[project]\ndependencies = [{listed}]\n[project.optional-dependencies]\nmore = ['rankstream[test]', 'x>=1']\n"
    )


def test_a_requirement_that_allows_several_versions_is_found() -> None:
    text = project("a==1.0", "b>=2", "c", "d==1.*", "e[f]==1; sys_platform == 'linux'")
    assert list(audit.unpinned(text)) == ["b>=2", "c", "d==1.*", "x>=1"]


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
