"""Carries a folder or a file into the index, and tells what it does: for `ingest` and `up`."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from schemas.documents import DocumentChange
from streams.cli import connect, console
from streams.errors import Invalid
from streams.gateways.client import Client
from streams.settings import Settings
from streams.sources import folder, jsonl, state
from streams.sources.mirror import Mirror
from streams.sources.plan import Plan
from streams.sources.problem import Problem

SHOWN = 20  # complaints in full; the rest are counted


@dataclass(frozen=True, kw_only=True)
class Source:
    """A folder or file that is read as one source of a tenant."""

    path: Path
    tenant: str
    name: str
    uri_prefix: str = ""

    @classmethod
    def of(cls, path: Path, *, tenant: str, name: str | None = None, uri_prefix: str = "") -> Source:
        """Check the path and name the source after it where no name is given; raise Invalid."""
        if not path.exists():
            raise Invalid(f"{path} does not exist; nothing was published", field="path")
        if path.is_file() and path.suffix.lower() not in (".jsonl", ".ndjson"):
            raise Invalid(f"{path} is a file; give a folder or a .jsonl file", field="path")
        made = re.sub(r"[^a-z0-9._-]+", "-", path.resolve().stem.lower()).strip("-") or "default"
        source = cls(path=path, tenant=tenant, name=made if name is None else name, uri_prefix=uri_prefix)
        connect.document(f"{source.name}/x", tenant)  # raises Invalid where a name is not one
        return source

    def read(self) -> Iterator[DocumentChange | Problem]:
        """Yield its documents and problems."""
        if self.path.is_file():
            return jsonl.read(self.path, tenant=self.tenant, source=self.name)
        return folder.read(self.path, tenant=self.tenant, source=self.name, uri_prefix=self.uri_prefix)


@dataclass(kw_only=True)
class Outcome:
    """What an ingestion came to."""

    plan: Plan
    source: Source
    upserted: int = 0
    deleted: int = 0
    chunks: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Whether everything that was found is on its way, or there."""
        return not self.failures and not any(problem.skipped for problem in self.plan.problems)

    def summary(self, *, waited: bool) -> str:
        """Return one line that says what was done."""
        done = "searchable" if waited else "published"
        parts = [f"{self.upserted} {done}", f"{self.deleted} deleted", f"{self.plan.unchanged} unchanged"]
        skipped = sum(problem.skipped for problem in self.plan.problems)
        parts += [f"{skipped} skipped"] if skipped else []
        parts += [f"{len(self.failures)} failed"] if self.failures else []
        return f"{self.source.tenant}/{self.source.name}: {', '.join(parts)}"


async def run(
    client: Client,
    found: Settings,
    source: Source,
    *,
    wait: bool,
    timeout: float = 60.0,
    again: bool = False,
    allow_mass_delete: bool = False,
) -> Outcome:
    """Publish what changed; the client is started. Complaints go to standard error as they come.

    A broker that keeps topics in memory (Tansu) forgets at its end what nobody has read: there, only a receipt counts
    as published, and is waited for.
    """
    wait = wait or found.fast_fetch
    with state.opened(connect.memory(found, source.tenant, source.name)) as memory:
        mirror = Mirror(tenant=source.tenant, source=source.name, read=source.read, state=memory)
        plan = mirror.plan(again=again, allow_mass_delete=allow_mass_delete)
        _complain([str(problem) for problem in plan.problems])
        if plan.held:
            console.note(f"{plan.held} documents seem gone; not deleted, as a line that cannot be read may be theirs")
        outcome = Outcome(plan=plan, source=source)
        total = len(plan.upserts) + len(plan.deletes)
        if not total:
            return outcome
        with console.progress(f"{source.tenant}/{source.name}", total) as advance:
            async for published in mirror.publish(client, plan, now=time.time(), wait=wait, timeout=timeout):
                advance()
                status = published.as_status()
                if published.error is not None or (status is not None and status.status == "failed"):
                    reason = str(published.error or (status and status.reason) or "failed")
                    outcome.failures.append(f"{published.key.doc_id}: {reason}")
                elif published.key.doc_id in plan.upserts:
                    outcome.upserted += 1
                    outcome.chunks += status.chunks if status else 0
                else:
                    outcome.deleted += 1
    _complain(outcome.failures)
    return outcome


def _complain(lines: list[str]) -> None:
    for line in lines[:SHOWN]:
        console.note(console.printable(line))
    if len(lines) > SHOWN:
        console.note(f"… and {len(lines) - SHOWN} more")
