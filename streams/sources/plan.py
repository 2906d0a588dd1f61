"""What to publish of a source: the difference between what it has and what was published last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from schemas.documents import DocumentChange
from streams.domain.identity import content_hash
from streams.errors import Invalid
from streams.sources.problem import Problem
from streams.sources.state import Known

FEW = 20  # deletions that need no asking

Reading = Iterable[DocumentChange | Problem]


class MassDelete(Invalid):
    """A source lost so many of its documents that a mistyped path is more likely."""


@dataclass(kw_only=True)
class Plan:
    """What is to be published; `changes` reads the source once more, so that no text is kept meanwhile."""

    known: Mapping[str, Known]
    upserts: frozenset[str] = frozenset()
    deletes: tuple[str, ...] = ()
    unchanged: int = 0
    bulk: bool = False  # a first load, or everything again: edits of others do not queue behind it
    held: int = 0  # documents that seem gone, but an unreadable entry might be one of them
    problems: list[Problem] = field(default_factory=list)

    @property
    def documents(self) -> int:
        """How many readable documents the source has."""
        return self.unchanged + len(self.upserts)

    def changes(self, reading: Reading, *, tenant: str, source: str, now: float) -> Iterator[DocumentChange]:
        """Yield the changes with their versions, deletions last; `now` is in seconds since the epoch.

        A version is the time in milliseconds, or one more than the last where that is higher: versions rise when the
        clock is set back, and when this memory is lost.
        """
        left = set(self.upserts)
        for found in reading:
            if isinstance(found, DocumentChange) and found.doc_id in left:
                left.remove(found.doc_id)
                yield msgspec.structs.replace(found, version=self.version(found.doc_id, now))
        for doc_id in self.deletes:
            yield DocumentChange(
                tenant=tenant, source=source, doc_id=doc_id, version=self.version(doc_id, now), op="delete"
            )

    def version(self, doc_id: str, now: float) -> int:
        """Return the next version of a document."""
        last = self.known[doc_id].version if doc_id in self.known else 0
        return max(last + 1, int(now * 1000))


def plan(
    reading: Reading,
    known: Mapping[str, Known],
    *,
    again: bool = False,
    allow_mass_delete: bool = False,
) -> Plan:
    """Compare what a source has with what was published; raise MassDelete when most of it seems gone.

    A document with a problem is left as it was published. Where it cannot be told which document a problem concerns,
    nothing is deleted. again: publish also what did not change.
    """
    upserts: set[str] = set()
    kept: set[str] = set()
    unclear = False
    problems: list[Problem] = []
    unchanged = 0
    for found in reading:
        if isinstance(found, Problem):
            problems.append(found)
            if found.doc_id is not None:
                kept.add(found.doc_id)
            elif found.skipped:
                unclear = True
            continue
        kept.add(found.doc_id)
        last = known.get(found.doc_id)
        if last is not None and not last.deleted and last.hash == fingerprint(found) and not again:
            unchanged += 1
        else:
            upserts.add(found.doc_id)
    live = [doc_id for doc_id, last in known.items() if not last.deleted or not last.hash]
    deletes = sorted(doc_id for doc_id in live if doc_id not in kept)
    held = len(deletes) if unclear else 0
    if unclear:
        deletes = []
    _check(len(deletes), len(live), empty=not kept, allowed=allow_mass_delete)
    return Plan(
        known=known,
        bulk=again or not known,
        upserts=frozenset(upserts),
        deletes=tuple(deletes),
        unchanged=unchanged,
        held=held,
        problems=problems,
    )


def fingerprint(change: DocumentChange) -> str:
    """Return the hash of everything that a change says but for its version."""
    return content_hash(msgspec.structs.replace(change, version=0))


def _check(deletes: int, live: int, *, empty: bool, allowed: bool) -> None:
    many = deletes * 2 > live and (deletes > FEW or empty)
    if many and not allowed:
        raise MassDelete(
            f"{deletes} of the {live} documents published from this source are gone; nothing was published. "
            "Is the path right? If so, say --allow-mass-delete"
        )
