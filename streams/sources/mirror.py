"""Keeping the index like a source: what is new or changed is published, what is gone is deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

from schemas.documents import DocumentChange
from streams.errors import NoReply
from streams.gateways.client import Client
from streams.gateways.publishing import Published
from streams.sources import plan as plans
from streams.sources.plan import Plan, Reading
from streams.sources.state import DELETED, Known, State


@dataclass(frozen=True, kw_only=True)
class Mirror:
    """One source of one tenant: how it is read (more than once), and the memory of what was published of it."""

    tenant: str
    source: str
    read: Callable[[], Reading]
    state: State

    def plan(self, *, again: bool = False, allow_mass_delete: bool = False) -> Plan:
        """Return what is to be done; raise MassDelete."""
        return plans.plan(self.read(), self.state.known(), again=again, allow_mass_delete=allow_mass_delete)

    async def publish(
        self, client: Client, plan: Plan, *, now: float, wait: bool, timeout: float
    ) -> AsyncIterator[Published]:
        """Carry out a plan and yield what became of each change; `now` is in seconds since the epoch.

        What arrived is remembered: with `wait` once its receipt came, else once the broker has it. What may or may not
        have arrived is remembered by its version alone, so that it is published again, with a higher one.
        """
        prints: dict[str, str] = {}

        def changes() -> Iterator[DocumentChange]:
            for change in plan.changes(self.read(), tenant=self.tenant, source=self.source, now=now):
                prints[change.doc_id] = DELETED if change.op == "delete" else plans.fingerprint(change)
                yield change

        async for published in client.deliver_many(changes(), wait=wait, timeout=timeout, bulk=plan.bulk):
            doc_id = published.key.doc_id
            fingerprint = prints.pop(doc_id)
            if published.delivered:
                failed = published.status is not None and published.status.status == "failed"
                sure = not failed and not isinstance(published.error, NoReply)
                known = Known(
                    version=published.version, hash=fingerprint if sure else "", deleted=fingerprint == DELETED
                )
                self.state.record(doc_id, known)
            yield published
