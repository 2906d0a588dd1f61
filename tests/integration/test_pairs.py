"""Q&A pairs through the real stores: found by their question, by a word of their answer, and gone when deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from schemas.documents import DocumentChange
from schemas.queries import Filters, Hit, LegResult, QueryRequest
from schemas.replies import QueryReply
from streams.domain.scope import Scope
from streams.embedded.stack import Stack
from streams.gateways.questions import new_id
from streams.processors.fuse import FUSE
from streams.quality.in_process import InProcess
from streams.settings import Settings
from streams.sources import folder, jsonl
from tests.pipeline import next_version

DEMO = Path(__file__).parents[2] / "demo"
TENANT = "demo-pairs"


@pytest.fixture(scope="module")
async def demo(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[InProcess]:
    """The stores with the pairs of the demonstration, and some of its pages."""
    at = stack.endpoints
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("pairs"),
        kafka=at.kafka,
        qdrant=at.qdrant,
        postgres=at.postgres,
        redis=at.redis,
    )
    pairs = [*jsonl.read(DEMO / "qa.jsonl", tenant=TENANT, source="faq")]
    pages = [*folder.read(DEMO / "docs" / "billing", tenant=TENANT, source="help", uri_prefix="")]
    changes = [each for each in (*pairs, *pages) if isinstance(each, DocumentChange)]
    assert len(changes) > 35
    async with await InProcess.open(settings) as opened:
        published = [each async for each in opened.deliver_many(changes)]
        assert {each.status.status for each in published if each.status} == {"searchable"}
        assert len(published) == len(changes)
        yield opened


async def legs(demo: InProcess, text: str, **fields: object) -> tuple[dict[str, LegResult], QueryReply]:
    request = QueryRequest(query_id=new_id(0.0), tenant=TENANT, text=text, **fields)  # type: ignore[arg-type]
    messages = [sent.message for sent in await demo.observe(request)]
    (reply,) = (message for message in messages if isinstance(message, QueryReply))
    return {message.leg: message for message in messages if isinstance(message, LegResult)}, reply


async def found(demo: InProcess, hits: Sequence[Hit]) -> list[str]:
    """The documents that hits lead to, best first."""
    passages = (await demo.resources.deps(FUSE)).passages
    live = await passages.resolve(Scope(tenant=TENANT, generation="g1"), [hit.chunk_id for hit in hits])
    return [live[hit.chunk_id].doc_id for hit in hits if hit.chunk_id in live]


async def test_a_paraphrased_question_finds_its_pair_first_among_the_questions(demo: InProcess) -> None:
    for text, doc_id in (
        ("Do you give a price reduction to non-profits?", "qa-nonprofit-discount"),
        ("Can I use it in German?", "qa-languages"),
        ("Do you have a mobile version for my phone?", "qa-mobile-app"),
    ):
        results, reply = await legs(demo, text)
        assert (await found(demo, results["dense"].questions))[0] == doc_id
        assert len(results["dense"].questions) == 30
        pair = next(passage for passage in reply.passages if passage.doc_id == doc_id)
        assert pair.text.startswith(f"{pair.title}\n\n")
        assert {hit.chunk_id for hit in results["dense"].questions} & set(pair.evidence)
        assert pair.legs["questions"].rank == 1


async def test_a_word_of_the_answer_finds_its_pair_through_its_own_leg(demo: InProcess) -> None:
    results, reply = await legs(demo, "Is there an addendum?")
    assert await found(demo, results["qa"].hits) == ["qa-health-data"]
    assert (results["qa"].counted, len(results["qa"].frequencies)) == (30, len(results["fulltext"].frequencies))
    assert results["fulltext"].counted > 0
    pair = next(passage for passage in reply.passages if passage.doc_id == "qa-health-data")
    assert set(pair.legs) >= {"dense", "questions", "sparse", "qa"}
    assert not reply.degraded


async def test_a_filter_by_kind_spares_the_leg_of_the_other(demo: InProcess) -> None:
    for kinds, skipped, asked in ((("qa",), "fulltext", "qa"), (("document",), "qa", "fulltext")):
        results, reply = await legs(demo, "Can I get a refund or a discount?", filters=Filters(kinds=kinds))  # type: ignore[arg-type]
        assert (reply.legs[skipped].status, reply.legs[skipped].reason) == ("skipped", "filtered out by kinds")
        assert reply.legs[asked].status == "ok"
        assert {passage.kind for passage in reply.passages} == set(kinds)
        assert bool(results["dense"].questions) == (kinds == ("qa",))


async def test_a_deleted_pair_is_gone_from_both(demo: InProcess) -> None:
    pair = DocumentChange(
        tenant=TENANT,
        source="faq",
        doc_id="zeppelin",
        version=next_version(),
        kind="qa",
        question="When does the zeppelin land?",
        answer="At the quokka mast, on Sundays.",
    )
    asked = ("When will the airship arrive?", "quokka")
    status = await demo.ingest(pair)
    assert status is not None
    assert (status.status, status.chunks) == ("searchable", 2)
    assert "zeppelin" in await found(demo, (await legs(demo, asked[0]))[0]["dense"].questions)
    before = (await legs(demo, asked[1]))[0]["qa"]
    assert await found(demo, before.hits) == ["zeppelin"]
    gone = DocumentChange(tenant=TENANT, source="faq", doc_id="zeppelin", version=next_version(), op="delete")
    status = await demo.ingest(gone)
    assert status is not None
    assert status.status == "deleted"
    for text in asked:
        results, reply = await legs(demo, text)
        assert len(results["dense"].questions) == 30
        assert not {hit.chunk_id for hit in before.hits} & {hit.chunk_id for hit in results["qa"].hits}
        assert "zeppelin" not in {passage.doc_id for passage in reply.passages}
