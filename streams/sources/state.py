"""What was published last, by source: so that only what changed is published, deletions included."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from streams.errors import ConfigurationError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS published (
    doc_id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    hash TEXT NOT NULL,      -- of the content; empty: not sure that it arrived, publish it again
    deleted INTEGER NOT NULL -- kept, so that a document which comes back gets a higher version
) STRICT, WITHOUT ROWID
"""

DELETED = "deleted"  # the hash of a deletion


@dataclass(frozen=True, kw_only=True)
class Known:
    """The last version of a document that was published."""

    version: int
    hash: str
    deleted: bool = False


class State:
    """The memory of one source of one tenant; sources never see each other's documents."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def known(self) -> Mapping[str, Known]:
        """Return what was published, by doc id."""
        rows = self._connection.execute("SELECT doc_id, version, hash, deleted FROM published")
        return {
            doc_id: Known(version=version, hash=digest, deleted=bool(deleted))
            for doc_id, version, digest, deleted in rows
        }

    def deleted(self, doc_id: str, version: int) -> None:
        """Remember that a document was deleted."""
        self.record(doc_id, Known(version=version, hash=DELETED, deleted=True))

    def record(self, doc_id: str, known: Known) -> None:
        """Remember a version, unless a higher one is known."""
        with self._connection:
            self._connection.execute(
                "INSERT INTO published VALUES (?, ?, ?, ?) ON CONFLICT (doc_id) DO UPDATE SET "
                "version = excluded.version, hash = excluded.hash, deleted = excluded.deleted "
                "WHERE excluded.version >= version",
                (doc_id, known.version, known.hash, known.deleted),
            )


def file_of(data_dir: Path, tenant: str, source: str, cluster: str = "") -> Path:
    """Return the file that remembers a source; each Kafka cluster that is published to has its own memory of it."""
    # `.` and `..` are names of tenants that must not become folders.
    folder = tenant if tenant.strip(".") else tenant.replace(".", "%2e")
    name = f"{source}@{re.sub(r'[^A-Za-z0-9.-]+', '_', cluster)[:100]}" if cluster else source
    return data_dir / "sources" / folder / f"{name}.sqlite"


@contextmanager
def opened(path: Path) -> Iterator[State]:
    """Open the memory of a source, making it when there is none; raise ConfigurationError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=10)
        try:
            # A write per document: losing the last ones to a power cut only publishes them again.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(_SCHEMA)
            yield State(connection)
        finally:
            connection.close()
    except (OSError, sqlite3.Error) as error:
        raise ConfigurationError(f"{path} cannot be used ({error}); RANKSTREAM_DATA names its folder") from error
