"""Contexts for the reranker through all processors: made on the side, read by the model, never shown."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence

import pytest

from schemas import codec
from schemas.queries import QueryRequest
from schemas.replies import QueryReply
from streams.adapters import rerankers
from streams.adapters.memory_chat import MemoryChat
from streams.adapters.memory_reranker import MemoryReranker
from streams.adapters.migrations import migrate
from streams.bootstrap import Resources
from streams.domain.reranking import Scored
from streams.embedded.stack import Stack
from streams.gateways.questions import new_id
from streams.processors import catalogue as processors
from streams.processors.asking import Asker
from streams.quality.in_process import InProcess
from tests.integration.test_rerank import settings_of
from tests.pipeline import next_version, page

FEES = "# Fees\n\nIt is due on the first day of a month."
PLAN = "# Plans\n\nThe large plan has more rooms than the small plan."


class Reader(MemoryReranker):
    """The twin of a model, which keeps what it reads."""

    def __init__(self) -> None:
        super().__init__(at_once=2)
        self.read: list[str] = []

    async def score(self, question: str, passages: Sequence[str], *, seconds: float) -> Scored:
        self.read += passages
        return await super().score(question, passages, seconds=seconds)


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader()


@pytest.fixture(scope="module")
def model() -> MemoryChat:
    return MemoryChat(lambda system, user: "It is about fees and plans, 99 of them. It is about plans.\nWORDS: charges")


@pytest.fixture(scope="module", params=["reranker", "both"])
async def pipeline(
    request: pytest.FixtureRequest,
    stack: Stack,
    tmp_path_factory: pytest.TempPathFactory,
    reader: Reader,
    model: MemoryChat,
) -> AsyncIterator[InProcess]:
    settings = settings_of(stack, tmp_path_factory.mktemp("context"), reranker="twin", chunk_context=request.param)
    await migrate(stack.endpoints.postgres)
    resources = Resources(settings)

    async def asker(work: str) -> Asker:
        return Asker(model=model)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rerankers, "build", lambda *_: reader)
        patched.setattr(resources, "asker", asker)
        deps = {processor.name: await resources.deps(processor) for processor in processors.ALL}
    async with InProcess(resources, deps) as opened:
        yield opened


async def ask(pipeline: InProcess, tenant: str) -> QueryReply:
    text = "When are fees of the large plan due?"
    return await pipeline.ask(
        QueryRequest(query_id=new_id(time.time()), tenant=tenant, text=text, profile="knowledge-base")
    )


async def test_the_reranker_reads_what_the_model_said_and_the_reply_shows_none_of_it(
    pipeline: InProcess, reader: Reader, model: MemoryChat
) -> None:
    tenant = f"c-{next_version()}"
    model.asked.clear()
    for doc_id, content in (("fees", FEES), ("plans", PLAN)):
        status = await pipeline.ingest(page(doc_id, content, tenant=tenant))
        assert status is not None and status.status == "searchable"
    assert len(model.asked) == 2  # one a passage, whoever needs it
    reader.read.clear()
    reply = await ask(pipeline, tenant)
    assert (reply.legs["rerank"].status, len(reply.passages)) == ("ok", 2)
    for read in reader.read:
        heading, context, text = read.split("\n\n")
        assert heading in ("Fees", "Plans")
        # Of what was said, neither the number nor the sentence that says nothing of this page is believed.
        assert "99" not in context and context.endswith("charges.")
        assert text in (FEES + PLAN)
    assert "charges" not in codec.encode(reply).decode()


async def test_an_edit_asks_for_what_changed_and_an_unchanged_page_for_nothing(
    pipeline: InProcess, model: MemoryChat
) -> None:
    tenant = f"c-{next_version()}"
    two = f"{FEES}\n\n{PLAN}"
    await pipeline.ingest(page("both", two, tenant=tenant))
    model.asked.clear()
    await pipeline.ingest(page("both", two.replace("large plan", "wide plan"), tenant=tenant))
    assert len(model.asked) == 1
    model.asked.clear()
    await pipeline.ingest(page("both", two.replace("large plan", "wide plan"), tenant=tenant, tags=("new",)))
    assert model.asked == []
