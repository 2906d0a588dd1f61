"""The rules of versions, apart from any store: pure, and the same for Postgres and its in-memory twin.

A writer's receipt stays true for as long as its version can become live: chunks of pending, failed and live versions
are never removed. So a repeat waits only for what was still missing, and a late or doubled receipt can do no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from schemas.documents import DocKey, DocumentStatus, Receipt
from streams.domain.versions import Candidate, Publication, Verdict


class Step(Enum):
    """What a receipt does to its version."""

    IGNORED = auto()
    WAITING = auto()  # other parts are missing
    FAILED = auto()
    FLIPPED = auto()  # it was the last part: the version becomes live
    REPEATED = auto()  # the version is live already: say so again


def judge(candidate: Candidate, accepted_version: int | None, accepted_hash: str | None) -> Verdict:
    """Return the guard's verdict on a version that arrives where `accepted_version` was the last."""
    version = candidate.change.version
    if accepted_version is None or version > accepted_version:
        return Verdict.NEW
    if version < accepted_version:
        return Verdict.STALE
    return Verdict.REPEAT if candidate.content_hash == accepted_hash else Verdict.CONFLICT


def waits(parts: int) -> list[str]:
    """Return the receipts that a version of so many parts waits for; without any, `chunk` itself sends one."""
    if parts == 0:
        return ["chunk:0"]
    return [f"{writer}:{part}" for part in range(parts) for writer in ("text", "vectors")]


def remaining(waiting: Sequence[str], receipt: Receipt) -> list[str]:
    """Return what is still waited for after a receipt."""
    return [wait for wait in waiting if wait != f"{receipt.writer}:{receipt.part}"]


def settle(receipt: Receipt, *, live_version: int | None, waiting: Sequence[str]) -> Step:
    """Return what a receipt does to a version that waits for `waiting`.

    A failed part stays waited for, so that its success, after a re-drive, still completes the version.
    """
    if live_version is not None and receipt.version <= live_version:
        return Step.REPEATED if receipt.version == live_version else Step.IGNORED
    missing = len(remaining(waiting, receipt)) < len(waiting)
    if receipt.error is not None:
        # An error about a part that was written before is about its repeat; the part stays written.
        return Step.FAILED if missing else Step.IGNORED
    if not missing:
        return Step.IGNORED
    return Step.WAITING if len(waiting) > 1 else Step.FLIPPED


def publication(
    receipt: Receipt,
    *,
    op: str,
    chunks: int,
    agents: Sequence[str],
    tags: Sequence[str],
    rewrite: Sequence[str] = (),
    overtaken: Sequence[int] = (),
) -> Publication:
    """Return what a version that is live has to announce."""
    status = DocumentStatus(
        tenant=receipt.tenant,
        source=receipt.source,
        doc_id=receipt.doc_id,
        version=receipt.version,
        generation=receipt.generation,
        status="deleted" if op == "delete" else "searchable",
        chunks=chunks,
    )
    return Publication(
        status=status, rewrite=tuple(rewrite), agents=tuple(agents), tags=tuple(tags), overtaken=tuple(overtaken)
    )


def standing(
    key: DocKey, version: int, generation: str, *, op: str, state: str, chunks: int, reason: str | None
) -> DocumentStatus | None:
    """Return what is to be said of a version as it stands; none while it is on its way, and once it was replaced."""
    if state == "failed":
        return DocumentStatus.failed(key, version, generation, reason or "")
    if state not in ("live", "deleted"):
        return None
    return DocumentStatus(
        tenant=key.tenant,
        source=key.source,
        doc_id=key.doc_id,
        version=version,
        generation=generation,
        status="deleted" if op == "delete" else "searchable",
        chunks=chunks,
    )


def failure(
    receipt: Receipt, *, agents: Sequence[str] = (), tags: Sequence[str] = (), rewrite: Sequence[str] = ()
) -> Publication:
    """Return what a failed version has to announce; `rewrite` gives the live version's chunks its own payload back."""
    status = DocumentStatus.failed(receipt.key, receipt.version, receipt.generation, receipt.error or "")
    return Publication(status=status, rewrite=tuple(rewrite), agents=tuple(agents), tags=tuple(tags))
