"""rerank: the answer by its deadline whatever the model does, in the model's order as far as it came."""

from __future__ import annotations

import asyncio
import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import pytest

from schemas.fused import Fused
from schemas.queries import Expected
from schemas.replies import QueryReply
from streams.adapters import profiles
from streams.adapters.memory_reranker import MemoryReranker
from streams.domain.reranking import Scored
from streams.domain.scope import Scope
from streams.domain.versions import LivePassage
from streams.errors import Invalid, StoreUnavailable, Transient
from streams.ports import Reranker
from streams.processors import fuse, rerank
from streams.runner import Outcome, Runner
from streams.wire import Outgoing, RawOutgoing, Record
from tests.unit.domain.questions import expected, passage, prepared, result
from tests.unit.processors.fusing import Passages

BODIES = {
    "a": "Nothing of it.",
    "b": "A policy of something.",
    "c": "The refund policy.",
    "d": "Also nothing here.",
    "e": "A refund.",
}


class Model:
    """A reranker that does as it is told."""

    model = "model"

    def __init__(self, does: Callable[[Sequence[str]], Any], *, at_once: int | None = 2) -> None:
        self.at_once = at_once
        self.calls: list[int] = []
        self._does = does

    async def score(self, question: str, passages: Sequence[str], *, seconds: float) -> Scored:
        self.calls.append(len(passages))
        done = self._does(passages)
        return Scored(scores=await done if asyncio.iscoroutine(done) else done)


def lengths(passages: Sequence[str]) -> list[float]:
    """Shorter is better."""
    return [1 / len(each) for each in passages]


def slow(seconds: float) -> Callable[[Sequence[str]], Any]:
    async def score(passages: Sequence[str]) -> list[float]:
        await asyncio.sleep(seconds * len(passages))
        return lengths(passages)

    return score


def deps_of(reranker: Reranker | None, passages: Any = None) -> rerank.Deps:
    known = passages or Passages(*(passage(name, body) for name, body in BODIES.items()))
    return rerank.Deps(reranker=reranker, passages=known, profiles=profiles.shipped(), clock=time.time)


async def handed_over(*, seconds: float = 5.0, top_k: int = 3, **fields: Any) -> tuple[QueryReply | None, Fused]:
    """Let `fuse` answer under the profile `knowledge-base`; return revision 1, and what it hands over."""
    now = time.time()
    query = prepared(deadline=now + seconds, profile="knowledge-base", legs=("dense", "sparse"))
    asked = expected(query=query, received=now, prepared=now, top_k=top_k, **{"progressive": True, **fields})
    known = Passages(*(passage(name, body) for name, body in BODIES.items()))
    of = fuse.Deps(
        passages=known, pinned=known, profiles=profiles.shipped(), clock=time.time, reranker="memory-overlap"
    )
    messages: tuple[Any, ...] = (asked, result("dense", *BODIES), result("sparse"))
    outputs: list[Sequence[Outgoing]] = await asyncio.gather(*(fuse.handle(each, of) for each in messages))
    sent = [each for output in outputs for each in output]
    assert (sent[-1].topic.name, sent[-1].key) == ("fused", b"0-1")
    fused = sent[-1].message
    assert isinstance(fused, Fused)
    first = sent[0].message if len(sent) == 2 else None
    assert first is None or isinstance(first, QueryReply)
    return first, fused


async def reranked(fused: Fused, deps: rerank.Deps) -> QueryReply:
    (sent,) = await rerank.handle(fused, deps)
    assert (sent.topic.name, sent.partition, sent.headers["kafka_correlationId"]) == ("replies", 7, b"q1")
    assert isinstance(sent.message, QueryReply)
    return sent.message


def ids(reply: QueryReply) -> list[str]:
    return [each.passage_id for each in reply.passages]


async def test_the_fused_answer_comes_first_and_the_reranked_one_last() -> None:
    first, fused = await handed_over()
    assert first is not None
    assert (first.revision, first.final, first.models.reranker, ids(first)) == (1, False, None, ["a", "b", "c"])
    assert "rerank" not in first.legs
    last = await reranked(fused, deps_of(MemoryReranker()))
    assert (last.revision, last.final, last.degraded, last.reasons) == (2, True, False, ())
    assert ids(last) == ["c", "b", "e"]  # both words; one word; one word, which only five candidates have
    assert [each.rerank for each in last.passages] == [each.score for each in last.passages] == [1.0, 0.5, 0.5]
    assert [each.rank for each in last.passages] == [1, 2, 3]
    assert last.models.reranker == "memory-overlap"
    assert (last.legs["rerank"].status, last.legs["rerank"].candidates) == ("ok", 5)
    assert last.legs["dense"] == first.legs["dense"]
    assert last.passages[0].fused == first.passages[2].fused


async def test_who_takes_one_reply_only_gets_the_reranked_one() -> None:
    first, fused = await handed_over(progressive=False)
    assert first is None
    last = await reranked(fused, deps_of(MemoryReranker()))
    assert (last.revision, last.final, ids(last)) == (1, True, ["c", "b", "e"])


async def test_more_passages_do_not_change_the_first() -> None:
    few, many = [await reranked((await handed_over(top_k=k))[1], deps_of(MemoryReranker())) for k in (2, 5)]
    assert many.passages[:2] == few.passages


async def test_with_explain_it_is_told_what_came_too_far_behind() -> None:
    _, fused = await handed_over(explain=True, top_k=4)
    last = await reranked(fused, deps_of(MemoryReranker()))
    assert [(each.passage_id, each.rule) for each in last.dropped] == [("d", "below the number of passages")]


async def test_the_first_batch_measures_and_the_others_are_as_large_as_the_model_likes() -> None:
    _, fused = await handed_over()
    model = Model(lengths)
    of = deps_of(model)
    await reranked(fused, of)
    assert model.calls == [1, 2, 2]
    model.calls.clear()
    await reranked(fused, of)
    assert model.calls == [2, 2, 1]
    assert of.pace.seconds is not None


async def test_a_model_that_compares_gets_all_at_once() -> None:
    _, fused = await handed_over()
    model = Model(lengths, at_once=None)
    await reranked(fused, deps_of(model))
    assert model.calls == [5]


async def test_what_cannot_be_scored_in_time_keeps_its_fused_place_and_the_reply_says_so() -> None:
    _, fused = await handed_over(seconds=1.2, top_k=5)
    reply = await reranked(fused, deps_of(Model(slow(0.25), at_once=1)))
    scored = reply.legs["rerank"].candidates
    assert 1 <= scored < 5
    assert time.time() < fused.expected.query.deadline
    assert reply.reasons == (f"rerank: {scored} of 5 in time",)
    assert (reply.degraded, reply.final) == (True, True)
    fused_order = [each.passage.passage_id for each in fused.candidates]
    assert sorted(ids(reply)[:scored]) == sorted(fused_order[:scored])
    assert ids(reply)[scored:] == fused_order[scored:]
    assert [each.rerank is None for each in reply.passages] == [False] * scored + [True] * (5 - scored)


async def test_a_model_that_hangs_costs_the_order_and_not_the_deadline() -> None:
    _, fused = await handed_over(seconds=0.6)
    reply = await reranked(fused, deps_of(Model(slow(60))))
    assert time.time() < fused.expected.query.deadline
    assert (ids(reply), reply.reasons) == (["a", "b", "c"], ("rerank: 0 of 5 in time",))
    assert (reply.models.reranker, reply.passages[0].rerank) == (None, None)


async def test_after_a_slow_moment_the_model_is_tried_again() -> None:
    _, fused = await handed_over(seconds=5.0)
    of = deps_of(Model(lengths))
    of.pace.seconds = 1_000.0
    assert (await reranked(fused, of)).legs["rerank"].candidates == 1
    for _ in range(30):
        await reranked(fused, of)
    assert (await reranked(fused, of)).legs["rerank"].status == "ok"


def raises(error: Exception) -> Callable[[Sequence[str]], Any]:
    def score(_: Sequence[str]) -> Any:
        raise error

    return score


@pytest.mark.parametrize(
    "does",
    [
        raises(Transient("secret-host:8080 is down")),
        raises(Invalid("secret-host: not found")),
        lambda passages: [math.nan] * len(passages),
        lambda passages: [0.5] * (len(passages) + 1),
        lambda passages: [],
    ],
    ids=["transient", "invalid", "nan", "too many", "none"],
)
async def test_a_model_that_fails_costs_the_order_alone(does: Any) -> None:
    _, fused = await handed_over()
    reply = await reranked(fused, deps_of(Model(does)))
    assert (ids(reply), reply.error, reply.final) == (["a", "b", "c"], None, True)
    assert reply.reasons == ("rerank: the model failed",)
    assert (reply.legs["rerank"].status, reply.models.reranker) == ("error", None)


async def test_a_model_that_fails_half_way_leaves_the_fused_order_whole() -> None:
    _, fused = await handed_over()
    calls = iter([[0.1], Transient("down")])

    def score(_: Sequence[str]) -> list[float]:
        said = next(calls)
        if isinstance(said, Exception):
            raise said
        return said

    reply = await reranked(fused, deps_of(Model(score)))
    assert ids(reply) == ["a", "b", "c"]
    assert all(each.rerank is None for each in reply.passages)


async def run(fused: Fused, deps: rerank.Deps, record: Callable[..., Record]) -> tuple[Outcome, list[RawOutgoing]]:
    sent: list[RawOutgoing] = []

    async def produce(outgoing: RawOutgoing) -> None:
        sent.append(outgoing)

    return await Runner(rerank.RERANK, deps, produce).run(record(fused)), sent


async def test_a_bug_is_answered_with_the_fused_order(record: Callable[..., Record]) -> None:
    _, fused = await handed_over()
    outcome, (sent, *_) = await run(fused, deps_of(Model(raises(ZeroDivisionError()))), record)
    assert (outcome, sent.topic) == (Outcome.ANSWERED, "replies")
    reply = msgspec.json.decode(sent.value or b"", type=QueryReply)
    assert (ids(reply), reply.revision, reply.final) == (["a", "b", "c"], 2, True)
    assert reply.reasons == ("rerank: it failed",)


async def test_after_the_deadline_nothing_is_done(record: Callable[..., Record]) -> None:
    _, fused = await handed_over()
    late = msgspec.structs.replace(fused.expected.query, deadline=time.time() - 1)
    fused = msgspec.structs.replace(fused, expected=msgspec.structs.replace(fused.expected, query=late))
    model = Model(lengths)
    assert await run(fused, deps_of(model), record) == (Outcome.EXPIRED, [])
    assert model.calls == []


async def test_without_a_model_where_one_was_expected_the_setting_is_wrong_and_the_reply_says_so() -> None:
    _, fused = await handed_over()
    reply = await reranked(fused, deps_of(None))
    assert (ids(reply), reply.reasons) == (["a", "b", "c"], ("rerank: no model",))


async def test_what_was_deleted_while_the_model_worked_is_not_shown() -> None:
    _, fused = await handed_over()
    left = Passages(*(passage(name, body) for name, body in BODIES.items() if name != "c"))
    of = deps_of(MemoryReranker(), left)
    reply = await reranked(fused, of)
    assert ids(reply) == ["b", "e", "a"]
    assert of.counts["stale_hits_dropped"] == 1


class Hangs:
    """A reader that never answers."""

    async def resolve(self, *_: object) -> Mapping[str, LivePassage]:
        await asyncio.sleep(60)
        return {}


@pytest.mark.parametrize("passages", [Passages(error=StoreUnavailable("down")), Hangs()])
async def test_what_cannot_be_checked_again_is_not_shown(passages: Any) -> None:
    _, fused = await handed_over(seconds=0.5)
    reply = await reranked(fused, deps_of(MemoryReranker(), passages))
    assert reply.error is not None
    assert (reply.error.error_class, reply.passages, reply.revision) == ("fence unavailable", (), 2)


async def test_the_check_asks_for_the_tenant_and_the_agent_of_the_question() -> None:
    _, fused = await handed_over()
    asked: list[Scope] = []

    class Reader(Passages):
        async def resolve(
            self, scope: Scope, chunk_ids: Sequence[str], terms: Sequence[str] = ()
        ) -> Mapping[str, LivePassage]:
            asked.append(scope)
            return await super().resolve(scope, chunk_ids, terms)

    await reranked(fused, deps_of(MemoryReranker(), Reader(passage("a"))))
    assert [(scope.tenant, scope.generation) for scope in asked] == [("acme", "g1")]


class Keeper:
    """What would be kept."""

    def __init__(self) -> None:
        self.kept: list[tuple[Expected, QueryReply, int]] = []

    def keep(self, *given: Any) -> None:
        self.kept.append(given)


async def test_the_final_revision_is_offered_to_the_cache_unless_something_changed_meanwhile() -> None:
    _, fused = await handed_over(cache_key="answers:acme:1")
    keeper: Any = Keeper()
    of = dataclasses.replace(deps_of(MemoryReranker()), answers=keeper)
    reply = await reranked(fused, of)
    ((asked, kept, seconds),) = keeper.kept
    assert (asked.cache_key, kept, seconds) == ("answers:acme:1", reply, 0)  # `knowledge-base` keeps nothing
    await reranked(fused, dataclasses.replace(of, passages=Passages(passage("a", BODIES["a"]))))
    assert len(keeper.kept) == 1
