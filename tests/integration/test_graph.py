"""The knowledge graph through all processors: a question that needs two documents, and what is left of a document."""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest

from schemas.documents import DocumentChange
from schemas.queries import LegResult, QueryRequest
from schemas.replies import QueryReply
from streams.adapters.migrations import migrate
from streams.bootstrap import Resources
from streams.domain.profile import Profile
from streams.embedded.stack import Stack
from streams.gateways.questions import new_id
from streams.processors import catalogue as processors
from streams.quality.in_process import InProcess
from streams.settings import Settings
from tests.pipeline import next_version, page
from topics import catalogue

QUESTION = "Which plan includes Quillon?"
FEATURE = "# Quillon\n\nQuillon writes columns to a lake. Quillon belongs to Bracken."
PLANS = "# Prices\n\nTamarisk carries Bracken and costs $189.\n\n## Others\n\nAlder carries Sedge and costs $49."
OTHER = "# Heather\n\nHeather keeps files for Sedge."


@pytest.fixture(scope="module")
async def graphed(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[InProcess]:
    """All processors without a bus, with profiles that ask the graph alone and beside the other legs."""
    at = stack.endpoints
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("graph"),
        kafka=at.kafka,
        qdrant=at.qdrant,
        postgres=at.postgres,
        redis=at.redis,
    )
    await migrate(at.postgres)
    resources = Resources(settings)
    resources.profiles = {
        "graph": Profile(name="graph", summary="the graph alone", legs=("graph",)),
        "all": Profile(name="all", summary="with the graph", legs=("dense", "sparse", "fulltext", "graph")),
    }
    deps = {processor.name: await resources.deps(processor) for processor in processors.ALL}
    async with InProcess(resources, deps) as opened:
        yield opened


async def put(graphed: InProcess, tenant: str, **pages: str) -> None:
    for doc_id, content in pages.items():
        status = await graphed.ingest(page(doc_id, content, tenant=tenant))
        assert status is not None
        assert status.status == "searchable"


async def ask(
    graphed: InProcess, tenant: str, text: str = QUESTION, profile: str = "graph"
) -> tuple[LegResult, QueryReply]:
    """Ask a question; return the graph leg's result and the reply."""
    request = QueryRequest(query_id=new_id(0.0), tenant=tenant, text=text, profile=profile)
    sent = [each.message for each in await graphed.observe(request)]
    (result,) = [each for each in sent if isinstance(each, LegResult) and each.leg == "graph"]
    (reply,) = [each for each in sent if isinstance(each, QueryReply)]
    return result, reply


async def rows(graphed: InProcess, tenant: str) -> dict[str, int]:
    """Return how many rows of the graph each of a tenant's documents has."""
    async with await psycopg.AsyncConnection.connect(graphed.resources.settings.postgres or "") as connection:
        found = await connection.execute(
            "SELECT d.doc_id, count(*) FROM documents d JOIN (SELECT document FROM graph_mentions "
            "UNION ALL SELECT document FROM graph_relations) g ON g.document = d.id "
            "WHERE d.tenant = %s GROUP BY d.doc_id",
            (tenant,),
        )
        return {str(doc_id): int(count) for doc_id, count in await found.fetchall()}


async def test_a_question_about_two_documents_finds_both_and_says_how_they_connect(graphed: InProcess) -> None:
    await put(graphed, "g-two", feature=FEATURE, plans=PLANS, other=OTHER)
    result, reply = await ask(graphed, "g-two")
    assert result.status == "ok"
    assert [(each.doc_id, each.heading_path[-1]) for each in reply.passages] == [
        ("feature", "Quillon"),
        ("plans", "Prices"),
    ]
    said = {frozenset((fact.subject, fact.object)) for fact in result.facts}
    assert {frozenset(("Quillon", "Bracken")), frozenset(("Tamarisk", "Bracken"))} <= said
    evidence = {hit.chunk_id for hit in result.hits}
    assert {fact.chunk_id for fact in result.facts} <= evidence
    _, reply = await ask(graphed, "g-two", profile="all")
    assert not reply.degraded
    assert {each.doc_id for each in reply.passages if "graph" in each.legs} == {"feature", "plans"}


async def test_a_deleted_document_takes_its_facts_and_rows_along(graphed: InProcess) -> None:
    await put(graphed, "g-delete", feature=FEATURE, plans=PLANS)
    assert set(await rows(graphed, "g-delete")) == {"feature", "plans"}
    gone = DocumentChange(tenant="g-delete", source="help", doc_id="plans", version=next_version(), op="delete")
    assert (await graphed.ingest(gone)).status == "deleted"  # type: ignore[union-attr]
    result, reply = await ask(graphed, "g-delete")
    assert [each.doc_id for each in reply.passages] == ["feature"]
    assert not any("Tamarisk" in (fact.subject, fact.object) for fact in result.facts)
    assert set(await rows(graphed, "g-delete")) == {"feature"}
    assert (await ask(graphed, "g-delete", "What does Tamarisk cost?"))[0].status == "empty"


async def test_an_edit_replaces_what_a_passage_said_and_keeps_the_others(graphed: InProcess) -> None:
    await put(graphed, "g-edit", feature=FEATURE, plans=PLANS)
    before = await rows(graphed, "g-edit")
    sent = await graphed.observe(
        page("plans", PLANS.replace("Tamarisk carries Bracken", "Tamarisk carries Sedge"), tenant="g-edit")
    )
    (batch,) = [each.message for each in sent if each.topic is catalogue.ENTITIES]
    assert len({entity.chunk_id for entity in batch.entities}) == 1  # type: ignore[attr-defined]
    assert await rows(graphed, "g-edit") == before  # one name for another
    result, reply = await ask(graphed, "g-edit")
    assert [each.doc_id for each in reply.passages] == ["feature"]
    assert not any("Tamarisk" in (fact.subject, fact.object) for fact in result.facts)
    # The second passage of the page was not extracted again, and is still there.
    assert (await ask(graphed, "g-edit", "What does Alder carry?"))[0].status == "ok"


async def test_tenants_with_equal_documents_do_not_meet_in_the_graph(graphed: InProcess) -> None:
    await put(graphed, "g-mine", feature=FEATURE)
    await put(graphed, "g-theirs", plans=PLANS)
    _, reply = await ask(graphed, "g-mine")
    assert [each.doc_id for each in reply.passages] == ["feature"]
    assert (await ask(graphed, "g-theirs"))[0].status == "empty"


async def test_a_question_that_names_nothing_skips_the_leg_and_degrades_nothing(graphed: InProcess) -> None:
    await put(graphed, "g-none", feature=FEATURE)
    result, reply = await ask(graphed, "g-none", "how is it done?", profile="all")
    assert (result.status, result.reason) == ("skipped", "no entity in the question")
    assert not reply.degraded
