"""A question that names a version is answered fresh, or says that it is not."""

from __future__ import annotations

import asyncio

from schemas.documents import DocumentChange
from schemas.queries import MinVersion
from schemas.replies import QueryReply
from tests.e2e.operator import rankstream
from tests.e2e.test_lifecycle import texts
from tests.pipeline import Pipeline, page

QUESTION = "when does the ferry leave?"


async def ask(pipeline: Pipeline, tenant: str, version: int, doc_id: str = "ferry") -> QueryReply:
    wanted = MinVersion(source="help", doc_id=doc_id, version=version)
    # Every passage, in whatever order: none may be missing.
    return await pipeline.client.ask(QUESTION, tenant=tenant, min_version=[wanted], top_k=50, floor=0.0)


def ferry(tenant: str, version: int) -> DocumentChange:
    # The new text is a passage of its own: the old ones do not change, and no hit of theirs tells that it came.
    times = "".join(f"\n\n## Summer {n}\n\nThe ferry leaves at hour {n}." for n in range(1, version + 1))
    return page("ferry", f"# Ferry{times}", tenant=tenant, version=version)


async def test_an_edit_that_is_asked_for_at_once_is_fresh_or_stale_and_never_silently_old(pipeline: Pipeline) -> None:
    tenant = "t-at-once"
    await pipeline.publish(ferry(tenant, 1))
    stale = 0
    for version in range(2, 16):
        publishing = asyncio.create_task(pipeline.publish(ferry(tenant, version)))
        while True:
            received = publishing.done()
            reply = await ask(pipeline, tenant, version)
            text = texts(reply)
            assert reply.cache == "off"
            if not reply.stale:
                assert f"at hour {version}." in text, "old, and does not say so"
                break
            assert not received, "stale after its receipt"
            assert reply.stale_versions == 1
            assert reply.passages
            stale += 1
        await publishing
        assert not (await ask(pipeline, tenant, version)).stale
    assert stale > 0, "no question came early enough to show anything"


async def test_a_deletion_counts_by_its_version_and_a_re_creation_by_its_own(pipeline: Pipeline) -> None:
    tenant = "t-fresh-deleted"
    await pipeline.publish(ferry(tenant, 1))
    gone = DocumentChange(tenant=tenant, source="help", doc_id="ferry", version=4, op="delete")
    await pipeline.publish(gone)
    deleted = await ask(pipeline, tenant, 4)
    assert (deleted.stale, deleted.passages) == (False, ())
    early = await ask(pipeline, tenant, 6)
    assert (early.stale, early.stale_versions) == (True, 2)
    await pipeline.publish(ferry(tenant, 6))
    assert not (await ask(pipeline, tenant, 6)).stale


async def test_an_unknown_document_is_stale_by_all_its_versions_and_stale_answers_are_not_kept(
    pipeline: Pipeline,
) -> None:
    tenant = "t-fresh-unknown"
    await pipeline.publish(ferry(tenant, 1))
    for _ in range(2):
        reply = await ask(pipeline, tenant, 3, doc_id="no-such")
        assert (reply.stale, reply.stale_versions, reply.cache) == (True, 4, "off")  # versions 0 to 3
    assert (await pipeline.client.ask(QUESTION, tenant=tenant)).cache == "miss"


async def test_the_command_says_how_stale_an_answer_is(pipeline: Pipeline) -> None:
    tenant = "t-fresh-command"
    await pipeline.publish(ferry(tenant, 2))
    code, out, _ = await rankstream(pipeline, "ask", QUESTION, "--tenant", tenant, "--min-version", "help/ferry=5")
    assert (code, "stale: 3 versions behind" in out) == (0, True)
    code, out, _ = await rankstream(pipeline, "ask", QUESTION, "--tenant", tenant, "--min-version", "help/ferry=2")
    assert (code, "stale" in out) == (0, False)
    code, out, err = await rankstream(pipeline, "ask", QUESTION, "--tenant", tenant, "--min-version", "ferry")
    assert (code, out, err.count("\n")) == (2, "", 1)
