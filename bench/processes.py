"""Processes as Linux counts them: who belongs together, how much memory they take, how long they computed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")  # a second


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What one process takes."""

    pid: int
    command: str
    rss: int  # bytes; pages that several processes share count in each
    pss: int  # bytes; a shared page counts in parts
    seconds: float  # of computing since it began


def family(pid: int) -> list[Usage]:
    """Return a process and everything that it and its children started."""
    parents = dict(_parents())
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return [usage for one in found if (usage := _usage(one)) is not None]


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                yield int(entry.name), int(_fields(entry)[1])


def _usage(pid: int) -> Usage | None:
    folder = Path("/proc", str(pid))
    with suppress(OSError):
        fields = _fields(folder)
        memory = {
            name: int(value.split()[0]) * 1024
            for name, _, value in (line.partition(":") for line in (folder / "smaps_rollup").read_text().splitlines())
            if name in ("Rss", "Pss")
        }
        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        seconds = (int(fields[11]) + int(fields[12])) / _TICKS
        return Usage(pid=pid, command=command, rss=memory["Rss"], pss=memory["Pss"], seconds=seconds)
    return None


def _fields(folder: Path) -> list[str]:
    # What follows the name, which is in brackets and may hold anything.
    return (folder / "stat").read_text().rpartition(")")[2].split()
