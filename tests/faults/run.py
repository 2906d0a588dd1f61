"""make faults: runs the scenarios, judges them, writes REPORT.md. Exits with 1 when an invariant does not hold."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import random
import sys
import tempfile
import time
import traceback
from dataclasses import replace
from pathlib import Path

from tests.faults import report
from tests.faults.checker import check
from tests.faults.load import Load
from tests.faults.matrix import ALL, CUT, Scenario
from tests.faults.report import Row
from tests.faults.system import GENERATION, System, running
from tests.faults.waiting import until

TARGET = (40.0, 15.0)  # documents and questions a second
SHARE = 0.2  # of what the machine can do with either alone: both run, and processes start


async def main(arguments: argparse.Namespace) -> int:
    """Run what was asked for and return the exit code."""
    wanted = [each for each in ALL if not arguments.only or each.number in arguments.only]
    if arguments.cut and not arguments.only:
        wanted = [each for each in wanted if each.number in CUT]
    seed = arguments.seed if arguments.seed is not None else random.randrange(10**6)
    print(f"seed {seed}", flush=True)
    began = time.monotonic()
    rows: list[Row] = []
    text = ""
    with tempfile.TemporaryDirectory(prefix="rankstream-faults-", ignore_cleanup_errors=True) as made:
        folder = Path(arguments.keep or made)
        async with running(folder, seed) as system:
            print(f"all is up after {time.monotonic() - began:.0f} s; ledger and logs in {folder}", flush=True)
            rates = system.rates = arguments.rates or await calibrated(system)
            print(f"load: {rates[0]:.1f} docs/s, {rates[1]:.1f} queries/s", flush=True)
            for scenario in wanted:
                rows.append(await one(system, scenario, rates, seed, cut=arguments.cut))
                print(report.line(rows[-1]), flush=True)
                minutes = (time.monotonic() - began) / 60
                text = report.written(rows, seed=seed, rates=rates, target=TARGET, minutes=minutes, cut=arguments.cut)
                if arguments.report:  # after each: a run that is cut short has said what it knows
                    arguments.report.seek(0)
                    arguments.report.truncate()
                    arguments.report.write(text)
                    arguments.report.flush()
    if not arguments.report:
        print(text, flush=True)
    print(f"{(time.monotonic() - began) / 60:.1f} minutes", flush=True)
    return 0 if all(row.holds for row in rows) else 1


async def calibrated(system: System) -> tuple[float, float]:
    """Return the rates of the load: the target, or less where this machine gives less."""
    load = Load(
        tenant=f"warm{system.seed}", client=system.client, ledger=system.ledger, seed=system.seed, generation=GENERATION
    )
    await system.begin(load)
    for page in load.pages:  # the first come slowly: connections open, caches fill
        load.go(load.edit(page))
    await drained(load, 60.0)
    await asyncio.gather(*(load.ask(patience=10.0) for _ in range(10)))
    begun = time.monotonic()
    for _ in range(3):
        for page in load.pages:
            load.go(load.edit(page, delete=False))
    await drained(load, 60.0)
    documents = 3 * len(load.pages) / (time.monotonic() - begun)
    begun, asked = time.monotonic(), 60
    for _ in range(asked // 6):
        await asyncio.gather(*(load.ask(patience=10.0) for _ in range(6)))
    questions = asked / (time.monotonic() - begun)
    await load.stop()
    print(f"this machine: {documents:.0f} docs/s, {questions:.0f} queries/s, one after the other", flush=True)
    # Both run at the same time, beside what starts again after its end.
    return min(TARGET[0], max(2.0, SHARE * documents)), min(TARGET[1], max(1.0, SHARE * questions))


async def drained(load: Load, seconds: float) -> None:
    """Wait until every page has its receipt."""
    await asyncio.sleep(0.2)
    await until(lambda: not load.waiting, seconds)


async def one(system: System, scenario: Scenario, rates: tuple[float, float], seed: int, *, cut: bool) -> Row:
    """Run and judge one scenario."""
    print(f"scenario {scenario.number}: {scenario.title}", flush=True)
    began = time.monotonic()
    tenant = f"s{scenario.number}-{seed}"
    load = Load(
        tenant=tenant,
        client=system.client,
        ledger=system.ledger,
        seed=seed * 100 + scenario.number,
        generation=GENERATION,
    )
    await system.begin(load)
    failed = None
    load.start(*rates)
    try:
        await asyncio.sleep(scenario.warm_up)
        system.measure()
        await asyncio.wait_for(scenario.run(system, random.Random(seed + scenario.number), cut), scenario.seconds)
    except Exception as error:
        failed = f"{type(error).__name__}: {error}"
        traceback.print_exc()
    finally:
        for proxy in system.proxies.values():
            proxy.set("pass")
        for process in system.extra:
            await process.stop()
    barriers = await system.quiesce()
    evidence = await system.evidence(
        barriers=barriers, takeover_bound=scenario.takeover_bound, redelivers=scenario.redelivers
    )
    verdict = check(replace(evidence, faultless=scenario.faultless))
    return Row(
        number=scenario.number,
        title=scenario.title,
        verdict=verdict,
        failed=failed,
        faults=len(evidence.faults),
        seconds=time.monotonic() - began,
    )


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="tests.faults.run", description=__doc__)
    parser.add_argument("--cut", action="store_true", help="the short run, about five minutes")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of scenarios")
    parser.add_argument("--seed", type=int, help="repeat a run")
    parser.add_argument("--rates", type=float, nargs=2, help="documents and questions a second, instead of measured")
    parser.add_argument("--keep", help="a folder to keep ledger and logs in")
    parser.add_argument("--report", type=argparse.FileType("w"), help="where to write the report")
    return parser.parse_args()


if __name__ == "__main__":
    logging.basicConfig(level=os.environ.get("FAULTS_LOG", "ERROR"))
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # a broker that is away is what it is about
    sys.exit(asyncio.run(main(parsed())))
