"""A document as it is indexed, on a terminal."""

from __future__ import annotations

from typing import get_args

import pytest

from schemas.chunks import Chunk, Level
from streams.cli import show
from streams.domain.versions import VersionView


def test_chunks_of_every_level_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    chunks = tuple(
        Chunk(id=f"id-{level}", level=level, heading_path=(), body=f"text of {level}", parent_id="id-parent")
        for level in get_args(Level)
    )
    show._version(
        VersionView(version=1, state="live", title="Who may?", kind="qa", waits=(), reason=None, chunks=chunks)
    )
    shown = capsys.readouterr().out
    assert all(f"{level} id-{level}" in shown and f"text of {level}" in shown for level in get_args(Level))
