"""publish-version: flips a version to live once all its writers are done, and takes away what only the old one had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from schemas.documents import DocumentStatus, Receipt
from streams.domain.generation import named
from streams.errors import RankstreamError
from streams.ports import Epochs, Generations, VectorIndex, VersionReader, VersionStore
from streams.processor import STORES_LIMIT, Failure, Processor
from streams.telemetry.meeting import Meeting
from streams.wire import Outgoing
from topics import catalogue


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `publish-version` needs."""

    versions: VersionStore
    vectors: VectorIndex
    epochs: Epochs
    generations: Generations | None = None  # which one is live now, not a moment ago; none: there is but one
    standing: VersionReader | None = None  # beside `generations`
    meeting: Meeting = field(default_factory=Meeting)


async def handle(receipt: Receipt, deps: Deps) -> Sequence[Outgoing]:
    """Count a receipt; the last one of a version publishes it. Every step may be repeated."""
    publication = await deps.versions.complete(receipt)
    version = (receipt.key, receipt.version, receipt.generation)
    if publication is None:
        deps.meeting.note(version)
        return ()
    deps.meeting.link(version)
    if publication.rewrite:
        # Under the lock: a worker that slept must not write what a higher version has replaced.
        async with deps.versions.hold(receipt.key, receipt.version, receipt.generation) as wanted:
            if wanted:
                await deps.vectors.rewrite(
                    receipt.generation, publication.rewrite, publication.agents, publication.tags
                )
        # Since the flip, dense hits were filtered by what the chunks were before it: answers of then are void.
        await deps.epochs.bump(receipt.tenant)

    async def remove(chunk_ids: Sequence[str]) -> None:
        await deps.vectors.remove(receipt.generation, chunk_ids)

    await deps.versions.collect(receipt.key, receipt.generation, remove)
    key = catalogue.document_key(receipt.tenant, receipt.source, receipt.doc_id)
    superseded = [_superseded(publication.status, version) for version in publication.overtaken]
    said = await _told((*superseded, publication.status), deps)
    return [Outgoing(topic=catalogue.DOCUMENT_STATUS, key=key, message=status) for status in said]


async def _told(statuses: Sequence[DocumentStatus], deps: Deps) -> Sequence[DocumentStatus]:
    """Return what sources are told: what holds of the live generation, for which alone they wait.

    A version may come to its end here while another generation is promoted. Which one is live is asked after the flip,
    so whoever is later sees the other's: of a kept generation's version is told how it stands in the live one.
    """
    if deps.generations is None or deps.standing is None:
        return statuses
    active = await deps.generations.active()
    last = statuses[-1]
    mine = named(last.generation, active)
    if mine is None or mine.state == "live":
        return statuses if mine is not None else ()
    if mine.state != "kept":
        return ()
    found = await deps.standing.standing(last.key, last.version, active[0].id)
    return () if found is None else (found,)


def _superseded(by: DocumentStatus, version: int) -> DocumentStatus:
    reason = f"superseded: version {by.version} is live already"
    return msgspec.structs.replace(by, version=version, status="failed", chunks=0, reason=reason)


async def failed(failure: Failure, deps: Deps) -> Sequence[Outgoing]:
    """Tell the source that its version will not be published, if the live generation waits for it."""
    receipt = failure.message
    if not isinstance(receipt, Receipt):
        return ()
    try:
        if deps.generations is not None and (await deps.generations.live()).id != receipt.generation:
            return ()
    except RankstreamError:
        pass  # what keeps a version from its publication often keeps us from asking, and its source waits
    reason = f"{failure.error_class}: {failure.error}"
    status = DocumentStatus.failed(receipt.key, receipt.version, receipt.generation, reason)
    key = catalogue.document_key(receipt.tenant, receipt.source, receipt.doc_id)
    return [Outgoing(topic=catalogue.DOCUMENT_STATUS, key=key, message=status)]


PUBLISH_VERSION = Processor(
    name="publish-version",
    summary="flips complete versions to live and removes what they replaced",
    source=catalogue.RECEIPTS,
    sinks=(catalogue.DOCUMENT_STATUS,),
    handle=handle,
    failed=failed,
    time_limit=STORES_LIMIT,
    in_flight=4,
)
