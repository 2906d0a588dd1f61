"""The search measured through the bus and without it: the same handlers, so the same answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from schemas.dead_letters import DeadLetter
from schemas.documents import DocumentChange
from schemas.queries import QueryRequest
from schemas.replies import QueryReply
from streams.cli import evaluate as cli
from streams.gateways.lag import measure
from streams.gateways.questions import new_id
from streams.quality import results
from streams.quality.evaluate import WithoutBus
from streams.quality.in_process import InProcess
from streams.sources import folder, jsonl
from streams.wire import Outgoing
from tests.pipeline import Pipeline, next_version, page
from topics import catalogue

DEMO = Path(__file__).parents[2] / "demo"
TENANT = "eval-demo"

DOCUMENTS = {
    "relay": "# Relay\n\nIt connects networks.\n\n## Ports\n\nIt listens on 8443.\n\n## Upgrades\n\nRestart it.",
    "plans": "# Plans\n\nMeadow is free of charge, Canopy costs money every month.",
    "exports": "# Exports\n\nA report can be exported as a CSV file.",
    "roles": "# Roles\n\nAn admin may invite people, a viewer may not.",
}
QUESTIONS = {
    "port": ("Which port does the relay listen on?", "relay#Relay > Ports"),
    "csv": ("How do I get a CSV file?", "exports"),
    "invite": ("Who may invite people?", "roles"),
    "price": ("What does Canopy cost?", "plans"),
}


def demo(tenant: str) -> list[DocumentChange]:
    """Return the demonstration corpus."""
    pages = folder.read(DEMO / "docs", tenant=tenant, source="help", uri_prefix="")
    pairs = jsonl.read(DEMO / "qa.jsonl", tenant=tenant, source="faq")
    version = next_version()
    return [
        msgspec.structs.replace(each, version=version) for each in (*pages, *pairs) if isinstance(each, DocumentChange)
    ]


def demo_questions(count: int) -> list[str]:
    """Return questions from all over the file."""
    lines = [json.loads(line)["text"] for line in (DEMO / "questions.jsonl").read_text().splitlines()]
    return lines[:: len(lines) // count][:count]


@pytest.fixture(scope="module")
async def without_bus(pipeline: Pipeline) -> AsyncIterator[InProcess]:
    async with await InProcess.open(pipeline.settings) as opened:
        yield opened


async def settled(kafka: str) -> None:
    """Wait until the graph has what was published: no receipt waits for it."""
    for _ in range(200):
        graph = [
            each for each in await measure(kafka) if "extract" in each.processor or each.processor == "index-graph"
        ]
        if all(each.records == 0 for each in graph):
            return
        await asyncio.sleep(0.3)
    raise AssertionError(graph)


async def test_the_bus_changes_no_passage_and_no_score(pipeline: Pipeline, without_bus: InProcess) -> None:
    receipts = [status async for status in pipeline.client.publish_many(demo(TENANT), timeout=120)]
    assert {status.status for status in receipts} == {"searchable"}
    await settled(pipeline.settings.kafka or "")
    direct = WithoutBus(without_bus)
    for text in demo_questions(20):
        ours = await direct.ask(text, tenant=TENANT, top_k=100, timeout=10.0, cache=False, floor=0.0)
        theirs = await pipeline.client.ask(text, tenant=TENANT, top_k=100, timeout=10.0, cache=False, floor=0.0)
        assert (ours.error, ours.degraded, theirs.degraded) == (None, False, False)
        assert len(ours.passages) > 5
        assert ours.passages == theirs.passages
        assert {leg: report.candidates for leg, report in ours.legs.items()} == {
            leg: report.candidates for leg, report in theirs.legs.items()
        }


async def test_ingesting_gives_the_receipts_of_the_bus(pipeline: Pipeline, without_bus: InProcess) -> None:
    theirs = {
        status.doc_id: status.chunks async for status in pipeline.client.publish_many(demo("eval-bus")[:12], timeout=60)
    }
    ours = {
        published.key.doc_id: published.status.chunks
        async for published in without_bus.deliver_many(demo("eval-direct")[:12])
        if published.status is not None and published.status.status == "searchable"
    }
    assert ours == theirs
    assert len(ours) == 12


async def test_every_message_on_the_way_can_be_seen(without_bus: InProcess) -> None:
    seen: list[Outgoing] = []
    without_bus.on_message = seen.append
    change = page("seen", "# Seen\n\nA page that is watched.", tenant="eval-seen")
    on_the_way = await without_bus.observe(change)
    without_bus.on_message = None
    assert seen == list(on_the_way)
    assert on_the_way[0].message == change
    # The graph is beside the way of a version: what it says may come later than the receipt.
    names = [each.topic.name for each in on_the_way if each.topic is not catalogue.ENTITIES]
    topics = ("document-changes", "documents", "chunks", "vectors", "receipts", "document-status")
    assert set(names) == set(topics)
    assert names[-1] == "document-status"


async def test_a_deletion_is_carried_through(without_bus: InProcess) -> None:
    change = page("gone", "# Gone\n\nA zeppelin lands.", tenant="eval-gone")
    assert (await without_bus.ingest(change)).status == "searchable"  # type: ignore[union-attr]
    ask = WithoutBus(without_bus).ask
    assert len((await ask("zeppelin", tenant="eval-gone")).passages) == 1
    deletion = DocumentChange(tenant="eval-gone", source="help", doc_id="gone", version=next_version(), op="delete")
    assert (await without_bus.ingest(deletion)).status == "deleted"  # type: ignore[union-attr]
    assert (await ask("zeppelin", tenant="eval-gone")).passages == ()


async def test_a_refused_version_is_a_dead_letter_and_a_failed_receipt(without_bus: InProcess) -> None:
    first = page("twice", "# Twice\n\nOne text.", tenant="eval-twice")
    await without_bus.ingest(first)
    sent = await without_bus.observe(msgspec.structs.replace(first, content="# Twice\n\nAnother text."))
    letters = [each for each in sent if isinstance(each.message, DeadLetter)]
    assert [each.topic for each in letters] == [catalogue.DOCUMENT_CHANGES.dead_letters]
    assert letters[0].message.error_class == "validation"  # type: ignore[attr-defined]
    assert [each.message.status for each in sent if each.topic is catalogue.DOCUMENT_STATUS] == ["failed"]  # type: ignore[attr-defined]


async def test_a_bad_question_gets_the_reply_that_names_the_field(without_bus: InProcess) -> None:
    request = QueryRequest(query_id=new_id(0.0), tenant="eval-demo", text=" ")
    *_, last = await without_bus.observe(request)
    assert isinstance(last.message, QueryReply)
    assert last.message.error is not None
    assert last.message.error.field == "text"
    assert (await without_bus.ask(request)).error == last.message.error


async def test_a_question_that_came_too_late_has_an_outcome(without_bus: InProcess) -> None:
    request = QueryRequest(query_id=new_id(0.0), tenant="eval-demo", text="port?", deadline=1.0)
    reply = await without_bus.ask(request)
    assert reply.error is not None
    assert reply.error.error_class == "no reply"


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """A labelled set of four documents and four questions, and one that nothing answers."""
    found = tmp_path / "four"
    found.mkdir()
    corpus = [{"id": name, "text": text} for name, text in DOCUMENTS.items()]
    queries = [{"id": name, "text": text} for name, (text, _) in QUESTIONS.items()] + [{"id": "none", "text": "Why?"}]
    (found / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in corpus))
    (found / "queries.jsonl").write_text("".join(json.dumps(line) + "\n" for line in queries))
    labels = "".join(f"{name}\t{gold}\t1\n" for name, (_, gold) in QUESTIONS.items())
    (found / "qrels.tsv").write_text(f"query-id\tdoc-id\tgrade\n{labels}")
    return found


async def test_a_set_is_measured_alike_on_both_ways(
    pipeline: Pipeline,
    labelled: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    at = pipeline.settings
    for name, place in (
        ("KAFKA_BOOTSTRAP_SERVERS", at.kafka),
        ("QDRANT_URL", at.qdrant),
        ("DATABASE_URL", at.postgres),
    ):
        monkeypatch.setenv(name, str(place))
    monkeypatch.setenv("RANKSTREAM_DATA", str(tmp_path / "data"))

    direct, bus = tmp_path / "direct.jsonl", tmp_path / "bus.jsonl"
    assert await cli.run(labelled, cli.Options(in_process=True, out=direct)) == 0
    said = capsys.readouterr()
    assert "4 searchable" in said.err
    assert "four: 4 of 4 questions, 1 without gold left out; 4 documents" in said.out
    assert "Hit@1        1.000" in said.out

    assert await cli.run(labelled, cli.Options(out=bus, against=direct)) == 0
    said = capsys.readouterr()
    assert "0 searchable, 0 deleted, 4 unchanged" in said.err  # it is there already
    assert "4 questions are too few" in said.out

    ours, theirs = results.read(direct), results.read(bus)
    assert [each.query_id for each in ours] == list(QUESTIONS)
    assert ours[0].ranking[0].id == "relay#Relay > Ports"
    assert [(each.ranking, each.metrics) for each in ours] == [(each.ranking, each.metrics) for each in theirs]
