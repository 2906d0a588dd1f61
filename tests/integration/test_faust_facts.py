"""Facts about Faust that the pipeline is built on, or around: an upgrade that changes one is seen here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from streams.app import Worker
from streams.processors.publish_version import PUBLISH_VERSION
from streams.settings import Settings


@pytest.fixture
async def app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> object:
    """An app as ours are made, where a platform has set Faust's own variables."""
    for name in ("TOPIC_PARTITIONS", "BROKER_COMMIT_INTERVAL", "STREAM_WAIT_EMPTY", "WEB_PORT"):
        monkeypatch.setenv(name, "77")
    return Worker(PUBLISH_VERSION, None, Settings(data_dir=tmp_path, kafka="127.0.0.1:1"))._app


async def test_the_consumer_group_is_named_after_the_processor(app: object) -> None:
    assert app.conf.id == "rankstream.publish-version"  # type: ignore[attr-defined]


async def test_variables_of_the_platform_do_not_reach_the_app(app: object) -> None:
    conf = app.conf  # type: ignore[attr-defined]
    assert (conf.broker_commit_interval, conf.stream_wait_empty, conf.topic_partitions) == (0.5, False, 8)
    assert not conf.web_enabled
    assert conf.table_standby_replicas == 0


def test_without_a_prefix_they_would_beat_explicit_arguments() -> None:
    script = "import faust; print(faust.App('x', topic_partitions=3).conf.topic_partitions)"
    said = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "TOPIC_PARTITIONS": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "77"


def test_the_compiled_stream_iterator_is_in_use() -> None:
    # The pure one acknowledges events of an old generation that it skips.
    from faust import streams

    assert streams._CStreamIterator is not None
