"""chunk: the guard's verdicts become messages, in parts that a record can carry."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from schemas import codec
from schemas.chunks import ChunkBatch
from schemas.documents import Document, DocumentChange, DocumentStatus, Receipt
from streams.adapters.memory import MemoryStores
from streams.domain.generation import Generation, Model
from streams.domain.quota import Quotas
from streams.errors import Invalid
from streams.processors import chunk
from streams.runner import Outcome, Runner
from streams.wire import RawOutgoing, Record
from topics import catalogue


@pytest.fixture
def deps() -> chunk.Deps:
    generation = Generation(id="g1", model="m", dimension=64, average_length=100.0)
    return chunk.Deps(versions=MemoryStores().versions, generation=generation)


def change(version: int, content: str = "# Refunds\n\nWithin 30 days.", **fields: Any) -> DocumentChange:
    given = {"tenant": "acme", "source": "help", "doc_id": "refunds", "version": version, "content": content}
    return DocumentChange(**{**given, **fields})


async def messages(deps: chunk.Deps, given: DocumentChange) -> list[Any]:
    sent = await chunk.handle(given, deps)
    assert {each.key for each in sent} == {catalogue.document_key(given.tenant, given.source, given.doc_id)}
    return [each.message for each in sent]


async def test_a_new_version_goes_to_the_log_and_in_parts_to_the_indexes(deps: chunk.Deps) -> None:
    log, batch = await messages(deps, change(1))
    assert isinstance(log, Document)
    assert (log.change.version, len(log.content_hash)) == (1, 64)
    assert isinstance(batch, ChunkBatch)
    assert (batch.part, batch.parts, batch.language, batch.generation) == (0, 1, "en", "g1")
    assert [each.level for each in batch.chunks] == ["document", "parent"]
    assert all(each.embed for each in batch.chunks)


async def test_a_long_version_is_sent_in_parts_that_a_record_can_carry(deps: chunk.Deps) -> None:
    content = "\n\n".join(f"## Part {number}\n\n{'A sentence of it. ' * 150}" for number in range(300))
    _, *batches = await messages(deps, change(1, content))
    assert [(batch.part, batch.parts) for batch in batches] == [(n, len(batches)) for n in range(len(batches))]
    assert len(batches) > 3
    assert all(len(codec.encode(batch)) < 256 * 1024 for batch in batches)
    assert all(len(batch.chunks) <= chunk.MOST_CHUNKS for batch in batches)


async def test_lexical_weights_count_as_one_more_model(deps: chunk.Deps) -> None:
    content = "\n\n".join(f"## Part {number}\n\n{'A sentence of it. ' * 20}" for number in range(200))
    weighed = dataclasses.replace(deps.generation, lexical=("m",))
    _, *batches = await messages(dataclasses.replace(deps, generation=weighed), change(1, content))
    assert max(len(batch.chunks) for batch in batches) == chunk.MOST_CHUNKS // 2


async def test_the_more_models_embed_a_part_the_fewer_chunks_it_has(deps: chunk.Deps) -> None:
    """So that a record of vectors stays as small; with more models than chunks, one a part."""
    content = "\n\n".join(f"## Part {number}\n\nA sentence." for number in range(200))
    most = {}
    for count in (1, 2, 200):
        models = tuple(Model(name=f"m{number}", dimension=64) for number in range(1, count))
        using = dataclasses.replace(deps, generation=dataclasses.replace(deps.generation, also=models))
        _, *batches = await messages(using, change(1, content))
        most[count] = max(len(batch.chunks) for batch in batches)
    assert most == {1: chunk.MOST_CHUNKS, 2: chunk.MOST_CHUNKS // 2, 200: 1}


async def test_a_repeat_repeats_its_messages(deps: chunk.Deps) -> None:
    assert await messages(deps, change(1)) == await messages(deps, change(1))


async def test_a_deletion_and_a_page_without_text_wait_for_nobody(deps: chunk.Deps) -> None:
    for given in (change(1, "  \n"), change(2, "", op="delete")):
        log, receipt = await messages(deps, given)
        assert isinstance(log, Document)
        assert isinstance(receipt, Receipt)
        assert (receipt.writer, receipt.version, receipt.error) == ("chunk", given.version, None)


async def test_a_lower_version_is_dropped_and_its_source_is_told(deps: chunk.Deps) -> None:
    await messages(deps, change(7))
    (status,) = await messages(deps, change(3))
    assert isinstance(status, DocumentStatus)
    assert (status.status, status.version) == ("failed", 3)
    assert status.reason == "superseded: version 7 is accepted already"


async def test_the_same_version_with_other_content_is_refused_by_name(deps: chunk.Deps) -> None:
    await messages(deps, change(1))
    with pytest.raises(Invalid) as refused:
        await chunk.handle(change(1, "# Refunds\n\nNever."), deps)
    assert refused.value.field == "version"


async def test_the_same_words_in_another_unicode_form_are_the_same_content(deps: chunk.Deps) -> None:
    await messages(deps, change(1, "# Zu\u0308rich\r\n\r\nOffen.\0"))
    await messages(deps, change(1, "# Z\u00fcrich\n\nOffen."))


async def test_the_bulk_lane_goes_on_to_the_bulk_lane(deps: chunk.Deps) -> None:
    async def topics(handle: Any, given: DocumentChange) -> list[str]:
        return [each.topic.name for each in await handle(given, deps)]

    assert await topics(chunk.handle, change(1)) == ["documents", "chunks"]
    assert await topics(chunk.handle_bulk, change(2)) == ["documents", "chunks.bulk"]
    for processor in (chunk.CHUNK, chunk.CHUNK_BULK):
        assert processor.source.dead_letters.name == f"{processor.source.name}.dlq"


async def test_a_tenant_over_its_quota_is_moved_to_the_bulk_lane_as_it_came_and_its_deletions_are_not(
    deps: chunk.Deps, record: Callable[..., Record]
) -> None:
    sent: list[RawOutgoing] = []

    async def produce(outgoing: RawOutgoing) -> None:
        sent.append(outgoing)

    using = dataclasses.replace(deps, quotas=Quotas(rate=1.0, burst=10.0), clock=lambda: 0.0)
    runner = Runner(chunk.CHUNK, using, produce)

    async def run(given: DocumentChange) -> list[RawOutgoing]:
        sent.clear()
        headers = {"traceparent": b"00-1", "team": b"7"}
        assert await runner.run(record(given, key=b"any key", headers=headers)) is Outcome.DONE
        return list(sent)

    async def topics(given: DocumentChange) -> list[str]:
        return sorted(each.topic for each in await run(given))

    assert await topics(change(1)) == ["chunks", "documents"]
    (moved,) = await run(change(2, " As it came:\r\nwith its own spaces. "))
    assert (moved.topic, moved.key, moved.headers) == (
        "document-changes.bulk",
        b"any key",
        {"traceparent": b"00-1", "team": b"7"},
    )
    assert moved.value == codec.encode(change(2, " As it came:\r\nwith its own spaces. "))
    assert using.counts == {"moved to bulk": 1}
    assert await topics(change(3, tenant="other")) == ["chunks", "documents"]
    assert await topics(change(4, "", op="delete")) == ["documents", "receipts"]
    # What counts is what there is to embed, and the way; a deletion is free.
    edited = dataclasses.replace(deps, quotas=Quotas(rate=1.0, burst=1_000.0), clock=lambda: 0.0)
    assert edited.quotas is not None
    await chunk.handle(change(1, "x " * 300, tenant="third"), edited)
    paid = 1_000.0 - edited.quotas._bucket("third", 0.0).level
    assert paid > chunk.WAY + 300 * 2 / 3
    await chunk.handle(change(1, "y", op="delete", tenant="third", doc_id="other"), edited)
    assert 1_000.0 - edited.quotas._bucket("third", 0.0).level == paid
    # Deletions have a quota of their own: a flood of them would hold up everybody's edits.
    many = dataclasses.replace(deps, deletions=Quotas(rate=1.0, burst=2.0), clock=lambda: 0.0)
    gone = [change(9, "", op="delete", tenant="fourth", doc_id=f"{number}") for number in range(4)]
    outputs = [await chunk.handle(each, many) for each in gone]
    lanes = [[output.topic.name for output in each] == ["document-changes.bulk"] for each in outputs]
    assert lanes == [False, False, True, True]
    assert len(await chunk.handle(change(9, "", op="delete", tenant="fifth"), many)) == 2
    # It was overtaken meanwhile: on the other lane it is late.
    assert [each.topic.name for each in await chunk.handle_bulk(change(2), using)] == ["document-status"]


async def test_of_two_versions_that_are_logged_at_the_same_time_the_higher_one_is_the_last(
    deps: chunk.Deps, record: Callable[..., Record]
) -> None:
    log: list[int] = []

    def produce(before: Callable[[], Awaitable[Any]] | None) -> Callable[[RawOutgoing], Awaitable[None]]:
        async def produced(outgoing: RawOutgoing) -> None:
            if outgoing.topic == "documents":
                if before is not None:
                    await before()
                log.append(codec.decode(outgoing.value or b"", Document).change.version)

        return produced

    live = Runner(chunk.CHUNK, deps, produce(None))
    edits: list[asyncio.Task[Outcome]] = []

    async def meanwhile() -> None:
        # The record of the first load is on its way to the log: an edit comes, and has to wait for it.
        edits.append(asyncio.create_task(live.run(record(change(2)))))
        await asyncio.sleep(0.05)

    await Runner(chunk.CHUNK_BULK, deps, produce(meanwhile)).run(record(change(1)))
    await asyncio.gather(*edits)
    assert log == [1, 2]
    # The other way round: accepted, but overtaken before it could be logged.
    sent: list[str] = []

    async def produced(outgoing: RawOutgoing) -> None:
        sent.append(outgoing.topic)

    async def overtaken(given: DocumentChange, using: chunk.Deps) -> Any:
        outputs = await chunk.handle_bulk(given, using)
        await live.run(record(change(4)))
        return outputs

    late = dataclasses.replace(chunk.CHUNK_BULK, handle=overtaken)
    assert await Runner(late, deps, produced).run(record(change(3))) is Outcome.DONE
    assert (sent, log) == (["chunks.bulk"], [1, 2, 4])


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (b'{"tenant":"acme","source":"help","doc_id":"a","version":4,"agents":["NO"]}', True),
        (b'{"tenant":"ACME","source":"help","doc_id":"a","version":4}', False),
        (b'{"tenant":"acme","source":"help","doc_id":"a","version":-1}', False),
        (b'{"tenant":"acme","source":"help","doc_id":"","version":4}', False),
        (b"\xff\xfe", False),
        (b"[" * 100_000, False),
        (None, False),
    ],
)
async def test_a_source_is_told_of_its_bad_event_as_far_as_it_says_whose_it_is(
    deps: chunk.Deps, record: Callable[..., Record], value: bytes | None, told: bool
) -> None:
    sent: list[RawOutgoing] = []

    async def produce(outgoing: RawOutgoing) -> None:
        sent.append(outgoing)

    assert await Runner(chunk.CHUNK, deps, produce).run(record(value)) is Outcome.DEAD_LETTERED
    assert [each.topic for each in sent] == ["document-changes.dlq", *(["document-status"] if told else [])]
    if told:
        status = codec.decode(sent[1].value or b"", DocumentStatus)
        assert (status.status, status.version) == ("failed", 4)
        assert "agents[0]" in (status.reason or "")


async def test_what_the_log_cannot_take_is_refused_before_it_is_accepted(deps: chunk.Deps) -> None:
    # Four bytes each; twelve in their composed form.
    grows = chr(0x1D160) * 700_000
    with pytest.raises(Invalid, match="content: the document has 8,4"):
        await chunk.handle(change(1, grows), deps)
    # Nothing of it was accepted: the same version may come with other content.
    assert any(isinstance(each, Document) for each in await messages(deps, change(1, "short")))
