"""Receipts: waiting until exactly this version of a document is searchable, deleted or failed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from schemas import codec
from schemas.documents import DocKey, DocumentStatus

log = logging.getLogger(__name__)

Receipt = asyncio.Future[DocumentStatus]


class Receipts:
    """Who waits for which version. A receipt for a higher version of the document ends the wait as well."""

    def __init__(self) -> None:
        self._waiting: dict[DocKey, list[tuple[int, Receipt]]] = {}
        self.last = float("-inf")  # the loop's time when a receipt that somebody waited for came

    def __len__(self) -> int:
        return sum(len(waiting) for waiting in self._waiting.values())

    @contextmanager
    def expect(self, key: DocKey, version: int) -> Iterator[Receipt]:
        """Wait inside the block for a version, or a higher one, of a document."""
        entry = (version, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(key, []).append(entry)
        try:
            yield entry[1]
        finally:
            waiting = self._waiting[key]
            waiting.remove(entry)
            if not waiting:
                del self._waiting[key]
            entry[1].cancel()

    def deliver(self, record: Any) -> None:
        """Hand a record of `document-status` to those who wait for it."""
        if not self._waiting:
            return
        try:
            status = codec.decode(record.value or b"", DocumentStatus)
        except codec.InvalidMessage as error:
            log.warning("a receipt cannot be read: %s", error)
            return
        for version, receipt in self._waiting.get(status.key, ()):
            # A higher version that is live has replaced this one; one that failed has not.
            ends = version == status.version or (version < status.version and status.status != "failed")
            if ends and not receipt.done():
                receipt.set_result(status)
                self.last = asyncio.get_running_loop().time()
