"""What a probe's answers must be, and what its runs come to."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.replies import ErrorInfo, Milliseconds, Passage, QueryReply, error_reply
from streams.domain import canary
from streams.domain.canary import DAY, LONG, Canary, Check, Question

HOUR = 3600.0
NOW = 1_000_000.0
QUESTION = Question(text="which?", tenant="t", expect="probe/canary", says="new", said="old")


def passage(text: str, doc_id: str = "canary") -> Passage:
    return Passage(
        rank=1,
        passage_id="p",
        source="probe",
        doc_id=doc_id,
        version=1,
        kind="document",
        title="",
        heading_path=(),
        uri="",
        trust="internal",
        text=text,
        score=1.0,
        fused=1.0,
        legs={},
        evidence=(),
    )


def reply(*texts: str) -> QueryReply:
    return QueryReply(query_id="q", milliseconds=Milliseconds(total=1.0), passages=tuple(map(passage, texts)))


def said(question: Question, answer: QueryReply, seconds: float = 1.0) -> list[str]:
    return list(canary.problems(question, answer, seconds=seconds, timeout=5.0))


def run(at: float, outcome: str = "passed", *, degraded: tuple[str, ...] = (), in_a_row: int = 0) -> dict[str, Any]:
    return {
        "at": at,
        "outcome": outcome,
        "milliseconds": {"find": 10.0},
        "problems": ["find: gone"] if outcome == "failed" else [],
        "degraded": list(degraded),
        "failures_in_a_row": in_a_row,
    }


def test_an_answer_with_the_new_text_in_time_is_right() -> None:
    assert said(QUESTION, reply("it is new")) == []


@pytest.mark.parametrize(
    ("answer", "seconds", "parts"),
    [
        (reply("it is new"), 5.3, ["after 5.30 s, the deadline was 5 s"]),
        (reply(), 1.0, ["not among the 0 passages"]),
        (reply("it is else"), 1.0, ["a text that is not the last one"]),
        (reply("it is new", "it is old"), 1.0, ["a text that was replaced"]),
        (reply("it is old"), 1.0, ["not the last one", "was replaced"]),
        (error_reply("q", ErrorInfo(error_class="no reply", message="none came")), 1.0, ["no reply: none came"]),
    ],
)
def test_each_way_to_be_wrong_is_named(answer: QueryReply, seconds: float, parts: list[str]) -> None:
    found = said(QUESTION, answer, seconds)
    assert len(found) == len(parts)
    assert all(part in problem for part, problem in zip(parts, found, strict=True))


def test_what_was_deleted_must_not_be_found_and_others_may() -> None:
    gone = Question(text="which?", tenant="t", gone="probe/canary")
    assert said(gone, reply("anything")) == ["probe/canary is found though it was deleted"]
    other = QueryReply(query_id="q", milliseconds=Milliseconds(total=1.0), passages=(passage("x", "other"),))
    assert said(gone, other) == []


def test_the_lives_of_a_canary_have_words_of_their_own_and_versions_that_rise() -> None:
    own = Canary(tenant="t", version=7)
    words = {Canary(tenant=tenant, version=7).word(life) for tenant in ("t", "u") for life in (0, 1)}
    assert len(words) == 4
    assert [own.change(life).version for life in (0, 1)] == [7, 8]
    assert own.word(0) in own.change(0).content
    assert own.word(0) not in own.change(1).content
    deletion = own.change(2, "delete")
    assert (deletion.op, deletion.content, deletion.version) == ("delete", "", 9)
    assert (own.question(1).says, own.question(1).said) == (own.word(1), own.word(0))


def test_a_wrong_answer_is_worse_than_a_degraded_one() -> None:
    fine, slow = Check(name="a", milliseconds=1.0), Check(name="b", milliseconds=1.0, degraded=("dense: timeout",))
    bad = Check(name="c", milliseconds=1.0, problems=("not there",))
    assert [canary.outcome(checks) for checks in ([fine], [fine, slow], [slow, bad])] == [
        "passed",
        "degraded",
        "failed",
    ]
    line = canary.line([fine, slow, bad], at=NOW, via="kafka", seconds=3.0, before=[run(NOW - 1, "failed", in_a_row=1)])
    assert (line["outcome"], line["failures_in_a_row"]) == ("failed", 2)
    assert (line["problems"], line["degraded"]) == (["c: not there"], ["dense: timeout"])


def test_a_run_that_did_not_fail_ends_the_row() -> None:
    before = [run(NOW - 1, "failed", in_a_row=5)]
    line = canary.line([Check(name="a", milliseconds=1.0)], at=NOW, via="kafka", seconds=1.0, before=before)
    assert canary.failures([*before, line]) == 0
    assert canary.failures([]) == 0


def test_degraded_since_is_the_first_of_the_last_runs_that_were() -> None:
    runs = [
        run(1.0, degraded=("x",)),
        run(2.0),
        run(3.0, "degraded", degraded=("x",)),
        run(4.0, "failed", degraded=("y",)),
    ]
    assert canary.degraded_since(runs) == 3.0
    assert canary.degraded_since(runs[:2]) is None
    assert list(canary.stretches(runs, now=9.0)) == [(1.0, 2.0, ("x",)), (3.0, 9.0, ("x", "y"))]


def test_a_summary_tells_of_what_was_degraded_for_more_than_two_hours_and_not_of_less() -> None:
    long = [run(NOW - 5 * HOUR + step * 600, "degraded", degraded=("dense: timeout",)) for step in range(13)]
    short = [run(NOW - 2 * HOUR, "degraded", degraded=("rerank: timeout",)), run(NOW - HOUR)]
    found = canary.summary([*long, run(NOW - 5 * HOUR + LONG + 600), *short], now=NOW)
    assert found.long == ((NOW - 5 * HOUR, NOW - 5 * HOUR + LONG + 600, ("dense: timeout",)),)
    assert not found.well
    exactly = canary.summary([run(NOW - LONG, "degraded", degraded=("x",)), run(NOW)], now=NOW)
    assert exactly.long == ()


def test_a_summary_counts_the_last_day_alone() -> None:
    runs = [run(NOW - DAY - 1, "failed", in_a_row=1), *(run(NOW - step) for step in range(3))]
    found = canary.summary(runs, now=NOW)
    assert (found.runs, found.failed, found.well) == ({"passed": 3, "degraded": 0, "failed": 0}, (), True)
    assert not canary.summary(runs[:1], now=NOW).well  # nothing ran


def test_quantiles_are_values_that_were_measured() -> None:
    runs = [{**run(NOW), "milliseconds": {"find": float(value)}} for value in range(1, 101)]
    found = canary.summary(runs, now=NOW)
    assert (found.median["find"], found.p95["find"]) == (50.0, 95.0)
