"""fuse: one answer by the deadline whatever the legs do, and no passage that was not checked."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Sequence
from typing import Any

import pytest

from schemas import codec
from schemas.fused import Fused
from schemas.graph import Fact
from schemas.queries import Hit, LegResult
from schemas.replies import QueryReply
from streams.adapters import embedders, profiles
from streams.adapters.onnx_embedder import MODEL
from streams.domain import admission
from streams.errors import StoreUnavailable
from streams.processors import fuse
from streams.wire import Outgoing
from tests.unit.domain.questions import expected, passage, prepared, result
from tests.unit.processors.fusing import LEGS, answer, deps, question


async def test_the_answer_comes_when_the_last_leg_has_come() -> None:
    reply = await answer(
        deps(passage("a")), question(), result("dense", "a"), result("sparse", "a"), result("fulltext")
    )
    assert [each.passage_id for each in reply.passages] == ["a"]
    assert not reply.degraded
    assert reply.milliseconds.total < 1_000


async def test_results_that_come_before_their_question_count() -> None:
    reply = await answer(
        deps(passage("a")), result("fulltext"), result("dense", "a"), question(), result("sparse", "a")
    )
    assert {leg: report.status for leg, report in reply.legs.items()} == {
        "dense": "ok",
        "sparse": "ok",
        "fulltext": "empty",
    }


async def test_a_silent_leg_degrades_the_answer_and_does_not_fail_it() -> None:
    begun = time.time()
    reply = await answer(deps(passage("a")), question(seconds=0.4), result("dense", "a"), result("fulltext", "a"))
    assert time.time() - begun < 2
    assert (reply.degraded, reply.reasons) == (True, ("sparse: no result in time",))
    assert [each.passage_id for each in reply.passages] == ["a"]


async def test_who_must_not_wait_any_longer_answers_with_the_legs_that_came() -> None:
    state = deps(passage("a"))
    asked = asyncio.create_task(fuse.handle(question(seconds=30), state))
    await fuse.handle(result("dense", "a"), state)
    await asyncio.sleep(0)
    assert not asked.done()
    fuse.hurry(state)
    ((outgoing,),) = (await asyncio.wait_for(asked, 10),)
    assert isinstance(outgoing.message, QueryReply)
    assert [each.passage_id for each in outgoing.message.passages] == ["a"]
    assert outgoing.message.degraded


async def test_what_became_of_a_question_before_it_was_searched_is_told() -> None:
    asked = question(rewritten="refund policy", reasons=("expansions: no time left",))
    results = (result("dense", "a"), result("sparse", "a"), result("fulltext", "a"))
    reply = await answer(deps(passage("a")), asked, *results)
    assert reply.rewritten == "refund policy"
    assert (reply.degraded, reply.reasons) == (True, ("expansions: no time left",))
    assert len(reply.passages) == 1


async def test_with_all_legs_silent_there_is_still_one_answer_by_the_deadline() -> None:
    begun = time.time()
    reply = await answer(deps(), question(seconds=0.3))
    assert time.time() - begun < 2
    assert reply.error is None
    assert {report.status for report in reply.legs.values()} == {"timeout"}


async def test_a_broken_leg_is_told_from_an_empty_one() -> None:
    reply = await answer(
        deps(passage("a")),
        question(),
        result("dense", "a"),
        result("sparse", status="error", reason="no connection"),
        result("fulltext"),
    )
    assert (reply.legs["sparse"].status, reply.legs["fulltext"].status) == ("error", "empty")
    assert reply.reasons == ("sparse: no connection",)


@pytest.mark.parametrize("error", [StoreUnavailable("down"), TimeoutError()])
async def test_without_the_fence_nothing_is_shown(error: Exception) -> None:
    reply = await answer(
        deps(passage("a"), error=error), question(), result("dense", "a"), result("sparse"), result("fulltext")
    )
    assert reply.passages == ()
    assert reply.error is not None and reply.error.error_class == "fence unavailable"


async def test_hits_that_are_not_live_are_dropped_and_counted() -> None:
    state = deps(passage("a"))
    reply = await answer(state, question(), result("dense", "gone", "a"), result("sparse", "gone"), result("fulltext"))
    assert [each.passage_id for each in reply.passages] == ["a"]
    assert (state.counts["stale_hits_dropped.dense"], state.counts["stale_hits_dropped.sparse"]) == (1, 1)


async def test_repeats_and_latecomers_answer_nothing() -> None:
    state = deps(passage("a"))
    asked = question()
    await answer(state, asked, asked, result("dense", "a"), result("sparse"), result("fulltext"), result("dense", "a"))
    assert await fuse.handle(asked, state) == ()
    assert await fuse.handle(result("dense", "a"), state) == ()


async def test_too_many_open_questions_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuse, "OPEN_JOINS", 1)
    state = deps()
    waiting = asyncio.create_task(fuse.handle(question(seconds=0.5), state))
    await asyncio.sleep(0)
    second = expected(query=prepared(query_id="q2", ticket="0-2", deadline=time.time() + 5), prepared=time.time())
    (sent,) = await fuse.handle(second, state)
    assert isinstance(sent.message, QueryReply)
    assert sent.message.error is not None and sent.message.error.error_class == "overloaded"
    await waiting


async def test_a_question_that_fuse_reads_too_late_is_refused_at_once() -> None:
    """Of ten seconds it may spend five on its way here; of half a second the whole half."""
    now = time.time()
    for left, waited, refused in ((10.0, 5.1, True), (10.0, 4.9, False), (0.6, 0.49, False)):
        state = dataclasses.replace(deps(), clock=lambda: now)
        asked = question(query=prepared(deadline=now + left - waited), prepared=now - waited)
        reply = await answer(state, asked, result("dense"), result("sparse"), result("fulltext"))
        assert (reply.error is not None and reply.error.error_class == "overloaded") is refused
        assert state.counts["overloaded"] == refused


async def test_where_no_leg_had_its_turn_the_question_is_refused_and_where_one_had_the_others_are_told() -> None:
    def shed(leg: Any) -> LegResult:
        return result(leg, status="error", reason=admission.REASON)

    refused = await answer(
        deps(), question(), shed("dense"), shed("sparse"), result("fulltext", status="skipped", reason="no words")
    )
    assert refused.error is not None and refused.error.error_class == "overloaded"
    assert {leg: report.status for leg, report in refused.legs.items()} == {
        "dense": "error",
        "sparse": "error",
        "fulltext": "skipped",
    }
    told = await answer(deps(passage("a")), question(), shed("dense"), result("sparse", "a"), shed("fulltext"))
    assert (told.error, len(told.passages)) == (None, 1)
    assert told.reasons == ("dense: overloaded", "fulltext: overloaded")


async def test_what_was_dropped_is_told_only_when_asked_for() -> None:
    results = [result("dense", "a", "b"), result("sparse"), result("fulltext")]
    known = (passage("a", "same"), passage("b", "same"))
    assert (await answer(deps(*known), question(), *results)).dropped == ()
    told = (await answer(deps(*known), question(explain=True), *results)).dropped
    assert [(each.passage_id, each.rule) for each in told] == [("b", "same text as a")]


async def test_passages_keep_their_absolute_score_while_the_dense_leg_is_silent() -> None:
    known = (passage("a", terms=(0, 1)), passage("b", terms=(0,)))
    state = dataclasses.replace(deps(*known), weights=profiles.weights())
    bm25 = (Hit(chunk_id="a", score=9.0), Hit(chunk_id="b", score=2.0))
    legs = (result("dense", status="error", reason="down"), result("sparse", hits=bm25), result("fulltext", "a"))
    asked = question(query=prepared(deadline=time.time() + 5, embedder=MODEL), floor=0.0)
    reply = await answer(state, asked, *legs)
    assert [each.passage_id for each in reply.passages] == ["a", "b"]
    assert all(each.absolute is not None and 0 < each.absolute < 1 for each in reply.passages)
    assert reply.models.embedder is None


async def test_pinned_documents_come_along_where_the_profile_says_so_and_an_agent_asks() -> None:
    async def ask(profile: str, agent: str | None) -> list[str]:
        query = prepared(deadline=time.time() + 5, profile=profile, agent=agent, legs=("dense",))
        reply = await answer(deps(passage("a"), passage("pinned")), question(query=query), result("dense", "a"))
        assert [each.passage_id for each in reply.passages] == ["a"]
        return [each.passage_id for each in reply.pinned]

    assert await ask("support", "bot") == ["pinned"]
    assert await ask("support", None) == []
    assert await ask("knowledge-base", "bot") == []


async def test_a_fact_is_told_while_its_chunk_is_live() -> None:
    facts = [Fact(subject="Team plan", label="includes", object=name, chunk_id=name) for name in ("API", "gone")]
    query = prepared(deadline=time.time() + 5, legs=("graph",), terms=("plan", "includ", "api"))
    api = passage("API", terms=(2,))
    reply = await answer(deps(api), question(query=query), result("graph", "API", facts=tuple(facts)))
    assert reply.summary is not None
    assert [fact.object for fact in reply.summary.facts] == ["API"]
    assert "gone" not in reply.summary.text


async def test_scores_are_those_of_the_model_that_was_searched_when_it_stood_in_for_another() -> None:
    known = (passage("a", terms=(0, 1)), passage("b", terms=(0,)))
    state = dataclasses.replace(deps(*known), weights=profiles.weights())
    told = "fallback: all-MiniLM-L6-v2-int8 instead of not-fitted"
    legs = (result("dense", "b", "a", model=MODEL, reason=told), result("sparse", "b"), result("fulltext"))
    asked = question(query=prepared(deadline=time.time() + 5, embedder="not-fitted"))
    reply = await answer(state, asked, *legs)
    assert all(each.absolute is not None and 0 < each.absolute < 1 for each in reply.passages)
    assert (reply.models.embedder, reply.degraded, reply.reasons) == (MODEL, True, (f"dense: {told}",))
    assert (reply.legs["dense"].status, reply.legs["dense"].reason) == ("ok", told)


async def test_a_question_by_an_embedder_without_weights_is_ordered_by_the_fused_ranks() -> None:
    known = (passage("a", terms=(0, 1)), passage("b", terms=(0,)))
    state = dataclasses.replace(deps(*known), weights=profiles.weights())
    asked = question(query=prepared(deadline=time.time() + 5, embedder="not-fitted"))
    reply = await answer(
        state, asked, result("dense", "b", "a", model="not-fitted"), result("sparse", "b"), result("fulltext")
    )
    assert [(each.passage_id, each.score, each.absolute) for each in reply.passages] == [
        ("b", 1 / 61 + 1 / 61, None),
        ("a", 1 / 62, None),
    ]
    assert (reply.models.embedder, reply.degraded) == ("not-fitted", False)


async def reranking(reranker: str | None, *results: LegResult, seconds: float = 5.0) -> Sequence[Outgoing]:
    known = tuple(passage(name) for name in "abc")
    state = dataclasses.replace(deps(*known), reranker=reranker)
    query = prepared(deadline=time.time() + seconds, profile="knowledge-base", legs=("dense",))
    asked = question(query=query, progressive=True)
    outputs = await asyncio.gather(*(fuse.handle(each, state) for each in (asked, *results)))
    return [each for output in outputs for each in output]


@pytest.mark.parametrize("wanted", [True, False])
async def test_contexts_go_to_the_reranker_alone_and_only_where_they_are_wanted(wanted: bool) -> None:
    known = passage("a", context="It is about fees.")
    state = dataclasses.replace(deps(known), reranker="memory-overlap", in_context=wanted)
    query = prepared(deadline=time.time() + 5, profile="knowledge-base", legs=("dense",))
    messages: tuple[Any, ...] = (question(query=query, progressive=True), result("dense", "a"))
    outputs = await asyncio.gather(*(fuse.handle(each, state) for each in messages))
    reply, handed = [each.message for output in outputs for each in output]
    assert isinstance(handed, Fused) and isinstance(reply, QueryReply)
    assert [each.context for each in handed.candidates] == ["It is about fees." if wanted else None]
    assert "about fees" not in codec.encode(reply).decode()


async def test_without_a_reranker_the_fused_answer_is_final_and_no_hop_is_paid() -> None:
    (sent,) = await reranking(None, result("dense", "a", "b"))
    assert isinstance(sent.message, QueryReply)
    assert (sent.message.revision, sent.message.final, sent.message.degraded) == (1, True, False)
    report = sent.message.legs["rerank"]
    assert (report.status, report.reason, len(sent.message.passages)) == ("skipped", "no model", 2)


async def test_profiles_without_a_rerank_depth_say_nothing_of_it_whatever_the_model() -> None:
    state = dataclasses.replace(deps(passage("a")), reranker="model")
    reply = await answer(state, question(), result("dense", "a"), result("sparse"), result("fulltext"))
    assert (reply.final, "rerank" in reply.legs) == (True, False)


async def test_where_nothing_was_found_nothing_is_reranked() -> None:
    (sent,) = await reranking("model", result("dense"))
    assert isinstance(sent.message, QueryReply)
    assert sent.message.legs["rerank"].reason == "no candidates"
    assert (sent.message.final, sent.message.degraded) == (True, False)


async def test_what_would_come_too_late_is_not_handed_over() -> None:
    (sent,) = await reranking("model", seconds=0.04)
    assert isinstance(sent.message, QueryReply)
    assert sent.message.final
    (sent,) = await reranking("model", result("dense", "a"), seconds=0.04)
    assert isinstance(sent.message, QueryReply)
    assert (sent.message.final, sent.message.reasons) == (True, ("rerank: no time left",))
    assert [each.passage_id for each in sent.message.passages] == ["a"]


async def test_what_an_embedder_says_of_a_script_that_it_cannot_read_does_not_count_and_the_reply_says_so() -> None:
    async def ask(profile: str, language: str) -> QueryReply:
        query = prepared(deadline=time.time() + 5, embedder=MODEL, language=language, profile=profile, legs=LEGS)
        known = (passage("far", terms=(0, 1)), passage("near"))
        state = dataclasses.replace(deps(*known), weights=profiles.weights(), reads=embedders.reads)
        dense = result("dense", "near", "far", model=MODEL)
        return await answer(state, question(query=query, floor=0.0), dense, result("sparse", "far"))

    reply = await ask("general", "ru")
    assert [each.passage_id for each in reply.passages] == ["far"]
    assert (reply.legs["dense"].status, reply.legs["dense"].candidates) == ("ok", 2)
    assert reply.legs["dense"].reason == f"{MODEL} does not read ru: its scores do not count"
    assert not reply.degraded
    assert (await ask("general", "de")).legs["dense"].reason is None
    assert (await ask("support", "ru")).legs["dense"].reason is None


def test_embedders_say_which_scripts_they_read() -> None:
    assert not embedders.reads(MODEL, "th")
    assert embedders.reads(MODEL, "de")
    assert embedders.reads("multilingual-e5-small", "ru")
    assert embedders.reads("an embedder that is not known here", "ru")
