"""Runs first in every process of the harness: counts its tasks, and breaks it where a test of the checker says so."""

import asyncio
import os
import threading
import time
from pathlib import Path


def _count(file: Path) -> None:
    tasks = getattr(asyncio.tasks, "_all_tasks", None) or getattr(asyncio.tasks, "_scheduled_tasks", ())
    while True:
        time.sleep(1.0)
        try:
            file.write_text(str(len(tasks)))
        except (OSError, RuntimeError):
            continue


if folder := os.environ.get("FAULTS_TASKS"):
    counting = threading.Thread(target=_count, args=(Path(folder, str(os.getpid())),), daemon=True)
    counting.start()

if name := os.environ.get("FAULTS_SABOTAGE"):
    from tests.faults import sabotage

    sabotage.apply(name)
