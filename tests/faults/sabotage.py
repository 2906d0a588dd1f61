"""Breaks the product in a child process, one promise at a time, so that tests see whether the checker notices.

Nothing of this is in the product: a process loads it when FAULTS_SABOTAGE names one.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

SABOTAGES: dict[str, Callable[[], None]] = {}


def apply(name: str) -> None:
    """Break this process."""
    SABOTAGES[name]()


def named(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a sabotage."""

    def keep(function: Callable[[], None]) -> Callable[[], None]:
        SABOTAGES[name] = function
        return function

    return keep


def _instead_of_handling(handle: Callable[[], Any]) -> None:
    from streams.runner import Runner

    async def handled(*_: Any) -> Sequence[Any]:
        found: Sequence[Any] = await handle()
        return found

    Runner._handle = handled  # type: ignore[method-assign]


@named("hang")
def hang() -> None:
    """The handler never returns, but may be cancelled."""

    async def never() -> None:
        await asyncio.Event().wait()

    _instead_of_handling(never)


@named("hang-deaf")
def hang_deaf() -> None:
    """The handler never returns and does not listen to its cancellation."""

    async def never() -> None:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue

    _instead_of_handling(never)


@named("hang-loop")
def hang_loop() -> None:
    """The handler computes for ever: nothing else runs in its loop."""

    async def never() -> None:
        while True:
            time.sleep(0.1)  # noqa: ASYNC251

    _instead_of_handling(never)


@named("ack-before-produce")
def ack_before_produce() -> None:
    """I1: outputs are sent some time after the record counts as done; a crash between loses them."""
    from streams.runner import Runner

    honest = Runner._send
    tasks = set()

    async def later(self: Any, *sent: Any) -> None:
        async def send() -> None:
            await asyncio.sleep(3.0)
            await honest(self, *sent)

        task = asyncio.create_task(send())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    Runner._send = later  # type: ignore[method-assign]


@named("no-collection")
def no_collection() -> None:
    """I2: what a flip takes out stays in the vector index."""
    from streams.adapters.qdrant import QdrantVectors

    async def keep(*_: Any) -> None:
        return None

    QdrantVectors.remove = keep  # type: ignore[method-assign]


@named("no-fence")
def no_fence() -> None:
    """I2: `fuse` believes what it once read instead of checking that it is still live."""
    from streams.adapters.passages import PostgresPassages
    from streams.domain.versions import LivePassage

    honest = PostgresPassages.resolve
    seen: dict[str, LivePassage] = {}

    async def remembered(self: Any, scope: Any, chunk_ids: Sequence[str], terms: Sequence[str] = ()) -> Any:
        seen.update(await honest(self, scope, chunk_ids, terms))
        # Whatever was live once is shown again.
        mine = {chunk: passage for chunk, passage in seen.items() if chunk in set(chunk_ids)}
        by_doc: dict[str, LivePassage] = {}
        for passage in seen.values():
            if passage.version <= by_doc.get(passage.doc_id, passage).version:
                by_doc[passage.doc_id] = passage
        return {chunk: by_doc[passage.doc_id] for chunk, passage in mine.items()}

    PostgresPassages.resolve = remembered  # type: ignore[method-assign, assignment]


@named("lose-replies")
def lose_replies() -> None:
    """I3: every third answer of `fuse` is not sent."""
    from streams.processors import fuse

    honest = fuse._answer
    count = [0]

    async def some(*arguments: Any) -> Sequence[Any]:
        found = await honest(*arguments)
        count[0] += 1
        return () if count[0] % 3 == 0 else found

    fuse._answer = some


@named("no-flag")
def no_flag() -> None:
    """I4: an answer does not say that legs broke."""
    from streams.domain import reports

    reports.reasons = lambda legs: ()


@named("false-flag")
def false_flag() -> None:
    """I4: an answer says that a leg broke which did not."""
    from streams.domain import reports

    reports.reasons = lambda found: ("dense: so it is said",)


@named("skip-records")
def skip_records() -> None:
    """I6: one partition is never acknowledged."""
    from streams.runner import Runner

    honest = Runner.run

    async def run(self: Any, record: Any) -> Any:
        if record.partition == 0:
            await asyncio.Event().wait()
        return await honest(self, record)

    Runner.run = run  # type: ignore[method-assign]


@named("no-guard")
def no_guard() -> None:
    """I7: a lower version is taken for a new one."""
    from streams.adapters import versions, versions_rules
    from streams.domain.versions import Verdict

    def judge(candidate: Any, accepted_version: int | None, accepted_hash: str | None) -> Verdict:
        return Verdict.REPEAT if candidate.change.version == accepted_version else Verdict.NEW

    versions_rules.judge = judge
    honest_settle = versions_rules.settle

    def settle(receipt: Any, *, live_version: int | None, waiting: Any) -> Any:
        return honest_settle(receipt, live_version=None, waiting=waiting)

    versions_rules.settle = settle

    async def share(connection: Any, key: Any, version: int, generation: str) -> int | None:
        row = await versions._first(connection, "document_share", versions.key_of(key, generation))
        return None if row is None else int(row["id"])

    versions.share = share


@named("leak")
def leak() -> None:
    """I8: every record leaves memory and a descriptor behind."""
    import os

    from streams.runner import Runner

    honest = Runner.run
    kept: list[Any] = []

    async def run(self: Any, record: Any) -> Any:
        kept.append((bytearray(os.urandom(1024) * 1024), os.open(os.devnull, os.O_RDONLY)))
        return await honest(self, record)

    Runner.run = run  # type: ignore[method-assign]


@named("tell-secrets")
def tell_secrets() -> None:
    """I9: the address of the database is logged, password and all."""
    import os

    sys.stderr.write(f"connecting to {os.environ['DATABASE_URL']}\n")


@named("exit-3")
def exit_3() -> None:
    """I10: a process that was asked to end ends with an error."""
    import atexit
    import os

    atexit.register(lambda: os._exit(3))
