"""The probe on a running pipeline: all is well, and each way in which it is not is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from schemas.documents import DocumentChange, DocumentStatus
from schemas.replies import QueryReply
from streams.domain import canary
from streams.domain.canary import Canary, Check, Question
from streams.errors import NoReply
from streams.gateways import probing_http
from streams.gateways.probing import Door, KafkaDoor, Probe
from tests.gateway import serving
from tests.pipeline import Pipeline, next_version, page

STEPS = ["publish", "find", "edit", "find the edit", "delete", "find no more"]


class Broken:
    """The way in through the client, with one thing that goes wrong."""

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        publish: Callable[[DocumentChange], bool] = lambda _: True,
        ask: Callable[[Question], Question] = lambda question: question,
        late: bool = False,
    ) -> None:
        self._door = KafkaDoor(pipeline.client)
        self._published, self._asked, self._late = publish, ask, late

    async def publish(self, change: DocumentChange, timeout: float) -> DocumentStatus | None:
        if self._late:
            raise NoReply("no receipt came")
        # What is not published is confirmed all the same: a broken promise.
        return await self._door.publish(change, timeout) if self._published(change) else None

    async def ask(self, question: Question, timeout: float) -> QueryReply:
        return await self._door.ask(self._asked(question), timeout)


def bird() -> Canary:
    return Canary(tenant=f"t-{next_version()}", version=next_version())


async def probed(door: Door, own: Canary, *questions: Question) -> list[Check]:
    return await Probe(door, timeout=10.0, receipt=60.0).run(own, questions)


def wrong(checks: list[Check]) -> dict[str, tuple[str, ...]]:
    return {check.name: check.problems for check in checks if check.problems}


async def test_a_canary_lives_twice_and_is_gone_and_nothing_of_it_is_left(pipeline: Pipeline) -> None:
    own = bird()
    checks = await probed(KafkaDoor(pipeline.client), own)
    assert [check.name for check in checks] == STEPS
    assert wrong(checks) == {}
    assert canary.outcome(checks) == ("degraded" if any(check.degraded for check in checks) else "passed")
    reply = await pipeline.client.ask("What is the signal word of the canary?", tenant=own.tenant)
    assert reply.passages == ()


async def test_an_edit_that_is_confirmed_and_not_there_is_told(pipeline: Pipeline) -> None:
    own = bird()
    lost = Broken(pipeline, publish=lambda change: change.version != own.version + 1)
    assert wrong(await probed(lost, own)) == {
        "find the edit": (
            "probe/canary is found with a text that is not the last one",
            "probe/canary is found with a text that was replaced",
        )
    }


async def test_a_deletion_that_is_confirmed_and_not_done_is_told(pipeline: Pipeline) -> None:
    own = bird()
    checks = await probed(Broken(pipeline, publish=lambda change: change.op != "delete"), own)
    assert wrong(checks) == {"find no more": ("probe/canary is found though it was deleted",)}
    await pipeline.publish(own.change(2, "delete"))


async def test_a_question_of_another_tenant_finds_no_canary(pipeline: Pipeline) -> None:
    other = Broken(pipeline, ask=lambda question: dataclasses.replace(question, tenant="nobody"))
    assert wrong(await probed(other, bird())) == {
        "find": ("probe/canary is not among the 0 passages",),
        "find the edit": ("probe/canary is not among the 0 passages",),
    }


async def test_without_a_receipt_the_deletion_is_tried_and_the_rest_is_not(pipeline: Pipeline) -> None:
    checks = await probed(Broken(pipeline, late=True), bird())
    assert wrong(checks) == {"publish": ("no receipt came",), "delete": ("no receipt came",)}


async def test_an_error_and_an_expected_document_of_an_operator_s_question_are_told(pipeline: Pipeline) -> None:
    tenant = f"t-{next_version()}"
    await pipeline.publish(page("shelf", "# Shelf\n\nThe stapler is on the third shelf.", tenant=tenant))
    checks = await probed(
        KafkaDoor(pipeline.client),
        bird(),
        Question(text="Where is the stapler?", tenant=tenant, expect="help/shelf", says="third shelf"),
        Question(text="Where is the stapler?", tenant=tenant, expect="help/drawer"),
        Question(text="Where is the stapler?", tenant=tenant, profile="none-such"),
    )
    found = wrong(checks)
    assert found.keys() == {"question 2", "question 3"}
    assert found["question 2"] == ("help/drawer is not among the 1 passages",)
    assert found["question 3"][0].startswith("validation: ")


async def test_the_same_run_over_http_with_a_key(pipeline: Pipeline) -> None:
    async with serving(pipeline.settings) as front:
        tenant = f"t-{next_version()}"
        own = Canary(tenant=tenant, version=next_version())
        async with probing_http.opened(front.url, await front.key(tenant)) as door:
            checks = await probed(door, own)
            assert ([check.name for check in checks], wrong(checks)) == (STEPS, {})
            unknown = await door.ask(Question(text="which?", tenant=tenant, profile="none-such"), 5.0)
            assert unknown.error is not None
            assert "none-such" in unknown.error.message
        async with probing_http.opened(front.url, "rs_wrong") as door:
            found = wrong(await probed(door, own))
            assert found.keys() == {"publish", "delete"}
            assert found["publish"][0].startswith("401: ")
    async with probing_http.opened(front.url, "rs_any") as door:
        [problem, _] = wrong(await probed(door, own)).values()
        assert problem[0].startswith("PUT /v1/documents/probe/canary: ")


@pytest.mark.parametrize("profile", ["general", "knowledge-base"])
async def test_a_canary_is_found_under_the_profiles_that_agents_use(pipeline: Pipeline, profile: str) -> None:
    door = Broken(pipeline, ask=lambda question: dataclasses.replace(question, profile=profile))
    assert wrong(await probed(door, bird())) == {}
