"""One stack a folder: a lock that ends with its process, and the children that a killed process left."""

import contextlib
import fcntl
import json
import os
import signal
import time
from pathlib import Path
from typing import TextIO

import psutil

from streams.embedded.processes import EmbeddedError


class FolderLock:
    """Holds a data folder for this process; the kernel lets go of it when the process dies, however it dies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._children = folder / "children.json"
        self._file: TextIO | None = None

    def acquire(self) -> None:
        """Take the folder, ending servers that a killed owner left; raise EmbeddedError naming the owner's pid."""
        file = (self._folder / "lock").open("a+")
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            file.close()
            raise EmbeddedError(f"{self._folder} is in use by process {owner}") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file
        self._end_leftovers()

    def record(self, pids: dict[str, int]) -> None:
        """Note the running children, so that whoever takes over can find them."""
        entries = []
        for name, pid in pids.items():
            with contextlib.suppress(psutil.Error):
                entries.append({"name": name, "pid": pid, "created": psutil.Process(pid).create_time()})
        self._children.write_text(json.dumps(entries))

    def release(self) -> None:
        """Let go of the folder."""
        self._children.unlink(missing_ok=True)
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()
            self._file = None

    def _end_leftovers(self) -> None:
        try:
            entries = json.loads(self._children.read_text())
        except (OSError, ValueError):
            return
        left = [process for entry in entries if (process := _same_process(entry)) is not None]
        for process in left:
            with contextlib.suppress(psutil.Error):
                # Fast and clean for each of them, Postgres included.
                process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + 5
        for process in psutil.wait_procs(left, timeout=max(0.0, deadline - time.monotonic()))[1]:
            with contextlib.suppress(psutil.Error):
                process.kill()
                process.wait(2)
        self._children.unlink(missing_ok=True)


def held(folder: Path) -> bool:
    """Whether some process holds this folder."""
    try:
        with (folder / "lock").open("r") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except BlockingIOError:
        return True
    except OSError:
        return False


def _same_process(entry: dict[str, object]) -> psutil.Process | None:
    try:
        process = psutil.Process(int(str(entry["pid"])))
        # A pid is used again after a while; its time of creation tells.
        return process if abs(process.create_time() - float(str(entry["created"]))) < 1.0 else None
    except (psutil.Error, KeyError, ValueError):
        return None
