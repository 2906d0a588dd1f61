"""Global graph search end to end: the command asks a server that speaks the protocol, questions get what it said."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from schemas.documents import DocumentChange
from schemas.queries import QueryRequest
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

PLANS = (
    "# Plans\n\nTamarisk includes Bracken and Sedge. Tamarisk costs $189.\n\n"
    "## Small plans\n\nAlder includes Sedge. Alder belongs to Tamarisk. Sedge carries Bracken.\n\n"
    "## Seats\n\nTamarisk has twelve seats. Bracken belongs to Tamarisk, and so does Alder."
)
LAKES = (
    "# Quillon\n\nQuillon writes columns to Harrow. Harrow stores Quillon tables.\n\n"
    "## Harrow\n\nHarrow uses Pinnace. Pinnace reads Quillon columns for Harrow."
)
OVERVIEW = "What topics are covered?"


class Model:
    """An endpoint; it repeats the first sentence of every passage, adds a number of its own, or fails."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.status = 200
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        if self.status != 200:
            return web.Response(status=self.status)
        user = (await request.json())["messages"][1]["content"]
        self.prompts.append(user)
        found = re.findall(r"\n\n([^\n]+?\.)", user)
        said = f"TITLE: {found[0]}\n{' '.join(dict.fromkeys(found))} It was founded in 1871."
        usage = {"prompt_tokens": 100, "completion_tokens": 20}
        return web.json_response({"choices": [{"message": {"content": said}}], "usage": usage})


@asynccontextmanager
async def serving() -> AsyncIterator[Model]:
    model = Model()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", model.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    model.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield model
    await runner.cleanup()


@pytest.fixture
async def model() -> AsyncIterator[Model]:
    async with serving() as running:
        yield running


@pytest.fixture(scope="module")
async def graphed(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[InProcess]:
    """All processors without a bus, with profiles that have the option on and off."""
    at = stack.endpoints
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("overviews"),
        kafka=at.kafka,
        qdrant=at.qdrant,
        postgres=at.postgres,
        redis=at.redis,
    )
    await migrate(at.postgres)
    resources = Resources(settings)
    legs: Any = ("dense", "fulltext", "graph")
    resources.profiles = {
        "on": Profile(name="on", summary="s", legs=legs, graph_global=True),
        "off": Profile(name="off", summary="s", legs=legs),
    }
    deps = {processor.name: await resources.deps(processor) for processor in processors.ALL}
    async with InProcess(resources, deps) as opened:
        yield opened


async def put(graphed: InProcess, tenant: str, doc_id: str, content: str, **fields: Any) -> None:
    status = await graphed.ingest(page(doc_id, content, tenant=tenant, **fields))
    assert status is not None
    assert status.status == "searchable"


async def ask(
    graphed: InProcess, tenant: str, text: str = OVERVIEW, profile: str = "on", agent: str | None = None
) -> QueryReply:
    return await graphed.ask(QueryRequest(query_id=new_id(0.0), tenant=tenant, text=text, profile=profile, agent=agent))


async def summarize(graphed: InProcess, model: Model | None, *arguments: str, folder: Path) -> tuple[int, str]:
    """Run `rankstream graph summarize` in a process of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RANKSTREAM_LLM")}
    if model is not None:
        kept |= {"RANKSTREAM_LLM_URL": model.url, "RANKSTREAM_LLM_MODEL": "m1"}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "streams.cli.main", "graph", "summarize", *arguments),
        env={**kept, "RANKSTREAM_DATA": str(folder), "DATABASE_URL": graphed.resources.settings.postgres or ""},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await asyncio.wait_for(process.communicate(), 120)
    return process.returncode or 0, out.decode()


async def test_from_the_graph_over_the_model_to_the_reply_and_away_with_the_document(
    graphed: InProcess, model: Model, tmp_path: Path
) -> None:
    await put(graphed, "o-all", "plans", PLANS)
    await put(graphed, "o-all", "lakes", LAKES)
    before = await ask(graphed, "o-all")
    assert before.reasons == ("graph: graph_global: there are no overviews; `rankstream graph summarize` makes them",)
    code, said = await summarize(graphed, model, "--tenant", "o-all", folder=tmp_path)
    assert code == 0, said
    made = len(model.prompts)
    assert made >= 2
    assert said.splitlines() == [
        f"o-all: {made} clusters: {made} made",
        f"m1: {made} answers, 0 failures, {100 * made} + {20 * made} tokens",
    ]
    reply = await ask(graphed, "o-all")
    assert (reply.degraded, reply.legs["graph"].status) == (False, "ok")
    assert reply.summary is not None
    assert "Quillon writes columns to Harrow." in reply.summary.text and "Tamarisk" in reply.summary.text
    assert "1871" not in reply.summary.text
    assert {"plans", "lakes"} <= {passage.doc_id for passage in reply.passages if "graph" in passage.legs}
    narrow = await ask(graphed, "o-all", "Give me an overview of Quillon")
    assert narrow.summary is not None and "189" not in narrow.summary.text
    assert (await ask(graphed, "o-all", profile="off")).summary is None
    assert (await ask(graphed, "o-none")).summary is None
    again = await summarize(graphed, model, "--tenant", "o-all", folder=tmp_path)
    assert (again[0], again[1].splitlines()[0]) == (0, f"o-all: {made} clusters: {made} kept")
    assert len(model.prompts) == made
    gone = DocumentChange(tenant="o-all", source="help", doc_id="lakes", version=next_version(), op="delete")
    assert (await graphed.ingest(gone)).status == "deleted"  # type: ignore[union-attr]
    reply = await ask(graphed, "o-all")
    assert reply.summary is not None
    assert "Quillon" not in reply.summary.text and "Tamarisk" in reply.summary.text


async def test_restricted_documents_are_told_of_to_their_agent_alone(
    graphed: InProcess, model: Model, tmp_path: Path
) -> None:
    await put(graphed, "o-agents", "plans", PLANS)
    await put(graphed, "o-agents", "lakes", LAKES, agents=("bot",))
    assert (await summarize(graphed, model, "--tenant", "o-agents", folder=tmp_path))[0] == 0
    assert all("Quillon" not in prompt or "Tamarisk" not in prompt for prompt in model.prompts)
    for agent, told in (("bot", True), ("desk", False), (None, False)):
        reply = await ask(graphed, "o-agents", agent=agent)
        assert reply.summary is not None
        assert ("Quillon" in reply.summary.text) is told


async def test_a_model_that_is_down_is_one_line_and_a_later_run_goes_on(
    graphed: InProcess, model: Model, tmp_path: Path
) -> None:
    await put(graphed, "o-down", "plans", PLANS)
    model.status = 401
    code, said = await summarize(graphed, model, "--tenant", "o-down", folder=tmp_path)
    assert code == 1
    assert said.splitlines()[-1] == (
        "rankstream: some overviews are missing: m1 answered with status 401; run it again"
    )
    model.status = 200
    assert (await summarize(graphed, model, "--tenant", "o-down", folder=tmp_path))[0] == 0
    assert (await ask(graphed, "o-down")).summary is not None


async def test_what_is_missing_is_one_line_and_a_dry_run_needs_no_model(graphed: InProcess, tmp_path: Path) -> None:
    await put(graphed, "o-dry", "plans", PLANS)
    assert await summarize(graphed, None, folder=tmp_path) == (
        2,
        "rankstream: graph summarize needs a language model; set RANKSTREAM_LLM_URL and RANKSTREAM_LLM_MODEL\n",
    )
    code, said = await summarize(graphed, None, "--tenant", "o-dry", "--dry-run", folder=tmp_path)
    assert code == 0
    assert re.fullmatch(r"o-dry: (\d+) clusters, \1 to be summarized\n", said)
    code, said = await summarize(graphed, None, "--tenant", "o-nobody", "--dry-run", folder=tmp_path)
    assert (code, said) == (2, "rankstream: --tenant: o-nobody has no documents in generation g1\n")


async def test_the_option_without_a_model_is_one_warning_at_the_start(
    graphed: InProcess, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    processor = next(each for each in processors.ALL if each.name == "retrieve-graph")
    await graphed.resources.deps(processor)
    (line,) = [each.getMessage() for each in caplog.records if "graph_global" in each.getMessage()]
    assert line.startswith("graph_global (profile on): no language model is set;")
