"""Child processes that log to a file, report their failure in one line and never outlive their parent."""

import asyncio
import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

HOST = "127.0.0.1"
# Below the range that the kernel gives to outgoing connections, so that none of those takes a port first.
PORTS = range(20_000, 32_000)
LOG_LIMIT = 5_000_000
_PR_SET_PDEATHSIG = 1
_POLL_SECONDS = 0.03

_handed_out: set[int] = set()
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class EmbeddedError(Exception):
    """An embedded server could not be had."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """The system account that a server runs as, where it refuses to run as root."""

    uid: int
    gid: int


@dataclass(kw_only=True)
class Child:
    """A running server process and what is needed to stop it."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path
    stop_signal: int = signal.SIGTERM
    started: float = field(default_factory=time.monotonic)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def error(self, what: str) -> EmbeddedError:
        """One line that names the server, what went wrong and the last thing it logged."""
        return EmbeddedError(f"{self.name} {what}: {last_line(self.log) or 'nothing logged'} (log: {self.log})")

    async def ready(self, probe: Callable[[], Awaitable[bool]], within: float) -> None:
        """Wait until the probe says yes; raise EmbeddedError when the process ends or the seconds run out."""
        deadline = time.monotonic() + within
        while True:
            if not self.alive:
                raise self.error(f"ended with exit code {self.process.returncode} while starting")
            if await probe():
                return
            if time.monotonic() > deadline:
                raise self.error(f"was not ready within {within:.0f} s")
            await asyncio.sleep(_POLL_SECONDS)

    async def stop(self, within: float = 5.0) -> None:
        """Ask the process to end, then kill it and its group after the given seconds."""
        if self.alive:
            self.process.send_signal(self.stop_signal)
            await self.ended(within)
        self._signal_group(signal.SIGKILL)
        await self.ended(2.0)

    async def kill(self) -> None:
        """End the process and its group at once, as a crash would."""
        self._signal_group(signal.SIGKILL)
        await self.ended(2.0)

    async def ended(self, within: float) -> bool:
        """Wait until the process has ended; False when it has not within the given seconds."""
        deadline = time.monotonic() + within
        while self.alive and time.monotonic() < deadline:  # noqa: ASYNC110 - nothing tells when a process ends
            await asyncio.sleep(_POLL_SECONDS)
        return not self.alive

    def _signal_group(self, number: int) -> None:
        # The child leads its own session, so its group holds exactly what it has started.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def spawn(
    name: str,
    command: Sequence[str | Path],
    *,
    log: Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    account: Account | None = None,
    stop_signal: int = signal.SIGTERM,
) -> Child:
    """Start a server in a session of its own, its output appended to the log.

    A terminal's Ctrl-C does not reach it, so that the parent stops its servers in order. On Linux it gets its stop
    signal when the thread that called this dies: call it from a thread that lives as long as the server should.
    """
    _rotate(log)
    with log.open("ab") as output:
        try:
            process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env=dict(env) if env is not None else None,
                start_new_session=True,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
                # Nothing is imported or allocated in it, so that threads of the parent cannot hang it.
                preexec_fn=_die_with_parent(os.getpid(), stop_signal),  # noqa: PLW1509
            )
        except OSError as error:
            raise EmbeddedError(f"{name} could not be started: {error}") from error
    return Child(name=name, process=process, log=log, stop_signal=stop_signal)


def folder_at(path: Path) -> Path:
    """Make a folder where there is none; raise EmbeddedError where none can be, or nothing can be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EmbeddedError(f"{path} cannot be made: {error.strerror}; name another folder") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise EmbeddedError(f"{path} cannot be written; name another folder, or change its rights")
    return path


def free_port(preferred: int | None = None) -> int:
    """A TCP port on loopback that nothing listens on: the preferred one where it is free."""
    candidates = [preferred] if preferred else []
    candidates += random.sample(PORTS, 200)
    for port in candidates:
        if port not in _handed_out and _bindable(port):
            _handed_out.add(port)
            return port
    raise EmbeddedError(f"no free port on {HOST} between {PORTS.start} and {PORTS.stop}")


def give_port_back(port: int) -> None:
    """Let free_port hand this port out again."""
    _handed_out.discard(port)


async def accepts(port: int) -> bool:
    """Whether something accepts connections on this port of loopback."""
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(HOST, port), 1.0)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


def last_line(log: Path) -> str:
    """The last line of a log that is not blank, cut to 300 characters."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 4096))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")


def _bindable(port: int) -> bool:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
        # As the servers do: a port that only waits for old connections to fade is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _rotate(log: Path) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > LOG_LIMIT:
        log.replace(log.with_suffix(log.suffix + ".1"))


def _die_with_parent(parent: int, number: int) -> Callable[[], None] | None:
    if _libc is None:
        return None
    prctl = _libc.prctl

    def arrange() -> None:
        prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        # The parent may have died before the line above.
        if os.getppid() != parent:
            os._exit(1)

    return arrange
