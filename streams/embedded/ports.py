"""The ports of a data folder, kept from run to run where they are still free."""

import contextlib
import json
from pathlib import Path

from streams.embedded.processes import free_port, give_port_back


class Ports:
    """Ports by name. Clients that hold an address find the server again after a restart."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "ports.json"
        self._known: dict[str, int] = {}
        self._taken: dict[str, int] = {}
        with contextlib.suppress(OSError, ValueError, TypeError):
            self._known = {str(name): int(port) for name, port in json.loads(self._file.read_text()).items()}

    def take(self, name: str, *, again: bool = True) -> int:
        """The port of this name, from now on ours; with again=False not the one of the last run."""
        if name not in self._taken:
            self._taken[name] = free_port(self._known.get(name) if again else None)
            self._known[name] = self._taken[name]
            self._file.write_text(json.dumps(self._known, indent=1))
        return self._taken[name]

    def release(self) -> None:
        """Let other stacks of this process have the ports."""
        for port in self._taken.values():
            give_port_back(port)
        self._taken.clear()
