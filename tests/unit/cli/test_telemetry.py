"""Telemetry of a command: its name, and that nothing of it stays."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from streams.cli import telemetry
from streams.settings import Settings
from streams.telemetry import signals


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["run", "fuse"], "rankstream-fuse"),
        (["run", "all"], "rankstream"),
        (["run", "prepare", "fuse"], "rankstream"),
        (["ask", "what is secret?"], "rankstream"),
        ([], "rankstream"),
    ],
)
def test_a_processor_that_runs_alone_has_a_name_of_its_own(arguments: list[str], name: str) -> None:
    assert telemetry.service(arguments) == name


def test_without_an_endpoint_nothing_is_installed(tmp_path: Path) -> None:
    with telemetry.on(Settings(data_dir=tmp_path), ["up"]):
        assert signals.backend() is None


def test_what_was_installed_is_gone_at_the_end_whatever_happened(tmp_path: Path) -> None:
    before = list(logging.getLogger().handlers)
    found = Settings(data_dir=tmp_path, telemetry="http://127.0.0.1:9")
    with pytest.raises(ValueError, match="x"), telemetry.on(found, ["up"]):
        assert signals.backend() is not None
        assert len(logging.getLogger().handlers) == len(before) + 1
        raise ValueError("x")
    assert signals.backend() is None
    assert logging.getLogger().handlers == before
