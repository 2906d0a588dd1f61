"""How an answer reads."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from schemas.replies import (
    Dropped,
    ErrorInfo,
    LegReport,
    LegScore,
    Milliseconds,
    Models,
    Passage,
    QueryReply,
    error_reply,
)
from streams.cli import answers


def passage(**fields: Any) -> Passage:
    shown: dict[str, Any] = {
        "rank": 1,
        "passage_id": "p",
        "source": "help",
        "doc_id": "billing/refunds.md",
        "version": 3,
        "kind": "document",
        "title": "Refund policy",
        "heading_path": ("Refund policy", "Annual plans"),
        "uri": "",
        "trust": "internal",
        "text": "Refund policy > Annual plans\n\nYou get it back.",
        "score": 0.0489,
        "fused": 0.0489,
        "legs": {"fulltext": LegScore(rank=3, score=0.12), "dense": LegScore(rank=1, score=0.78)},
        "evidence": (),
    }
    return Passage(**{**shown, **fields})


def reply(*passages: Passage, **fields: Any) -> QueryReply:
    legs = {
        "dense": LegReport(status="ok", milliseconds=9.13, candidates=30),
        "graph": LegReport(status="skipped", reason="off in profile"),
    }
    return QueryReply(
        query_id="q",
        milliseconds=Milliseconds(total=31.2, prepare=1.9),
        profile="general",
        generation="g1",
        legs=legs,
        passages=passages,
        **fields,
    )


def rendered(shown: QueryReply, **options: Any) -> str:
    return click.unstyle(answers.render("Money back?", shown, width=80, **options))


def test_a_question_that_was_searched_in_other_words_says_in_which() -> None:
    text = answers.render("why?", reply(rewritten="why?\x1b[31m refund"), width=80)
    assert "searched as: why?" in click.unstyle(text) and "\x1b[31m refund" not in text
    assert "searched as" not in answers.render("why?", reply(), width=80)


def test_a_passage_is_shown_with_its_place_its_score_and_who_found_it() -> None:
    assert rendered(reply(passage())).splitlines() == [
        "Money back?",
        "1 passage in 31 ms · profile general · generation g1",
        "",
        " 1  0.0489  Refund policy › Annual plans",
        "            help/billing/refunds.md",
        "            found by dense #1, fulltext #3",
        "            You get it back.",
        "",
        "legs: dense ok 9.1 ms, 30 found · graph skipped (off in profile)",
    ]


def test_nothing_found_is_said() -> None:
    assert "no passages in 31 ms" in rendered(reply())


def test_a_long_text_is_cut_to_a_few_lines() -> None:
    lines = rendered(reply(passage(text="word " * 500))).splitlines()
    text = [line for line in lines if line.strip().startswith("word")]
    assert len(text) == answers.LINES
    assert text[-1].endswith("…")
    assert max(map(len, text)) <= 80


def test_a_pair_is_marked_and_so_is_what_comes_from_outside() -> None:
    shown = rendered(reply(passage(kind="qa", trust="external")))
    assert "Q&A help/billing/refunds.md · external" in shown


def test_explaining_shows_the_arithmetic_and_what_was_dropped() -> None:
    dropped = tuple(
        Dropped(passage_id=f"d{n}", rule="floor", legs={"dense": LegScore(rank=9, score=0.1)}) for n in range(12)
    )
    shown = rendered(reply(passage(coverage=0.55), dropped=dropped), explain=True)
    assert "dense #1 (0.7800), fulltext #3 (0.1200)" in shown
    assert "fused 0.0489 · coverage 0.5500" in shown
    assert "dropped d0: floor; dense #9 (0.1000)" in shown
    assert "… and 2 more were dropped" in shown


def test_an_answer_from_the_cache_says_so() -> None:
    assert "31 ms · profile general · generation g1 · from the cache" in rendered(reply(cache="hit"))
    assert "cache" not in rendered(reply(cache="miss"))


def test_a_degraded_and_a_stale_answer_say_so() -> None:
    shown = rendered(reply(degraded=True, reasons=("dense: timeout",), stale=True, stale_versions=2))
    assert "degraded: dense: timeout" in shown
    assert "stale: 2 versions behind" in shown


def test_an_error_is_its_field_or_its_class_and_its_message() -> None:
    with_field = ErrorInfo(error_class="validation", field="text", message="is empty")
    without = ErrorInfo(error_class="no reply", message="none came")
    assert answers.error_line(with_field) == "text: is empty"
    assert answers.error_line(without) == "no reply: none came"
    assert rendered(error_reply("q", without)) == "Money back?\n  no reply: none came"


def test_texts_do_not_steer_the_terminal() -> None:
    shown = answers.render("a\x1b[2Jb", reply(passage(text="x\x1b]0;title\x07y\u202e", title="\x9bT")), width=80)
    assert not set(click.unstyle(shown)) & set("\x1b\x07\x9b\u202e")


def test_legs_that_were_skipped_for_one_reason_stand_together() -> None:
    off = LegReport(status="skipped", reason="off in profile")
    legs = {
        "dense": LegReport(status="ok", milliseconds=9.13, candidates=30),
        "fulltext": LegReport(status="skipped", reason="no words in the question", milliseconds=0.1),
        "qa": off,
        "graph": off,
    }
    shown = rendered(QueryReply(query_id="q", milliseconds=Milliseconds(total=1.0), legs=legs))
    assert shown.splitlines()[-1] == (
        "legs: dense ok 9.1 ms, 30 found · fulltext skipped 0.1 ms (no words in the question)"
        " · qa, graph skipped (off in profile)"
    )


def test_a_reranked_answer_says_by_whom_and_the_one_before_it_that_it_is_not_yet() -> None:
    report = LegReport(status="ok", milliseconds=350.0, candidates=15, shortened=2)
    shown = reply(passage(rerank=0.9, score=0.9), models=Models(reranker="bge-reranker-v2-m3"), revision=2)
    shown = msgspec.structs.replace(shown, legs={"rerank": report})
    text = rendered(shown, explain=True)
    assert "generation g1 · reranked by bge-reranker-v2-m3\n" in text
    assert "rerank ok 350.0 ms, 15 read, 2 of them not whole" in text
    assert "rerank 0.9000" in text
    assert "generation g1 · not reranked yet\n" in rendered(reply(passage(), final=False))
    assert "reranked" not in rendered(reply(passage()))
