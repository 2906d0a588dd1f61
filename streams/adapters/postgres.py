"""Postgres: the pool, transactions with a time limit, statements from .sql files, and its errors as ours."""

from __future__ import annotations

import asyncio
import functools
import os
import re
import select
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib import resources
from typing import Any, TypeAlias

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from streams import secret_urls
from streams.errors import ConfigurationError, Invalid, StoreUnavailable, Transient, Unreachable

Connection: TypeAlias = psycopg.AsyncConnection[DictRow]
Pool: TypeAlias = AsyncConnectionPool[Connection]
Parameters: TypeAlias = Mapping[str, Any]

SETTING = "DATABASE_URL"
OPEN_SECONDS = 5
WRITE_SECONDS = 30.0
QUERY_SECONDS = 2.0
# While a writer holds a document it writes vectors, in several calls of up to 30 s. It stops before the server lets go
# of the document: a process that was frozen meanwhile must not go on writing what another one has taken over.
HELD_SECONDS = 100.0
HOLD_SECONDS = 120.0
# Reads in progress; the loop alone would not keep an abandoned one.
_READS: set[asyncio.Task[list[DictRow]]] = set()
# What a stopped client (not a dead one: its sockets are closed) may cost others that wait for its document.
_SESSION = "SET lock_timeout = '30s'; SET idle_in_transaction_session_timeout = '120s'"
_KEEPALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 20_000}

_REFUSES = re.compile("FATAL:|SSL error|does not support SSL|certificate|no password supplied")
_BUSY = re.compile("starting up|shutting down|recovery mode|too many|connection slots|Connection refused")


async def open_pool(url: str, *, size: int = 8) -> Pool:
    """Open a pool of up to `size` connections; raise ConfigurationError within 5 s: Unreachable without a server."""
    at = parsed(url)
    try:
        async with asyncio.timeout(OPEN_SECONDS):
            # A pool does not tell why it cannot connect.
            await (await psycopg.AsyncConnection.connect(url)).close()
    except (psycopg.Error, TimeoutError, OSError) as error:
        reason = _line(error) if str(error) else f"no answer in {OPEN_SECONDS} s"
        place = f"{at.get('host', 'localhost')}:{at.get('port', 5432)}/{at.get('dbname', '')}"
        kind = ConfigurationError if _refused(error) else Unreachable
        raise kind(f"{SETTING}: cannot connect to {place}: {reason}") from error
    pool: Pool = AsyncConnectionPool(
        url,
        min_size=1,
        max_size=size,
        open=False,
        kwargs={"autocommit": True, "row_factory": dict_row, "connect_timeout": OPEN_SECONDS, **_KEEPALIVE},
        configure=_configure,
        check=_check,
        reconnect_timeout=OPEN_SECONDS,
    )
    await pool.open()
    return pool


def parsed(url: str) -> Mapping[str, Any]:
    """Return what libpq reads in a URL; raise ConfigurationError that does not repeat it."""
    try:
        return conninfo_to_dict(secret_urls.checked(url, SETTING))
    except psycopg.Error:
        # Its message would repeat the URL, password and all.
        raise ConfigurationError(f"{SETTING} is no postgresql:// URL") from None


@asynccontextmanager
async def transaction(pool: Pool, doing: str, *, seconds: float = WRITE_SECONDS) -> AsyncIterator[Connection]:
    """Run a block in one transaction of at most `seconds`; raise StoreUnavailable, Transient or Invalid.

    `doing` says what it is for in errors, after "to".
    """
    with translated(doing):
        async with pool.connection(timeout=OPEN_SECONDS) as connection:
            with _limited(connection, seconds):
                async with connection.transaction():
                    yield connection


@asynccontextmanager
async def held(pool: Pool, doing: str) -> AsyncIterator[Connection]:
    """Run a block that writes elsewhere in a transaction; what it awaits when its time is over is cancelled."""
    async with transaction(pool, doing, seconds=HOLD_SECONDS) as connection:
        limit = asyncio.timeout(HELD_SECONDS)
        try:
            async with limit:
                yield connection
        except TimeoutError as error:
            if not limit.expired():
                raise  # of what is done under the hold
            raise StoreUnavailable(f"it took more than {HELD_SECONDS:g} s to {doing}") from error


async def read(
    pool: Pool,
    doing: str,
    *,
    tenant: str | None,
    statement: bytes,
    parameters: Parameters,
    seconds: float = QUERY_SECONDS,
    prepare: bool | None = None,
    planned_once: bool = False,
) -> list[DictRow]:
    """Return the rows of one query, asked in one round trip as the query role of `tenant`; the server stops it in time.

    A caller that is cancelled leaves at once: the query ends by its own limit and gives its connection back.
    With `prepare` false it is planned each time, for the values it has; `planned_once`, once a connection, whatever the
    values: for a statement that takes as long to plan as to run, and has one good plan. Without a tenant it runs as the
    user of the database, in a fifth of the time: for what is nobody's text.
    """
    session = {
        "tenant": tenant,
        "timeout": f"{seconds * 1000:.0f}ms",
        "plans": "force_generic_plan" if planned_once else "auto",
    }
    if planned_once:
        prepare = True

    async def ask() -> list[DictRow]:
        with translated(doing):
            async with pool.connection(timeout=seconds) as connection:
                with _limited(connection, seconds + 0.5):
                    if tenant is None:
                        return await (await connection.execute(statement, parameters, prepare=prepare)).fetchall()
                    async with connection.pipeline(), connection.transaction():
                        await connection.execute(sql("as_tenant"), session)
                        cursor = await connection.execute(statement, parameters, prepare=prepare)
                    return await cursor.fetchall()

    task = asyncio.ensure_future(ask())
    _READS.add(task)
    task.add_done_callback(_ended)
    return await asyncio.shield(task)


def _ended(task: asyncio.Task[list[DictRow]]) -> None:
    _READS.discard(task)
    if not task.cancelled():
        task.exception()  # seen: nobody waits for an abandoned read


@functools.cache
def sql(name: str) -> bytes:
    """Return the statement in sql/<name>.sql, with what it includes."""
    text = resources.files("streams.adapters").joinpath("sql", f"{name}.sql").read_bytes()
    return text.replace(b"{visible}", sql("visible").strip()) if b"{visible}" in text else text


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn the errors of psycopg into ours."""
    try:
        yield
    except (psycopg.DataError, errors.ProgramLimitExceeded, UnicodeEncodeError) as error:
        raise Invalid(f"postgres refused to {doing}: {_line(error)}") from error
    except (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction) as error:
        raise ConfigurationError(
            f"{SETTING}: cannot {doing}: {_line(error)}; `rankstream topics apply` prepares the database"
        ) from error
    except errors.InsufficientPrivilege as error:
        raise ConfigurationError(
            f"{SETTING}: cannot {doing}: {_line(error)}; `rankstream check PROCESSOR` names each right that is missing"
        ) from error
    except (
        errors.DeadlockDetected,
        errors.SerializationFailure,
        errors.LockNotAvailable,
        errors.QueryCanceled,
        # Two at once, or a release that writes what another one's schema does not take.
        psycopg.IntegrityError,
    ) as error:
        raise Transient(f"postgres could not {doing}: {_line(error)}") from error
    except (
        psycopg.OperationalError,
        psycopg.InterfaceError,
        errors.ReadOnlySqlTransaction,
        # The server ended what took too long, or had ended it before.
        errors.IdleInTransactionSessionTimeout,
        errors.TransactionTimeout,
        errors.InFailedSqlTransaction,
    ) as error:
        raise StoreUnavailable(f"postgres is not there to {doing}: {_line(error)}") from error


def _refused(error: Exception) -> bool:
    """Tell whether a server answered and does not want us, for what is set; libpq has only words for it."""
    if not isinstance(error, psycopg.Error):
        return False
    asked = error.pgconn is not None and error.pgconn.used_password
    return not _BUSY.search(str(error)) and (asked or bool(_REFUSES.search(str(error))))


def _line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


async def _configure(connection: Connection) -> None:
    await connection.execute(_SESSION)


async def _check(connection: Connection) -> None:
    """Find out, before a connection is lent, that its server has gone; asks only where there is a sign of it."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    # An idle connection has nothing to read but its end.
    if poll.poll(0):
        await connection.execute(b"")


@contextmanager
def _limited(connection: Connection, seconds: float) -> Iterator[None]:
    """Cut a connection after `seconds`, so that whoever waits on it gets an error: a silent network gives none."""

    def cut() -> None:
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)

    timer = asyncio.get_running_loop().call_later(seconds, cut)
    try:
        yield
    finally:
        timer.cancel()
