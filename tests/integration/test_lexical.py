"""Lexical weights through all processors, on stores of their own: kept at ingest, searched, and told in the reply."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from schemas.documents import DocumentChange
from streams.adapters.embedders import Known
from streams.adapters.memory_lexical import MemoryLexicalModel
from streams.adapters.migrations import migrate
from streams.batching import Counts
from streams.bootstrap import Resources
from streams.embedded import stack
from streams.errors import ConfigurationError
from streams.processors import catalogue as processors
from streams.quality.evaluate import WithoutBus
from streams.quality.in_process import InProcess
from streams.settings import Settings

PAGES = {"plan": "The annual plan is paid once.", "keys": "A lost key is replaced.", "bikes": "Bicycles are parked."}


class Opened(MemoryLexicalModel):
    """The twin as it is built."""

    def __init__(self) -> None:
        self.counts: dict[str, Counts] = {}
        self.bulk = self

    async def close(self) -> None:
        return None


def resources(settings: Settings, *, lexical: bool) -> Resources:
    found = Resources(settings)
    found.embedders = {**found.embedders, "memory-hash": Known(dimension=64, build=Opened, lexical=lexical)}
    profile = msgspec.structs.replace(found.profiles["knowledge-base"], name="lexical", lexical=True)
    found.profiles = {**found.profiles, "lexical": profile}
    return found


@pytest.fixture(scope="module")
async def settings(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Settings]:
    folder: Path = tmp_path_factory.mktemp("lexical")
    started = await stack.start(folder, kafka="not-started:0")
    at = started.endpoints
    await migrate(at.postgres)
    yield Settings(data_dir=folder, qdrant=at.qdrant, postgres=at.postgres, embedder="memory-hash")
    await started.stop()


@pytest.fixture(scope="module")
async def pipeline(settings: Settings) -> AsyncIterator[InProcess]:
    opened = resources(settings, lexical=True)
    deps = {processor.name: await opened.deps(processor) for processor in processors.ALL}
    async with InProcess(opened, deps) as running:
        for doc_id, text in PAGES.items():
            change = DocumentChange(tenant="acme", source="help", doc_id=doc_id, version=1, title="", content=text)
            status = await running.ingest(change)
            assert status is not None and status.status == "searchable"
        yield running


async def test_a_passage_shows_its_place_and_score_in_every_list(pipeline: InProcess) -> None:
    reply = await WithoutBus(pipeline).ask("annual plan", tenant="acme", timeout=30.0, profile="lexical")
    assert (reply.error, reply.degraded, reply.legs["dense"].status) == (None, False, "ok")
    first = reply.passages[0]
    assert (first.doc_id, first.legs.keys()) == ("plan", {"dense", "sparse", "lexical"})
    assert first.legs["lexical"].score == pytest.approx(0.6 * 0.6 + 0.4 * 0.4, abs=1e-4)
    assert first.fused == pytest.approx(3 / 2)  # the first of three lists, k = 2 from rank 0
    assert all("lexical" not in each.legs for each in reply.passages[1:])


async def test_a_profile_without_the_option_does_not_look_at_them(pipeline: InProcess) -> None:
    reply = await WithoutBus(pipeline).ask("annual plan", tenant="acme", timeout=30.0, profile="knowledge-base")
    assert reply.passages[0].legs.keys() == {"dense", "sparse"}


async def test_a_start_without_the_weights_that_the_generation_has_is_refused(
    pipeline: InProcess, settings: Settings
) -> None:
    other = resources(settings, lexical=False)
    with pytest.raises(ConfigurationError, match=r"embedders\.memory-hash\.lexical: .* set lexical = true"):
        await other.generations()
    await other.close()
