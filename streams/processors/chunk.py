"""chunk: judges an arriving version, cuts it into chunks and writes the log of accepted versions.

It works on two lanes. What comes on the live one goes on there, unless its tenant has used up its quota: then the
record moves to the bulk lane as it is. Parts of other generations than the live one always travel on the bulk lane: no
model of theirs that is away or slow holds up an edit. The version guard makes the order of the lanes harmless:
whichever comes later, the higher version wins.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

import msgspec

from schemas import codec
from schemas.chunks import Chunk, ChunkBatch
from schemas.cloudevents import read_document_change
from schemas.codec import InvalidMessage
from schemas.documents import DocKey, Document, DocumentChange, DocumentStatus, Receipt
from streams.domain import changes, chunker, chunking, identity, token_limit
from streams.domain.generation import Generation
from streams.domain.quota import Quotas
from streams.domain.versions import Admission, Candidate, Verdict
from streams.errors import Invalid
from streams.ports import Generations, VersionStore
from streams.processor import Failure, Processor
from streams.wire import Moved, Outgoing, Record
from topics import catalogue
from topics.topic import Topic

LARGEST_PART = 200_000  # bytes of text a batch
WAY = 200  # tokens that a document costs beside its text: what its way through all processors takes
LOG_OVERHEAD = 65_536  # bytes that a record takes beside its value: key, headers and framing
MOST_CHUNKS = 96  # a batch, with one embedder; bounds the size of its vectors


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What `chunk` needs."""

    versions: VersionStore
    generation: Generation  # the live one when this process started
    generations: Generations | None = None  # which ones changes are written to; none: that one alone
    quotas: Quotas | None = None  # of the live lane, by tenant, in this process; none: no tenant has one
    deletions: Quotas | None = None  # how many of them, in the same way
    clock: Callable[[], float] = time.monotonic
    counts: Counter[str] = field(default_factory=Counter)

    async def active(self) -> Sequence[Generation]:
        """Return the generations that a change is written to, the live one first."""
        return (self.generation,) if self.generations is None else await self.generations.active()


async def handle(change: DocumentChange, deps: Deps) -> Sequence[Outgoing]:
    """Accept a version of the live lane, or move it to the bulk lane where its tenant is over its quota."""
    change = changes.normalised(change)
    deleted = change.op == "delete"  # there is nothing to embed, and it must hold at once: counted by itself
    quotas = deps.deletions if deleted else deps.quotas
    if quotas is not None and not quotas.allows(change.tenant, deps.clock()):
        deps.counts["moved to bulk"] += 1
        return [Moved(topic=catalogue.DOCUMENT_CHANGES_BULK, key=_key(change), message=change)]
    outputs = await _judged(change, deps, catalogue.CHUNKS)
    if quotas is not None:
        # Afterwards, when it is known what there is to embed; an attempt that a store fails costs nothing.
        quotas.charge(change.tenant, 1 if deleted else WAY + sum(map(_tokens, outputs)), deps.clock())
    return outputs


async def handle_bulk(change: DocumentChange, deps: Deps) -> Sequence[Outgoing]:
    """Accept a version of the bulk lane."""
    return await _judged(changes.normalised(change), deps, catalogue.CHUNKS_BULK)


async def _judged(change: DocumentChange, deps: Deps, lane: Topic) -> Sequence[Outgoing]:
    """Accept, repeat, drop or refuse a version; an accepted one goes to the log and, in parts, to the indexes.

    The live generation decides; the others that are active take what it took, each cut and judged for itself.
    """
    document = Document(change=change, content_hash=identity.content_hash(change))
    _check_size(document)
    live, *others = await deps.active()
    admission, sent = await into(live, document, deps.versions, to=lane)
    key = _key(change)
    match admission.verdict:
        case Verdict.STALE:
            reason = f"superseded: version {admission.accepted_version} is accepted already"
            status = DocumentStatus.failed(change.key, change.version, live.id, reason)
            return [Outgoing(topic=catalogue.DOCUMENT_STATUS, key=key, message=status)]
        case Verdict.CONFLICT:
            raise Invalid(
                f"version {change.version} of {change.source}/{change.doc_id} was accepted with other content; "
                "give a changed document a higher version",
                field="version",
            )
    for generation in others:
        sent += (await into(generation, document, deps.versions, to=catalogue.CHUNKS_BULK))[1]
    return [Outgoing(topic=catalogue.DOCUMENTS, key=key, message=document), *sent]


async def into(
    generation: Generation, document: Document, versions: VersionStore, *, to: Topic, replayed: bool = False
) -> tuple[Admission, list[Outgoing]]:
    """Judge a version for one generation; an accepted one is returned in parts for the topic `to`."""
    change = document.change
    text = chunking.text_of(change, generation.id)
    chunks = chunking.cut(text, limits=chunker.limits(generation.chunker)) if change.op == "upsert" else ()
    parts = _parts(chunks, most=max(1, MOST_CHUNKS // (len(generation.models) + len(generation.lexical))))
    admission = await versions.accept(
        Candidate(
            change=change,
            content_hash=document.content_hash,
            generation=generation.id,
            language=text.language,
            chunks=chunks,
            parts=len(parts),
            replayed=replayed,
        )
    )
    if admission.verdict in (Verdict.STALE, Verdict.CONFLICT):
        return admission, []
    key = _key(change)
    first = ChunkBatch(
        tenant=change.tenant,
        source=change.source,
        doc_id=change.doc_id,
        version=change.version,
        generation=generation.id,
        part=0,
        parts=len(parts),
        kind=change.kind,
        language=text.language,
        agents=change.agents,
        tags=change.tags,
        chunks=(),
    )
    if not parts:
        return admission, [Outgoing(topic=catalogue.RECEIPTS, key=key, message=Receipt.of(first, "chunk"))]
    batches = [
        msgspec.structs.replace(first, part=number, chunks=_marked(part, admission))
        for number, part in enumerate(parts)
    ]
    return admission, [Outgoing(topic=to, key=key, message=batch) for batch in batches]


def _tokens(output: Outgoing) -> int:
    """Return about how many tokens a message has for the embedder of the live lane."""
    if output.topic is not catalogue.CHUNKS or not isinstance(output.message, ChunkBatch):
        return 0
    return sum(token_limit.estimate(each.text) for each in output.message.chunks if each.embed)


def _key(change: DocumentChange) -> bytes:
    return catalogue.document_key(change.tenant, change.source, change.doc_id)


def hold(output: Outgoing, deps: Deps) -> AbstractAsyncContextManager[bool] | None:
    """Hold the document while its version is written to the log, which is left out when a higher one was accepted.

    The log is compacted: of two versions that the lanes write at the same time, the higher one must be the last.
    """
    if not isinstance(output.message, Document):
        return None
    change = output.message.change
    return deps.versions.last(change.key, change.version)


def _check_size(accepted: Document) -> None:
    """Raise Invalid for what the log cannot take, before it is accepted: the indexes must not have what the log lacks.

    The inbox took it, but texts grow in their normal form.
    """
    size, most = len(codec.encode(accepted)), catalogue.DOCUMENTS.largest_record - LOG_OVERHEAD
    if size > most:
        raise Invalid(
            f"the document has {size:,} bytes in its normal form; the limit is {most:,}: split it", field="content"
        )


def _parts(chunks: Sequence[Chunk], *, most: int) -> list[tuple[Chunk, ...]]:
    """Split a version's chunks, in order, into batches that a record can carry."""
    parts: list[list[Chunk]] = []
    size = LARGEST_PART + 1
    for chunk in chunks:
        bytes_of_text = len(chunk.text.encode()) + 200
        if size + bytes_of_text > LARGEST_PART or len(parts[-1]) >= most:
            parts.append([])
            size = 0
        parts[-1].append(chunk)
        size += bytes_of_text
    return [tuple(part) for part in parts]


def _marked(chunks: Sequence[Chunk], admission: Admission) -> tuple[Chunk, ...]:
    """Mark the chunks that must be embedded: those whose vectors are not in the generation's live version."""
    return tuple(msgspec.structs.replace(chunk, embed=chunk.id not in admission.live_chunks) for chunk in chunks)


def read(record: Record, _: Topic) -> DocumentChange:
    """Read a document change, plain or as a CloudEvent."""
    return read_document_change(record.value, record.headers)


class _Named(DocKey, frozen=True, kw_only=True):
    version: int


def failed(failure: Failure, deps: Deps) -> Sequence[Outgoing]:
    """Tell the source that its version failed, as far as the record says whose it is."""
    if isinstance(failure.message, DocumentChange):
        of, version = failure.message.key, failure.message.version
    else:
        try:
            named = msgspec.json.decode(failure.record.value or b"", type=_Named)
        except (msgspec.MsgspecError, RecursionError):
            return ()
        of, version = named, named.version
    status = DocumentStatus.failed(of, version, deps.generation.id, f"{failure.error_class}: {failure.error}")
    try:
        codec.decode(codec.encode(status), DocumentStatus)
    except InvalidMessage:
        return ()  # what is wrong is the name itself, and nobody could read a receipt for it
    key = catalogue.document_key(of.tenant, of.source, of.doc_id)
    return [Outgoing(topic=catalogue.DOCUMENT_STATUS, key=key, message=status)]


CHUNK = Processor(
    name="chunk",
    summary="accepts versions and cuts them into chunks",
    source=catalogue.DOCUMENT_CHANGES,
    sinks=(
        catalogue.DOCUMENTS,
        catalogue.CHUNKS,
        catalogue.CHUNKS_BULK,
        catalogue.RECEIPTS,
        catalogue.DOCUMENT_STATUS,
        catalogue.DOCUMENT_CHANGES_BULK,
    ),
    handle=handle,
    reads=read,
    failed=failed,
    hold=hold,
    in_flight=32,  # what it moves to the bulk lane waits for the broker alone, and others behind it
)
CHUNK_BULK = dataclasses.replace(
    CHUNK,
    name="chunk-bulk",
    summary="the same for the bulk lane",
    source=catalogue.DOCUMENT_CHANGES_BULK,
    sinks=(catalogue.DOCUMENTS, catalogue.CHUNKS_BULK, catalogue.RECEIPTS, catalogue.DOCUMENT_STATUS),
    handle=handle_bulk,
    in_flight=2,
    bulk=True,
)
