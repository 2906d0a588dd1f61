"""The memory of what was published."""

from __future__ import annotations

from pathlib import Path

import pytest

from streams.errors import ConfigurationError
from streams.sources.state import DELETED, Known, file_of, opened


def test_it_remembers_over_restarts(tmp_path: Path) -> None:
    path = file_of(tmp_path, "acme", "help")
    with opened(path) as state:
        state.record("a", Known(version=1, hash="x"))
        state.record("b", Known(version=1, hash="y"))
        state.deleted("b", 2)
    with opened(path) as state:
        assert state.known() == {"a": Known(version=1, hash="x"), "b": Known(version=2, hash=DELETED, deleted=True)}


def test_a_lower_version_changes_nothing(tmp_path: Path) -> None:
    with opened(file_of(tmp_path, "acme", "help")) as state:
        state.record("a", Known(version=2, hash="new"))
        state.record("a", Known(version=1, hash="old"))
        assert state.known()["a"].hash == "new"


def test_sources_tenants_and_clusters_do_not_share_a_memory(tmp_path: Path) -> None:
    names = [("a", "b", ""), ("a", "c", ""), ("b", "b", ""), ("a", "b", "kafka-1:9092,kafka-2:9092"), ("..", "b", "")]
    paths = [file_of(tmp_path, *name) for name in names]
    assert len(set(paths)) == len(paths)
    assert all(path.resolve().is_relative_to(tmp_path / "sources") for path in paths)


def test_a_file_that_cannot_be_used_is_named_with_the_setting(tmp_path: Path) -> None:
    path = tmp_path / "broken.sqlite"
    path.write_bytes(b"no database at all, and long enough to be taken for one" * 100)
    with pytest.raises(ConfigurationError, match=r"broken\.sqlite .*RANKSTREAM_DATA"), opened(path):
        pass
