"""`rankstream run chunk` for a test of its end: no broker, and a processor that blocks the event loop for good."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

from streams.cli import run
from streams.cli.main import main
from topics import admin

HOW = sys.argv[-1]  # the loop sleeps, or computes


class Fleet:
    """Processors that never come back."""

    def __init__(self, *_: object) -> None: ...

    async def start(self) -> None:
        print("hangs", flush=True)
        if HOW == "sleeps":
            time.sleep(60)  # noqa: ASYNC251
        while True:
            pass

    async def stop(self) -> None: ...


async def _no_differences(*_: object) -> list[object]:
    return []


if __name__ == "__main__":
    sys.modules["streams.fleet"] = SimpleNamespace(Fleet=Fleet)  # type: ignore[assignment]
    admin.check = _no_differences  # type: ignore[assignment]
    run._check_store_rights = _no_differences  # type: ignore[assignment]
    run.STOP = 1.0
    sys.argv[1:] = ["run", "chunk"]
    main()
