"""Replays as the health of their process tells of them."""

from __future__ import annotations

from pathlib import Path

from streams.adapters.memory import MemoryStores
from streams.bootstrap import Resources
from streams.domain.vitals import unready
from streams.processors import replay
from streams.replays import Replays
from streams.settings import Settings


async def test_a_process_that_waits_for_a_generation_to_fill_is_ready_once_it_looks(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    replays = Replays(replay.REPLAY, Resources(settings), settings)
    (before,) = replays.vitals()
    assert (before.processor, unready(before)) == ("replay", ("not yet in its group",))
    replays._resources = Known()  # type: ignore[assignment]
    await replays.start()
    (looking,) = replays.vitals()
    assert unready(looking) == ()
    await replays.stop()
    (stopped,) = replays.vitals()
    assert unready(stopped) == ("stopping",)


class Known:
    """A process whose only generation is the first."""

    async def deps(self, _: object) -> replay.Deps:
        stores = MemoryStores()
        await stores.generations.ensure(model="m", dimension=3, average_length=1.0)
        return replay.Deps(versions=stores.versions, reader=stores.versions, generations=stores.generations)
