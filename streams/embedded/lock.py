"""One stack a folder: a lock that ends with its process, and the children that a killed process left."""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TextIO

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
        entries = [{"name": name, "pid": pid, "born": _born(pid)} for name, pid in pids.items()]
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
            left = [int(entry["pid"]) for entry in entries if entry["born"] and _born(entry["pid"]) == entry["born"]]
        except (OSError, ValueError, KeyError, TypeError):
            return
        # SIGINT is a clean shutdown for each of the servers, and for Postgres the fast one.
        for number, seconds in ((signal.SIGINT, 5.0), (signal.SIGKILL, 2.0)):
            for pid in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
            deadline = time.monotonic() + seconds
            while left and time.monotonic() < deadline:
                time.sleep(0.03)
                left = [pid for pid in left if _born(pid)]
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


def _born(pid: int) -> str:
    """When a live process was created, "" for none: a pid is used again after a while, the pair is not."""
    if sys.platform == "linux":
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            return ""
        return "" if fields[0] == "Z" else fields[19]
    asked = ["ps", "-o", "lstart=", "-p", str(pid)]
    return subprocess.run(asked, check=False, capture_output=True, text=True).stdout.strip()
