"""Committed offsets: what the broker cannot say now is asked for again, and is not taken for nothing."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import TopicPartition
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.errors import GroupLoadInProgressError, NotCoordinatorForGroupError
from aiokafka.protocol.commit import OffsetFetchResponse_v3

from streams import committed_offsets
from streams.settings import Settings

PARTITION = TopicPartition("topic", 0)


class Broker:
    """Answers a request for offsets; -1 stands for none."""

    def __init__(self, error_code: int, offset: int) -> None:
        self.response = OffsetFetchResponse_v3(0, [("topic", [(0, offset, "", 0)])], error_code)

    async def send(self, *_: Any, **__: Any) -> Any:
        return self.response


def coordinator(broker: Broker) -> Any:
    made = GroupCoordinator.__new__(GroupCoordinator)
    made._client, made.group_id, made.coordinator_id = broker, "group", 1
    made._subscription = SimpleNamespace(subscription=None)
    made.coordinator_dead = lambda: setattr(made, "coordinator_id", None)
    return made


async def test_without_mending_an_error_reads_as_a_group_that_never_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    # A canary: once aiokafka looks at the error itself, nothing is left to mend.
    monkeypatch.setattr(GroupCoordinator, "_send_req", committed_offsets._theirs)
    assert await coordinator(Broker(16, -1))._do_fetch_commit_offsets([PARTITION]) == {}


@pytest.mark.parametrize(("code", "error"), [(16, NotCoordinatorForGroupError), (14, GroupLoadInProgressError)])
async def test_an_error_is_raised_and_can_be_tried_again(
    monkeypatch: pytest.MonkeyPatch, code: int, error: type[Exception]
) -> None:
    monkeypatch.setattr(GroupCoordinator, "_send_req", committed_offsets._theirs)
    committed_offsets.mend()
    asked = coordinator(Broker(code, -1))
    with pytest.raises(error) as raised:
        await asked._do_fetch_commit_offsets([PARTITION])
    assert raised.value.retriable  # type: ignore[attr-defined]
    assert (asked.coordinator_id is None) == (code == 16)  # it is looked for again


async def test_offsets_are_read_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GroupCoordinator, "_send_req", committed_offsets._theirs)
    committed_offsets.mend()
    found = await coordinator(Broker(0, 7))._do_fetch_commit_offsets([PARTITION])
    assert found[PARTITION].offset == 7
    assert await coordinator(Broker(0, -1))._do_fetch_commit_offsets([PARTITION]) == {}


def test_every_process_of_processors_is_mended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from streams.fleet import Fleet

    monkeypatch.setattr(GroupCoordinator, "_send_req", committed_offsets._theirs)
    Fleet(Settings(data_dir=tmp_path), ["chunk"])
    assert GroupCoordinator._send_req is committed_offsets._told
