"""What was sent, written down before it was sent: an SQLite file that survives whatever happens to the run."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from tests.faults.evidence import Asked, Receipt, Sent

TABLES = """
CREATE TABLE IF NOT EXISTS documents (
    tenant TEXT, doc TEXT, version INTEGER, op TEXT, at REAL, delivered INTEGER, facts TEXT, chunks TEXT,
    planted INTEGER, PRIMARY KEY (tenant, doc, version)
);
CREATE TABLE IF NOT EXISTS questions (
    tenant TEXT, id TEXT PRIMARY KEY, doc TEXT, text TEXT, at REAL, deadline REAL
);
CREATE TABLE IF NOT EXISTS receipts (tenant TEXT, doc TEXT, version INTEGER, status TEXT, at REAL, reason TEXT);
CREATE TABLE IF NOT EXISTS outcomes (tenant TEXT, id TEXT, at REAL, reply TEXT);
CREATE TABLE IF NOT EXISTS faults (tenant TEXT, what TEXT, begun REAL, ended REAL, in_flight INTEGER);
"""


class Ledger:
    """The file of one run; each scenario has its tenant."""

    def __init__(self, file: Path) -> None:
        # One writer, and its process may be killed but not its machine: no need to wait for the disk.
        self._sql = sqlite3.connect(file, isolation_level=None)
        self._sql.execute("PRAGMA journal_mode=WAL")
        self._sql.execute("PRAGMA synchronous=OFF")
        self._sql.executescript(TABLES)

    def close(self) -> None:
        self._sql.close()

    def will_send(self, tenant: str, sent: Sent) -> None:
        """Write a version down; `delivered` follows."""
        row = (tenant, sent.doc, sent.version, sent.op, sent.at, 0, " ".join(sent.facts), " ".join(sent.chunks))
        self._sql.execute("INSERT OR REPLACE INTO documents VALUES (?,?,?,?,?,?,?,?,?)", (*row, sent.planted))

    def delivered(self, tenant: str, doc: str, version: int) -> None:
        where = "tenant=? AND doc=? AND version=?"
        self._sql.execute(f"UPDATE documents SET delivered=1 WHERE {where}", (tenant, doc, version))

    def will_ask(self, tenant: str, asked: Asked, text: str) -> None:
        """Write a question down."""
        row = (tenant, asked.id, asked.doc, text, asked.at, asked.deadline)
        self._sql.execute("INSERT INTO questions VALUES (?,?,?,?,?,?)", row)

    def outcome(self, tenant: str, id: str, at: float, reply: str) -> None:
        self._sql.execute("INSERT INTO outcomes VALUES (?,?,?,?)", (tenant, id, at, reply))

    def receipt(self, tenant: str, receipt: Receipt) -> None:
        row = (tenant, receipt.doc, receipt.version, receipt.status, receipt.at, receipt.reason)
        self._sql.execute("INSERT INTO receipts VALUES (?,?,?,?,?,?)", row)

    def fault(self, tenant: str, what: str, in_flight: int) -> int:
        """Write down that a fault begins, and return its row."""
        row = (tenant, what, time.time(), None, in_flight)
        return int(self._sql.execute("INSERT INTO faults VALUES (?,?,?,?,?)", row).lastrowid or 0)

    def fault_over(self, row: int) -> None:
        self._sql.execute("UPDATE faults SET ended=? WHERE rowid=?", (time.time(), row))

    def sent(self, tenant: str) -> tuple[Sent, ...]:
        rows = self._sql.execute(
            "SELECT doc, version, op, at, delivered, facts, chunks, planted FROM documents WHERE tenant=? ORDER BY at",
            (tenant,),
        )
        return tuple(
            Sent(
                doc=doc,
                version=version,
                op=op,
                at=at,
                delivered=bool(delivered),
                facts=frozenset(facts.split()),
                chunks=frozenset(chunks.split()),
                planted=bool(planted),
            )
            for doc, version, op, at, delivered, facts, chunks, planted in rows
        )

    def asked(self, tenant: str) -> tuple[Asked, ...]:
        rows = self._sql.execute("SELECT id, doc, at, deadline FROM questions WHERE tenant=? ORDER BY at", (tenant,))
        return tuple(Asked(id=id, doc=doc, at=at, deadline=deadline) for id, doc, at, deadline in rows)

    def receipts(self, tenant: str) -> tuple[Receipt, ...]:
        rows = self._sql.execute(
            "SELECT doc, version, status, at, reason FROM receipts WHERE tenant=? ORDER BY at", (tenant,)
        )
        return tuple(
            Receipt(doc=doc, version=version, status=status, at=at, reason=reason or "")
            for doc, version, status, at, reason in rows
        )
