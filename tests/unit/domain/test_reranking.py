"""Reranking, as arithmetic: how much is scored in time, in which order, and what is shown."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from schemas.graph import Fact
from schemas.replies import ErrorInfo, LegReport, Milliseconds, Passage, QueryReply, Summary
from streams.domain import listwise, ranking, reports, reranking
from streams.domain.profile import Profile
from streams.domain.reranking import LONGEST_CONTEXT, Scored
from streams.domain.texts import WARNING
from streams.errors import Transient
from tests.unit.domain.questions import passage as live_passage
from tests.unit.domain.questions import prepared, result

PROFILE = Profile(name="test", summary="", legs=("dense",), rerank_depth=15)


def passage(passage_id: str, score: float = 0.0, text: str = "text", **fields: Any) -> Passage:
    given: dict[str, Any] = {
        "rank": 0,
        "source": "help",
        "doc_id": "d",
        "version": 1,
        "kind": "document",
        "title": "",
        "heading_path": (),
        "uri": "",
        "trust": "internal",
        "fused": score,
        "legs": {},
        "evidence": (passage_id,),
    }
    return Passage(passage_id=passage_id, score=score, text=text, **{**given, **fields})


def reply(**fields: Any) -> QueryReply:
    return QueryReply(query_id="q", milliseconds=Milliseconds(total=1.0), **fields)


def order(passages: list[Passage]) -> list[tuple[str, float, float | None]]:
    return [(each.passage_id, each.score, each.rerank) for each in passages]


FUSED = [passage("a", 0.9), passage("b", 0.5), passage("c", 0.4), passage("d", 0.3)]


def test_passages_are_ordered_by_their_rerank_score_and_keep_what_they_were_fused_by() -> None:
    merged = reranking.merged(FUSED, [0.1, 0.2, 0.8, 0.4])
    assert order(merged) == [("c", 0.8, 0.8), ("d", 0.4, 0.4), ("b", 0.2, 0.2), ("a", 0.1, 0.1)]
    assert [each.fused for each in merged] == [0.4, 0.3, 0.5, 0.9]
    assert order(FUSED)[0] == ("a", 0.9, None)


def test_equal_scores_are_ordered_by_id() -> None:
    assert [each.passage_id for each in reranking.merged(FUSED[::-1], [0.5] * 4)] == ["a", "b", "c", "d"]


def test_what_was_not_scored_keeps_its_place_behind_and_is_ordered_by_no_more_than_the_least_score() -> None:
    merged = reranking.merged(FUSED, [0.35, 0.7])
    assert order(merged) == [("b", 0.7, 0.7), ("a", 0.35, 0.35), ("c", 0.35, None), ("d", 0.3, None)]
    assert order(reranking.merged(FUSED, [])) == order(FUSED)


@pytest.mark.parametrize("scored", range(5))
def test_scores_never_rise_down_the_list_however_many_were_given(scored: int) -> None:
    values = [each.score for each in reranking.merged(FUSED, [0.2, 0.9, 0.0, 0.6][:scored])]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(
    ("left", "pace", "remaining", "at_once", "first", "size"),
    [
        (3.0, None, 15, 4, True, 1),  # nothing is known yet
        (3.0, 0.1, 15, 4, True, 4),
        (0.35, 0.1, 15, 4, False, 3),
        (0.35, 0.1, 2, 4, False, 2),
        (0.35, 0.4, 15, 4, False, 0),
        (0.35, 0.4, 15, 4, True, 1),  # a slow moment is not believed for ever
        (0.04, 0.001, 15, 4, True, 0),
        (3.0, 0.1, 0, 4, False, 0),
        (3.0, 0.0, 15, 32, True, 15),
        (0.35, 9.0, 15, None, True, 15),  # compares them with each other: all or nothing
    ],
)
def test_as_many_are_scored_next_as_fit_into_the_time_that_is_left(
    *, left: float, pace: float | None, remaining: int, at_once: int | None, first: bool, size: int
) -> None:
    assert reranking.batch(left, pace, remaining, at_once, first=first) == size


def test_the_pace_follows_what_is_measured() -> None:
    assert reranking.measured(None, 2.0, 4) == 0.5
    assert reranking.measured(0.5, 4.0, 4) == pytest.approx(0.5 + 0.3 * (1.0 - 0.5))


def test_something_of_the_deadline_is_kept_back() -> None:
    assert reranking.until(105.0, 100.0) == 105.0 - 0.15
    assert reranking.until(100.2, 100.0) == pytest.approx(100.2 - 0.2 * 0.25)


@pytest.mark.parametrize("scores", [[0.1], [0.1, 0.2, 0.3], [0.1, math.nan], [math.inf, 0.1]])
def test_what_is_not_one_number_a_passage_is_no_answer(scores: list[float]) -> None:
    with pytest.raises(Transient, match="the reranker gave"):
        reranking.checked(Scored(scores=scores), 2)


def test_only_a_whole_reranking_leaves_the_answer_whole() -> None:
    done = reranking.report(15, 15, shortened=2, milliseconds=7.0)
    assert done == LegReport(status="ok", milliseconds=7.0, candidates=15, shortened=2)
    late = reranking.report(9, 15, shortened=0, milliseconds=7.0)
    assert reports.reasons({"rerank": done}) == ()
    assert reports.reasons({"rerank": late}) == ("rerank: 9 of 15 in time",)
    assert reports.reasons({"rerank": reranking.NO_MODEL}) == ()


def test_as_many_are_shown_as_were_asked_for_and_the_others_told_with_explain() -> None:
    shown = reranking.shown(reply(), FUSED, top_k=2, profile=PROFILE, explain=True)
    assert [(each.rank, each.passage_id) for each in shown.passages] == [(1, "a"), (2, "b")]
    assert [(each.passage_id, each.rule) for each in shown.dropped] == [
        ("c", "below the number of passages"),
        ("d", "below the number of passages"),
    ]
    assert reranking.shown(reply(), FUSED, top_k=2, profile=PROFILE).dropped == ()


def test_the_room_for_all_texts_is_shared_out_in_the_final_order_after_what_is_pinned() -> None:
    profile = msgspec.structs.replace(PROFILE, total_chars=20)
    given = reply(pinned=(passage("p", text="12345"),))
    texts = [passage("a", text="x" * 10), passage("b", text="y" * 10), passage("c", text="z")]
    shown = reranking.shown(given, texts, top_k=3, profile=profile, explain=True)
    assert [each.text for each in shown.passages] == ["x" * 10, "y" * 5]
    assert [(each.passage_id, each.rule) for each in shown.dropped] == [("c", "no room within 20 characters")]


def test_pinned_texts_share_the_room_for_all_texts_and_are_cut_to_it() -> None:
    profile = msgspec.structs.replace(PROFILE, total_chars=20)
    given = reply(pinned=(passage("p", text="x" * 12, rank=1), passage("q", text="y" * 12, rank=2)))
    shown = reranking.shown(given, [passage("a", 2.0, "z")], top_k=5, profile=profile, explain=True)
    assert [(each.rank, each.text) for each in shown.pinned] == [(1, "x" * 12), (2, "y" * 8)]
    assert [each.rule for each in shown.dropped] == ["no room within 20 characters"]


def test_the_warning_of_an_external_text_stays_when_the_text_is_cut() -> None:
    mark = f"{WARNING}\n\n"
    external = passage("a", text=f"{mark}abcdef", trust="external")
    for room, text in ((len(mark) + 6, f"{mark}abcdef"), (len(mark) + 2, f"{mark}ab"), (len(mark), None)):
        profile = msgspec.structs.replace(PROFILE, total_chars=room)
        shown = reranking.shown(reply(), [external], top_k=1, profile=profile).passages
        assert [each.text for each in shown] == ([text] if text else [])


def test_what_a_reranker_reads_is_whole_and_without_a_warning() -> None:
    profile = msgspec.structs.replace(PROFILE, passage_chars=len(WARNING) + 25)
    live = {
        "a": live_passage("a", "A longer text. " * 10),
        "b": live_passage("b", "Brief."),
        "c": live_passage("c", "Short.", trust="external"),
        "d": live_passage("d", "A text about nothing at all.", trust="external"),
    }
    legs: Any = {"dense": result("dense", *live)}
    found = reranking.candidates(ranking.rank(prepared(), legs, live, profile=profile, top_k=15))
    assert [each.text is None for each in found] == [False, True, True, False]
    assert [reranking.read(each) for each in found] == [f"Title > {name}\n\n{of.body}" for name, of in live.items()]


def test_a_reranker_reads_the_headings_then_the_context_then_the_text_and_a_reply_shows_no_context() -> None:
    live = {
        "a": live_passage("a", "A text.", context="It is about fees."),
        "b": live_passage("b", "A longer text. " * 10, trust="external", context="Long. " * 100),
        "c": live_passage("c", "No context."),
        "d": live_passage("d", "No heading.", heading_path=(), context="Why not."),
    }
    legs: Any = {"dense": result("dense", *live)}
    ranked = ranking.rank(prepared(), legs, live, profile=msgspec.structs.replace(PROFILE, passage_chars=80), top_k=15)
    assert all(each.context is None for each in reranking.candidates(ranked))
    found = reranking.candidates(ranked, in_context=True)
    assert [reranking.read(each) for each in found] == [
        "Title > a\n\nIt is about fees.\n\nA text.",
        f"Title > b\n\n{('Long. ' * 100)[:LONGEST_CONTEXT].rstrip()}\n\n{live['b'].body}",
        "Title > c\n\nNo context.",
        "Why not.\n\nNo heading.",
    ]
    assert not any("about fees" in each.passage.text for each in found)


def test_a_language_model_sees_heading_and_context_and_most_of_its_room_is_the_passage_s() -> None:
    live = {"a": live_passage("a", "b" * 5_000, context="c" * 5_000)}
    legs: Any = {"dense": result("dense", "a")}
    (found,) = reranking.candidates(ranking.rank(prepared(), legs, live, profile=PROFILE, top_k=1), in_context=True)
    seen = listwise.prompt("q", [reranking.read(found)], fence="|").user
    assert "Title > a\n\nccc" in seen
    assert (seen.count("c"), seen.count("b") > listwise.PASSAGE_CHARS / 2) == (LONGEST_CONTEXT, True)


def test_a_passage_is_shown_as_it_is_live_now_and_only_then() -> None:
    shown = passage("a", version=1)
    assert reranking.current(shown, {}) is None
    now = reranking.current(shown, {"a": live_passage("a", version=4, title="New", uri="/new")})
    assert now is not None
    assert (now.version, now.title, now.uri, now.text) == (4, "New", "/new", "text")
    assert reranking.current(shown, {"a": live_passage("a", trust="external")}) is None
    assert reranking.current(shown, {"a": live_passage("other")}) is None


def test_a_summary_lives_as_long_as_all_that_is_behind_it() -> None:
    facts = tuple(Fact(subject="s", label="l", object="o", chunk_id=chunk_id) for chunk_id in ("a", "b"))
    graph = passage("summary", kind="graph", evidence=("a", "b"))
    given = reply(passages=(graph, passage("a")), summary=Summary(text="", facts=facts), pinned=(passage("b"),))
    live = {name: live_passage(name) for name in ("a", "b")}
    whole = reranking.still_live(given, live)
    assert ([each.passage_id for each in whole.passages], whole.summary) == (["summary", "a"], given.summary)
    part = reranking.still_live(given, {"a": live["a"]})
    assert ([each.passage_id for each in part.passages], part.pinned, part.summary) == (["a"], (), None)
    overview = reply(summary=Summary(text="", facts=(), evidence=("a", "b")))
    assert reranking.still_live(overview, live) == overview
    assert reranking.still_live(overview, {"a": live["a"]}).summary is None


def test_the_depth_counts_in_the_order_of_the_profile_s_score() -> None:
    """What a reranker sees first is what the profile holds best, and the first of few are the first of many."""
    profile = Profile(name="test", summary="", legs=("dense",), score="coverage", rerank_depth=2, passages=2)
    live = {name: live_passage(name, terms=terms) for name, terms in (("a", ()), ("b", ()), ("c", (0, 1)))}
    legs: Any = {"dense": result("dense", "a", "b", "c", status="ok")}
    low = msgspec.structs.replace(
        legs["dense"], hits=tuple(msgspec.structs.replace(hit, score=0.1) for hit in legs["dense"].hits)
    )
    ranked = ranking.rank(prepared(), {"dense": low}, live, profile=profile, top_k=2, explain=True)
    assert ranked.passages[0].passage_id == "c"
    assert [each.rule for each in ranked.dropped] == ["beyond the rerank depth of 2"]


def test_the_last_revision_that_came_closes_a_question_whose_reranking_did_not_come() -> None:
    closed = reports.closing(reply(final=False, reasons=("dense: no answer",), degraded=True))
    assert (closed.final, closed.degraded) == (True, True)
    assert closed.reasons == ("dense: no answer", "rerank: no reply by the deadline")
    assert closed.legs["rerank"].status == "timeout"


def test_a_reranking_that_failed_is_told_as_its_error_and_not_as_silence() -> None:
    error = ErrorInfo(error_class="fence unavailable", message="cannot be checked")
    closed = reports.closing(reply(final=False), error)
    assert (closed.final, closed.error, closed.reasons) == (True, None, ("rerank: fence unavailable",))
    assert closed.legs["rerank"] == LegReport(status="error", reason="fence unavailable")
