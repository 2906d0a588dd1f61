"""Generations on real servers: built beside the live one, promoted while questions run, rolled back, dropped."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from schemas.documents import DocumentChange
from schemas.replies import QueryReply
from streams.adapters.e5_embedder import MODEL as E5
from streams.adapters.onnx_embedder import MODEL as MINILM
from streams.embedded import stack as servers
from streams.embedded.stack import EmbeddedError
from tests.conftest import unavailable
from tests.integration.reindexing import ROOT, Installation, installed
from tests.pipeline import next_version, page

PAGES = 40  # of two passages each: all are among a leg's 100 candidates, however alike they are
LOADED = 150  # pages that keep the bulk lane busy for some seconds
WORDS = ["amber", "birch", "cedar", "delta", "ember", "flint", "grove", "hazel", "indigo", "juniper"]


@pytest.fixture(scope="module")
async def here(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Installation]:
    """Servers of this file's own: what is live is a matter of the whole installation."""
    folder = tmp_path_factory.mktemp("generations")
    try:
        stack = await servers.start(folder, broker="kafka")
    except EmbeddedError as error:
        unavailable(str(error))
        raise
    try:
        async with installed(stack, folder) as running:
            yield running
    finally:
        await stack.stop()


def content(number: int, word: str) -> str:
    return f"# Locker {number}\n\nLocker {number} opens with the word {word}.\n\n## Place\n\nIn hall {number % 7}."


async def fill(here: Installation, tenant: str, pages: int = PAGES) -> None:
    changes = [page(f"locker-{n}", content(n, WORDS[n % 10]), tenant=tenant) for n in range(pages)]
    async for status in here.client.publish_many(changes, wait=True, timeout=120):
        assert status is not None
        assert status.status == "searchable", status


async def ask(here: Installation, tenant: str, number: int, generation: str | None = None) -> QueryReply:
    """Ask until all legs were in time: on a busy machine a reply may say that one was not."""
    for _ in range(20):
        reply = await once(here, tenant, number, generation)
        if not reply.degraded:
            break
    return reply


async def once(here: Installation, tenant: str, number: int, generation: str | None = None) -> QueryReply:
    text = f"which word opens locker {number}?"
    return await here.client.ask(text, tenant=tenant, top_k=2 * PAGES, floor=0.0, generation=generation, timeout=10.0)


@asynccontextmanager
async def asking(here: Installation, tenant: str, number: int) -> AsyncIterator[list[QueryReply]]:
    """Ask without a pause, three questions at a time, while the block runs; give the replies."""
    replies: list[QueryReply] = []
    done = asyncio.Event()

    async def watch() -> None:
        while not done.is_set():
            replies.append(await once(here, tenant, number))

    watching = [asyncio.create_task(watch()) for _ in range(3)]
    yield replies
    done.set()
    await asyncio.gather(*watching)


def text_of(reply: QueryReply, number: int) -> str:
    assert reply.error is None, reply.error
    return "\n".join(each.text for each in reply.passages if each.doc_id == f"locker-{number}")


async def live(here: Installation) -> str:
    return (await here.generations.live()).id


async def started(here: Installation, *options: str) -> str:
    code, said = await here.command("reindex", "start", *options)
    assert code == 0, said
    return re.match(r"(g\d+) is being built", said)[1]  # type: ignore[index]


async def test_a_model_change_from_its_start_to_the_drop_of_what_was(here: Installation) -> None:
    tenant = "t-model"
    await fill(here, tenant)
    old = await live(here)
    before = await here.embedded(MINILM)
    async with here.replaying():
        new = await started(here, "--model", E5)
        # While the log is replayed: an edit and a deletion, with their receipts from the live generation.
        edit = page("locker-3", content(3, "zebra"), tenant=tenant)
        gone = DocumentChange(tenant=tenant, source="help", doc_id="locker-4", version=next_version(), op="delete")
        statuses = [await here.client.publish(change, wait=True, timeout=60) for change in (edit, gone)]
        assert [(each.status, each.generation) for each in statuses if each] == [("searchable", old), ("deleted", old)]

        async with asking(here, tenant, 5) as asked:
            code, said = await here.command("reindex", "promote", "--wait")
            assert (code, said.startswith(f"{new} is live; {old} is kept")) == (0, True), said
            await asyncio.sleep(0.5)
        # On a crowded machine a question may be refused as `overloaded`, and nothing worse.
        assert {each.error.error_class for each in asked if each.error} <= {"overloaded"}
        complete = [each for each in asked if not each.degraded and not each.error]
        assert {each.generation for each in asked} == {each.generation for each in complete} == {old, new}
        assert [_told(each) for each in complete if "flint" not in text_of(each, 5)] == []
        models = {(each.generation, each.models.embedder) for each in asked if each.models.embedder}
        assert models <= {(old, MINILM), (new, E5)}

        # What came during the replay is in both.
        for generation in (None, old):
            reply = await ask(here, tenant, 3, generation)
            assert "zebra" in text_of(reply, 3), _told(reply)
            assert text_of(await ask(here, tenant, 4, generation), 4) == ""
        assert (await ask(here, tenant, 3)).generation == new
        assert await here.embedded(MINILM) - before <= 3, "the old model embeds nothing but the edited page"
        await back_and_drop(here, tenant, old, new)


def _told(reply: QueryReply) -> object:
    """Return what explains an answer in which a page is missing."""
    legs = {leg: (report.status, report.candidates, report.reason) for leg, report in reply.legs.items()}
    shown = [(each.doc_id, each.version, round(each.score, 3), sorted(each.legs)) for each in reply.passages]
    return reply.generation, reply.cache, reply.models.embedder, legs, shown


async def back_and_drop(here: Installation, tenant: str, old: str, new: str) -> None:
    """Edit, roll back, and drop what was live for a while."""
    edit = page("locker-6", content(6, "yak"), tenant=tenant)
    status = await here.client.publish(edit, wait=True, timeout=60)
    assert status is not None
    assert (status.status, status.generation) == ("searchable", new)
    code, said = await here.command("reindex", "rollback", "--wait")
    assert (code, said.startswith(f"{old} is live; {new} is kept")) == (0, True), said
    reply = await ask(here, tenant, 6)
    assert (reply.generation, "yak" in text_of(reply, 6)) == (old, True)

    code, said = await here.command("reindex", "drop", old)
    assert (code, said) == (
        2,
        f"rankstream: {old} is live, and questions read it; promote another one first\n",
    )
    code, said = await here.command("reindex", "drop", new)
    assert code == 0, said
    reply = await ask(here, tenant, 6, new)
    assert reply.error is not None
    assert (reply.error.error_class, reply.error.field) == ("validation", "generation")
    assert not await rows(here, new)
    client = AsyncQdrantClient(url=here.stack.endpoints.qdrant, check_compatibility=False)
    assert not await client.collection_exists(f"rankstream-{new}")
    await client.close()
    assert "zebra" in text_of(await ask(here, tenant, 3), 3)


async def test_a_change_of_sizes_embeds_nothing_but_what_is_cut_otherwise(here: Installation) -> None:
    tenant = "t-sizes"
    long = "# Rules\n\n" + "\n\n".join(f"Rule {n} says that visitor {n} signs in at desk {n}." for n in range(40))
    await fill(here, tenant, 20)
    status = await here.client.publish(page("rules", long, tenant=tenant), wait=True, timeout=60)
    assert status is not None
    before = await here.embedded(MINILM)
    old = await live(here)
    async with here.replaying():
        new = await started(here, "--chunker", "child_max=500,child_target=400")
        code, said = await here.command("reindex", "promote", "--wait")
        assert code == 0, said
        count = await here.command("show", "help/rules", "--tenant", tenant)
        children = count[1].count("      child ")
        assert await here.embedded(MINILM) - before == children
        assert "flint" in text_of(await ask(here, tenant, 5), 5)
        assert (await here.command("reindex", "rollback"))[0] == 0
        assert await live(here) == old
        assert (await here.command("reindex", "drop", new))[0] == 0


async def test_a_replay_that_is_killed_goes_on_where_it_was(here: Installation) -> None:
    tenant = "t-crash"
    await fill(here, tenant, 300)
    async with here.replaying() as first:
        new = await started(here, "--rebuild")
        for _ in range(3_000):
            if await rows(here, new) >= 20:
                break
            await asyncio.sleep(0.02)
        first.kill()
        await first.wait()
    reached = await rows(here, new)
    total = await rows(here, await live(here))
    assert reached < total, "the fault must meet documents that are not there yet"
    code, said = await here.command("reindex", "promote")
    assert (code, f"{new} is behind: " in said) == (1, True), said
    async with here.replaying():
        code, said = await here.command("reindex", "promote", "--wait")
        assert code == 0, said
    assert await rows(here, new) == total
    for number in (0, 150, 299):
        reply = await ask(here, tenant, number)
        assert (reply.generation, WORDS[number % 10] in text_of(reply, number)) == (new, True)
    assert (await here.command("reindex", "rollback"))[0] == 0
    assert (await here.command("reindex", "drop", new))[0] == 0


async def test_what_a_source_was_told_holds_through_a_switch_while_the_bulk_lane_is_backed_up(
    here: Installation,
) -> None:
    tenant = "t-backlog"
    await fill(here, tenant, 3)
    old = await live(here)
    told = 0

    async def watch() -> None:
        """Look again and again whether the live generation has what the source was told last."""
        while True:
            least = told
            assert await version_in_live(here, tenant, "locker-1") >= least
            await asyncio.sleep(0.01)

    async def load(name: str) -> None:
        pages = [page(f"{name}-{n}", content(n, WORDS[n % 10]), tenant="t-load") for n in range(LOADED)]
        async for _ in here.client.publish_many(pages, bulk=True, timeout=120):
            pass

    watching = asyncio.create_task(watch())
    async with here.replaying():
        new = await started(here, "--rebuild")
        for to, command in ((new, "promote"), (old, "rollback")):
            beside = new if command == "promote" else old
            await load(command)
            switching = asyncio.create_task(here.command("reindex", command, "--wait", "--timeout", "120"))
            overtook = False
            for n in range(5):
                edit = page("locker-1", content(1, f"{command}-{n}"), tenant=tenant)
                status = await here.client.publish(edit, wait=True, timeout=60)
                assert status is not None
                assert status.status == "searchable"
                told = edit.version
                if await live(here) != to:
                    overtook |= await version_in(here, beside, tenant, "locker-1") < told
                await asyncio.sleep(0.2)
            code, said = await switching
            assert (code, await live(here)) == (0, to), said
            assert overtook, "an edit must be searchable in one generation before it is in the other"
        assert not watching.done(), watching
        watching.cancel()
        assert (await here.command("reindex", "drop", new))[0] == 0


async def version_in(here: Installation, generation: str, tenant: str, doc_id: str) -> int:
    async with here.pool.connection() as connection:
        found = await connection.execute(
            "SELECT live_version FROM documents WHERE generation = %s AND tenant = %s AND doc_id = %s",
            (generation, tenant, doc_id),
        )
        row = await found.fetchone()
    return int(row["live_version"] or 0) if row else 0


async def version_in_live(here: Installation, tenant: str, doc_id: str) -> int:
    async with here.pool.connection() as connection:
        found = await connection.execute(
            "SELECT d.live_version FROM generations g JOIN documents d ON d.generation = g.id"
            " WHERE g.state = 'live' AND d.tenant = %s AND d.doc_id = %s",
            (tenant, doc_id),
        )
        row = await found.fetchone()
    return int(row["live_version"] or 0) if row else 0


async def test_a_model_that_cannot_be_had_fails_there_alone_and_is_named(here: Installation) -> None:
    tenant = "t-failed"
    await fill(here, tenant, 5)
    async with here.replaying():
        new = await started(here, "--model", "text-embedding-3-small")
        for _ in range(120):
            code, said = await here.command("reindex", "status")
            if "failed in" in said:
                break
        assert re.search(rf"failed in {new}: t-\w+ help/locker-\d+ version \d+: .*OPENAI_API_KEY is not set", said)
        (edited,) = [page("locker-1", content(1, "walrus"), tenant=tenant)]
        status = await here.client.publish(edited, wait=True, timeout=60)
        assert status is not None
        assert status.status == "searchable"
        assert "walrus" in text_of(await ask(here, tenant, 1), 1)
        code, said = await here.command("reindex", "promote", "--wait")
        assert (code, "documents failed in it" in said) == (1, True), said
        assert (await here.command("reindex", "drop", new))[0] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("start",), "g1 has these models and sizes already: name another --model, --also or --chunker, or --rebuild"),
        (("start", "--model", "bert"), "--model: there is no embedder 'bert'; there are "),
        (("start", "--also", MINILM), "--also: all-MiniLM-L6-v2-int8 is named twice"),
        (("start", "--chunker", "size=3"), "--chunker: there is no size 'size'; there are parent_max, "),
        (("start", "--chunker", "child_max=9"), "--chunker: child_max is '9'; it must be 50 to 20000 characters"),
        (("promote",), "no generation is being built: name one, or begin with `rankstream reindex start`"),
        (("promote", "g1"), "g1 is live already; there are beside the live one: none; "),
        (("promote", "g99"), "g99 is not there; "),
        (("drop", "g99"), "there is no generation 'g99'; there are g1"),
    ],
)
async def test_a_mistake_is_one_line_and_exit_2(here: Installation, arguments: tuple[str, ...], says: str) -> None:
    await here.resources.generations()
    code, said = await here.command("reindex", *arguments)
    assert (code, said.startswith(f"rankstream: {says}"), said.count("\n")) == (2, True, 1), said


async def test_the_commands_of_the_page_work(here: Installation) -> None:
    page = (ROOT / "docs/operating.md").read_text()
    (block,) = (each for each in re.findall(r"```sh\n(.*?)```", page, re.S) if "reindex" in each)
    lines = [line.split("#")[0].split() for line in block.splitlines() if line.startswith("rankstream ")]
    assert len(lines) >= 5
    await fill(here, "demo", 5)
    number = len(await here.table.known()) + 1
    async with here.replaying():
        for line in lines:
            words = " ".join(line[1:]).replace("g2", f"g{number}").replace('"', "").split()
            code, said = await here.command(*_question(words))
            assert code == 0, (line, said)


def _question(words: list[str]) -> list[str]:
    """Return the words of a command, those of a question as one."""
    if words[0] != "ask":
        return words
    end = next(place for place, word in enumerate(words) if word.startswith("--"))
    return ["ask", " ".join(words[1:end]), *words[end:]]


async def test_a_broker_that_keeps_nothing_is_refused(tmp_path: Path) -> None:
    stack = await servers.start(tmp_path, broker="tansu")
    try:
        async with installed(stack, tmp_path) as here:
            for environment in ({}, {"KAFKA_BOOTSTRAP_SERVERS": stack.endpoints.kafka}):
                code, said = await here.command("reindex", "start", "--rebuild", **environment)
                assert (code, said) == (
                    2,
                    "rankstream: a generation is filled from the log `documents`, which this broker does not keep: "
                    "Tansu has no compaction; use Apache Kafka\n",
                )
            assert [each.id for each in await here.table.known()] == ["g1"]
    finally:
        await stack.stop()


async def rows(here: Installation, generation: str) -> int:
    async with here.pool.connection() as connection:
        found = await connection.execute("SELECT count(*) AS n FROM documents WHERE generation = %s", (generation,))
        row = await found.fetchone()
    return int(row["n"]) if row else 0
