"""The checker can fail: each promise is broken on purpose, in a real process, and the checker says which.

These run with `make faults`; the checker alone, on evidence made by hand, is tested in tests/unit/faults.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from streams.embedded.processes import EmbeddedError
from streams.gateways import client as client_module
from tests.conftest import unavailable
from tests.faults.checker import Verdict, check
from tests.faults.load import Load
from tests.faults.system import GENERATION, System, running

SEED = 20_260
RATES = (5.0, 3.0)  # documents and questions a second
PAGES = 12


@pytest.fixture(scope="module")
async def system(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    try:
        async with running(tmp_path_factory.mktemp("sabotage"), SEED) as started:
            yield started
    except EmbeddedError as error:
        unavailable(str(error))


@asynccontextmanager
async def sabotaged(system: System, how: str, *names: str) -> AsyncIterator[None]:
    """Run processes broken inside the block, and honest ones again after it."""
    await asyncio.gather(*(_restarted(system, name, FAULTS_SABOTAGE=how) for name in names))
    try:
        yield
    finally:
        await asyncio.gather(*(_restarted(system, name) for name in names))


async def _restarted(system: System, name: str, **environment: str) -> None:
    process = system.processes[name]
    if process.alive:
        await process.terminate()
    process.start(**environment)
    await process.ready()


Drive = Callable[[Load], Awaitable[None]]


async def judged(
    system: System, drive: Drive, *, rates: tuple[float, float] = RATES, patience: float = 30.0
) -> Verdict:
    """Return what the checker says of a load during which `drive` runs; the load itself counts as the fault."""
    load = Load(
        tenant=f"sabotage{time.monotonic_ns()}",
        client=system.client,
        ledger=system.ledger,
        seed=SEED,
        generation=GENERATION,
    )
    load.pages = load.pages[:PAGES]
    await system.begin(load)
    load.start(*rates)
    await asyncio.sleep(2.0)
    system.measure()
    async with system.fault("sabotage", settle=0.0):
        await asyncio.sleep(0.1)
    await drive(load)
    barriers = await system.quiesce(seconds=patience)
    return check(await system.evidence(barriers=barriers))


def broken(verdict: Verdict) -> set[str]:
    return {name for name, found in verdict.complaints.items() if found and name != "timed"}


async def some_time(_: Load) -> None:
    await asyncio.sleep(5.0)


async def test_nothing_is_said_of_a_system_that_keeps_its_promises(system: System) -> None:
    verdict = await judged(system, some_time)
    assert broken(verdict) == set(), verdict.complaints


async def test_an_acknowledgement_before_the_output_is_delivered_loses_documents(system: System) -> None:
    async def kill(load: Load) -> None:
        await asyncio.sleep(4.0)
        await load.calm()  # or a later version would stand for the lost one
        await system.processes["chunk"].kill()
        system.processes["chunk"].start()
        await system.processes["chunk"].ready()

    async with sabotaged(system, "ack-before-produce", "chunk"):
        verdict = await judged(system, kill, patience=15.0)
    assert "I1" in broken(verdict), verdict.complaints


async def test_chunks_that_are_not_collected_are_ghosts(system: System) -> None:
    async with sabotaged(system, "no-collection", "publish-version"):
        verdict = await judged(system, some_time)
    assert broken(verdict) == {"I2"}, verdict.complaints


async def test_without_the_fence_answers_show_what_was_replaced(system: System) -> None:
    async with sabotaged(system, "no-fence", "fuse"):
        verdict = await judged(system, some_time)
    assert "I2" in broken(verdict), verdict.complaints
    assert any("after a receipt for" in line for line in verdict.complaints["I2"])


async def test_a_lost_reply_is_a_question_without_an_answer(system: System) -> None:
    async with sabotaged(system, "lose-replies", "fuse"):
        verdict = await judged(system, some_time)
    assert "I3" in broken(verdict), verdict.complaints


async def test_a_broken_leg_that_is_not_flagged_is_seen(system: System) -> None:
    async def breaking(_: Load) -> None:
        legs = ("dense", "sparse")
        async with system.fault("qdrant: reset", legs=legs, certain=legs, settle=8.0):
            system.proxies["qdrant"].set("reset")
            await asyncio.sleep(4.0)
            system.proxies["qdrant"].set("pass")

    async with sabotaged(system, "no-flag", "fuse"):
        verdict = await judged(system, breaking)
    assert broken(verdict) == {"I4"}, verdict.complaints


async def test_a_flag_without_a_broken_leg_is_seen(system: System) -> None:
    async with sabotaged(system, "false-flag", "fuse"):
        verdict = await judged(system, some_time)
    assert broken(verdict) == {"I4"}, verdict.complaints


async def test_an_outcome_that_comes_late_is_seen(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "GRACE", 1.5)  # seconds; a client that waits too long

    async with sabotaged(system, "lose-replies", "fuse"):
        verdict = await judged(system, some_time)
    assert "I5" in broken(verdict), verdict.complaints


async def test_records_that_nobody_finishes_are_lag(system: System) -> None:
    async with sabotaged(system, "skip-records", "embed"):
        verdict = await judged(system, some_time, patience=10.0)
    assert "I6" in broken(verdict), verdict.complaints


async def test_without_the_version_guard_a_late_version_replaces_a_newer_one(system: System) -> None:
    async def late(load: Load) -> None:
        page = load.pages[0]
        await page.sending.acquire()  # the load leaves this one alone
        old, new = page.next(load.tenant, delete=False), page.next(load.tenant, delete=False)
        for change in (new, old):
            await load.send(change)
            await asyncio.sleep(3.0)

    async with sabotaged(system, "no-guard", "chunk", "writers", "publish-version"):
        verdict = await judged(system, late)
    assert "I7" in broken(verdict), verdict.complaints


async def test_what_is_never_let_go_is_growth(system: System) -> None:
    async with sabotaged(system, "leak", "embed"):
        verdict = await judged(system, some_time, rates=(15.0, 1.0))
    assert broken(verdict) == {"I8"}, verdict.complaints


async def test_a_secret_in_a_log_is_found(system: System) -> None:
    async def restart(_: Load) -> None:
        await _restarted(system, "chunk", FAULTS_SABOTAGE="tell-secrets")

    verdict = await judged(system, restart)
    await _restarted(system, "chunk")
    assert broken(verdict) == {"I9"}, verdict.complaints


async def test_a_wrong_exit_code_is_seen(system: System) -> None:
    async def restart(_: Load) -> None:
        await _restarted(system, "chunk")

    await _restarted(system, "chunk", FAULTS_SABOTAGE="exit-3")
    verdict = await judged(system, restart)
    assert broken(verdict) == {"I10"}, verdict.complaints
