"""What died comes back to life: letters of the running pipeline, listed, sent back, parked and discarded."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from schemas import codec
from schemas.chunks import VectorBatch
from schemas.documents import DocumentChange
from streams.bootstrap import Resources
from streams.processors import chunk
from streams.processors.chunk import CHUNK
from streams.processors.index_text import INDEX_TEXT
from tests.dying import ERRORS, die, producing, record
from tests.e2e.operator import rankstream, receipt, statuses, until
from tests.e2e.test_lifecycle import qdrant_count, texts
from tests.pipeline import Pipeline, page, records
from topics import catalogue
from topics.topic import Topic


@pytest.fixture
async def resources(pipeline: Pipeline) -> AsyncIterator[Resources]:
    opened = Resources(pipeline.settings)
    yield opened
    await opened.close()


async def send(
    pipeline: Pipeline, topic: Topic, value: bytes, headers: Sequence[tuple[str, bytes | None]] = ()
) -> tuple[int, int]:
    """Send a record and return its partition and offset."""
    async with producing(pipeline.settings.kafka or "") as producer:
        sent = await producer.send_and_wait(topic.name, value, key=b"k", headers=list(headers))
        return sent.partition, sent.offset


async def listed(pipeline: Pipeline, *arguments: str) -> list[dict[str, Any]]:
    code, out, err = await rankstream(pipeline, "dlq", "list", *arguments, "--each", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["complete"]
    letters: list[dict[str, Any]] = found["letters"]
    return letters


async def letter(pipeline: Pipeline, address: str, state: str) -> dict[str, Any]:
    async def found() -> dict[str, Any] | None:
        of = [each for each in await listed(pipeline, address, "--all") if each["state"] == state]
        return of[0] if of else None

    return await until(found, doing=f"{address} {state}")


async def part_died(pipeline: Pipeline, resources: Resources, version: DocumentChange) -> list[str]:
    """Have a version accepted, and its parts die on their way to the full-text index; return where they were."""
    outputs = await chunk.handle(version, await resources.deps(CHUNK))
    addresses = []
    for output in outputs:
        if output.topic is catalogue.CHUNKS:
            died = record(INDEX_TEXT, codec.encode(output.message), key=output.key)
            await die(pipeline.settings.kafka or "", INDEX_TEXT, died, ERRORS["transient-exhausted"])
            addresses.append(f"chunks/0/{died.offset}")
    assert addresses
    return addresses


async def test_a_dead_part_is_a_failed_receipt_and_heals_when_it_is_redriven(
    pipeline: Pipeline, resources: Resources
) -> None:
    tenant = "t-dead-part"
    await pipeline.publish(page("tide", "# Tide\n\nHigh tide is at seven.", tenant=tenant, version=1))
    second = page("tide", "# Tide\n\nHigh tide is at nine.", tenant=tenant, version=2)
    addresses = await part_died(pipeline, resources, second)
    failed = await receipt(pipeline, tenant, 2, "failed")
    assert failed.reason == "transient-exhausted: no answer"
    assert "at seven" in texts(await pipeline.client.ask("when is high tide?", tenant=tenant))

    code, out, err = await rankstream(pipeline, "dlq", "redrive", *addresses, "--dry-run")
    assert (code, "1 dead letter would be re-driven" in out) == (0, True), err
    code, out, err = await rankstream(pipeline, "dlq", "redrive", *addresses)
    assert (code, out) == (0, "1 dead letter re-driven\n"), err
    assert (await receipt(pipeline, tenant, 2, "searchable")).chunks >= 1
    assert "at nine" in texts(await pipeline.client.ask("when is high tide?", tenant=tenant))
    assert await listed(pipeline, *addresses) == []
    code, out, _ = await rankstream(pipeline, "dlq", "redrive", *addresses)
    assert (code, out) == (0, "0 dead letters re-driven, 1 re-driven before\n")


async def test_an_old_version_that_is_redriven_replaces_nothing(pipeline: Pipeline, resources: Resources) -> None:
    tenant, kafka = "t-dead-old", pipeline.settings.kafka or ""
    first = page("fee", "# Fee\n\nThe fee is 10 euro.", tenant=tenant, version=1)
    second = page("fee", "# Fee\n\nThe fee is 20 euro.", tenant=tenant, version=2)
    third = page("fee", "# Fee\n\nThe fee is 30 euro.", tenant=tenant, version=3)
    key = catalogue.document_key(tenant, "help", "fee")
    died = record(CHUNK, codec.encode(first), key=key)
    await die(kafka, CHUNK, died, ERRORS["bug"])
    parts = await part_died(pipeline, resources, second)
    await pipeline.publish(third)

    code, out, err = await rankstream(pipeline, "dlq", "redrive", f"document-changes/0/{died.offset}", *parts)
    assert (code, out) == (0, "2 dead letters re-driven\n"), err

    async def superseded() -> str | None:
        # Of its death there is a receipt already.
        of = [each.reason for each in await statuses(pipeline, tenant) if each.version == 1]
        return next((reason for reason in of if reason and reason.startswith("superseded")), None)

    assert await until(superseded, doing="receipt of the old version") == ("superseded: version 3 is accepted already")

    async def embedded() -> bool | None:
        batches = [codec.decode(each.value or b"", VectorBatch) for each in await records(kafka, catalogue.VECTORS)]
        return True if any((each.tenant, each.version) == (tenant, 2) for each in batches) else None

    await until(embedded, doing="the old part has gone through `embed`")
    await pipeline.publish(page("other", "# Other\n\nBehind it on all topics.", tenant=tenant))
    for _ in range(10):
        text = texts(await pipeline.client.ask("how much is the fee?", tenant=tenant, cache=False))
        assert ("30 euro" in text, "20 euro" in text, "10 euro" in text) == (True, False, False)
        await asyncio.sleep(0.1)
    live = [each for each in await statuses(pipeline, tenant) if each.status == "searchable"]
    assert [each.version for each in live if each.doc_id == "fee"] == [3]
    assert await qdrant_count(pipeline, tenant) == 4  # two pages of a document-level text and a section each


async def test_what_can_never_be_read_is_parked_after_a_redrive_and_discarded(pipeline: Pipeline) -> None:
    marker = uuid.uuid4().hex.encode()
    partition, offset = await send(pipeline, catalogue.DOCUMENT_CHANGES, b"\xff\xfe never JSON " + marker)
    first = await letter(pipeline, f"document-changes/{partition}/{offset}", "open")
    assert (first["class"], first["stage"], first["redrives"]) == ("decode", "chunk", 0)

    code, out, _ = await rankstream(pipeline, "dlq", "redrive", first["address"])
    assert (code, out) == (0, "1 dead letter re-driven\n")

    async def again() -> dict[str, Any] | None:
        of = [each for each in await listed(pipeline, f"document-changes.dlq/{partition}") if each["redrives"] == 1]
        return of[-1] if of else None

    parked = await until(again, doing="it dies again")
    assert (parked["state"], parked["class"]) == ("parked", "decode")
    code, out, _ = await rankstream(pipeline, "dlq", "redrive", parked["address"])
    assert (code, out) == (
        0,
        "0 dead letters re-driven, 1 parked (died twice the same way; --parked takes them along)\n",
    )
    code, out, _ = await rankstream(pipeline, "status")
    assert (code, "of them parked" in out) == (1, True)
    code, out, _ = await rankstream(pipeline, "dlq", "discard", parked["address"])
    assert (code, out) == (0, "1 dead letter discarded\n")
    assert (await letter(pipeline, parked["address"], "discarded"))["redrives"] == 1


async def test_a_letter_and_what_goes_back_have_each_header_that_came(pipeline: Pipeline) -> None:
    """A header that comes twice, one without a value and an empty one: Kafka has all of these."""
    value = f"never JSON {uuid.uuid4().hex}".encode()
    came = (("own", b"1"), ("null", None), ("own", b"2"), ("empty", b""), ("own", None))
    partition, offset = await send(pipeline, catalogue.DOCUMENT_CHANGES, value, came)
    address = f"document-changes/{partition}/{offset}"
    await letter(pipeline, address, "open")
    code, out, err = await rankstream(pipeline, "dlq", "redrive", address)
    assert (code, out) == (0, "1 dead letter re-driven\n"), err
    for topic, times in ((catalogue.DOCUMENT_CHANGES.dead_letters, 1), (catalogue.DOCUMENT_CHANGES, 2)):
        found = [each for each in await records(pipeline.settings.kafka or "", topic) if each.value == value]
        assert len(found) >= times
        assert [each.pairs[: len(came)] for each in found] == [came] * len(found)


async def test_status_is_well_once_every_letter_is_settled(pipeline: Pipeline) -> None:
    await rankstream(pipeline, "dlq", "discard", "--all")
    code, out, err = await rankstream(pipeline, "status")
    assert (code, "dead letters: none" in out) == (0, True), out + err

    tenant = "t-dead-status"
    change = page("lamp", "# Lamp\n\nThe lamp is green.", tenant=tenant, version=1)
    died = record(CHUNK, codec.encode(change), key=catalogue.document_key(tenant, "help", "lamp"))
    await die(pipeline.settings.kafka or "", CHUNK, died, ERRORS["timeout"])
    code, out, _ = await rankstream(pipeline, "status")
    assert (code, "dead letters: document-changes.dlq 1\n" in out) == (1, True), out

    code, out, _ = await rankstream(
        pipeline, "dlq", "redrive", "--stage", "chunk", "--class", "timeout", "--since", "1h"
    )
    assert (code, out) == (0, "1 dead letter re-driven\n")
    await receipt(pipeline, tenant, 1, "searchable")
    code, out, _ = await rankstream(pipeline, "status")
    assert (code, "dead letters: none" in out) == (0, True), out


async def test_a_question_is_listed_and_never_goes_back(pipeline: Pipeline) -> None:
    body = json.dumps({"query_id": uuid.uuid4().hex, "tenant": "t-dead-question", "text": "anything"}).encode()
    partition, offset = await send(pipeline, catalogue.QUERIES, body, [("kafka_replyTopic", b"documents")])
    address = f"queries/{partition}/{offset}"
    await letter(pipeline, address, "open")
    code, _, err = await rankstream(pipeline, "dlq", "redrive", address)
    assert (code, err.count("\n"), "never goes back" in err) == (2, 1, True)
    code, out, _ = await rankstream(pipeline, "dlq", "redrive", "--since", "1h", "--class", "validation", "--dry-run")
    assert code == 0
    assert f"queries.dlq/{partition}/" not in out
    assert "questions, which never go back" in out
    assert len(await listed(pipeline, address)) == 1
    assert (await rankstream(pipeline, "dlq", "discard", address))[0] == 0
    assert await listed(pipeline, address) == []


async def test_a_letter_is_shown_readable_and_without_secrets(pipeline: Pipeline, tmp_path: Path) -> None:
    value = b'{"tenant": "t-dead", "metadata": {"api_key": "s3cr3t-value"}, "title": "\x1b[2J\xff"'
    headers = [("authorization", b"Bearer s3cr3t-value"), ("own", b"\x00ok")]
    partition, offset = await send(pipeline, catalogue.DOCUMENT_CHANGES, value, headers)
    address = f"document-changes/{partition}/{offset}"
    await letter(pipeline, address, "open")
    code, out, _ = await rankstream(pipeline, "dlq", "show", address)
    assert code == 0
    assert "s3cr3t" not in out
    assert "\x1b" not in out
    assert {"stage     chunk", "class     decode", "  authorization: (hidden)", "  own: \\x00ok"} <= set(
        out.splitlines()
    )
    assert "\\x1b[2J\\xff" in out
    assert (await rankstream(pipeline, "dlq", "show", address, "--raw", str(tmp_path / "raw")))[0] == 0
    assert (tmp_path / "raw").read_bytes() == value
    assert (await rankstream(pipeline, "dlq", "show", f"document-changes/{partition}/999999"))[0] == 1
    table = (await rankstream(pipeline, "dlq", "list", "document-changes"))[1]
    assert "document-changes  chunk  decode" in " ".join(table.split("\n")).replace("   ", "  ")
    await rankstream(pipeline, "dlq", "discard", address)


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "--stage", "chunker"),
        ("list", "--class", "oops"),
        ("list", "--since", "tomorrow"),
        ("list", "--timeout", "0"),
        ("list", "no-such-topic"),
        ("show", "chunks.dlq/1"),
        ("show", "chunks.dlq/a/b"),
        ("redrive",),
        ("redrive", "--all", "--stage", "embed"),
        ("redrive", "--stage", "prepare"),
        ("discard",),
    ],
)
async def test_a_wrong_argument_is_told_in_one_line(pipeline: Pipeline, arguments: tuple[str, ...]) -> None:
    code, out, err = await rankstream(pipeline, "dlq", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("rankstream: ")
